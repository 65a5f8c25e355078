"""The gallery: a fake that answers what a checkout asks as a reference model would."""

import io
import json
import random
import shutil
from pathlib import Path

import pytest
import yaml
from fakes.clients import google_client, http_client
from fakes.google import GoogleFake
from fakes.painters import Gallery, UnknownRequestError, png
from google.genai import types
from PIL import Image

from gensight import images
from gensight.cli.checkout import merge
from gensight.models import Part, Turn
from gensight.models.reference import open_model
from gensight.plan import Plan
from gensight.records import Request, RowFile, Sample, SampleStore
from gensight.specs.base import read_yaml
from gensight.specs.data_folders import data_folder
from gensight.specs.project import load_project
from gensight.stages.render import render
from gensight.stages.sample import sample
from gensight.twins import write_twin

ROOT = Path(__file__).parents[2]
N = 2
SCENES = {
    "name": "scenes",
    "models": ["oracle", "oracle_text"],
    "benchmarks": ["scenes_depth", "scenes_segmentation", "scenes_counting", "scenes_normals"],
    "prompts": ["mid", "integer"],
    "tables": [],
    "figures": [],
}


def checkout(folder, run, **more):
    """Write the samples and requests of a run below a folder, as Snakemake would."""
    for name in ("config", "resources"):
        shutil.copytree(ROOT / name, folder / name)
    for path in (folder / "config/benchmarks").glob("scenes_*.yaml"):
        # Nothing is fitted here, and held-out samples take most of the time.
        path.write_text(yaml.safe_dump(read_yaml(path) | {"held_out": None}))
    config = merge(read_yaml(ROOT / "config/config.yaml"), {"run": run, **more})
    config["run"]["n"] = dict.fromkeys(run["benchmarks"], N)
    made = Plan(load_project(config, folder)).files()
    for path, file in made.items():
        output = folder / path
        output.parent.mkdir(parents=True, exist_ok=True)
        if path.startswith("results/samples/"):
            data = data_folder(config, folder, file.determinants["dataset"])
            sample(str(output), file.determinants, str(data))
    for path, file in made.items():
        if path.startswith("results/requests/"):
            (samples,) = file.inputs
            render(str(folder / samples), str(folder / path), file.determinants)
    return folder / "results"


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    return checkout(tmp_path_factory.mktemp("scenes"), SCENES)


@pytest.fixture(scope="module")
def twin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twin")
    write_twin(folder / "twin", N)
    given = read_yaml(ROOT / "config/runs/twin.yaml")
    return checkout(folder, given["run"], data_root="twin")


def questions_of(results):
    """Yield (benchmark, prompt, sample, answer form, texts, picture) of every turn."""
    for path in sorted(results.glob("requests/*/*.parquet")):
        benchmark = path.parent.name
        samples = SampleStore(RowFile(results / f"samples/{benchmark}.parquet", Sample))
        for row in RowFile(path, Request):
            about = samples[row.sample_ids[0]]
            (turn,) = row.turns
            texts = [part["text"] for part in turn["parts"] if part["kind"] == "text"]
            picture = images.standardise(about.image["bytes"], orient=True)
            yield benchmark, path.stem, about, json.loads(turn["answer_form"]), texts, picture


def oracle(about, form, texts, picture, method="oracle", severity=None, **settings):
    parts = [Part("image", image=picture), *(Part("text", text=text) for text in texts)]
    turn = Turn(tuple(parts), form, severity=severity, truth=about)
    return open_model({"method": method, **settings}, []).answer(turn)


def test_every_question_of_the_twins_is_answered_truly(twin):
    gallery = Gallery(twin)
    asked = list(questions_of(twin))
    # A fake is not asked in the order of the files.
    random.Random(0).shuffle(asked)
    kinds = set()
    for benchmark, prompt, about, form, texts, picture in asked:
        painted = gallery(texts, [picture])
        kinds.add((benchmark, prompt))
        if form["kind"] == "text":
            assert painted.image is None
            assert painted.text == oracle(about, form, texts, picture, "teller").text
        else:
            assert painted.image == oracle(about, form, texts, picture).images[0]
    run = read_yaml(ROOT / "config/runs/twin.yaml")["run"]
    assert {benchmark for benchmark, _ in kinds} == set(run["benchmarks"])
    assert {prompt for _, prompt in kinds} == set(run["prompts"])


