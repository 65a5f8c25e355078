"""Timing says nothing of the answer and is never at fault."""

from __future__ import annotations

import pytest

from gensight.extractors import Answer, Reading, timing


@pytest.mark.parametrize(
    "found", [{}, {"image": b"no picture"}, {"text": "no"}, {"source": b"", "image": b""}]
)
def test_any_answer_is_ok_and_has_no_columns(found):
    answer = Answer(source_width=8, source_height=8, **found)
    assert timing.extract(answer, {}) == [Reading(variant="timing")]
