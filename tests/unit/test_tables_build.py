from __future__ import annotations

import itertools
import random

import pytest

from gensight.errors import RecordError, SpecError
from gensight.records import Summary
from gensight.specs.base import parse
from gensight.specs.tables import TableSpec
from gensight.tables import (
    ModelInfo,
    RunFacts,
    build_table,
    render_csv,
    render_markdown,
    render_tex,
)

FACTS = RunFacts(name="demo", mark="gensight-digest:" + "ab" * 32, protocol=("Masks by Otsu.",))
BENCHMARKS = {"scenes": "Scenes", "photographs": "Photographs"}
MODELS = {
    "alpha": {"label": "Alpha", "group": "generalist", "order": 1},
    "beta": {"label": "Beta", "group": "generalist", "order": 2},
    "gamma": {"label": "Gamma", "group": "generalist", "order": 3},
    "cited": {"label": "Cited", "group": "generalist", "order": 0, "role": "published"},
    "other": {"label": "Other", "group": "generalist", "order": 0, "role": "published"},
    "oracle": {"label": "Oracle", "group": "reference", "order": 9, "role": "ceiling"},
    "salient": {"label": "Salient", "group": "reference", "order": 9, "role": "floor"},
}
COLUMN = {"benchmark": "scenes", "scorer": "mask", "metric": "giou", "header": "gIoU", "scale": 100}


def summary(model, value=0.5, **changes):
    row = {
        "model": model,
        "benchmark": "scenes",
        "prompt": "mid",
        "scorer": "mask",
        "variant": "otsu",
        "metric": "giou",
        "higher_is_better": True,
        "unit": "fraction",
        "value": value,
        "n": 20,
        "n_valid": 20,
        "coverage": 1.0,
        "format_valid": 1.0,
        "format_valid_high": 1.0,
        "clusters": 20,
    }
    return Summary(**row | changes)


def spec(columns=(COLUMN,), rows=None, **options):
    content = {
        "title": "T",
        "caption": "C.",
        "label": "tab:t",
        "columns": list(columns),
        "rows": rows or {},
        "options": {"show_coverage": False, "show_floor_ceiling": False} | options,
    }
    return parse("config/tables/t.yaml", TableSpec, content)


def build(summaries, table_spec=None, models=None):
    infos = {
        name: info if isinstance(info, ModelInfo) else ModelInfo(**info)
        for name, info in (models or MODELS).items()
    }
    return build_table(table_spec or spec(), summaries, infos, BENCHMARKS, FACTS)


def cells(table, model, severity=None):
    (row,) = [
        row
        for group in table.groups
        for row in group.rows
        if (row.model, row.severity) == (model, severity)
    ]
    return row.cells


def test_a_number_is_scaled_and_rounded_once_and_kept_unrounded():
    (cell,) = cells(build([summary("alpha", 0.6815)]), "alpha")
    assert (cell.kind, cell.printed, cell.number) == ("number", "68.2", 0.6815)


@pytest.mark.parametrize(
    ("high", "failed_above", "option", "role", "kind"),
    [
        (0.49, 0.5, None, "measured", "failed"),
        (0.50, 0.5, None, "measured", "number"),
        (0.51, 0.5, None, "measured", "number"),
        (None, 0.5, None, "measured", "number"),
        (0.00, None, None, "measured", "number"),
        (0.00, None, 0.5, "measured", "number"),
        (0.40, 0.7, None, "measured", "number"),
        (0.29, 0.7, None, "measured", "failed"),
        (0.40, 0.7, 0.5, "measured", "failed"),
        (0.00, 0.5, None, "floor", "number"),
        (0.00, 0.5, 0.5, "ceiling", "number"),
        (0.00, 0.5, None, "disturbed", "number"),
    ],
)
def test_x_follows_the_upper_bound_of_the_format_valid_share(
    high, failed_above, option, role, kind
):
    info = ModelInfo(label="Alpha", role=role, failed_above=failed_above)
    table = build(
        [summary("alpha", format_valid_high=high)], spec(failed_above=option), {"alpha": info}
    )
    (cell,) = cells(table, "alpha")
    assert (cell.kind, cell.printed, cell.number) == (kind, "50.0", 0.5)


def test_a_cell_with_answers_that_never_arrived_is_no_number_and_no_competitor():
    rows = [
        summary("alpha", 0.9, infrastructure=1, n=19),
        summary("beta", 0.5),
        summary("gamma", 0.4),
    ]
    table = build(rows)
    (alpha,), (beta,) = cells(table, "alpha"), cells(table, "beta")
    assert alpha.kind == "incomplete" and alpha.summary.n == 19 and not alpha.best
    assert beta.best


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_a_summary_without_a_value_is_undefined(value):
    (cell,) = cells(build([summary("alpha", value)]), "alpha")
    assert (cell.kind, cell.number) == ("undefined", None)


