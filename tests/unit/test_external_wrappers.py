"""The shipped wrappers: size, versions, and each against a stand-in of what it calls."""

import ast
import io
import json
import re

import numpy as np
import pytest
import yaml
from external_environments import COMMIT, MODELS, environments, hub, opener
from external_rig import ROOT, generation_of, picture, turn
from PIL import Image

from gensight.conformance import check, text_for
from gensight.errors import AnswerError, GensightError
from gensight.models import Site
from gensight.models.external_command import WRAPPERS, open_model
from gensight.specs import declared
from gensight.specs.base import load_spec
from gensight.specs.model import ModelSpec
from gensight.specs.protocols import PROTOCOLS

MOST_LINES = 100
PATHS = sorted(path for path in (ROOT / WRAPPERS).glob("*.py") if path.stem != "protocol")
SPECS = {
    path.stem: spec
    for path in sorted((ROOT / "config/models").glob("*.yaml"))
    if (spec := load_spec(path, ModelSpec)).kind == "external"
}
WRAPPED = {name: spec for name, spec in SPECS.items() if "wrapper" in spec.generation}
DOCUMENTED_ONLY = {"depth_anything_3", "lance", "sensenova_u1", "uniworld", "uno"}
PINNED = re.compile(r"[a-z0-9_-]+==[0-9][0-9a-z.]*")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return environments(tmp_path_factory.mktemp("environments"))


@pytest.fixture
def opened(made, tmp_path, monkeypatch):
    return opener(made, tmp_path, monkeypatch)


def levels_of(reply):
    return np.asarray(Image.open(io.BytesIO(reply.images[0])))


def text(name, query="cup"):
    return text_for(SPECS[name], ROOT).replace("cup", query)


def test_every_external_model_has_a_wrapper_or_says_that_it_has_none():
    assert set(SPECS) - set(WRAPPED) == DOCUMENTED_ONLY
    assert {spec.generation["wrapper"] for spec in WRAPPED.values()} == {p.stem for p in PATHS}
    for name in DOCUMENTED_ONLY:
        with pytest.raises(GensightError, match="has no wrapper in this version"):
            open_model(SPECS[name].generation, [], Site(root=ROOT))


def test_none_of_them_is_said_to_have_run():
    assert not PROTOCOLS["external_command"].proven


