"""Writing in pictures, and replies in text."""

from __future__ import annotations

import importlib.util
import sys

import cv2
import numpy as np
import pytest
from images_by_hand import UNREADABLE, photograph

from gensight.errors import GensightError, SpecError
from gensight.extractors import Answer
from gensight.extractors import text as text_extractor
from gensight.images import encode_png

WIDTH, HEIGHT = 1024, 512
needs_ocr = pytest.mark.skipif(
    importlib.util.find_spec("rapidocr") is None or importlib.util.find_spec("onnxruntime") is None,
    reason="the extra gensight[ocr] is not installed",
)


def page(*lines, paper=(255, 255, 255), ink=(0, 0, 0)):
    """Return a picture with lines (text, x, baseline, scale)."""
    picture = np.full((HEIGHT, WIDTH, 3), paper, np.uint8)
    for words, x, baseline, scale in lines:
        cv2.putText(
            picture, words, (x, baseline), cv2.FONT_HERSHEY_SIMPLEX, scale, ink, 4, cv2.LINE_AA
        )
    return picture


def read(picture=None, text=None, variant="ocr", **parameters):
    answer = Answer(
        image=encode_png(picture) if isinstance(picture, np.ndarray) else picture,
        text=text,
        source_width=WIDTH,
        source_height=HEIGHT,
    )
    (reading,) = text_extractor.extract(answer, {"variants": [variant], **parameters})
    return reading


@needs_ocr
def test_rendered_lines_are_read_from_top_to_bottom():
    reading = read(page(("second line 42", 80, 400, 2), ("First Line", 60, 150, 3)))
    assert reading.status == "ok"
    assert reading.fields["text"] == "First Line\nsecond line 42"
    assert reading.fields["facts"]["n_lines"] == 2
    assert reading.fields["facts"]["least_confidence"] > 0.8
    assert reading.fields["degenerate_output"] is False


@needs_ocr
def test_ink_on_a_picture_is_read():
    picture = cv2.resize(photograph(64, 128) // 4 + 150, (WIDTH, HEIGHT))
    cv2.putText(picture, "zebra", (200, 300), cv2.FONT_HERSHEY_DUPLEX, 5, (160, 0, 0), 12)
    assert read(picture).fields["text"] == "zebra"


@needs_ocr
def test_a_picture_without_writing_is_an_empty_text():
    reading = read(page(paper=(250, 250, 250)))
    assert (reading.status, reading.fields["text"]) == ("ok", "")
    assert reading.fields["degenerate_output"] is True


@needs_ocr
def test_lines_below_the_confidence_floor_are_left_out():
    picture = page(("First Line", 60, 150, 3))
    sure = read(picture, assumed_min_confidence=0.0).fields
    assert sure["text"] == "First Line"
    above = min(1.0, sure["facts"]["least_confidence"] + 1e-4)
    assert read(picture, assumed_min_confidence=above).fields["text"] == ""


@needs_ocr
def test_equal_pictures_give_equal_texts():
    picture = page(("abc DEF 123", 60, 150, 2))
    assert read(picture) == read(picture)


@pytest.mark.parametrize("case", UNREADABLE)
def test_unreadable_pictures_are_invalid_without_any_engine(case):
    reading = read(UNREADABLE[case])
    assert (reading.status, reading.reason) == ("invalid", "unreadable")


def test_no_picture_is_no_output():
    reading = read(None, text="zebra")
    assert (reading.status, reading.reason) == ("no_output", "no_image")


def test_a_missing_engine_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    text_extractor._engine.cache_clear()
    with pytest.raises(GensightError, match=r"^[^\n]*pip install 'gensight\[ocr\]'$"):
        read(page(("zebra", 60, 150, 2)))


@pytest.mark.parametrize("words", ["zebra", "  Zebra \n", ""])
def test_a_reply_is_its_own_text(words):
    reading = read(None, words, "reply")
    assert (reading.status, reading.fields["text"]) == ("ok", words)


def test_a_reply_without_text_is_no_output():
    reading = read(page(("zebra", 60, 150, 2)), None, "reply")
    assert (reading.status, reading.reason) == ("no_output", "no_text")
    assert "text" not in reading.fields


def test_unknown_engines_are_refused():
    with pytest.raises(SpecError, match="assumed_engine: 'tesseract' is not known"):
        read(None, "zebra", assumed_engine="tesseract")
