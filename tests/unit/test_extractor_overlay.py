"""Overlays: the tint is found whatever the picture under it, as far as it can be seen at all."""

from __future__ import annotations

import numpy as np
import pytest
from images_by_hand import photograph, saved

from gensight.errors import SpecError
from gensight.extractors import Answer
from gensight.extractors import overlay as overlay_extractor
from gensight.extractors.overlay import tint_opacity
from gensight.images import decode_mask, encode_png, resize_picture

WIDTH, HEIGHT = 640, 480
GREEN = (0, 255, 0)


def scene():
    return resize_picture(photograph(96, 128), WIDTH, HEIGHT)


def target():
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    return (columns - 300) ** 2 / 1.5 + (rows - 240) ** 2 < 120**2


def tinted(picture, where, opacity, colour=GREEN):
    mixed = (1 - opacity) * picture.astype(float) + opacity * np.array(colour)
    return np.where(where[..., None], mixed.round(), picture).astype(np.uint8)


def read(picture, source=None, **parameters):
    source = scene() if source is None else source
    answer = Answer(
        image=picture if isinstance(picture, bytes) else encode_png(picture),
        source=encode_png(source),
        source_width=source.shape[1],
        source_height=source.shape[0],
    )
    (reading,) = overlay_extractor.extract(answer, {"colour": list(GREEN), **parameters})
    assert reading.status == "ok"
    return reading.fields


def iou(fields, truth):
    mask = decode_mask(fields["mask"])
    return (mask & truth).sum() / (mask | truth).sum()


@pytest.mark.parametrize("opacity", [0.15, 0.3, 0.5, 0.8, 1.0])
def test_any_opacity_that_shows_is_read(opacity):
    fields = read(tinted(scene(), target(), opacity))
    assert iou(fields, target()) == 1
    assert fields["facts"]["mean_opacity"] == pytest.approx(opacity, abs=0.01)
    assert fields["facts"]["foreground_share"] == pytest.approx(target().mean())
    assert fields["degenerate_output"] is False


@pytest.mark.parametrize("quality", [60, 90])
def test_jpeg_of_an_overlay_is_read(quality):
    data = saved(tinted(scene(), target(), 0.5), "JPEG", quality=quality)
    assert iou(read(data), target()) > 0.97


def test_a_small_target_is_read():
    where = np.zeros((HEIGHT, WIDTH), bool)
    where[100:125, 200:225] = True  # 0.2 % of the picture
    assert iou(read(tinted(scene(), where, 0.5)), where) == 1


def test_an_untouched_copy_is_an_empty_mask_without_contrast():
    fields = read(scene())
    assert not decode_mask(fields["mask"]).any()
    assert fields["degenerate_output"] is True
    assert fields["facts"]["mean_opacity"] == 0


def test_a_tint_over_everything_is_a_full_mask():
    everywhere = np.ones((HEIGHT, WIDTH), bool)
    dark = scene() // 2  # nothing in it is near the tint's own colour
    fields = read(tinted(dark, everywhere, 0.8), dark)
    assert decode_mask(fields["mask"]).all()
    assert fields["degenerate_output"] is True


def test_changes_towards_another_colour_are_no_tint():
    away = tinted(scene(), target(), 0.7, colour=(255, 0, 255))
    assert not decode_mask(read(away)["mask"]).any()


def test_a_target_of_the_tint_s_own_colour_cannot_be_seen():
    source = scene()
    source[target()] = (10, 245, 10)
    assert iou(read(tinted(source, target(), 0.5), source), target()) == 0


@pytest.mark.parametrize("size", [(320, 240), (1280, 960), (600, 600)])
def test_the_mask_keeps_the_returned_size(size):
    picture = resize_picture(tinted(scene(), target(), 0.6), *size)
    mask = decode_mask(read(picture)["mask"])
    assert mask.shape == size[::-1]
    truth = resize_picture(target().astype(np.uint8) * 255, *size) > 127
    assert (mask & truth).sum() / (mask | truth).sum() > 0.97


def test_opacity_is_the_share_of_the_way():
    source = np.zeros((1, 5, 3), np.uint8)
    marked = np.zeros((1, 5, 3), np.uint8)
    marked[0, :, 1] = [0, 51, 102, 255, 255]
    marked[0, 4, 0] = 200  # also changed sideways, which says nothing of the way
    assert tint_opacity(marked, source, GREEN, 60).tolist() == [[0, 51, 102, 255, 255]]


@pytest.mark.parametrize("colour", [[0, 255], [0, 255, 256], [0.5, 0, 0], "00ff00"])
def test_a_colour_is_three_levels(colour):
    with pytest.raises(SpecError, match="colour"):
        read(scene(), colour=colour)
