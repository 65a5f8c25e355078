"""The plan: cells, shards, paths, and which digests each change of the specs changes."""

import json

import pytest
from spine_project import (
    CONFIG,
    PROJECT,
    edited,
    plan_of,
    raise_version,
    use_copy_of_library,
)

from gensight.errors import SpecError
from gensight.plan import STAGES, Cell
from gensight.plan.seeds import fresh_seed

ORACLE, MASKS = "config/models/oracle.yaml", "config/benchmarks/tiny_masks.yaml"
SHARDED, MID = "config/models/sharded.yaml", "resources/prompts/segmentation/mid.yaml"
TABLE = "config/tables/masks.yaml"


@pytest.fixture(autouse=True)
def library(monkeypatch, tmp_path):
    return use_copy_of_library(monkeypatch, tmp_path / "library")


def digests(root, files=PROJECT, config=CONFIG):
    return {path: f.digest for path, f in plan_of(root, files, config).files().items()}


def stages_of(paths):
    return {path.split("/")[1] for path in paths}


def changed(before, after):
    return {path for path in before if path in after and after[path] != before[path]}


def test_cells_are_the_models_that_take_part(tmp_path):
    assert plan_of(tmp_path).cells() == [
        Cell("oracle", "tiny_masks", "mid"),
        Cell("sharded", "tiny_masks", "mid"),
        Cell("planner", "tiny_masks", "plan"),
        Cell("oracle", "tiny_depth", "mid"),
        Cell("sharded", "tiny_depth", "mid"),
    ]


def test_prompts_of_several_turns_are_only_for_models_that_name_them(tmp_path):
    def models(files):
        return [c.model for c in plan_of(tmp_path, files).cells("tiny_masks") if c.prompt == "plan"]

    assert models(PROJECT) == ["planner"]
    assert models(edited(PROJECT, ORACLE, "prompts", ["mid", "plan"])) == ["oracle", "planner"]
    assert models(edited(PROJECT, ORACLE, "prompts", ["mid"])) == ["planner"]


def test_a_published_model_has_no_cells(tmp_path):
    files = edited(PROJECT, ORACLE, "adapter", "published")
    assert {cell.model for cell in plan_of(tmp_path, files).cells()} == {"planner", "sharded"}


# (n, shard size, expected ranges)
SHARDS = [
    (7, 3, [(0, 3), (3, 6), (6, 7)]),
    (6, 3, [(0, 3), (3, 6)]),
    (1, 3, [(0, 1)]),
    (3, 1, [(0, 1), (1, 2), (2, 3)]),
    (5, 500, [(0, 5)]),
    (20, None, [(0, None)]),
]


@pytest.mark.parametrize(("n", "size", "expected"), SHARDS)
def test_shards_cover_every_rank_once(tmp_path, n, size, expected):
    files = edited(edited(PROJECT, MASKS, "n", n), SHARDED, "shard_size", size)
    plan = plan_of(tmp_path, files)
    cell = Cell("sharded", "tiny_masks", "mid")
    assert list(plan.shards(cell).values()) == expected
    ranks = [r for first, last in expected for r in range(first, n if last is None else last)]
    assert ranks == list(range(n))


def test_a_shard_keeps_its_path_when_the_benchmark_grows(tmp_path):
    cell = Cell("sharded", "tiny_masks", "mid")
    before = plan_of(tmp_path).generation_paths(cell)
    after = plan_of(tmp_path, edited(PROJECT, MASKS, "n", 40)).generation_paths(cell)
    assert after[: len(before)] == before and len(before) == 7 and len(after) == 14


def test_files_come_upstream_first_and_know_their_inputs(tmp_path):
    files = plan_of(tmp_path).files()
    seen = set()
    for path, planned in files.items():
        assert planned.path == path and path.split("/")[1] == planned.stage
        assert set(planned.inputs) <= seen
        seen.add(path)
    scores = files["results/scores/sharded/tiny_masks/mid/mask.parquet"]
    assert scores.inputs == (
        "results/samples/tiny_masks.parquet",
        "results/predictions/sharded/tiny_masks/mid/mask.parquet",
    )
    predictions = files[scores.inputs[1]]
    assert predictions.inputs[0] == "results/samples/tiny_masks.parquet"
    assert len(predictions.inputs) == 1 + 7
    assert files["results/tables/masks.tex"].siblings == (
        "results/tables/masks.csv",
        "results/tables/masks.md",
    )


def test_determinants_are_plain_json(tmp_path):
    for planned in plan_of(tmp_path).files().values():
        assert json.loads(json.dumps(planned.determinants)) == planned.determinants


