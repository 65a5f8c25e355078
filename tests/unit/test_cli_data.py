"""`gensight data`: what is here, frozen orders, addresses and twins, in a small checkout."""

import csv
import io
import json

import pytest
from cli_files import answer, call, error
from pixmo_files import picture, row, sha_of, write_parquet, write_pictures

from gensight.datasets import pixmo_points
from gensight.datasets._manifest import read_manifest
from gensight.licences import LICENCES
from gensight.specs import declared
from gensight.twins import TASKS

ROWS = [row(number, number % 7) for number in range(40)]
PROJECT = {
    "Snakefile": "",
    "config/config.yaml": (
        "run: {name: small, models: [oracle], benchmarks: [things], prompts: [mid]}\n"
    ),
    "config/models/oracle.yaml": (
        "adapter: reference\ngeneration: {method: oracle}\nrole: ceiling\n"
        "failed_above: null\ndisplay: {label: Oracle}\n"
    ),
    "config/benchmarks/things.yaml": (
        "task: counting\ndataset: {module: pixmo_points, parameters: {assumed_max_count: 9}}\n"
        "n: 6\nheld_out: {first_rank: 10, n: 2}\nprompts: [mid]\n"
        "scorers: {dots: {extractor: dots, measure: count_match, metrics: [mae]}}\n"
        "display: {label: Things}\n"
    ),
    "config/benchmarks/rooms.yaml": (
        "task: counting\ndataset: {module: scenes, parameters: {task: counting}}\n"
        "n: 2\nprompts: [mid]\n"
        "scorers: {dots: {extractor: dots, measure: count_match, metrics: [mae]}}\n"
        "display: {label: Rooms}\n"
    ),
    "resources/prompts/counting/mid.yaml": (
        "task: counting\nturns:\n  - parts: [{image: input}, {text: 'Mark all {query}.'}]\n"
        "    answer_form: {kind: dots, colour: [255, 0, 0]}\n"
    ),
}
ON_DISK = [n for n in declared.names("datasets") if "FOLDER" in declared.constants("datasets", n)]


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    write(tmp_path, PROJECT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def data(checkout):
    """The data set of the benchmark `things`, whole: 40 rows, 40 pictures."""
    folder = checkout / "data/pixmo_points"
    write_parquet(folder / "rows.parquet", ROWS)
    write_pictures(folder, range(40))
    return folder


def parameters(folder):
    return {**pixmo_points.DEFAULTS, "root": str(folder), "assumed_max_count": 9}


def checked(*arguments, code):
    """Return the data sets of `check --json`, which must end with this code."""
    done = call("data", "check", "--json", *arguments)
    found = json.loads(done.stdout)
    assert (done.exit_code, found["ok"], done.stderr) == (code, code == 0, "")
    return {one["benchmark"] or one["module"]: one for one in found["data_sets"]}


# check


def test_data_that_are_not_there_are_missing(checkout):
    found = checked(code=1)
    assert set(found) == {*ON_DISK, "things"} - {"pixmo_points"}
    for name, one in found.items():
        assert one["state"] == "missing"
        assert one["needed"] == (name == "things")
        assert (one["found"], one["drawable"]) == (None, None)
        assert one["folder"] == f"data/{declared.constants('datasets', one['module'])['FOLDER']}"
        licence = LICENCES[declared.constants("datasets", one["module"])["LICENCE"]]
        assert (one["licence"], one["may_show"]) == (licence.name, licence.may_show)
        assert one["source"] == declared.constants("datasets", one["module"])["SOURCE"]


def test_data_that_are_there_are_counted(data):
    one = checked(code=0)["things"]
    assert (one["state"], one["lack"]) == ("present", None)
    assert (one["found"], one["expected"], one["drawable"]) == (40, None, 40)


def test_fewer_rows_than_the_data_set_ships_are_partial(checkout, data):
    benchmark = PROJECT["config/benchmarks/things.yaml"].replace("assumed_max_count: 9", "seed: 1")
    write(checkout, {"config/benchmarks/things.yaml": benchmark})
    one = checked(code=1)["things"]
    assert (one["state"], one["found"], one["expected"]) == ("partial", 40, 2_376_222)
    assert one["lack"] == f"40 found where the data set ships 2376222; {pixmo_points.SOURCE}"


def test_too_few_pictures_are_partial(data):
    for number in range(36):
        (data / "images" / f"{sha_of(picture(number))}.png").unlink()
    one = checked(code=1)["things"]
    assert (one["state"], one["found"]) == ("partial", 40)
    assert one["drawable"] < 6
    assert "gensight data urls things" in one["lack"]


def test_a_data_set_that_the_run_does_not_need_ends_well(checkout, data):
    (checkout / "data/kitti").mkdir()
    assert checked(code=0)["kitti"]["state"] == "missing"
    (checkout / "data/kitti/readme.txt").write_text("nothing else came")
    assert checked(code=0)["kitti"]["state"] == "partial"


@pytest.mark.parametrize(
    ("config", "folder"),
    [
        ("data_root: elsewhere\n", "elsewhere/pixmo_points"),
        ("data: {pixmo_points: mine}\n", "mine"),
    ],
)
def test_the_config_says_where_data_lie(checkout, data, config, folder):
    (checkout / folder).parent.mkdir(exist_ok=True)
    data.rename(checkout / folder)
    assert checked(code=1)["things"]["state"] == "missing"
    write(checkout, {"local.yaml": config})
    one = checked("--configfile", "local.yaml", code=0)["things"]
    assert (one["state"], one["folder"]) == ("present", folder)


def test_a_configfile_merges_mappings_and_replaces_lists(checkout, data):
    write(checkout, {"local.yaml": "run: {benchmarks: [rooms]}\n"})
    assert not checked("--configfile", "local.yaml", code=0)["things"]["needed"]
    write(checkout, {"local.yaml": "run: {benchmark: [rooms]}\n"})
    assert "unknown key 'run.benchmark'" in error("data", "check", "--configfile", "local.yaml")


def test_people_read_what_to_get(checkout):
    done = call("data", "check")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert any(line.startswith("things (needed): ") and "allenai" in line for line in lines)
    assert lines[-1] == "the run 'small' lacks: things"


def test_one_wrong_data_set_hides_no_other(checkout, data):
    benchmark = PROJECT["config/benchmarks/things.yaml"].replace("count: 9", "count: -9")
    write(checkout, {"config/benchmarks/more.yaml": benchmark})
    found = checked(code=0)
    assert found["things"]["state"] == "present"
    assert found["more"]["state"] == "partial"
    assert "assumed_max_count" in found["more"]["lack"]


# manifest


def frozen(*arguments):
    done = call("data", "manifest", *arguments)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def test_a_manifest_holds_the_ranks_that_are_used(checkout, data):
    told = frozen("things")
    path = checkout / "resources/manifests/things.csv"
    assert told == "resources/manifests/things.csv: 12 of 40 items, seed 0\n"
    samples = list(pixmo_points.iter_samples(parameters(data), range(12)))
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(r["sample_id"], r["cluster_id"], r["stratum"]) for r in rows] == [
        (s.sample_id, s.cluster_id, s.stratum) for s in samples
    ]
    assert {(r["dataset"], r["seed"], r["population_n"]) for r in rows} == {
        ("pixmo_points", "0", "40")
    }
    assert read_manifest(path) == [s.sample_id for s in samples]


