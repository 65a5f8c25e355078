"""The pixel tasks as a run: grids drawn, embedded, judged, asked about, and only once each."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml
from conftest import Checkout

from gensight.pixels.grid_text import stored_grid
from gensight.records import Candidate, Feature, Judgement, Prediction, Request, RowFile, Summary

pytestmark = pytest.mark.workflow

RUN = {
    "name": "pixels",
    "models": ["noise_grid", "drawer", "first_option"],
    "benchmarks": ["small_t2p", "small_i2p", "small_understanding"],
    "prompts": ["grid_16", "letter_16"],
    "tables": [],
    "figures": [],
}
TARGETS = [f"results/summaries/small_{name}.parquet" for name in ("t2p", "i2p", "understanding")]
#: The scorers that are left of each built-in benchmark, here with three samples.
SCORERS = {
    "t2p": {"examiner"},
    "i2p": {"grid", "descriptor"},
    "understanding": {"letter"},
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Return a checkout whose run is complete, with the noise as the source of the questions."""
    made = Checkout(tmp_path_factory.mktemp("pixels") / "checkout")
    for name, kept in SCORERS.items():
        spec = yaml.safe_load((made.folder / f"config/benchmarks/icons_{name}.yaml").read_text())
        scorers = {key: value for key, value in spec["scorers"].items() if key in kept}
        if "source" in spec:
            spec["source"] = {"model": "noise_grid", "benchmark": "small_i2p", "prompt": "grid"}
        small = {**spec, "n": 3, "scorers": scorers}
        made.write_yaml(f"config/benchmarks/small_{name}.yaml", small)
    made.edit("config/models/noise_grid.yaml", tasks=["image_to_pixel"])
    made.write_yaml("config/config.yaml", {"run": RUN})
    made.run(*TARGETS)
    return made


def rows(checkout: Checkout, path: str, row: type) -> list:
    return list(RowFile(checkout.folder / f"results/{path}.parquet", row))


def test_every_stage_has_its_rows(finished: Checkout) -> None:
    grids = rows(finished, "predictions/noise_grid/small_i2p/grid_16/grid", Prediction)
    assert {row.status for row in grids} == {"ok"} and len(grids) == 6
    features = rows(finished, "features/noise_grid/small_i2p/grid_16/descriptor", Feature)
    assert [(row.sample_id, row.variant) for row in features] == [
        (row.sample_id, row.variant) for row in grids
    ]
    gallery = rows(finished, "galleries/small_i2p/descriptor", Candidate)
    # Three sources, and each of them at every size that the benchmark can be asked at.
    sizes = Counter(row.size for row in gallery)
    assert sizes[None] == sizes[16] == 3 and set(sizes.values()) == {3}
    judged = rows(finished, "judgements/drawer/small_t2p/grid_16/pixel_icon_examiner", Judgement)
    assert {row.status for row in judged} == {"ok"}


def test_questions_show_the_grids_of_their_source(finished: Checkout) -> None:
    grids = rows(finished, "predictions/noise_grid/small_i2p/grid_16/grid", Prediction)
    shown = {row.sample_id: row.text for row in grids if row.variant == "lenient"}
    requests = rows(finished, "requests/small_understanding/letter_16", Request)
    assert len(requests) == 3
    for row in requests:
        (sample_id,) = row.sample_ids
        assert shown[sample_id] in row.turns[0]["parts"][0]["text"]
        assert stored_grid(shown[sample_id]).size == 16


def test_numbers_are_there_for_every_benchmark(finished: Checkout) -> None:
    found = {
        (row.benchmark, row.model, row.metric): row.value
        for name in RUN["benchmarks"]
        for row in rows(finished, f"summaries/{name}", Summary)
        if row.stratum is None
    }
    assert found["small_i2p", "noise_grid", "valid_grid_share"] == 100
    assert found["small_t2p", "drawer", "judge_total"] > 0
    assert ("small_understanding", "first_option", "exact_match") in found


def test_nothing_is_made_twice_and_a_change_makes_what_follows_from_it(finished: Checkout) -> None:
    config = yaml.safe_load((finished.folder / "config/config.yaml").read_text())

    with_another = [*RUN["models"], "flat_grid"]
    finished.edit("config/models/flat_grid.yaml", tasks=["image_to_pixel"])
    finished.edit("config/config.yaml", run__models=with_another)
    # Scores that go by an encoder have a rule of their own.
    scored = {"score": 1, "score_waiting": 1, "summarize": 1}
    expected = {"generate_reference": 1, "extract": 1, "embed": 1, **scored}
    assert finished.planned(*TARGETS) == expected
    finished.write_yaml("config/config.yaml", config)

    settings = {"assumed_upscaler": "nearest", "assumed_least_px": 256}
    finished.edit("config/encoders/descriptor.yaml", settings=settings)
    assert finished.planned(*TARGETS) == {
        "embed": 1,
        "embed_candidates": 1,
        "score_waiting": 1,
        "summarize": 1,
    }
    # Back again, the files are those that are there.
    finished.edit("config/encoders/descriptor.yaml", settings={**settings, "assumed_least_px": 512})
    assert finished.planned(*TARGETS) == {}


def test_a_run_without_the_source_ends_with_one_line(finished: Checkout, tmp_path: Path) -> None:
    lacking = tmp_path / "lacking.yaml"
    lacking.write_text(yaml.safe_dump({"run": {"benchmarks": ["small_understanding"]}}))
    done = finished.snakemake("-n", "--configfile", str(lacking), check=False)
    assert done.returncode != 0
    (line,) = (text for text in done.stderr.splitlines() if text.startswith("gensight: "))
    assert "run.benchmarks: 'small_understanding' under the prompt 'letter_16' asks" in line
    assert line.endswith("add 'small_i2p'")
    assert "Traceback" not in done.stderr
