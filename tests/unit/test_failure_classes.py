"""The closed lists of classes, which of them are valid, and what may be claimed of them."""

import doctest

import pytest
from spine_rows import prediction

from gensight import failures, measures
from gensight.failures import classes, labels, validity
from gensight.measures import failure_class, failure_truth


@pytest.mark.parametrize("module", [classes, labels, validity])
def test_examples_hold(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_columns_of_the_failure_table_are_the_classes():
    assert (*failures.blind_names(), failures.NO_OUTPUT) == failure_class.FITS
    assert (*failures.TRUTH_CLASSES, "no_answer") == failure_truth.FITS


def test_details_belong_to_classes():
    assert set(failures.DETAILS) <= set(failures.CLASSES)
    assert set(failures.VALID_CLASSES) <= set(failures.CLASSES)
    assert len(set(failures.blind_names())) == len(failures.blind_names())
    for name in failures.blind_names():
        assert failures.class_of(name) in failures.CLASSES


def test_name_of_a_verdict():
    verdict = failures.Verdict(failure_class="wrong_format", detail="cutout")
    assert verdict.name == "wrong_format:cutout"
    assert failures.Verdict(failure_class="ok").name == "ok"


@pytest.mark.parametrize("name", ["ok", "drift", "drift:global", "drift:possible", "inverted"])
def test_right_format_whatever_it_shows(name):
    assert failures.format_valid(prediction(0), name)
    # The class decides, not the contrast: a small target leaves most of a mask flat.
    assert failures.format_valid(prediction(0, degenerate_output=True), name)


@pytest.mark.parametrize(
    "name", ["copy", "filter", "rerender:warped", "wrong_format:overlay", "unreadable", "ambiguous"]
)
def test_wrong_format(name):
    assert not failures.format_valid(prediction(0), name)


@pytest.mark.parametrize(("degenerate", "valid"), [(False, True), (None, True), (True, False)])
def test_without_a_class_a_flat_picture_is_not_valid(degenerate, valid):
    assert failures.format_valid(prediction(0, degenerate_output=degenerate)) is valid


def test_the_class_of_the_prediction_is_used_where_no_other_is_given():
    copied = prediction(0, failure_blind="copy")
    assert not failures.format_valid(copied)
    assert failures.format_valid(copied, "ok")


@pytest.mark.parametrize(
    "columns",
    [{"status": "invalid"}, {"status": "no_output"}, {"outcome": "refused_output"}],
)
def test_an_answer_that_was_not_read_is_never_valid(columns):
    assert not failures.format_valid(prediction(0, **columns), "ok")


@pytest.mark.parametrize(("n", "synthetic"), [(0, True), (199, True), (200, False), (250, False)])
def test_only_two_hundred_labels_end_the_words(n, synthetic):
    note = failures.validation_note(n)
    assert ("synthetic validation only" in note) is synthetic
    assert n == 0 or str(n) in note


def test_policies_of_the_two_tables():
    assert measures.load("failure_class").DEFAULTS == {"failure": "no_output"}
    assert measures.load("failure_truth").DEFAULTS == {"failure": "no_answer"}