def test_the_plan_is_the_same_twice(tmp_path):
    assert digests(tmp_path / "one") == digests(tmp_path / "two")


SHOWN_ONLY = [
    (ORACLE, "display.label", "Other"),
    (ORACLE, "display.order", 99),
    (ORACLE, "display.group", "other"),
    (ORACLE, "display.note", "a note"),
    (ORACLE, "failed_above", 0.9),
    (MASKS, "display.label", "Other"),
    (TABLE, "title", "Other"),
    (TABLE, "columns.0.decimals", 3),
]


@pytest.mark.parametrize(("path", "key", "value"), SHOWN_ONLY)
def test_what_is_only_shown_changes_tables_alone(tmp_path, path, key, value):
    before = digests(tmp_path)
    after = digests(tmp_path, edited(PROJECT, path, key, value))
    assert changed(before, after) == {"results/tables/masks.tex", "results/tables/all.tex"}


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        (SHARDED, "limits", {"requests_per_minute": 3, "in_flight": 9, "memory_mb": 1}),
        ("config/benchmarks/tiny_depth.yaml", "display.label", "Other"),
    ],
)
def test_limits_and_labels_that_no_table_shows_change_nothing(tmp_path, path, key, value):
    before = digests(tmp_path)
    assert digests(tmp_path, edited(PROJECT, path, key, value)) == before


def test_the_yaml_of_a_model_outside_the_run_changes_nothing(tmp_path):
    before = digests(tmp_path)
    extra = {"config/models/other.yaml": PROJECT[ORACLE]}
    assert digests(tmp_path, {**PROJECT, **extra}) == before


def test_the_order_of_keys_in_a_yaml_changes_nothing(tmp_path):
    before = digests(tmp_path)
    turned = {name: dict(reversed(content.items())) for name, content in PROJECT.items()}
    assert digests(tmp_path, turned) == before


def test_writing_out_a_default_changes_nothing(tmp_path):
    before = digests(tmp_path)
    files = edited(PROJECT, MASKS, "dataset.parameters", {"seed": 1, "size": 8, "note": None})
    files = edited(files, ORACLE, "generation", {"method": "oracle", "bit_depth": 8})
    assert digests(tmp_path, edited(files, MASKS, "exif", "apply")) == before


#: Stages that this project has no files of.
ELSEWHERE = {"figures", "sweeps", "features", "galleries", "judgements", "aggregates"}
CELLS_OF_MASKS = ("oracle/tiny_masks", "sharded/tiny_masks", "planner/tiny_masks")
# (room, module, stages that change, a part that every changed path of a cell has)
VERSIONS = [
    ("extractors", "mask", {"predictions", "scores", "summaries", "tables"}, "tiny_masks"),
    ("extractors", "depth", {"predictions", "scores", "summaries"}, "tiny_depth"),
    ("extractors", "dots", set(), ""),
    ("measures", "overlap", {"scores", "summaries", "tables"}, "tiny_masks"),
    ("metrics", "giou", {"scores", "summaries", "tables"}, "tiny_masks"),
    ("metrics", "mae", set(), ""),
    ("datasets", "tiny", {*STAGES} - ELSEWHERE, "tiny"),
]


@pytest.mark.parametrize(("room", "name", "stages", "benchmark"), VERSIONS)
def test_a_raised_version_changes_what_follows_and_nothing_upstream(
    tmp_path, library, room, name, stages, benchmark
):
    before = digests(tmp_path)
    raise_version(library, room, name)
    found = changed(before, digests(tmp_path))
    assert stages_of(found) == stages
    assert all(benchmark in path for path in found if "/tables/" not in path)
    everything = {p for p in before if p.split("/")[1] in stages and benchmark in p}
    assert found >= everything


def test_a_raised_adapter_version_changes_its_models_alone(tmp_path, library):
    before = digests(tmp_path)
    raise_version(library, "models", "reference")
    found = changed(before, digests(tmp_path))
    assert stages_of(found) == {"generations", "predictions", "scores", "summaries", "tables"}
    assert not any("/sharded/" in path for path in found)


