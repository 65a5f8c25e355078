"""The scene drawn once more, and pictures of something else.

For segmentation and depth the model returns the new picture; for counting it marks the counted
things where the new picture has them.
"""

from __future__ import annotations

import numpy as np

from failure_operators import sources
from failure_operators.scene_renders import Render, moved_things, other_light, other_materials
from failure_operators.shots import Operator, Shot, dotted, grey_picture, nearness, to_bytes
from gensight import images

ALL = ("segmentation", "depth", "counting")
# Scenes whose light and textures show.
SHADED_A = ("room_plain", "room_deep", "room_rich", "crowd_3", "crowd_7", "crowd_12")
SCENES_B = (
    *("room_ood", "room_flat", "room_line", "room_dark"),
    *("crowd_ood", "crowd_flat", "crowd_heavy"),
)
TWO_VIEWS_B = ("motorcycle", "seven_scenes")


def new_textures(shot: Shot) -> np.ndarray:
    """The severity is the share of the surfaces that look new."""
    assert shot.source.item is not None
    draw = int(shot.random.integers(1000))
    return _returned(shot, other_materials(shot.source.item, shot.severity, draw))


def turned_light(shot: Shot) -> np.ndarray:
    """The severity is the angle in degrees by which the light comes from elsewhere."""
    assert shot.source.item is not None
    draw = int(shot.random.integers(1000))
    return _returned(shot, other_light(shot.source.item, shot.severity, draw))


def moved_poses(shot: Shot) -> np.ndarray:
    """Every thing moved and turned; the severity is how far, in per cent of the long side."""
    assert shot.source.item is not None
    return _returned(shot, moved_things(shot.source.item, shot.severity, shot.random))


def depth_of_moved(shot: Shot) -> np.ndarray:
    """The depth of a scene in which every thing has moved."""
    assert shot.source.item is not None
    moved = moved_things(shot.source.item, shot.severity, shot.random)
    return grey_picture(to_bytes(255.0 * nearness(moved.depth_m)))


def other_view(shot: Shot) -> np.ndarray:
    """The same place from a little beside: a stereo pair, two frames of a video."""
    view = shot.source.other_view
    assert view is not None
    return view.rgb if shot.task != "counting" else dotted(view.rgb, view.truth("counting"))


def other_photograph(shot: Shot) -> np.ndarray:
    """Another picture of the split, at the input's size."""
    listed = [name for name in sources.SPLITS["A"] if name != shot.source.name]
    other = sources.load("A", listed[shot.random.integers(len(listed))])
    return images.resize_picture(other.rgb, shot.source.size[1], shot.source.size[0])


def other_scene(shot: Shot) -> np.ndarray:
    """Another picture of the split, at a size of its own."""
    listed = [name for name in sources.SPLITS["B"] if name != shot.source.name]
    return sources.load("B", listed[shot.random.integers(len(listed))]).rgb


def colour_pattern(shot: Shot) -> np.ndarray:
    """Smooth blots of colour; a higher severity has more of them."""
    height, width = shot.source.size
    coarse = shot.random.integers(0, 256, (round(shot.severity),) * 2 + (3,)).astype(np.uint8)
    return images.resize_picture(coarse, width, height)


def foreign_depth(shot: Shot) -> np.ndarray:
    """The depth of another picture."""
    listed = [n for n in sources.names("B", "depth", shared=False) if n != shot.source.name]
    other = sources.load("B", listed[shot.random.integers(len(listed))])
    painted = grey_picture(to_bytes(255.0 * nearness(other.truth("depth"))))
    return images.resize_picture(painted, shot.source.size[1], shot.source.size[0])


def _returned(shot: Shot, render: Render) -> np.ndarray:
    if shot.task != "counting":
        return render.rgb
    item = shot.source.item
    assert item is not None
    kept = [i for i in item.counted() if i < len(render.silhouettes)]
    points = [sources.inner_point(render.silhouettes[i]) for i in kept]
    return dotted(render.rgb, np.array(points).reshape(-1, 2))


OPERATORS = (
    Operator(
        "new_textures",
        "A",
        "rerender",
        ALL,
        (0.3, 0.6, 1.0),
        "of the surfaces",
        new_textures,
        sources=SHADED_A,
        per_severity=3,
    ),
    Operator(
        "turned_light",
        "A",
        "rerender",
        ALL,
        (15.0, 50.0, 110.0),
        "degrees",
        turned_light,
        sources=SHADED_A,
        per_severity=3,
    ),
    Operator(
        "other_photograph", "A", "unrelated", ALL, (1.0,), "-", other_photograph, per_severity=4
    ),
    Operator(
        "moved_poses",
        "B",
        "rerender",
        ALL,
        (0.5, 1.5, 4.0),
        "% of the long side",
        moved_poses,
        sources=SCENES_B,
        per_severity=3,
    ),
    Operator(
        "depth_of_moved",
        "B",
        "rerender",
        ("depth",),
        (0.5, 1.5, 4.0),
        "% of the long side",
        depth_of_moved,
        sources=SCENES_B,
        per_severity=3,
    ),
    Operator("other_view", "B", "rerender", ALL, (1.0,), "-", other_view, sources=TWO_VIEWS_B),
    Operator("other_scene", "B", "unrelated", ALL, (1.0,), "-", other_scene, per_severity=4),
    Operator("colour_pattern", "B", "unrelated", ALL, (3.0, 8.0), "blots", colour_pattern),
    Operator("foreign_depth", "B", "unrelated", ("depth",), (1.0,), "-", foreign_depth),
)
