"""Ablations on the one road: prompts for some, subjects, readings, printed tables."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path

import pytest
from spine_project import (
    CONFIG,
    PROJECT,
    edited,
    plan_of,
    raise_version,
    read_from,
    use_copy_of_library,
)

from gensight.errors import SpecError
from gensight.plan import Plan
from gensight.specs.project import load_project

MASKS = "config/benchmarks/tiny_masks.yaml"
TABLE = "config/tables/masks.yaml"
SHORT = "resources/prompts/segmentation/short.yaml"


@pytest.fixture(autouse=True)
def library(monkeypatch, tmp_path):
    return use_copy_of_library(monkeypatch, tmp_path / "library")


@pytest.fixture
def files():
    """The small project with a second prompt and a scorer for subjects only."""
    found = copy.deepcopy(PROJECT)
    found[SHORT] = found["resources/prompts/segmentation/mid.yaml"]
    found[MASKS]["prompts"] = ["mid", "short", "plan"]
    found[MASKS]["subsets"] = [5]
    found[MASKS]["scorers"]["fixed"] = {
        "extractor": "mask",
        "reading": "fixed",
        "prompts": ["mid"],
        "subjects": "ablation",
        "ranks": 5,
        "parameters": {"variants": ["threshold_128", "threshold_225"]},
        "measure": "overlap",
        "metrics": ["giou"],
    }
    return found


def config(**run):
    found = copy.deepcopy(CONFIG)
    found["run"] |= {"prompts": ["mid", "short", "plan"], **run}
    return found


def paths_of(root, files, **run):
    return set(plan_of(root, files, config(**run)).files())


def test_a_prompt_may_be_for_some_models_alone(tmp_path, files):
    everybody = paths_of(tmp_path / "all", files)
    assert "results/scores/oracle/tiny_masks/short/mask.parquet" in everybody
    run = {"subjects": {"ablation": ["sharded"]}, "prompt_subjects": {"short": "ablation"}}
    few = paths_of(tmp_path / "few", files, **run)
    assert not any("/oracle/" in path and "/short/" in path for path in few)
    assert any("/sharded/" in path and "/short/" in path for path in few)
    assert any("/oracle/" in path and "/mid/" in path for path in few)


def test_a_prompt_for_the_first_ranks_changes_its_own_files_alone(tmp_path, files):
    before = plan_of(tmp_path / "all", files, config()).files()
    after = plan_of(tmp_path / "few", files, config(prompt_ranks={"short": 3})).files()
    changed = {p for p in before if p not in after or before[p].digest != after[p].digest}
    assert {p for p in changed if p.startswith("results/generations/")} == {
        path for path in before if path.startswith("results/generations/") and "/short/" in path
    }
    assert "results/requests/tiny_masks/mid.parquet" not in changed
    assert "results/samples/tiny_masks.parquet" not in changed
    # Shards of three follow the number that is asked for.
    short = [p for p in after if "/sharded/tiny_masks/short/" in p and "generations" in p]
    assert short == ["results/generations/sharded/tiny_masks/short/part_000.parquet"]


def test_a_scorer_of_subjects_reads_these_models_alone(tmp_path, files):
    nobody = paths_of(tmp_path / "none", files)
    assert not any("fixed" in path for path in nobody)
    found = paths_of(tmp_path / "one", files, subjects={"ablation": ["oracle"]})
    assert {path for path in found if "fixed" in path} == {
        "results/predictions/oracle/tiny_masks/mid/fixed.parquet",
        "results/scores/oracle/tiny_masks/mid/fixed.parquet",
    }


def test_one_extractor_may_read_twice_under_two_names(tmp_path, files):
    files = plan_of(tmp_path, files, config(subjects={"ablation": ["oracle"]})).files()
    mask = files["results/predictions/oracle/tiny_masks/mid/mask.parquet"].determinants
    fixed = files["results/predictions/oracle/tiny_masks/mid/fixed.parquet"].determinants
    assert (mask["parameters"]["variants"], mask["ranks"]) == (["otsu"], None)
    assert fixed["parameters"]["variants"] == ["threshold_128", "threshold_225"]
    assert fixed["ranks"] == 5


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("reading", ..., "two scorers read 'mask' with different parameters"),
        ("prompts", ["mild"], "scorers.fixed.prompts: 'mild' is not known (did you mean 'mid'?)"),
        ("ranks", 0, "ranks"),
    ],
)
def test_a_wrong_scorer_is_one_line(tmp_path, files, key, value, line):
    with pytest.raises(SpecError) as told:
        plan_of(tmp_path, edited(files, MASKS, f"scorers.fixed.{key}", value), config())
    assert line in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("run", "line"),
    [
        ({"subjects": {"ablation": ["orcale"]}}, "run.subjects.ablation: 'orcale'"),
        ({"prompt_subjects": {"short": "ablation"}}, "run.prompt_subjects: 'ablation'"),
        ({"prompt_ranks": {"shrt": 3}}, "run.prompt_ranks: 'shrt' is not known"),
        ({"published": "alone"}, "run.published"),
    ],
)
def test_a_wrong_run_is_one_line(tmp_path, files, run, line):
    with pytest.raises(SpecError) as told:
        plan_of(tmp_path, files, config(**run))
    assert line in str(told.value)
    assert "\n" not in str(told.value)


def test_a_table_about_subjects_needs_them(tmp_path, files):
    files[TABLE]["subjects"] = "ablation"
    files[TABLE]["columns"][0] |= {"subject": "each", "header": "{model}", "variant": "otsu"}
    with pytest.raises(SpecError, match=r"'masks' is about the models of run\.subjects\.ablation"):
        plan_of(tmp_path / "none", files, config())
    plan = plan_of(tmp_path / "one", files, config(subjects={"ablation": ["oracle"]}))
    assert plan.table("masks")["subjects"] == ["oracle"]


def test_a_column_of_a_subset_needs_the_subset(tmp_path, files):
    files[TABLE]["columns"][0] |= {"variant": "otsu", "stratum": "first_5"}
    assert plan_of(tmp_path / "there", files, config()).files()
    files[TABLE]["columns"][0]["stratum"] = "first_50"
    with pytest.raises(SpecError, match="stratum: 'first_50' is not known"):
        plan_of(tmp_path / "missing", files, config())


def test_a_table_in_print_alone_is_made_from_nothing_else(tmp_path, files):
    files[TABLE]["columns"][0]["variant"] = "otsu"
    files[TABLE]["published"] = {"paper": "probegen", "table": 1}
    numbers = tmp_path / "resources/published/probegen_table_1.csv"
    numbers.parent.mkdir(parents=True)
    columns = "paper,table,row_group,model,benchmark,setting,metric,value,status,higher_is_better"
    columns += ",derived,note\n"
    printed = "probegen,1,G,M,B,,{},1.0,ok,yes,no,\n"
    numbers.write_text(columns + printed.format("gIoU"))
    hidden = plan_of(tmp_path, files, config()).files()["results/tables/masks.tex"]
    only = plan_of(tmp_path, files, config(published="only")).files()["results/tables/masks.tex"]
    assert hidden.inputs == ("results/summaries/tiny_masks.parquet",)
    assert only.inputs == ()
    numbers.write_text(columns + printed.format("cIoU"))
    again = plan_of(tmp_path, files, config(published="only")).files()["results/tables/masks.tex"]
    assert again.digest != only.digest
    assert plan_of(tmp_path, files, config()).files()["results/tables/masks.tex"] == hidden


@pytest.fixture
def on_disk(library, monkeypatch):
    """Make the small data set one that lies on the user's disk."""
    module = library / "datasets/tiny.py"
    module.write_text(module.read_text() + 'FOLDER = "tiny"\n')
    read_from(monkeypatch, library)