def test_a_failed_cell_without_a_value_is_still_failed():
    (cell,) = cells(build([summary("alpha", None, format_valid_high=0.1)]), "alpha")
    assert (cell.kind, cell.printed) == ("failed", "")


@pytest.mark.parametrize(
    ("higher", "values", "best"),
    [
        (True, {"alpha": 0.7, "beta": 0.6}, {"alpha"}),
        (False, {"alpha": 0.7, "beta": 0.6}, {"beta"}),
        # Equal as printed shares the mark, unequal as printed does not.
        (True, {"alpha": 0.70041, "beta": 0.70049, "gamma": 0.6999}, {"alpha", "beta", "gamma"}),
        (True, {"alpha": 0.7006, "beta": 0.70049}, {"alpha"}),
        # One competitor alone is not called best.
        (True, {"alpha": 0.7, "oracle": 1.0, "cited": 0.9, "other": 0.95}, set()),
        (True, {"alpha": 0.7, "beta": 0.6, "cited": 0.9, "other": 0.95}, {"alpha"}),
        (True, {"oracle": 1.0, "salient": 0.3}, set()),
    ],
)
def test_best_is_among_measured_rows_of_a_group(higher, values, best):
    rows = [summary(model, value, higher_is_better=higher) for model, value in values.items()]
    table = build(rows)
    assert {model for model in values if cells(table, model)[0].best} == best


def test_top_two_underlines_the_second_as_printed_and_ties_share_a_mark():
    values = {"alpha": 0.70, "beta": 0.7004, "gamma": 0.60, "cited": 0.99, "oracle": 1.0}
    rows = [summary(model, value) for model, value in values.items()]
    models = {**MODELS, "delta": {"label": "Delta", "group": "generalist", "order": 4}}
    table = build([*rows, summary("delta", 0.50)], spec(bold="top_two"), models)
    found = {m: cells(table, m)[0] for m in (*values, "delta")}
    assert {m for m, cell in found.items() if cell.best} == {"alpha", "beta"}
    assert {m for m, cell in found.items() if cell.leading} == {"gamma"}
    note = "Bold: best measured row of its group, as printed; underlined: the second."
    assert note in table.notes


def test_a_flag_of_a_whole_column_is_said_once():
    flag = "min-max over 2 rows: another set of rows changes it"
    rows = [summary(m, 0.5, uncertainty_flag=flag) for m in ("alpha", "beta")]
    assert f"{flag}: Scenes gIoU." in build(rows).notes
    rows[1] = summary("beta", 0.6)
    assert f"{flag}: Alpha (Scenes gIoU)." in build(rows).notes


def test_a_note_names_the_group_of_several_columns_once():
    columns = [COLUMN | {"header": header} for header in ("mid", "low")]
    columns += [COLUMN | {"header": "mid", "group": "Other"}]
    flag = "fewer than 10 clusters"
    rows = [summary(m, 0.5, uncertainty_flag=flag) for m in ("alpha", "beta")]
    assert f"{flag}: Scenes mid, low; Other mid." in build(rows, spec(columns)).notes


def test_who_judged_stands_in_the_header_and_in_no_note():
    flag, judge = "fewer than 10 clusters", "a_judge (answered as judge-1)"
    rows = [summary(m, 0.5, uncertainty_flag=flag, judged_by=judge) for m in ("alpha", "beta")]
    table = build(rows)
    assert {column.block for column in table.columns} == {f"Scenes, by {judge}"}
    assert not any("a_judge" in note for note in table.notes)
    lines = r"{\scriptsize by a\_judge}\\{\scriptsize (answered as judge-1)}"
    assert rf"\shortstack{{Scenes\\{lines}}}" in render_tex(table)
    assert f"Scenes, by {judge}" in render_csv(table)
    assert r"Scenes, by a\_judge (answered as judge-1): gIoU" in render_markdown(table)