def test_a_whole_manifest_begins_like_a_short_one(data):
    short, whole = (
        list(csv.reader(io.StringIO(frozen("things", "--output", "-", *more))))
        for more in ([], ["--all"])
    )
    assert (len(short), len(whole)) == (13, 41)
    assert [line[:4] for line in whole[:13]] == [line[:4] for line in short]


def test_held_out_ranks_that_cannot_be_drawn_are_left_out(data):
    for item in list(pixmo_points.list_items(parameters(data)))[8:]:
        (data / "images" / f"{item.cluster_id}.png").write_bytes(b"")
    assert frozen("things", "--output", "short.csv").startswith("short.csv: 8 of 40 items")


def test_a_manifest_of_too_few_pictures_is_refused(checkout, data):
    for path in sorted((data / "images").iterdir())[:37]:
        path.unlink()
    assert "can be drawn" in error("data", "manifest", "things")
    assert not (checkout / "resources/manifests").exists()


def test_a_manifest_that_differs_is_not_overwritten(checkout, data):
    frozen("things", "--output", "mine.csv")
    before = (checkout / "mine.csv").read_bytes()
    frozen("things", "--output", "mine.csv")
    first = pixmo_points.items_in_rank_order(parameters(data), 1)[0]
    (data / "images" / f"{first.cluster_id}.png").unlink()
    assert "--overwrite" in error("data", "manifest", "things", "--output", "mine.csv")
    assert (checkout / "mine.csv").read_bytes() == before
    frozen("things", "--output", "mine.csv", "--overwrite")
    second = before.decode().splitlines()[2].split(",")[1]
    assert read_manifest(checkout / "mine.csv")[0] == second