def test_a_manifest_of_a_built_in_data_set_is_one_line(tmp_path, files):
    files[MASKS]["dataset"]["manifest"] = "resources/manifests/tiny_masks.csv"
    with pytest.raises(SpecError, match="'tiny' is built in and has no files to freeze"):
        plan_of(tmp_path, files, config())


def test_a_manifest_is_known_by_its_content(tmp_path, files, on_disk):
    files[MASKS]["dataset"]["manifest"] = "resources/manifests/tiny_masks.csv"
    with pytest.raises(SpecError, match="gensight data manifest tiny_masks"):
        plan_of(tmp_path, files, config()).files()
    path = tmp_path / "resources/manifests/tiny_masks.csv"
    path.parent.mkdir(parents=True)
    digests = set()
    for content in ("rank,id\n0,a\n", "rank,id\n0,b\n"):
        path.write_text(content)
        digests.add(plan_of(tmp_path, files, config()).files()[SAMPLES].digest)
    assert len(digests) == 2


SAMPLES = "results/samples/tiny_masks.parquet"


def test_a_twin_is_never_taken_for_the_data_set(tmp_path, library, monkeypatch):
    module = library / "datasets/tiny.py"
    module.write_text(module.read_text().replace('"flag": False', '"flag": False, "twin": False'))
    read_from(monkeypatch, library)
    asked = copy.deepcopy(CONFIG)
    real = plan_of(tmp_path, PROJECT, asked).files()[SAMPLES]
    asked["run"]["twin"] = True
    twin = plan_of(tmp_path, PROJECT, asked).files()[SAMPLES]
    assert (real.determinants["parameters"]["twin"], twin.determinants["parameters"]["twin"]) == (
        False,
        True,
    )
    assert real.digest != twin.digest