def test_a_table_too_wide_to_be_read_is_printed_block_by_block():
    blocks = [("One", 8), ("Two", 8), ("Three", 5)]
    columns = [
        COLUMN | {"group": name, "header": f"{name} {n}"}
        for name, width in blocks
        for n in range(width)
    ]
    rows = [summary("alpha", 0.25), summary("beta", 0.5)]
    wide = render_tex(build(rows, spec(columns, show_coverage=False)))
    panels = wide.split(r"\begin{tabular}")[1:]
    assert [panel.count("alpha".capitalize()) for panel in panels] == [1, 1, 1]
    for (name, width), panel in zip(blocks, panels, strict=True):
        body = panel.split(r"\end{tabular}")[0]
        row = next(line for line in body.splitlines() if line.startswith("Beta"))
        assert rf"\multicolumn{{{width}}}{{c}}{{{name}}}" in body and row.count("50.0") == width
    assert wide.count(r"\label{") == 1 and wide.count("(continued)") == 2
    assert wide.count("Masks by Otsu.") == 1
    narrow = render_tex(build(rows, spec(columns[:20], show_coverage=False)))
    assert narrow.count(r"\begin{tabular}") == 1


def test_a_correlation_has_no_better_direction():
    place = {"benchmark": "pairs", "prompt": "all", "scorer": "aggregate"}
    told = {"models": 7.0, "pearson": 0.871, "pearson_p": 0.01, "top1": 50.0}
    rows = [summary("pair", value, **place, variant="", metric=m) for m, value in told.items()]
    columns = [{**COLUMN, **place, "metric": metric, "header": metric} for metric in told]
    entry = {"label": "Pair", "select": {"model": "pair"}}
    table = build(rows, spec(columns, rows={"entries": [entry]}))
    directions = {column.header: column.higher_is_better for column in table.columns}
    assert directions == {"models": None, "pearson": None, "pearson_p": None, "top1": True}


def test_a_column_may_have_no_better_side():
    control = {**COLUMN, "header": "control", "ranked": False, "has_direction": False}
    table = build([summary("alpha", 0.5)], spec([COLUMN, control]))
    numbers = [c.higher_is_better for c in table.columns if c.kind == "number"]
    assert numbers == [True, None]


def test_best_is_decided_within_each_group():
    models = {name: MODELS["alpha"] | {"group": name[0]} for name in ("a1", "a2", "b1", "b2")}
    values = {"a1": 0.9, "a2": 0.8, "b1": 0.5, "b2": 0.4}
    table = build([summary(m, v) for m, v in values.items()], models=models)
    assert [m for m in models if cells(table, m)[0].best] == ["a1", "b1"]


def test_bold_can_be_switched_off():
    table = build([summary("alpha", 0.9), summary("beta", 0.5)], spec(bold="none"))
    assert not cells(table, "alpha")[0].best


def test_valid_only_and_shares_have_no_best_and_shares_print_no_x():
    columns = [
        COLUMN | {"statistic": statistic, "header": statistic}
        for statistic in ("valid_only", "coverage", "format_valid")
    ]
    rows = [
        summary("alpha", valid_only=0.9, coverage=0.1, format_valid=0.1, format_valid_high=0.3),
        summary("beta", valid_only=0.5, coverage=1.0),
    ]
    table = build(rows, spec(columns))
    assert [cell.kind for cell in cells(table, "alpha")] == ["failed", "number", "number"]
    assert [cell.printed for cell in cells(table, "alpha")] == ["90.0", "10.0", "10.0"]
    assert not any(cell.best for cell in cells(table, "beta"))


@pytest.mark.parametrize(
    ("value", "floor", "ceiling", "higher", "printed", "kind"),
    [
        (0.5, 0.25, 0.75, True, "50", "number"),
        (0.2, 0.25, 0.75, True, "-10", "number"),
        (12.0, 40.0, 5.0, False, "80", "number"),
        (12.0, 40.0, 5.0, True, "", "undefined"),
        (0.5, 0.25, 0.75, False, "", "undefined"),
        (0.5, 0.5, 0.5, True, "", "undefined"),
        (0.5, None, 0.75, True, "", "undefined"),
    ],
)
def test_gain_runs_from_the_floor_to_the_ceiling(value, floor, ceiling, higher, printed, kind):
    row = summary("alpha", value, floor=floor, ceiling=ceiling, higher_is_better=higher)
    table = build([row], spec(show_gain=True))
    shown, gain = cells(table, "alpha")
    assert shown.kind == "number"
    assert (gain.kind, gain.printed) == (kind, printed)
    assert [column.header for column in table.columns] == ["gIoU", "gain"]