def test_a_benchmark_with_a_manifest_is_written_to_it_and_read_from_it(checkout, data):
    benchmark = PROJECT["config/benchmarks/things.yaml"].replace(
        "module: pixmo_points,", "module: pixmo_points, manifest: frozen.csv,"
    )
    write(checkout, {"config/benchmarks/things.yaml": benchmark})
    assert "frozen.csv: cannot be read" in checked(code=1)["things"]["lack"]
    assert frozen("things").startswith("frozen.csv: 12 of")
    first = read_manifest(checkout / "frozen.csv")[0]
    one = checked(code=0)["things"]
    assert (one["found"], one["drawable"]) == (40, 12)
    (gone,) = [p for p in (data / "images").iterdir() if p.name.startswith(first[:12])]
    gone.unlink()
    assert checked(code=0)["things"]["drawable"] == 11
    listed = call("data", "urls", "things").stdout.splitlines()
    assert [line.split("\t")[2] for line in listed[1:]] == [gone.stem]


@pytest.mark.parametrize(
    ("name", "word"), [("rooms", "is built in"), ("thing", "did you mean 'things'")]
)
def test_a_benchmark_without_files_has_no_manifest(checkout, name, word):
    assert word in error("data", "manifest", name)


def test_a_manifest_without_its_data_is_one_line(checkout):
    assert "data/pixmo_points is not there" in error("data", "manifest", "things")


# urls


@pytest.mark.parametrize("name", ["things", "pixmo_points"])
def test_addresses_are_those_of_the_ranks_that_are_used(data, name):
    items = pixmo_points.list_items(parameters(data))
    for place in (0, 11, 12):
        (data / "images" / f"{items[place].cluster_id}.png").unlink()
    by_image = {one["image_sha256"]: one["image_url"] for one in ROWS}
    expected = ["place\timage_url\timage_sha256"]
    expected += [
        f"{place}\t{by_image[items[place].cluster_id]}\t{items[place].cluster_id}"
        for place in (0, 11)
    ]
    assert call("data", "urls", name).stdout.splitlines() == expected
    assert len(call("data", "urls", name, "--n", "13").stdout.splitlines()) == 4
    assert len(call("data", "urls", name, "--n", "11").stdout.splitlines()) == 2


def test_addresses_depend_on_the_benchmark(checkout, data):
    other = PROJECT["config/benchmarks/things.yaml"].replace("assumed_max_count: 9", "seed: 5")
    write(checkout, {"config/benchmarks/other.yaml": other})
    assert "say for which benchmark: other, things" in error("data", "urls", "pixmo_points")
    for path in (data / "images").iterdir():
        path.unlink()
    first, second = (call("data", "urls", name).stdout for name in ("things", "other"))
    assert first != second
    assert len(first.splitlines()) == len(second.splitlines()) == 13


@pytest.mark.parametrize(
    ("name", "word"), [("kitti", "come as a whole"), ("pixmo", "did you mean 'pixmo_points'")]
)
def test_other_data_sets_have_no_addresses(checkout, name, word):
    assert word in error("data", "urls", name)


# twin


def test_a_run_reads_the_twins_of_its_data_sets(checkout):
    found = answer("data", "twin", "twins", "--n", "2")
    assert found == {"folder": "twins", "n": 2, "data_sets": found["data_sets"]}
    assert set(found["data_sets"]) == set(TASKS)
    assert "--overwrite" in error("data", "twin", "twins", "--n", "2")
    benchmark = PROJECT["config/benchmarks/things.yaml"].replace("assumed_max_count: 9", "seed: 1")
    write(checkout, {"config/benchmarks/things.yaml": benchmark})
    write(checkout, {"local.yaml": "data_root: twins\nrun: {twin: true, n: {things: 2}}\n"})
    for name, one in with_a_twin(checked("--configfile", "local.yaml", code=0)).items():
        assert (name, one["state"], one["lack"]) == (name, "present", None)
        assert (one["found"], one["expected"]) == (2, None)
    write(checkout, {"local.yaml": "data_root: twins\n"})
    for name, one in with_a_twin(checked("--configfile", "local.yaml", code=1)).items():
        assert (name, one["state"]) == (name, "missing")
        assert "synthetic twin" in one["lack"]


def with_a_twin(found):
    """Return the data sets that can be written as twins; ImageNet and one's own pictures cannot."""
    kept = {name: one for name, one in found.items() if one["module"] in TASKS}
    assert {one["module"] for one in kept.values()} == set(TASKS)
    assert {one["module"] for one in found.values()} - set(TASKS) == {
        "imagenet_val",
        "picture_folder",
    }
    return kept


@pytest.mark.parametrize("command", ["check", "manifest things", "urls things"])
def test_outside_a_checkout_is_one_line(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    assert "no Snakefile here" in error("data", *command.split())
