"""The outcome enum: complete, and cut into what is scored and what is not."""

import pytest

from gensight.outcomes import INFRASTRUCTURE_OUTCOMES, MODEL_OUTCOMES, Outcome

MODEL = "ok refused_input refused_output no_image text_only truncated malformed"
INFRASTRUCTURE = (
    "model_gone model_mismatch bad_request auth quota throttled_exhausted overloaded_exhausted "
    "in_doubt pending error not_run source_missing"
)


@pytest.mark.parametrize(
    ("group", "expected"), [(MODEL_OUTCOMES, MODEL), (INFRASTRUCTURE_OUTCOMES, INFRASTRUCTURE)]
)
def test_groups_hold_the_named_outcomes(group, expected):
    assert group == set(expected.split())


def test_every_outcome_is_in_exactly_one_group_but_for_what_was_never_asked():
    assert set(Outcome) - {Outcome.NO_SOURCE} == MODEL_OUTCOMES | INFRASTRUCTURE_OUTCOMES
    assert not MODEL_OUTCOMES & INFRASTRUCTURE_OUTCOMES


def test_outcomes_are_plain_strings_in_rows():
    assert f"{Outcome.TEXT_ONLY}" == "text_only"
    assert "refused_output" in MODEL_OUTCOMES
    assert "refused" not in set(Outcome)
