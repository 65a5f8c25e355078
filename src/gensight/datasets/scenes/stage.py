"""The stage: a z-buffer that takes one thing at a time and refuses grey-zone visibility.

Every thing is cast alone (amodal pixels) and against the buffer (visible pixels v, ratio r). The
rule of PROTOCOLS 4.1: countable iff v >= max(200 px, 0.15 % of the frame) and r >= 0.35, and no
scene holds a thing that is visible or meant to be but not countable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gensight.datasets.scenes.camera import Window
from gensight.datasets.scenes.room import FLOOR, View, empty_room
from gensight.datasets.scenes.solids import Solid

MIN_VISIBLE_PX = 200
MIN_FRAME_SHARE = 0.0015
MIN_VISIBLE_RATIO = 0.35
FRAME_MARGIN_PX = 2
WHOLE_RATIO = 0.97
OVERLAPPED_RATIO = 0.85


def visible_threshold(width: int, height: int) -> int:
    """Return the fewest visible pixels of a countable thing."""
    return max(MIN_VISIBLE_PX, int(np.ceil(MIN_FRAME_SHARE * width * height)))


@dataclass(frozen=True)
class _Painted:
    """What a solid covered, so that it can be taken back."""

    window: Window
    depth: np.ndarray
    owner: np.ndarray
    visible: np.ndarray


class Stage:
    """Buffers of one picture: `depth` and `owner` (H, W), and the solids by label.

    Labels: 0 the room, 1..n the things in the order of their placement, -i the rod of thing i.
    """

    def __init__(self, view: View) -> None:
        """Start with the empty room."""
        self.view = view
        self.camera = view.camera
        self.room = view.room
        self.rays, self.room_depth, self.face = empty_room(view)
        self.depth = self.room_depth.copy()
        self.owner = np.zeros(self.depth.shape, np.int16)
        self.solids: dict[int, Solid] = {}
        self.threshold = visible_threshold(self.camera.width, self.camera.height)
        self.amodal = np.zeros(1, np.int64)
        self.visible = np.zeros(1, np.int64)
        self.centres = np.zeros((0, 3))
        self.radii = np.zeros(0)
        self.hanging = np.zeros(0, bool)

    @property
    def things(self) -> int:
        """The number of things placed so far."""
        return len(self.amodal) - 1

    @property
    def ratios(self) -> np.ndarray:
        """Visible share of the amodal pixels of things 1..n."""
        return self.visible[1:] / self.amodal[1:]

    def add(self, thing: Solid, rod: Solid | None, occlusion: str) -> bool:
        """Place a thing and its rod; False, and nothing changed, if a visibility rule breaks."""
        window = self.camera.window(thing.corners)
        if not self._inside_frame(window):
            return False
        label, overlapped = self.things + 1, self._overlapped()
        casts = [(label, window, self._cast(thing, window))]
        if rod is not None:
            rod_window = self.camera.window(rod.corners)
            casts.append((-label, rod_window, self._cast(rod, rod_window)))
        if any(t.size and t.min() < self.view.nearest_m for _, _, t in casts):
            return False
        amodal = int(np.isfinite(casts[0][2]).sum())
        if amodal < self.threshold:
            return False
        self.amodal, self.visible = np.append(self.amodal, amodal), np.append(self.visible, 0)
        painted = [self._paint(where, t, painter) for painter, where, t in casts]
        if not self._fits(label, occlusion, overlapped):
            self._take_back(painted)
            return False
        self.solids[label] = thing
        self.centres = np.vstack([self.centres, thing.centre])
        self.radii = np.append(self.radii, thing.radius)
        self.hanging = np.append(self.hanging, rod is not None)
        if rod is not None:
            self.solids[-label] = rod
        return True

    def _cast(self, solid: Solid, window: Window) -> np.ndarray:
        return solid.intersect(self.camera.position, self.rays.directions[:, *window.slices])

    def _overlapped(self) -> int:
        return int((self.ratios < OVERLAPPED_RATIO).sum())

    def _inside_frame(self, window: Window) -> bool:
        """Things are whole in the picture, so that r speaks of occlusion alone."""
        margin = FRAME_MARGIN_PX
        return (
            window.top >= margin
            and window.left >= margin
            and window.bottom <= self.camera.height - margin
            and window.right <= self.camera.width - margin
            and not window.is_empty
        )

    def _fits(self, label: int, occlusion: str, overlapped_before: int) -> bool:
        if (self.visible[1:] < self.threshold).any() or (self.ratios < MIN_VISIBLE_RATIO).any():
            return False
        if occlusion == "none":
            return bool((self.ratios >= WHOLE_RATIO).all())
        # Heavy: every second thing must come to overlap with another one.
        return occlusion != "heavy" or label % 2 == 1 or self._overlapped() > overlapped_before

    def _paint(self, window: Window, t: np.ndarray, label: int) -> _Painted:
        depth, owner = self.depth[window.slices], self.owner[window.slices]
        painted = _Painted(window, depth.copy(), owner.copy(), self.visible.copy())
        front = t < depth
        covered = owner[front]
        self.visible -= np.bincount(covered[covered > 0], minlength=len(self.visible))
        if label > 0:
            self.visible[label] += int(front.sum())
        depth[front] = t[front]
        owner[front] = label
        return painted

    def _take_back(self, painted: list[_Painted]) -> None:
        for one in reversed(painted):
            self.depth[one.window.slices] = one.depth
            self.owner[one.window.slices] = one.owner
            self.visible = one.visible
        self.amodal, self.visible = self.amodal[:-1], self.visible[:-1]

    def ceiling_m(self) -> float:
        """Height of the ceiling in metres."""
        return float(self.room.high[1])

    def is_floor(self, row: int, column: int) -> bool:
        """Whether the empty room shows its floor at a pixel."""
        return int(self.face[row, column]) == FLOOR

    def silhouettes(self) -> np.ndarray:
        """Return the visible masks (n, H, W) of the things, in the order of their labels."""
        return self.owner[None] == np.arange(1, self.things + 1, dtype=np.int16)[:, None, None]
