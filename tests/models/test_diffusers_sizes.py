"""The sizes that editors work at: one rule, its limits by pipeline."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gensight.images import fit_long_side
from gensight.models._editors import ONE_MEGAPIXEL, PIPELINES, Sides

SIXTEEN = ["Flux2KleinPipeline", "Flux2Pipeline", "OmniGenPipeline", "QwenImageEditPlusPipeline"]
#: Pictures as data sets have them, and what pipelines of multiples of 16 make of them.
AS_THEY_ARE = {
    (640, 480): (640, 480),
    (1242, 375): (1248, 368),
    # 1.25 megapixels come down to one.
    (1296, 968): (1184, 880),
    (640, 427): (640, 432),
}
#: The same at the size they are sent in, long side 1024.
AS_SENT = {
    (640, 480): (1024, 768),
    (1242, 375): (1024, 304),
    (1296, 968): (1024, 768),
    (640, 427): (1024, 688),
}
GLM = {
    (640, 480): (1024, 768),
    (1242, 375): (1696, 512),
    (1296, 968): (1024, 768),
    (640, 427): (1024, 672),
    (1000, 100): (2048, 512),
}


@pytest.mark.parametrize("pipeline", SIXTEEN)
def test_multiples_of_sixteen(pipeline):
    sides = PIPELINES[pipeline].sides
    assert {size: sides.like(*size) for size in AS_THEY_ARE} == AS_THEY_ARE
    assert {size: sides.like(*fit_long_side(*size)) for size in AS_SENT} == AS_SENT


def test_a_strip():
    used = {name: habits.sides.like(1024, 102) for name, habits in PIPELINES.items()}
    assert used == {
        "Flux2KleinPipeline": (1024, 128),
        "Flux2Pipeline": (1024, 128),
        "GlmImagePipeline": (2048, 512),
        "OmniGenPipeline": (1024, 96),
        "QwenImageEditPlusPipeline": (1024, 96),
    }


def test_glm_image_takes_no_short_side_below_512():
    sides = PIPELINES["GlmImagePipeline"].sides
    assert {size: sides.like(*fit_long_side(*size)) for size in GLM} == GLM


def test_a_line_of_pixels_does_not_grow_beyond_bounds():
    assert PIPELINES["QwenImageEditPlusPipeline"].sides.like(1, 1024) == (16, 1024)
    assert PIPELINES["Flux2Pipeline"].sides.like(1024, 1) == (1024, 128)


SIDE = st.integers(1, 5000)


@given(st.sampled_from(sorted(PIPELINES)), SIDE, SIDE)
def test_the_limits_always_hold(pipeline, width, height):
    sides = PIPELINES[pipeline].sides
    used = sides.like(width, height)
    short, long = sorted(used)
    assert all(side % sides.multiple == 0 for side in used)
    assert short >= sides.least and long <= sides.most_aspect * short
    assert short * long <= sides.most_pixels
    assert sides.like(*used) == used, "a size that is allowed is kept"
    assert sides.like(height, width) == used[::-1]
    assert (used[0] >= used[1]) == (width >= height) or used[0] == used[1]


@given(SIDE, SIDE)
def test_what_is_allowed_is_near(width, height):
    """Within the limits a side moves by half a multiple, beyond scaling."""
    sides = Sides(multiple=16, least=16, most_aspect=64)
    if width * height > ONE_MEGAPIXEL - 16 * (width + height) or min(width, height) < 16:
        return
    if max(width, height) + 8 > 64 * (min(width, height) - 8):
        return
    used = sides.like(width, height)
    assert abs(used[0] - width) <= 8 and abs(used[1] - height) <= 8