def test_code_loss_is_the_difference_of_unrounded_values():
    columns = [
        COLUMN | {"metric": "absrel", "fit": "depth"},
        COLUMN | {"metric": "absrel", "fit": "depth", "minus_fit": "monotone", "header": "loss"},
    ]
    rows = [
        summary(
            "alpha", 0.12345, metric="absrel", fit="depth", interval_low=0.1, interval_high=0.2
        ),
        summary("alpha", 0.02300, metric="absrel", fit="monotone"),
        summary("beta", 0.12345, metric="absrel", fit="depth"),
        summary("gamma", 0.12345, metric="absrel", fit="depth"),
        summary("gamma", 0.1, metric="absrel", fit="monotone", infrastructure=2),
    ]
    table = build(rows, spec(columns, show_interval=True))
    depth, loss = cells(table, "alpha")
    assert (depth.printed, depth.interval) == ("12.3", ("10.0", "20.0"))
    assert (loss.printed, loss.interval) == ("10.0", None)
    assert cells(table, "beta")[1].kind == "not_applicable"
    assert cells(table, "gamma")[1].kind == "incomplete"


def test_a_model_without_rows_is_left_out_of_a_run_and_a_dash_in_a_list():
    assert [row.model for row in build([summary("beta")]).groups[0].rows] == ["beta"]
    table = build([summary("beta")], spec(rows={"models": ["gamma", "beta"]}))
    assert [row.model for row in table.groups[0].rows] == ["gamma", "beta"]
    assert cells(table, "gamma")[0].kind == "not_applicable"


def test_an_unknown_model_in_a_list_is_named_with_the_nearest_one():
    with pytest.raises(SpecError, match=r"'alpa' is not a model of the run \(did you mean 'alpha'"):
        build([summary("beta")], spec(rows={"models": ["alpa"]}))


def test_groups_follow_the_spec_then_the_models_order():
    groups = [{"name": "reference", "label": "Reference models"}]
    rows = [summary(model) for model in MODELS]
    table = build(rows, spec(rows={"groups": groups}))
    assert [group.label for group in table.groups] == ["Reference models", "generalist"]
    assert [row.model for row in table.groups[1].rows] == [
        "cited",
        "other",
        "alpha",
        "beta",
        "gamma",
    ]


def test_a_disturbed_model_prints_one_row_per_severity():
    info = {"label": "Oracle, turned", "role": "disturbed", "severity_unit": "°"}
    rows = [summary("hue", 0.5, severity=severity) for severity in (20.0, 5.0, 2.5)]
    table = build(rows, models={"hue": info})
    labels = [row.label for row in table.groups[0].rows]
    assert labels == ["Oracle, turned, 2.5°", "Oracle, turned, 5°", "Oracle, turned, 20°"]
    percent = build(rows, models={"hue": info | {"severity_unit": "%"}})
    assert percent.groups[0].rows[0].label == "Oracle, turned, 2.5 %"
    assert build(rows, spec(severity="hide"), {"hue": info}).groups == ()


def test_floor_and_ceiling_rows_and_marks():
    bounds = {"floor": 0.31, "floor_model": "salient", "ceiling": 0.98, "ceiling_model": "oracle"}
    rows = [
        summary(m, v, **bounds) for m, v in (("alpha", 0.6), ("salient", 0.31), ("oracle", 0.98))
    ]
    table = build(rows, spec(show_floor_ceiling=True))
    last = table.groups[-1]
    assert [(row.label, row.cells[0].printed) for row in last.rows] == [
        ("Floor", "31.0"),
        ("Ceiling", "98.0"),
    ]
    assert cells(table, "salient")[0].marks == ("floor",)
    assert cells(table, "oracle")[0].marks == ("ceiling",)
    assert cells(table, "alpha")[0].marks == ()


def test_summaries_that_disagree_about_a_floor_are_refused():
    rows = [summary("alpha", floor=0.3), summary("beta", floor=0.4)]
    with pytest.raises(RecordError, match="disagree about the floor"):
        build(rows, spec(show_floor_ceiling=True))


def test_the_readable_column_counts_the_answers_of_its_block():
    columns = [
        COLUMN,
        COLUMN | {"metric": "ciou", "header": "cIoU"},
        COLUMN | {"benchmark": "photographs", "header": "gIoU"},
    ]
    rows = [
        summary("alpha", n_valid=19),
        summary("alpha", metric="ciou", n=18, n_valid=17),
        summary("alpha", benchmark="photographs", n=3, n_valid=3),
        summary("beta"),
    ]
    table = build(rows, spec(columns, show_coverage=True))
    assert [column.header for column in table.columns] == [
        "gIoU",
        "cIoU",
        "valid/n",
        "gIoU",
        "valid/n",
    ]
    assert cells(table, "alpha")[2].printed == "17/18, 19/20"
    assert cells(table, "alpha")[4].printed == "3/3"
    assert cells(table, "beta")[4].kind == "not_applicable"


