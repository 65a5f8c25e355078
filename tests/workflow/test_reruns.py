"""What reruns and what never does, proved by counting planned jobs and adapter calls."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Checkout

pytestmark = pytest.mark.workflow

GENERATE = ("generate_reference", "generate_hosted", "generate_local")
CELLS = {"scenes_segmentation": 3, "scenes_counting": 2}  # of the small config


def generations(planned: dict[str, int]) -> int:
    return sum(planned.get(rule, 0) for rule in GENERATE)


def bump(checkout: Checkout, module: str) -> None:
    path = checkout.folder / "src/gensight" / module
    text = path.read_text()
    bumped, count = re.subn(r"^VERSION = 1$", "VERSION = 2", text, flags=re.MULTILINE)
    assert count == 1, f"{module} does not declare VERSION = 1"
    path.write_text(bumped)


def test_a_second_run_plans_nothing(finished: Checkout) -> None:
    assert finished.planned() == {}


def test_an_extractor_version_reruns_what_follows_from_it(finished: Checkout) -> None:
    bump(finished, "extractors/dots.py")
    cells = CELLS["scenes_counting"]
    expected = {"extract": cells, "score": cells, "summarize": 1, "tabulate": 1}
    assert finished.planned() == {**expected, "collect_tables": 1}
    calls = finished.adapter_calls()
    finished.run()
    assert finished.adapter_calls() == calls
    assert finished.planned() == {}


def test_a_metric_version_reruns_scores(finished: Checkout) -> None:
    bump(finished, "metrics/ciou.py")
    cells = CELLS["scenes_segmentation"]
    expected = {"score": cells, "summarize": 1, "tabulate": 1, "collect_tables": 1}
    assert finished.planned() == expected


def test_a_label_reruns_tables_only(finished: Checkout) -> None:
    finished.edit("config/models/echo.yaml", display__label="Copycat")
    assert finished.planned() == {"tabulate": 2, "collect_tables": 1}


@pytest.mark.parametrize(
    "edit",
    [
        lambda c: c.edit("config/models/echo.yaml", limits={"requests_per_minute": 7.0}),
        lambda c: c.edit("config/models/oracle_blur.yaml", generation__severities=[3]),
        lambda c: c.replace("config/tables/depth.yaml", "title:", "# a note\ntitle:"),
        lambda c: comment_every_script(c),
        lambda c: c.replace("workflow/rules/extract.smk", '"""Extraction', '"""About: extraction'),
        lambda c: c.replace("src/gensight/stages/extract.py", '"""Extraction', '"""About it'),
    ],
    ids=["limit", "another-model", "another-table", "script-comment", "rule-docstring", "library"],
)
def test_what_plans_nothing(finished: Checkout, edit: object) -> None:
    edit(finished)
    assert finished.planned() == {}


def comment_every_script(checkout: Checkout) -> None:
    for path in (checkout.folder / "workflow/scripts").glob("*.py"):
        path.write_text("# a comment\n" + path.read_text())


def test_a_prompt_text_reruns_its_requests_and_generations(finished: Checkout) -> None:
    finished.replace("resources/prompts/counting/mid.yaml", "Mark all", "Please mark all")
    cells = CELLS["scenes_counting"]
    expected = {"render": 1, "generate_reference": cells, "extract": cells, "score": cells}
    assert finished.planned() == {**expected, "summarize": 1, "tabulate": 1, "collect_tables": 1}


def test_a_model_that_is_added_runs_alone(finished: Checkout) -> None:
    models = ["oracle", "oracle_plan", "echo", "salient"]
    finished.edit("config/config.yaml", run__models=models)
    planned = finished.planned()
    assert planned == {
        "generate_reference": 1,
        "extract": 1,
        "score": 1,
        "summarize": 1,
        "tabulate": 1,
        "collect_tables": 1,
    }


def test_a_larger_n_asks_only_for_what_is_new(finished: Checkout) -> None:
    calls = finished.adapter_calls()
    finished.edit("config/config.yaml", run__n={"scenes_counting": 7})
    finished.run("results/summaries/scenes_counting.parquet")
    assert finished.adapter_calls() - calls == 2 * 3


def test_a_smaller_n_asks_for_nothing(finished: Checkout) -> None:
    calls = finished.adapter_calls()
    finished.edit("config/config.yaml", run__n={"scenes_counting": 2})
    finished.run("results/summaries/scenes_counting.parquet")
    assert finished.adapter_calls() == calls


def test_generations_made_again_by_force_are_followed(finished: Checkout) -> None:
    """Rows of a prediction are compared with the rows it saw, not with a clock."""
    cell = "results/generations/echo/scenes_counting/mid/all.parquet"
    script = (
        "from dataclasses import replace\n"
        "from gensight.records import *\n"
        f"file = RowFile('{cell}', Generation)\n"
        "rows = [replace(row, image=None, outcome='no_image') for row in file]\n"
        f"write_rows('{cell}', Generation, rows, file.footer.determinants)\n"
    )
    finished.python(script)
    planned = finished.planned()
    assert generations(planned) == 0
    assert planned["extract"] == planned["score"] == 1


def test_a_comment_in_a_config_is_no_change(finished: Checkout) -> None:
    path = Path(finished.folder / "config/benchmarks/scenes_counting.yaml")
    path.write_text("# a comment\n" + path.read_text())
    assert finished.planned() == {}
