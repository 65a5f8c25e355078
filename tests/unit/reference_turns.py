"""Samples and turns with exact truth, shared by the tests of the reference models."""

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

WIDTH, HEIGHT = 128, 96
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
