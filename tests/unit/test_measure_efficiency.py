"""Efficiency: seconds and memory as they were recorded, and what is not known left out."""

from __future__ import annotations

import math

import pytest

from gensight import metrics
from gensight.errors import GensightError
from gensight.measures import efficiency
from gensight.records import Prediction, Sample

SAMPLE = Sample(sample_id="s", rank=0, cluster_id="c", image={}, width=8, height=8)


def measured(latency_s, peak_memory_gb):
    prediction = Prediction(
        sample_id="s",
        rank=0,
        cluster_id="c",
        variant="timing",
        status="ok",
        outcome="ok",
        latency_s=latency_s,
        peak_memory_gb=peak_memory_gb,
    )
    return efficiency.measure(prediction, SAMPLE, {})


@pytest.mark.parametrize(
    ("latency_s", "peak_memory_gb", "parts"),
    [
        (2.5, 39, {"latency_s": 2.5, "peak_memory_gb": 39.0}),
        (2.5, None, {"latency_s": 2.5}),
        (None, None, {}),
    ],
)
def test_parts_are_what_is_known(latency_s, peak_memory_gb, parts):
    assert measured(latency_s, peak_memory_gb) == {None: parts}


def test_a_failed_answer_has_no_parts():
    assert efficiency.failed(SAMPLE, {}) == {None: {}}


def test_unknown_failure_policies_are_refused():
    with pytest.raises(GensightError, match="allowed: left_out"):
        efficiency.failed(SAMPLE, {"failure": "zero"})


def columns(rows):
    names = {name for row in rows for name in row}
    return {name: [row.get(name, math.nan) for row in rows] for name in names}


def test_throughput_is_that_of_the_whole_run():
    """Table 9: 20 answers in 600 s are 2 a minute, however the seconds are spread."""
    rows = [measured(seconds, None)[None] for seconds in [10.0] * 15 + [90.0] * 5]
    assert metrics.load("images_per_minute").aggregate(columns(rows)) == 2
    assert metrics.load("images_per_minute").value(rows[0]) == 6


def test_failed_and_untimed_answers_change_no_number():
    rows = [measured(30.0, 10.0)[None], {}, measured(None, 12.5)[None], measured(10.0, None)[None]]
    assert metrics.load("images_per_minute").aggregate(columns(rows)) == 3
    assert metrics.load("peak_memory_gb").aggregate(columns(rows)) == 12.5


def test_without_any_number_there_is_none():
    assert metrics.load("images_per_minute").aggregate(columns([{}, {}])) is None
    assert metrics.load("images_per_minute").aggregate({"latency_s": [0.0]}) is None
    assert metrics.load("images_per_minute").value({"latency_s": 0.0}) is None
    assert metrics.load("peak_memory_gb").aggregate({"peak_memory_gb": [math.nan]}) is None
    assert metrics.load("peak_memory_gb").value({"latency_s": 1.0}) is None