def test_where_the_data_lie_determines_nothing(tmp_path, on_disk):
    here = load_project({**copy.deepcopy(CONFIG), "data_root": "here"}, write_once(tmp_path))
    there = load_project({**copy.deepcopy(CONFIG), "data": {"tiny": "/there"}}, tmp_path)
    assert here.data_folder("tiny") == tmp_path / "here/tiny"
    assert there.data_folder("tiny") == Path("/there")
    assert {p: f.digest for p, f in Plan(here).files().items()} == {
        p: f.digest for p, f in Plan(there).files().items()
    }


def write_once(root):
    from spine_project import write

    shutil.rmtree(root / "config", ignore_errors=True)
    return write(root)


GRID = {
    "extractor": "grid",
    "measure": "overlap",
    "metrics": ["giou"],
    "parameters": {
        "extractor": "mask",
        "variant": "otsu",
        "grid": {"contrast_floor": [8, 16]},
        "keep": ["mask"],
    },
}


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("grid", {"contrast_floor": 12}, "grid.contrast_floor: expected a list of values, got 12"),
        ("grid", {"contrast_floor": []}, "expected a list of values, got []"),
        ("grid", {"contrast_floor": [8, 8]}, "8 is listed twice"),
        ("grid", {"contrast_floor": [8, "x"]}, "grid.contrast_floor: expected int, got 'x'"),
        ("grid", {"contrast_flor": [8]}, "'contrast_flor' is not known (did you mean"),
        ("grid", None, "parameters.grid"),
        ("variant", "otsuu", "parameters.variant: 'otsuu' is not known"),
        ("extractor", "maks", "parameters.extractor: 'maks' is not known"),
    ],
)
def test_a_wrong_grid_is_one_line_before_anything_is_asked(tmp_path, files, key, value, line):
    files[MASKS]["scorers"]["swept"] = copy.deepcopy(GRID)
    assert plan_of(tmp_path / "right", files, config()).files()
    files[MASKS]["scorers"]["swept"]["parameters"][key] = value
    with pytest.raises(SpecError) as told:
        plan_of(tmp_path / "wrong", files, config()).files()
    assert line in str(told.value)
    assert "\n" not in str(told.value)


def test_a_raised_version_of_the_inner_extractor_reads_the_grid_again(tmp_path, files, library):
    files[MASKS]["scorers"]["swept"] = copy.deepcopy(GRID)
    path = "results/predictions/oracle/tiny_masks/mid/grid.parquet"
    before = plan_of(tmp_path / "one", files, config()).files()[path].digest
    raise_version(library, "extractors", "mask")
    assert plan_of(tmp_path / "two", files, config()).files()[path].digest != before


def test_a_prompt_and_its_scorer_agree_on_the_colour(tmp_path, files):
    files[SHORT] = copy.deepcopy(files[SHORT])
    files[SHORT]["turns"][0]["answer_form"] = {"kind": "overlay", "colour": [0, 255, 0]}
    scorer = {"extractor": "overlay", "measure": "overlap", "metrics": ["giou"]}
    files[MASKS]["scorers"]["tint"] = {**scorer, "prompts": ["short"]}
    with pytest.raises(SpecError, match=r"tint\.parameters\.colour: \[255, 0, 0\] is not the"):
        plan_of(tmp_path / "wrong", files, config())
    files[MASKS]["scorers"]["tint"]["parameters"] = {"colour": [0, 255, 0]}
    assert plan_of(tmp_path / "right", files, config()).files()


@pytest.mark.parametrize(
    ("subsets", "line"), [([5, 5], "listed twice"), ([30], "30 is more than the 20"), ([0], "0")]
)
def test_a_wrong_subset_is_one_line(tmp_path, files, subsets, line):
    files[MASKS]["subsets"] = subsets
    with pytest.raises(SpecError) as told:
        plan_of(tmp_path, files, config())
    assert "subsets" in str(told.value) and line in str(told.value)


def test_a_papers_numbers_do_not_stand_beside_those_of_twins(tmp_path, files):
    with pytest.raises(SpecError, match="do not belong beside those of synthetic twins"):
        plan_of(tmp_path, files, config(twin=True, published="beside"))


def test_reports_of_twins_say_so_in_their_title(tmp_path, files):
    assert plan_of(tmp_path, files, config()).table("masks")["spec"]["title"] == "Masks"
    twin = plan_of(tmp_path, files, config(twin=True)).table("masks")["spec"]["title"]
    assert twin == "Masks (synthetic twins)"