@pytest.mark.parametrize("name", WRAPPED)
def test_a_spec_names_the_version_of_its_wrapper(name):
    generation = WRAPPED[name].generation
    body = ast.parse((ROOT / WRAPPERS / f"{generation['wrapper']}.py").read_text()).body
    (version,) = (
        node.value.value
        for node in body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "VERSION"
    )
    assert generation["wrapper_version"] == version
    declared.merged(name, "generation", "models", "external_command", generation)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_wrapper_is_short_and_stands_alone(path):
    source = path.read_text()
    assert len(source.splitlines()) <= MOST_LINES
    top = [node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {a.name for n in top if isinstance(n, ast.Import) for a in n.names}
    imported |= {n.module.split(".")[0] for n in top if isinstance(n, ast.ImportFrom)}
    # What is heavy is imported once the streams are taken.
    assert imported <= {"__future__", "os", "pathlib", "protocol", "random", "re", "sys",
                        "tempfile", "typing"}  # fmt: skip
    assert "gensight" not in source


def test_the_shared_file_needs_no_more_than_python_3_8():
    source = (ROOT / WRAPPERS / "protocol.py").read_text()
    tree = ast.parse(source, feature_version=(3, 8))
    imported = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    assert imported == {"hashlib", "json", "logging", "os", "random", "re", "subprocess", "sys",
                        "traceback"}  # fmt: skip
    for path in PATHS:
        ast.parse(path.read_text(), feature_version=(3, 8))


@pytest.mark.parametrize("name", MODELS)
def test_an_environment_is_pinned(name):
    spec = WRAPPED[name]
    folder = spec.generation["environment"]
    file = (ROOT / f"envs/{folder}.yaml").read_text()
    assert f"conda env create -p .envs/{folder} -f envs/{folder}.yaml" in file
    *conda, pip = yaml.safe_load(file)["dependencies"]
    assert conda[0].startswith("python =3.")
    assert all(PINNED.fullmatch(package) for package in pip["pip"])


@pytest.mark.parametrize("name", MODELS)
def test_a_spec_names_a_whole_commit(name):
    generation = generation_of(name)
    assert re.fullmatch("[0-9a-f]{40}", generation["assumed_revision"])
    source = (ROOT / WRAPPERS / f"{generation['wrapper']}.py").read_text()
    told = re.search(r"at ([0-9a-f]{8})", source)[1]
    assert generation["assumed_revision"].startswith(told)
    assert f"{generation['repository']} at" in source


@pytest.mark.parametrize("name", MODELS)
def test_a_wrapper_keeps_to_the_protocol(made, tmp_path, monkeypatch, name):
    for variable, value in hub(tmp_path / "hub", name).items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    generation, site = made(name)
    results = check(generation, site, text(name))
    assert len(results) == 8
    assert [line for line in results if line[1] is not None] == []


@pytest.mark.parametrize("name", MODELS)
def test_what_is_recorded(opened, made, name):
    with opened(name) as model:
        reply = model.answer(turn(picture(64, 48), text(name), seed=5))
    setup = json.loads(reply.setup)
    generation = generation_of(name)
    assert reply.outcome == "ok"
    assert (reply.device, reply.peak_memory_gb) == ("stub GPU", 2.5)
    assert setup["revision"] == made(name)[0]["assumed_revision"]
    assert setup["weights"] == generation["weights"]
    if name == "countgd_pp":
        assert re.fullmatch("[0-9a-f]{64}", setup["weights_revision"])
    else:
        assert setup["weights_revision"] == COMMIT
    assert setup["dtype"] == ("float32" if name == "countgd_pp" else "bfloat16")
    assert "torch" in setup["libraries"] and setup["libraries"]["python"]
    assert (setup["seed"], setup["batch_size"]) == (5, 1)
    assert setup["sizes"]["sent"] == [64, 48]


def test_lotus_answers_with_a_map_at_the_size_of_the_picture(opened):
    sent = picture(64, 48)
    with opened("lotus_2") as model:
        reply = model.answer(turn(sent, text("lotus_2")))
    levels = levels_of(reply)
    assert (levels.dtype, levels.shape) == (np.uint16, (48, 64))
    grey = np.asarray(Image.open(io.BytesIO(sent)).convert("L")).astype(float)
    low, high = grey.min(), grey.max()
    assert np.array_equal(levels, np.rint((grey - low) * (65535 / (high - low))))
    setup = json.loads(reply.setup)
    assert (setup["min"], setup["max"]) == pytest.approx((low / 255 - 0.5, high / 255 - 0.5))


def test_countgd_is_asked_for_the_category_alone(opened):
    with opened("countgd_pp") as model:
        replies = [
            model.answer(turn(picture(), text("countgd_pp", query)))
            for query in ("egg", "red cars")
        ]
        with pytest.raises(AnswerError, match="finds nothing in the prompt"):
            model.answer(turn(picture(), "Count."))
    # The stand-in finds a box a letter, the first of which scores less than 0.23.
    assert [reply.text for reply in replies] == ["2", "7"]
    assert json.loads(replies[1].setup)["phrase"] == "red cars"
    with opened("countgd_pp", assumed_threshold=0.9) as model:
        assert model.answer(turn(picture(), text("countgd_pp", "red cars"))).text == "1"


def test_weights_that_do_not_fit_are_refused(opened, made, monkeypatch):
    generation, site = made("countgd_pp")
    folder = site.environments["countgd_pp"]
    other = ROOT / folder / "repository/checkpoints/other.pth"
    other.write_text("backbone.weight tail.weight")
    settings = {**generation, "weights": "checkpoints/other.pth"}
    with pytest.raises(GensightError, match=r"other\.pth lacks 1 tensors: head\.weight"):
        open_model(settings, [], site)
    monkeypatch.setenv("STUB_MISFIT", "1")
    with pytest.raises(GensightError, match="weights do not fit the model: Some weights"):
        opened("lotus_2")
    with opened("lotus_2", accepted_warnings=["not used when"]) as model:
        assert model.answer(turn(picture(), "-")).outcome == "ok"


def test_samtok_unites_the_masks_that_are_named(opened):
    with opened("qwen3_vl_8b_samtok") as model:

        def quarters(query):
            reply = model.answer(turn(picture(64, 48), text("qwen3_vl_8b_samtok", query)))
            return reply, reply.images and levels_of(reply)

        _, one = quarters("a cup")
        assert one[:24, 32:].min() == 255 and one.sum() == 255 * 24 * 32
        reply, two = quarters("two cups")
        assert two[:24, :32].min() == two[24:, 32:].min() == 255
        assert two.sum() == 255 * 2 * 24 * 32
        assert json.loads(reply.setup)["masks"] == 2
        assert reply.text.count("mt_start") == 2
        _, broken = quarters("broken words")
        assert broken.shape == (48, 64) and not broken.any()
        reply, _ = quarters("none")
        assert (reply.outcome, reply.images) == ("text_only", ())


@pytest.mark.parametrize("prompt", ["short", "mid", "long"])
def test_samtok_finds_the_target_in_every_prompt_for_masks(prompt):
    spec = SPECS["qwen3_vl_8b_samtok"].model_copy(update={"prompts": [prompt]})
    pattern = spec.generation["settings"]["assumed_phrase"]
    assert re.search(pattern, text_for(spec, ROOT))[1] == "cup"


@pytest.mark.parametrize(
    ("name", "size"),
    [("bagel", (32, 16)), ("emu3_5", (32, 16)), ("nextstep_1", (512, 512)), ("omnigen2", (64, 48))],
)
def test_generators_answer_with_what_they_made_and_its_size(opened, name, size):
    with opened(name) as model:
        first, other, again = (
            model.answer(turn(picture(70, 50), text(name), seed=seed)) for seed in (1, 2, 1)
        )
    assert levels_of(first).shape == (*size[::-1], 3)
    sizes = {"sent": [70, 50], "used": list(size), "returned": list(size)}
    assert json.loads(first.setup)["sizes"] == sizes
    assert first.images == again.images and first.images != other.images


def test_bagel_keeps_its_thoughts(opened):
    with opened("bagel", assumed_think=True) as model:
        assert model.answer(turn(picture(), "Paint it.")).text == "a thought"


def test_emu_may_answer_in_words_alone(opened):
    with opened("emu3_5") as model:
        reply = model.answer(turn(picture(), "Please refuse."))
    assert (reply.outcome, reply.text) == ("text_only", "I would rather not.")


def test_nextstep_edits_one_picture(opened):
    with opened("nextstep_1") as model, pytest.raises(AnswerError, match="one picture, not 2"):
        model.answer(turn(picture(), picture(), "Paint it."))


@pytest.mark.parametrize("name", ["emu3_5", "omnigen2"])
def test_a_setting_that_the_repository_does_not_know_ends_the_run(opened, name):
    with pytest.raises(GensightError, match="settings: stepps is no"):
        opened(name, stepps=3)


def test_another_commit_of_the_repository_ends_the_run(made):
    generation, site = made("lotus_2")
    wanted = "0" * 40
    with pytest.raises(
        GensightError, match=f"not {wanted}: git -C .*/repository checkout {wanted}"
    ):
        open_model({**generation, "assumed_revision": wanted}, [], site)


def test_a_missing_repository_says_how_to_get_it(tmp_path, made):
    generation, site = made("lotus_2")
    bare = tmp_path / "bin"
    bare.mkdir()
    prefix = site.environments["lotus_2"]
    (tmp_path / "pyvenv.cfg").write_bytes((ROOT / prefix / "pyvenv.cfg").read_bytes())
    (bare / "python").symlink_to(f"{prefix}/bin/python")
    told = r"git clone https://github\.com/EnVision-Research/Lotus-2"
    with pytest.raises(GensightError, match=told):
        open_model(generation, [], Site(root=ROOT, environments={"lotus_2": str(tmp_path)}))