# (file, key, new value, stages that change)
CHANGES = [
    (MASKS, "n", 40, {*STAGES} - ELSEWHERE),
    (MASKS, "dataset.parameters.seed", 2, {*STAGES} - ELSEWHERE),
    (MASKS, "held_out.n", 5, {*STAGES} - ELSEWHERE),
    (MASKS, "exif", "ignore", {"generations", "predictions", "scores", "summaries", "tables"}),
    (
        MASKS,
        "scorers.mask.parameters",
        {"variants": ["kmeans"]},
        {"predictions", "scores", "summaries", "tables"},
    ),
    (MASKS, "scorers.mask.settings", {"long_side_px": 512}, {"scores", "summaries", "tables"}),
    (MASKS, "scorers.mask.metrics", ["giou"], {"scores", "summaries", "tables"}),
    (ORACLE, "role", "disturbed", {"summaries", "tables"}),
]


@pytest.mark.parametrize(("path", "key", "value", "stages"), CHANGES)
def test_a_change_of_a_determinant_changes_its_stage_and_what_follows(
    tmp_path, path, key, value, stages
):
    before = digests(tmp_path)
    found = changed(before, digests(tmp_path, edited(PROJECT, path, key, value)))
    assert stages_of(found) == stages


def test_growing_one_benchmark_leaves_the_other(tmp_path):
    before = digests(tmp_path)
    after = digests(tmp_path, edited(PROJECT, MASKS, "n", 40))
    assert not any("tiny_depth" in path for path in changed(before, after))
    assert stages_of(set(before) - changed(before, after)) >= {"samples", "generations", "scores"}


def test_the_run_may_set_n(tmp_path):
    config = edited({"config": CONFIG}, "config", "run.n", {"tiny_masks": 40})["config"]
    by_run = digests(tmp_path, PROJECT, config)
    assert by_run == digests(tmp_path, edited(PROJECT, MASKS, "n", 40))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("turns.0.parts.1.text", "Colour {query}."),
        ("turns.0.parts", [{"text": "Paint {query}."}, {"image": "input"}]),
        ("turns.0.answer_form.foreground", [0, 0, 0]),
    ],
)
def test_another_prompt_text_changes_that_prompts_requests_and_answers_only(tmp_path, key, value):
    before = digests(tmp_path)
    found = changed(before, digests(tmp_path, edited(PROJECT, MID, key, value)))
    requests = {path for path in found if path.startswith("results/requests")}
    assert requests == {"results/requests/tiny_masks/mid.parquet"}
    assert not any("planner" in path or "tiny_depth" in path for path in found)
    assert {p for p in before if "generations" in p and "tiny_masks/mid" in p} <= found


def test_the_generation_block_of_one_model_changes_its_own_cells(tmp_path):
    before = digests(tmp_path)
    found = changed(
        before, digests(tmp_path, edited(PROJECT, SHARDED, "generation.num_inference_steps", 30))
    )
    cells = {p for p in found if p.split("/")[1] in ("generations", "predictions", "scores")}
    assert cells == {p for p in before if "/sharded/" in p}
    assert stages_of(found - cells) == {"summaries", "tables"}


def test_removing_a_model_leaves_every_other_cell(tmp_path):
    before = digests(tmp_path)
    config = edited({"config": CONFIG}, "config", "run.models", ["oracle", "planner"])["config"]
    after = digests(tmp_path, PROJECT, config)
    assert stages_of(changed(before, after)) == {"summaries", "tables"}
    assert {path for path in before if path not in after} == {p for p in before if "/sharded/" in p}


def test_a_fresh_seed_is_drawn_once_and_kept_in_the_ledger(tmp_path):
    files = edited(PROJECT, MASKS, "dataset.parameters.seed", "fresh")
    first = plan_of(tmp_path, files).samples("tiny_masks")["parameters"]["seed"]
    assert isinstance(first, int) and first >= 0
    assert plan_of(tmp_path, files).samples("tiny_masks")["parameters"]["seed"] == first
    assert fresh_seed(tmp_path / "ledger", "tiny_masks") == first
    assert {fresh_seed(tmp_path / str(i), "tiny_masks") for i in range(3)} != {first}


@pytest.mark.parametrize("taken", ["", "fresh_seeds", "fresh_seeds/tiny_masks.json/x"])
def test_a_ledger_that_cannot_keep_a_seed_is_one_line(tmp_path, taken):
    ledger = tmp_path / "ledger"
    (ledger / taken).parent.mkdir(parents=True, exist_ok=True)
    (ledger / taken).write_text("in the way")
    with pytest.raises(SpecError, match=r"config\.yaml .*: ledger: .*'tiny_masks'") as caught:
        fresh_seed(ledger, "tiny_masks")
    assert "\n" not in str(caught.value)


def test_a_file_outside_the_run_is_explained(tmp_path):
    line = plan_of(tmp_path).not_planned("results/scores/x.parquet")
    assert "results/scores/x.parquet is no part of the run 'small'" in line and "\n" not in line
