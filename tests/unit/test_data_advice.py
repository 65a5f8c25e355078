"""How to get a data set: told once, where files of it are not there, and with no other error."""

import pytest
from cli_files import call
from test_cli_data import PROJECT, write

from gensight import datasets
from gensight.datasets import scenes
from gensight.datasets._disk import TWIN_MARK, population_of
from gensight.errors import AbsentDataError, MissingDataError
from gensight.specs import declared
from gensight.stages.sample import sample
from gensight.twins import write_twin

ON_DISK = [n for n in declared.names("datasets") if "FOLDER" in declared.constants("datasets", n)]
FEW = {"pixmo_points": "counting", "kitti": "depth"}


def reading(root, name, **given):
    module = datasets.load(name)
    return module, {**module.DEFAULTS, "root": str(root), "source": module.SOURCE, **given}


def refused(module, parameters):
    with pytest.raises(MissingDataError) as caught:
        list(module.iter_samples(parameters, [0]))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", ON_DISK)
def test_files_that_are_not_there_are_told_with_their_source(tmp_path, name):
    module, parameters = reading(tmp_path / "nowhere", name)
    told = f"{tmp_path / 'nowhere'} is not there; {module.SOURCE}"
    assert (refused(module, parameters), module.missing_data(parameters)) == (told, told)


@pytest.mark.parametrize("name", ON_DISK)
def test_a_folder_that_lacks_files_is_told_with_their_source(tmp_path, name):
    module, parameters = reading(tmp_path, name)
    for told in (refused(module, parameters), module.missing_data(parameters)):
        assert told.endswith(f"; {module.SOURCE}")
        assert told.count(module.SOURCE) == 1


@pytest.mark.parametrize("name", ON_DISK)
def test_a_twin_that_is_not_there_is_to_be_made(tmp_path, name):
    module, parameters = reading(tmp_path / "twin" / name, name, twin=True)
    told = refused(module, parameters)
    assert told.endswith(f"is not there; make twins: gensight data twin {tmp_path / 'twin'}")


@pytest.mark.parametrize("name", ON_DISK)
def test_a_twin_that_lacks_files_is_to_be_made_again(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / TWIN_MARK).write_text("")
    module, parameters = reading(tmp_path / name, name, twin=True)
    assert refused(module, parameters).endswith(f"data twin {tmp_path} --overwrite")


@pytest.mark.parametrize("name", ON_DISK)
@pytest.mark.parametrize("twin", [True, False])
def test_a_twin_and_the_data_set_are_both_here_for_another_run(tmp_path, name, twin):
    if not twin:
        (tmp_path / TWIN_MARK).write_text("")
    module, parameters = reading(tmp_path, name, twin=twin)
    assert module.SOURCE not in refused(module, parameters)
    assert "synthetic twin" in module.missing_data(parameters)


def test_other_errors_carry_no_advice(tmp_path):
    write_twin(tmp_path, 2, tasks=FEW)
    for name in FEW:
        module, parameters = reading(tmp_path / name, name, twin=True)
        with pytest.raises(MissingDataError, match="rank 2 is asked for") as caught:
            list(module.iter_samples(parameters, [2]))
        assert "data twin" not in str(caught.value)
    (tmp_path / "pixmo_points/twin.parquet").write_bytes(b"PAR1")
    module, parameters = reading(tmp_path / "pixmo_points", "pixmo_points", twin=True)
    assert "cannot be read as PixMo-Points" in refused(module, parameters)
    assert "data twin" not in refused(module, parameters)


def test_advice_is_given_once():
    def absent(parameters):
        raise AbsentDataError("x is not there")

    population = population_of(lambda parameters: [population_of(absent)(parameters)])
    with pytest.raises(MissingDataError, match=r"^x is not there; get it$"):
        population({"twin": False, "source": "get it", "seed": 0})


def plan(name, **given):
    defaults = declared.constants("datasets", name)["DEFAULTS"]
    return {
        "stage": "samples",
        "benchmark": "things",
        "dataset": name,
        "parameters": {**defaults, **given},
        "n": 1,
        "held_out": None,
        "manifest": None,
    }


@pytest.mark.parametrize("name", ON_DISK)
def test_the_stage_tells_the_source_once(tmp_path, name):
    module, nowhere = datasets.load(name), tmp_path / "nowhere"
    with pytest.raises(MissingDataError) as caught:
        sample(str(tmp_path / "x.parquet"), plan(name), str(nowhere))
    assert str(caught.value) == f"things: {nowhere} is not there; {module.SOURCE}"


def test_the_stage_needs_no_source_of_built_in_scenes(tmp_path):
    given = {"task": "depth", "width": 128, "height": 128}
    assert not hasattr(scenes, "SOURCE")
    assert sample(str(tmp_path / "x.parquet"), plan("scenes", **given)) == 1


def test_the_command_line_tells_the_source_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, PROJECT)
    module = datasets.load("pixmo_points")
    lines = call("data", "check").stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("things (needed): ")]
    assert line.endswith(f"data/pixmo_points is not there; {module.SOURCE}")
    assert line.count(module.SOURCE) == 1


def test_a_wrong_parameter_is_told_without_a_source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrong = PROJECT["config/benchmarks/things.yaml"].replace("count: 9", "count: -9")
    write(tmp_path, {**PROJECT, "config/benchmarks/things.yaml": wrong})
    (tmp_path / "data/pixmo_points").mkdir(parents=True)
    (tmp_path / "data/pixmo_points/rows.parquet").write_bytes(b"")
    lines = call("data", "check").stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("things (needed): ")]
    assert line.endswith("assumed_max_count: expected a whole number, got -9")
