"""What the operators work on: scenes, photographs of scikit-image, and the shared samples.

A source belongs to one split. Sources of the shared folder are there only where that folder is;
they are used beside the others, never instead of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import cv2
import numpy as np

from failure_operators.outlines import OUTLINES, layered_depth, shape_mask
from failure_operators.scene_renders import Staged, plain_render, staged
from gensight import images
from gensight.datasets import photographs

LONG_SIDE_PX = 512
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "samples"
WHITE = (255, 255, 255)


@dataclass(frozen=True, eq=False)
class Source:
    """A picture with the truth of each task that it serves.

    `rgb` is uint8 (H, W, 3); `mask` bool (H, W); `depth_m` float32 (H, W); `points` float64 (n, 2)
    in pixels; `instances` bool (n, H, W). `other_view` shows the same place once more.
    """

    name: str
    rgb: np.ndarray
    mask: np.ndarray | None = None
    depth_m: np.ndarray | None = None
    points: np.ndarray | None = None
    instances: np.ndarray | None = None
    item: Staged | None = None
    other_view: Source | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        return self.rgb.shape[0], self.rgb.shape[1]

    def truth(self, task: str) -> np.ndarray:
        """The truth of a task, as `Case.truth` holds it."""
        found = {"segmentation": self.mask, "depth": self.depth_m, "counting": self.points}[task]
        assert found is not None, f"{self.name} does not serve {task}"
        return found


def inner_point(mask: np.ndarray) -> tuple[float, float]:
    """Return the pixel of a mask that is farthest from its border."""
    inside = cv2.distanceTransform(np.pad(mask.astype(np.uint8), 1), cv2.DIST_L2, 5)
    row, column = np.unravel_index(int(inside.argmax()), inside.shape)
    return float(column - 1), float(row - 1)


def small(picture: np.ndarray) -> np.ndarray:
    """Return a picture at a long side of 512 px."""
    size = images.fit_long_side(picture.shape[1], picture.shape[0], LONG_SIDE_PX)
    return images.resize_picture(picture, *size)


def read(path: Path) -> np.ndarray:
    """Return a picture file as RGB at a long side of 512 px."""
    return small(images.decode_rgb(path.read_bytes(), matte=WHITE))


def shipped(file: str) -> np.ndarray:
    """Return a picture of scikit-image as RGB at a long side of 512 px."""
    package = find_spec("skimage")
    assert package is not None and package.submodule_search_locations
    return read(Path(package.submodule_search_locations[0]) / "data" / file)


def _room(name: str, rank: int, split: str = "main", **knobs: object) -> Source:
    item = staged("segmentation", 71, rank, split, tuple(knobs.items()))
    render = plain_render(item)
    target = item.scene.queries[0].target
    return Source(
        name=name,
        rgb=render.rgb,
        mask=render.silhouettes[target],
        depth_m=render.depth_m,
        instances=render.silhouettes,
        item=item,
    )


def _crowd(name: str, rank: int, split: str = "main", **knobs: object) -> Source:
    item = staged("counting", 71, rank, split, tuple(knobs.items()))
    render = plain_render(item)
    counted = render.silhouettes[item.counted()]
    return Source(
        name=name,
        rgb=render.rgb,
        points=np.array([inner_point(mask) for mask in counted]).reshape(-1, 2),
        instances=render.silhouettes,
        item=item,
    )


def _photograph(name: str, file: str) -> Source:
    rgb, outline = shipped(file), OUTLINES[name]
    shapes = [outline.target, *(shape for shape, _ in outline.layers)]
    return Source(
        name=name,
        rgb=rgb,
        mask=shape_mask(outline.target, *rgb.shape[:2]),
        depth_m=layered_depth(outline, *rgb.shape[:2]),
        points=np.array(outline.points, np.float64),
        instances=np.array([shape_mask(shape, *rgb.shape[:2]) for shape in shapes]),
    )


def _motorcycle(name: str) -> Source:
    (sample,) = photographs.iter_samples({"photograph": "motorcycle"}, [0])
    plain = _photograph("motorcycle", "motorcycle_left.png")
    depth_m = images.decode_array(sample.target_depth_m)
    valid = images.decode_mask(sample.valid_mask)
    depth_m = cv2.inpaint(depth_m, (~valid).astype(np.uint8), 3, cv2.INPAINT_TELEA)
    depth_m = images.resize_depth(depth_m, plain.rgb.shape[1], plain.rgb.shape[0])
    points = plain.truth("counting")
    at_points = depth_m[points[:, 1].astype(int), points[:, 0].astype(int)]
    disparity_px = photographs.FOCAL_PX * photographs.BASELINE_M / at_points
    disparity_px = (disparity_px - photographs.PRINCIPAL_POINT_OFFSET_PX) * LONG_SIDE_PX / 741
    right = Source(
        name=f"{name}_right",
        rgb=shipped("motorcycle_right.png"),
        points=points - np.stack([disparity_px, np.zeros_like(disparity_px)], axis=1),
    )
    return Source(
        name=name,
        rgb=plain.rgb,
        mask=plain.mask,
        depth_m=depth_m.astype(np.float32),
        points=points,
        instances=plain.instances,
        other_view=right,
    )


def _polygons(name: str, file: str) -> Source:
    known = json.loads((SHARED / "coco/test_coco.json").read_text())
    (entry,) = (image for image in known["images"] if image["file_name"] == file)
    shapes = [a["segmentation"] for a in known["annotations"] if a["image_id"] == entry["id"]]
    masks = [images.polygons_to_mask(s, entry["height"], entry["width"]) for s in shapes]
    return _annotated(name, SHARED / "coco/val2017" / file, masks)


def _run_lengths(name: str, file: str) -> Source:
    folder = SHARED / "coco/panoptic"
    known = json.loads((folder / "panoptic_coco_detection_format.json").read_text())
    (entry,) = (image for image in known["images"] if image["file_name"] == file)
    masks = [
        images.decode_mask(a["segmentation"])
        for a in known["annotations"]
        if a["image_id"] == entry["id"] and a["category_id"] == 1 and not a["iscrowd"]
    ]
    return _annotated(name, folder / file, masks)


def _annotated(name: str, path: Path, masks: list[np.ndarray]) -> Source:
    rgb = read(path)
    resized = np.array([images.resize_mask(mask, rgb.shape[1], rgb.shape[0]) for mask in masks])
    resized = resized[resized.any(axis=(1, 2))]
    return Source(
        name=name,
        rgb=rgb,
        mask=resized[int(resized.sum(axis=(1, 2)).argmax())],
        points=np.array([inner_point(mask) for mask in resized]),
        instances=resized,
    )


def _depth_frame(name: str, frame: str, other: str | None) -> Source:
    folder = SHARED / "rgbd_16bit_png"
    rgb = read(folder / f"frame-{frame}.color.jpg")
    stored = cv2.imread(str(folder / f"frame-{frame}.depth.png"), cv2.IMREAD_UNCHANGED)
    depth_m = stored.astype(np.float32) / 1000.0
    missing = ((depth_m <= 0) | (depth_m > 20)).astype(np.uint8)
    depth_m = cv2.inpaint(np.where(missing, 0, depth_m), missing, 3, cv2.INPAINT_TELEA)
    depth_m = images.resize_depth(depth_m, rgb.shape[1], rgb.shape[0]).astype(np.float32)
    near = (depth_m < np.quantile(depth_m, 0.25)).astype(np.uint8)
    _, labels, facts, _ = cv2.connectedComponentsWithStats(near)
    mask = labels == 1 + int(facts[1:, cv2.CC_STAT_AREA].argmax())
    return Source(
        name=name,
        rgb=rgb,
        mask=mask,
        depth_m=depth_m,
        points=np.array([[120.0, 90.0], [260.0, 200.0], [400.0, 120.0]]),
        instances=mask[None],
        other_view=None if other is None else _depth_frame(f"{name}_later", other, None),
    )


Loader = Callable[[], Source]

SPLITS: dict[str, dict[str, Loader]] = {
    "A": {
        "room_plain": partial(_room, rank=0),
        "room_deep": partial(_room, rank=2, depth_ratio=30),
        "room_rich": partial(_room, rank=4, texture="rich"),
        "crowd_3": partial(_crowd, rank=0, count=3, objects=6),
        "crowd_7": partial(_crowd, rank=1, count=7, objects=5),
        "crowd_12": partial(_crowd, rank=2, count=12, objects=8),
        "astronaut": partial(_photograph, file="astronaut.png"),
        "chelsea": partial(_photograph, file="chelsea.png"),
        "coffee": partial(_photograph, file="coffee.png"),
        "rocket": partial(_photograph, file="rocket.jpg"),
    },
    "B": {
        "room_ood": partial(_room, rank=6, split="ood"),
        "room_flat": partial(_room, rank=8, style="flat"),
        "room_line": partial(_room, rank=10, style="line"),
        "room_dark": partial(_room, rank=12, light="dark", palette="shifted"),
        "crowd_ood": partial(_crowd, rank=3, split="ood", count=5, objects=6),
        "crowd_flat": partial(_crowd, rank=4, style="flat", count=9, objects=6),
        "crowd_heavy": partial(_crowd, rank=5, occlusion="heavy", count=6, objects=9),
        "camera": partial(_photograph, file="camera.png"),
        "coins": partial(_photograph, file="coins.png"),
        "motorcycle": _motorcycle,
    },
}
SHARED_SPLITS: dict[str, dict[str, Loader]] = {
    "A": {
        "coco_142238": partial(_run_lengths, file="000000142238.jpg"),
        "coco_439180": partial(_run_lengths, file="000000439180.jpg"),
    },
    "B": {
        "coco_785": partial(_polygons, file="000000000785.jpg"),
        "coco_40083": partial(_polygons, file="000000040083.jpg"),
        "coco_196141": partial(_polygons, file="000000196141.jpg"),
        "coco_197388": partial(_polygons, file="000000197388.jpg"),
        "seven_scenes": partial(_depth_frame, frame="000000", other="000006"),
    },
}
WITHOUT_DEPTH = ("crowd", "coco")
WITHOUT_MASK = ("crowd",)
WITHOUT_POINTS = ("room",)


def names(split: str, task: str, *, shared: bool) -> list[str]:
    """Return the sources of a split that serve a task: the shared folder's, or the others."""
    if shared and not SHARED.exists():
        return []
    lacking = {"segmentation": WITHOUT_MASK, "depth": WITHOUT_DEPTH, "counting": WITHOUT_POINTS}
    listed = (SHARED_SPLITS if shared else SPLITS)[split]
    return [name for name in listed if not name.startswith(lacking[task])]


@cache
def load(split: str, name: str) -> Source:
    """Return a source of a split, read or rendered once per process."""
    loaders = {**SPLITS[split], **SHARED_SPLITS[split]}
    return loaders[name](name)