def test_all_four_tasks_and_words(scenes):
    gallery = Gallery(scenes)
    found = {}
    for benchmark, prompt, about, form, texts, picture in questions_of(scenes):
        painted = gallery(texts, [picture])
        found[benchmark, prompt] = form["kind"]
        if form["kind"] == "text":
            assert painted.text == oracle(about, form, texts, picture, "teller").text
            assert str(about.target_count) in painted.text
        else:
            assert painted.image == oracle(about, form, texts, picture).images[0]
    assert found == {
        ("scenes_counting", "integer"): "text",
        ("scenes_counting", "mid"): "dots",
        ("scenes_depth", "mid"): "depth",
        ("scenes_normals", "mid"): "normals",
        ("scenes_segmentation", "mid"): "mask",
    }


def one(results, benchmark, prompt="mid"):
    return next(q for q in questions_of(results) if q[:2] == (benchmark, prompt))[2:]


def test_a_method_with_a_fault_paints_worse(scenes):
    about, form, texts, picture = one(scenes, "scenes_segmentation")
    gallery = Gallery(scenes, disturbance="shift", severity=8)
    painted = gallery(texts, [picture]).image
    assert painted == oracle(about, form, texts, picture, disturbance="shift", severity=8).images[0]
    assert painted != Gallery(scenes)(texts, [picture]).image


def test_another_method_answers_by_itself(scenes):
    _, _, texts, picture = one(scenes, "scenes_depth")
    assert Gallery(scenes, method="echo")(texts, [picture]).image == picture


def test_the_words_may_be_around_other_words_and_the_picture_among_others(scenes):
    about, form, texts, picture = one(scenes, "scenes_normals")
    other = png(Image.new("RGB", (8, 8)))
    told = ["You are a painter.", " ".join(texts), "Thank you."]
    painted = Gallery(scenes)(told, [other, picture])
    assert painted.image == oracle(about, form, texts, picture).images[0]


def test_what_nobody_asks_is_no_request(scenes):
    _, _, texts, picture = one(scenes, "scenes_depth")
    _, _, _, elsewhere = one(scenes, "scenes_counting")
    gallery = Gallery(scenes)
    for words, shown in ((["Paint a cat."], picture), (texts, elsewhere), (texts, b"no picture")):
        with pytest.raises(UnknownRequestError, match=r"nothing in .* asks"):
            gallery(words, [shown])
    with pytest.raises(UnknownRequestError, match="about any of 0 pictures"):
        gallery(texts, [])


def test_results_may_come_after_the_gallery(scenes, tmp_path):
    _, _, texts, picture = one(scenes, "scenes_depth")
    gallery = Gallery(tmp_path / "results")
    with pytest.raises(UnknownRequestError):
        gallery(texts, [picture])
    shutil.copytree(scenes, tmp_path / "results")
    assert gallery(texts, [picture]) == Gallery(scenes)(texts, [picture])


def test_a_fake_with_a_gallery_paints_over_the_socket(scenes):
    about, form, texts, picture = one(scenes, "scenes_segmentation")
    parts = [types.Part.from_bytes(data=picture, mime_type=_mime(picture))]
    parts += [types.Part.from_text(text=text) for text in texts]
    with http_client() as http, GoogleFake(Gallery(scenes)) as fake:
        reply = google_client(fake, http).models.generate_content(
            model="gemini-3-pro-image",
            contents=[types.Content(role="user", parts=parts)],
            config=types.GenerateContentConfig(response_modalities=["IMAGE"]),
        )
    (part,) = reply.candidates[0].content.parts
    assert part.inline_data.data == oracle(about, form, texts, picture).images[0]


def _mime(data):
    with Image.open(io.BytesIO(data)) as picture:
        return Image.MIME[picture.format]