def test_the_only_variant_is_taken_and_several_must_be_named():
    (cell,) = cells(build([summary("alpha", variant="grey")]), "alpha")
    assert cell.kind == "number"
    rows = [summary("alpha", variant="otsu"), summary("alpha", variant="kmeans")]
    with pytest.raises(SpecError, match="name a variant; scorer 'mask' has kmeans, otsu"):
        build(rows)
    assert cells(build(rows, spec([COLUMN | {"variant": "kmeans"}])), "alpha")[0].kind == "number"


def test_strata_are_shown_only_by_columns_that_ask():
    rows = [summary("alpha", 0.5), summary("alpha", 0.2, stratum="indoor")]
    assert cells(build(rows), "alpha")[0].printed == "50.0"
    assert cells(build(rows, spec([COLUMN | {"stratum": "indoor"}])), "alpha")[0].printed == "20.0"


def test_two_rows_for_one_cell_are_refused():
    with pytest.raises(RecordError, match="two rows for alpha/scenes/mid/mask/otsu/giou"):
        build([summary("alpha", 0.5), summary("alpha", 0.6)])


def test_the_order_of_the_rows_does_not_matter():
    rows = [
        summary(model, 0.1 * place, severity=severity)
        for place, (model, severity) in enumerate(itertools.product(MODELS, (None, 1.0, 2.0)))
    ]
    expected = build(rows)
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        assert build(rows) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, set()),
        ({"format_valid_high": 0.1}, {"×: format failure"}),
        ({"infrastructure": 1}, {"incomplete (n): answers"}),
        ({"value": None}, {"–: does not apply"}),
        ({"no_ground_truth": 4}, {"Scenes: 4 without usable truth"}),
        ({"floor_model": "alpha"}, {"f: sets the floor"}),
        ({"ceiling_model": "alpha"}, {"c: sets the ceiling"}),
    ],
)
def test_a_mark_is_explained_only_where_it_occurs(changes, expected):
    always = {"Printed × 100: gIoU.", "Masks by Otsu.", "Run demo, digest abababababab."}
    notes = build([summary("alpha", **changes)]).notes
    others = [note for note in notes if note not in always]
    assert len(others) == len(expected)
    assert all(note.startswith(tuple(expected)) for note in others)
    assert always <= set(notes)


def test_a_measured_row_says_whose_answers_it_holds():
    models = {
        "alpha": ModelInfo(label="Alpha", proven=False, answered_as=("alpha-2", "alpha-3*")),
        "beta": ModelInfo(label="Beta"),
        "gamma": ModelInfo(label="Gamma", proven=False),
        "delta": ModelInfo(label="Delta", proven=False, role="floor"),
    }
    table = build([summary(name, 0.5) for name in ("alpha", "beta", "delta")], models=models)
    told = [note for note in table.notes if note.startswith(("Alpha:", "Never run"))]
    assert told == [
        "Alpha: answers of alpha-2, alpha-3* are taken too.",
        "Never run by the makers of gensight, whose tests of these adapters are against "
        "stand-ins: Alpha.",
    ]


def test_notes_of_models_share_a_letter_when_they_are_the_same():
    models = {
        name: MODELS["alpha"] | {"note": note}
        for name, note in (
            ("a", "never run here"),
            ("b", "seen in training."),
            ("c", "never run here"),
        )
    }
    table = build([summary(name) for name in models], models=models)
    assert table.notes[2:4] == ("a: never run here.", "b: seen in training.")


def test_a_table_without_rows_says_so():
    assert "No model of this run does this task." in build([], spec()).notes
    assert (
        "No model of this run does this task." not in build([summary("alpha", 0.5)], spec()).notes
    )


def test_a_rank_that_turns_without_failed_answers_is_warned_of():
    rows = [
        summary("alpha", 0.6, valid_only=0.6, common_valid=0.6),
        summary("beta", 0.5, valid_only=0.9, common_valid=0.55),
    ]
    (warning,) = [note for note in build(rows, spec()).notes if note.startswith("Warning")]
    assert "rank differently in" in warning and "gIoU" in warning
    agreeing = [rows[0], summary("beta", 0.5, valid_only=0.55, common_valid=0.55)]
    assert not any(note.startswith("Warning") for note in build(agreeing, spec()).notes)


def test_answers_that_no_judge_could_be_read_about_are_told():
    judged = {"judged_by": "judge", "format_valid": 1.0}
    rows = [
        summary("alpha", 50.0, coverage=0.75, **judged),
        summary("beta", 40.0, coverage=1.0, **judged),
    ]
    notes = " ".join(build(rows, spec([COLUMN])).notes)
    assert "no judge's reply could be read" in notes
    assert "Alpha, " in notes and "25.0 %" in notes and "Beta, " not in notes
