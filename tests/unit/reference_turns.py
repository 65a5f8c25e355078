"""Samples and turns with exact truth, shared by the tests of the reference models."""

from dataclasses import replace

import numpy as np

from gensight import images
from gensight.models import Part, Turn
from gensight.models.reference import open_model
from gensight.records import Sample

MASK = {"kind": "mask", "foreground": [255, 255, 255], "background": [0, 0, 0]}
NEAR_BRIGHT = {"kind": "depth", "near": "bright"}
NEAR_DARK = {"kind": "depth", "near": "dark"}
DOTS = {"kind": "dots", "colour": [255, 0, 0]}
NORMALS = {"kind": "normals", "red": "right", "green": "up", "blue": "viewer"}
BOX = {"kind": "text", "content": "bounding_box"}
INTEGER = {"kind": "text", "content": "integer"}
WORD = {"kind": "text", "content": "free"}
OVERLAY = {"kind": "overlay", "colour": [255, 0, 0]}
BOXES = {"kind": "boxes", "colour": [255, 0, 0]}
TURNS_OF_TWO = {**DOTS, "alternate": [0, 0, 255]}
FLAT = {**DOTS, "canvas": "flat"}
KEYPOINTS = {"kind": "keypoints", "colours": {"left": [255, 255, 0], "right": [0, 255, 0]}}
WRITING = {"kind": "writing"}

WIDTH, HEIGHT = 128, 96
SLOPE_M = np.repeat(np.linspace(1, 5, HEIGHT)[:, None], WIDTH, axis=1)
SCALE = 8  # the work size is 1024 x 768


def photograph(width=WIDTH, height=HEIGHT, seed=0):
    """A smooth blue-green picture without anything red in it."""
    generator = np.random.default_rng(seed)
    coarse = generator.integers(60, 160, size=(4, 4, 3)).astype(np.uint8)
    picture = images.resize_picture(coarse, width, height)
    picture[..., 0] //= 2
    return picture


def sample(sample_id="one", picture=None, **truth):
    """A sample of a synthetic picture with the given truth columns."""
    picture = photograph() if picture is None else picture
    defaults = {"rank": 0, "cluster_id": sample_id, "role": "evaluated"}
    return Sample(
        sample_id=sample_id,
        image={"bytes": images.encode_png(picture), "path": None},
        height=picture.shape[0],
        width=picture.shape[1],
        **{**defaults, **truth},
    )


def turn(item, form, *texts, **options):
    """The turn that shows a sample's picture after the given texts."""
    parts = [Part("text", text=text) for text in texts]
    parts.append(Part("image", image=item.image["bytes"]))
    return Turn(parts=tuple(parts), answer_form=form, truth=item, **options)


def answer(method, shown, held_out=(), **settings):
    """The reply of a freshly opened reference model."""
    return open_model({"method": method, **settings}, held_out).answer(shown)


def pixels(reply):
    """The one picture of a reply: (H, W) if it is grey, else (H, W, 3) RGB."""
    assert reply.outcome == "ok"
    (data,) = reply.images
    if images.inspect(data).colour == "grey":
        return images.decode_grey(data, matte=(0, 0, 0))
    return images.decode_rgb(data, matte=(0, 0, 0))


def box_sample(left, top, right, bottom, **options):
    """A sample whose target is the rectangle of pixels [left, right) x [top, bottom)."""
    mask = np.zeros((HEIGHT, WIDTH), dtype=bool)
    mask[top:bottom, left:right] = True
    return sample(target_mask=images.encode_mask(mask), **options)


def depth_sample(depth_m, **options):
    """A sample with this depth map in metres."""
    return sample(target_depth_m=images.encode_array(np.asarray(depth_m, np.float32)), **options)


def points_sample(*points, **options):
    """A sample with these true points in pixels of the input."""
    listed = [{"x": float(x), "y": float(y)} for x, y in points]
    return sample(target_points=listed, **{"target_count": len(points), **options})


def normals_sample(normals, **options):
    """A sample with this (H, W, 3) map of normals."""
    return sample(target_normals=images.encode_array(np.asarray(normals, np.float32)), **options)


def boxes_sample(*boxes, **options):
    """A sample with these true boxes (left, top, right, bottom) in pixels of the input."""
    listed = [dict(zip(("left", "top", "right", "bottom"), box, strict=True)) for box in boxes]
    return sample(target_boxes=[{**box, "score": 1.0} for box in listed], **options)


def keypoints_sample(**places):
    """A sample with these true keypoints (name=(x, y)) in pixels of the input."""
    listed = [{"name": name, "x": float(x), "y": float(y)} for name, (x, y) in places.items()]
    return sample(target_keypoints=listed)


def held(item, name, cluster=None):
    """A sample as a held-out one of this name and cluster."""
    return replace(item, sample_id=name, cluster_id=cluster or name, role="held_out")


def counts(*values, clusters=None):
    """Held-out samples h0, h1, ... with these counts."""
    clusters = clusters or [f"c{i}" for i in range(len(values))]
    return [
        held(sample(target_count=value), f"h{i}", clusters[i]) for i, value in enumerate(values)
    ]


def flat(metres):
    """A sample whose depth is the same everywhere."""
    return depth_sample(np.full((HEIGHT, WIDTH), metres))


def facing(*normal):
    """A sample of one normal everywhere."""
    return normals_sample(np.tile(normal, (HEIGHT, WIDTH, 1)))
