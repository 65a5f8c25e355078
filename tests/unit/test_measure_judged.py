"""Points of judged answers by hand: runs, references, panels; an unread judge is no failure."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_turns import sample

from gensight import metrics
from gensight.errors import SpecError
from gensight.judges.agreement import agreement_of_panel, agreement_of_runs
from gensight.measures import judged
from gensight.records import Judgement
from gensight.statistics.agreement import icc_average, icc_single, ordinal_alpha, quadratic_kappa

ITEM = sample("s")
RUBRICS = {"icon": {"subject": [0, 20], "detail": [1, 5]}}
SETTINGS = {"rubrics": RUBRICS}
GENIUS = {"rc": {"rule": [0, 2]}, "vc": {"kept": [0, 2]}, "aq": {"looks": [0, 2]}}


def row(points=None, status=None, **columns):
    """One judgement; without points it could not be read."""
    filled = {
        "sample_id": "s",
        "variant": "lenient",
        "rubric": "icon",
        "judge_model": "m",
        "request_key": "k",
        "judge_outcome": "ok",
        "status": status or ("ok" if points else "unparseable"),
    }
    return Judgement(**{**filled, **columns}, points=points)


def icon(subject, detail, **columns):
    return row({"subject": float(subject), "detail": float(detail)}, **columns)


def parts_of(*rows, **settings):
    return judged.measure(list(rows), ITEM, {**SETTINGS, **settings})[None]


def test_one_reply_gives_its_points_and_their_sum():
    assert parts_of(icon(12, 3)) == {
        "points_subject": 12,
        "points_detail": 3,
        "total": 15,
        "least_subject": 12,
        "least_detail": 3,
        "total_least": 15,
        "most_subject": 12,
        "most_detail": 3,
        "total_most": 15,
        "runs": 1,
        "unread_runs": 0,
        "reasks": 0,
    }


def test_a_judge_that_cannot_be_read_gives_no_number_but_bounds():
    """A score, an apology and an empty text: one scored call, and two that are no zeros."""
    read, apology, empty = icon(12, 3), row(reason="not_json"), row(status="empty")
    assert parts_of(read)["total"] == 15
    for unread in (apology, empty, row(status="refused")):
        found = parts_of(unread)
        assert not {"total", "points_subject", "points_detail"} & set(found)
        assert (found["total_least"], found["total_most"]) == (1, 25)
        assert (found["least_detail"], found["most_detail"]) == (1, 5)
        assert (found["runs"], found["unread_runs"]) == (1, 1)
        for name in ("judge_total", "judge_subject_identity"):
            assert metrics.load(name).value(found) is None


def test_an_answer_that_is_none_has_no_points_or_no_part():
    zero = judged.failed(ITEM, SETTINGS)[None]
    assert zero == dict.fromkeys(
        [
            *(
                f"{bound}_{name}"
                for bound in ("points", "least", "most")
                for name in RUBRICS["icon"]
            ),
            *("total", "total_least", "total_most"),
        ],
        0.0,
    )
    assert judged.failed(ITEM, {**SETTINGS, "failure": "left_out"}) == {None: {}}
    assert metrics.load("judge_total").value(zero) == 0


def test_unread_judges_and_failed_answers_differ_in_the_mean():
    kept = [parts_of(icon(15, 5)), parts_of(row()), judged.failed(ITEM, SETTINGS)[None]]
    columns = {
        name: [parts.get(name, float("nan")) for parts in kept]
        for name in ("total", "total_least", "total_most", "runs", "unread_runs")
    }
    assert metrics.load("judge_total").aggregate(columns) == 10  # of 20 and 0
    assert metrics.load("judge_total_least").aggregate(columns) == 7  # of 20, 1 and 0
    assert metrics.load("judge_total_most").aggregate(columns) == 15  # of 20, 25 and 0
    assert metrics.load("judge_unread_share").aggregate(columns) == 50


def test_of_the_repeats_of_a_run_the_one_that_was_read_counts():
    found = parts_of(row(), icon(12, 3, reask=1))
    assert (found["total"], found["runs"], found["unread_runs"], found["reasks"]) == (15, 1, 0, 1)
    found = parts_of(row(), row(status="empty", reask=1), row(reask=2))
    assert "total" not in found
    assert (found["runs"], found["unread_runs"], found["reasks"]) == (1, 1, 2)


RUNS = [icon(10, 1, run=0), icon(20, 2, run=1), icon(12, 5, run=2)]


@pytest.mark.parametrize(
    ("aggregation", "subject", "detail"),
    [("mean", 14, 8 / 3), ("median", 12, 2), ("single", 10, 1)],
)
def test_runs_become_one_number(aggregation, subject, detail):
    found = parts_of(*RUNS, aggregation=aggregation)
    assert (found["points_subject"], found["points_detail"]) == (subject, detail)
    assert found["total"] == pytest.approx(subject + detail)
    assert found["runs"] == 3


def test_runs_that_could_not_be_read_are_left_out_of_their_mean():
    found = parts_of(RUNS[0], row(run=1), RUNS[2])
    assert (found["points_subject"], found["total_least"]) == (11, found["total"])
    assert found["unread_runs"] == 1
    # `single` is the first run: another does not stand in for it.
    assert "total" not in parts_of(row(run=0), RUNS[1], aggregation="single")


def test_a_panel_is_the_mean_of_its_judges():
    panel = [*RUNS, icon(2, 5, judge_model="n")]
    assert parts_of(*panel)["points_subject"] == 8  # of 14 and 2, whatever the number of runs
    found = parts_of(icon(10, 3), row(judge_model="n"))
    assert found["points_subject"] == 10
    assert (found["least_subject"], found["most_subject"]) == (5, 15)


def test_several_rubrics_and_references():
    """Rule and looks once, consistency for two references: the mean of 2 and 1."""
    rows = [
        row({"rule": 1.0}, rubric="rc"),
        row({"kept": 2.0}, rubric="vc", unit="a"),
        row({"kept": 1.0}, rubric="vc", unit="b"),
        row({"looks": 2.0}, rubric="aq"),
    ]
    found = judged.measure(rows, ITEM, {"rubrics": GENIUS})[None]
    assert [found[f"points_{name}"] for name in ("rule", "kept", "looks")] == [1, 1.5, 2]
    assert found["total"] == 4.5
    unread = [*rows[:2], replace(rows[2], status="unparseable", points=None), rows[3]]
    found = judged.measure(unread, ITEM, {"rubrics": GENIUS})[None]
    assert [found[f"{name}_kept"] for name in ("points", "least", "most")] == [2, 1, 2]


def test_a_sample_without_references_has_no_part_in_what_compares():
    rows = [row({"rule": 1.0}, rubric="rc"), row({"looks": 2.0}, rubric="aq")]
    found = judged.measure(rows, ITEM, {"rubrics": GENIUS})[None]
    assert not {"points_kept", "least_kept", "most_kept", "total", "total_most"} & set(found)
    assert (found["points_rule"], found["points_looks"]) == (1, 2)


def test_a_second_look_is_a_difference_and_no_run():
    found = parts_of(icon(12, 3), icon(10, 4, rescored=True))
    assert (found["total"], found["runs"], found["rescored_change"]) == (15, 1, 1)
    assert parts_of(icon(12, 3), icon(14, 5, rescored=True))["rescored_change"] == 4
    # Of three runs it is compared with the first.
    assert parts_of(*RUNS, icon(10, 5, rescored=True))["rescored_change"] == 4
    reread = parts_of(icon(12, 3), row(rescored=True), icon(12, 3, rescored=True, reask=1))
    assert (reread["rescored_change"], reread["reasks"]) == (0, 0)


def test_only_what_was_read_twice_has_a_change():
    assert "rescored_change" not in parts_of(icon(12, 3))
    assert "rescored_change" not in parts_of(icon(12, 3), row(rescored=True))
    assert "rescored_change" not in parts_of(row(), icon(12, 3, rescored=True))
    found = parts_of(icon(12, 3), row(status="no_answer", rescored=True))
    assert (found["total"], "rescored_change" in found) == (15, False)


def test_a_reply_that_never_arrived_leaves_nothing():
    assert parts_of(row(status="no_answer")) == {}
    assert parts_of(RUNS[0], RUNS[1], row(status="no_answer", run=2)) == {}
    assert parts_of(row(), row(status="no_answer", reask=1)) == {}


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 5)), min_size=1, max_size=5))
def test_the_order_of_rows_changes_no_bit(points):
    rows = [
        icon(subject, detail, run=run, judge_model=model)
        for run, (subject, detail) in enumerate(points)
        for model in ("m", "n", "o")
    ]
    mixed = random.Random(len(points)).sample(rows, len(rows))
    for aggregation in ("mean", "median", "single"):
        found = parts_of(*rows, aggregation=aggregation)
        assert parts_of(*mixed, aggregation=aggregation) == found
        assert found["total_least"] == found["total"] == found["total_most"]
        assert found["total"] == found["points_subject"] + found["points_detail"]


@pytest.mark.parametrize(
    ("settings", "told"),
    [({"failure": "half"}, "zero, left_out"), ({"aggregation": "mode"}, "mean, median, single")],
)
def test_unknown_settings_are_told(settings, told):
    for ask in (lambda s: judged.measure([icon(1, 1)], ITEM, s), lambda s: judged.failed(ITEM, s)):
        with pytest.raises(SpecError, match=told):
            ask({**SETTINGS, **settings})


def judged_items(count, seed=5):
    """Two judges with three runs each over some items, as rows and as two tables of totals."""
    source = random.Random(seed)
    rows, tables = [], {"m": [], "n": []}
    for item in range(count):
        true = source.randrange(2, 18)
        for judge in tables:
            totals = []
            for run in range(3):
                subject, detail = true + source.randrange(-2, 3), source.randrange(1, 6)
                where = {"sample_id": f"i{item:03}", "judge_model": judge, "run": run}
                rows.append(icon(subject, detail, **where))
                totals.append(subject + detail)
            tables[judge].append(totals)
    source.shuffle(rows)
    return rows, tables


CLUSTERS = {f"i{item:03}": f"c{item // 2:03}" for item in range(40)}


def test_agreement_is_that_of_the_tables_of_points():
    rows, tables = judged_items(40)
    names = list(CLUSTERS.values())
    runs = agreement_of_runs(rows, "m", CLUSTERS, benchmark="b")
    assert runs.icc_single == icc_single(tables["m"], names, "b")
    assert runs.icc_average == icc_average(tables["m"], names, "b")
    assert 0.5 < runs.icc_single.value < runs.icc_average.value < 1
    assert runs.more_runs_pay is False
    firsts = [[totals[0] for totals in tables[judge]] for judge in ("m", "n")]
    panel = agreement_of_panel(rows, CLUSTERS, benchmark="b")
    assert panel.kappas == {("m", "n"): quadratic_kappa(*firsts, names, "b")}
    assert panel.alpha == ordinal_alpha(list(zip(*firsts, strict=True)), names, "b")


def test_agreement_leaves_unread_replies_and_second_looks_out():
    rows, tables = judged_items(40)
    unread = rows[7]
    place, run = int(unread.sample_id[1:]), unread.run
    changed = [replace(one, status="empty", points=None) if one is unread else one for one in rows]
    changed.append(icon(0, 1, sample_id="i000", judge_model="m", rescored=True))
    tables[unread.judge_model][place][run] = float("nan")
    found = agreement_of_runs(changed, unread.judge_model, CLUSTERS, benchmark="b")
    assert found.icc_single == icc_single(tables[unread.judge_model], list(CLUSTERS.values()), "b")


def test_agreement_in_one_dimension():
    rows, _ = judged_items(40)
    subject = agreement_of_runs(rows, "m", CLUSTERS, dimension="subject")
    detail = agreement_of_runs(rows, "m", CLUSTERS, dimension="detail")
    assert subject.icc_single.value > 0.8 > 0.4 > detail.icc_single.value
    assert detail.more_runs_pay is True


def test_one_run_and_one_judge_have_nothing_to_agree_with():
    rows = [icon(4, 2, sample_id="i000"), icon(9, 3, sample_id="i001")]
    assert agreement_of_runs(rows, "m", CLUSTERS).icc_single.value is None
    panel = agreement_of_panel(rows, CLUSTERS)
    assert (panel.kappas, panel.alpha.value) == ({}, None)
