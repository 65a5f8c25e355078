"""Marks and places of one picture as rows, shared by the tests of where counted things are lost."""

import math

import numpy as np
from spine_rows import prediction, sample

from gensight import images
from gensight.measures import count_loss

GREY = np.full((768, 1024, 3), 120, np.uint8)
BOOKED = ("matched", "merged", "undecoded", "misplaced", "unmarked", "unanswered")


def as_points(places):
    return [{"x": float(x), "y": float(y)} for x, y in places]


def sample_of(places, picture=GREY, **columns):
    height, width = picture.shape[:2]
    truth = {"target_points": as_points(places), "target_count": len(places)}
    return sample(
        0,
        picture=images.encode_png(picture),
        width=width,
        height=height,
        **{**truth, **columns},
    )


def prediction_of(marks, **facts):
    return prediction(
        0,
        variant="diff_red_blob",
        count=len(marks),
        points=as_points(marks),
        work_width=1024,
        work_height=768,
        facts={name: float(value) for name, value in facts.items()},
    )


def measured(marks, places, **facts):
    return count_loss.measure(prediction_of(marks, **facts), sample_of(places), {})[None]


def check_sums(parts, marks, places):
    assert math.fsum(parts[name] for name in BOOKED) == len(places) == parts["places"]
    assert parts["matched"] + parts["misplaced"] + parts["extra"] == len(marks)
    assert all(parts[name] >= 0 for name in (*BOOKED, "extra"))
