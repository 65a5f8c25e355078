"""Marigold on tiny copies: depth and normals, their coding, sizes, and whole cells."""

import json

import numpy as np
import pytest
from whole_cells import SIZES, WholeCell, picture, turn

from gensight.errors import AnswerError, SpecError
from gensight.extractors import normals as normals_extractor
from gensight.images import decode_colour, decode_grey, fit_long_side, inspect
from gensight.models import Part, Site, Turn, diffusers_depth
from gensight.models._noise import noise

BLACK = (0, 0, 0)


@pytest.fixture
def opened(tiny):
    def _open(quantity, **settings):
        model = {"model": str(tiny[f"marigold_{quantity}"]), "quantity": quantity}
        return diffusers_depth.open_model({**model, **settings}, [], Site())

    return _open


def predicted(adapter, image, seed, **arguments):
    """Return what the loaded pipeline itself predicts for a picture, (H, W, 1 or 3)."""
    from PIL.Image import fromarray

    shown = fromarray(decode_colour(image, matte=BLACK))
    return adapter.loaded.pipeline(shown, generator=noise(seed), **arguments).prediction[0]


def sizes_of(reply):
    return json.loads(reply.setup)["sizes"]


def test_depth_is_grey_of_sixteen_bits(opened):
    adapter, image = opened("depth"), picture(200, 150)
    reply = adapter.answer(turn(image))
    info = inspect(reply.images[0])
    assert (info.colour, info.bit_depth, info.upright_size) == ("grey", 16, (200, 150))
    levels = decode_grey(reply.images[0], matte=BLACK)
    share = predicted(adapter, image, 5)[:, :, 0]
    assert np.abs(levels / 65535 - share).max() <= 0.5 / 65535 + 1e-7
    assert levels.std() > 0 and reply.outcome == "ok"


def test_normals_are_colour_of_sixteen_bits_in_our_frame(opened):
    """Red, green and blue code right, up and towards the viewer, as Marigold's three numbers do."""
    adapter, image = opened("normals"), picture(200, 150)
    reply = adapter.answer(turn(image))
    info = inspect(reply.images[0])
    assert (info.colour, info.bit_depth, info.upright_size) == ("rgb", 16, (200, 150))
    coded = decode_colour(reply.images[0], matte=BLACK) / 65535 * 2 - 1
    assert np.abs(np.linalg.norm(coded, axis=2) - 1).max() < 1e-4
    assert np.abs(coded - predicted(adapter, image, 5)).max() <= 1 / 65535 + 1e-6


def test_the_end_of_each_direction_is_the_end_of_its_channel(opened):
    """By hand: right is red, up is green, the viewer is blue, and nothing is its middle."""
    adapter = opened("normals")
    right, up, viewer, left = np.eye(3)[0], np.eye(3)[1], np.eye(3)[2], -np.eye(3)[0]
    levels = adapter._levels(np.array([[right, up], [viewer, left]]))
    middle = 32768
    assert levels.tolist() == [
        [[65535, middle, middle], [middle, 65535, middle]],
        [[middle, middle, 65535], [0, middle, middle]],
    ]
    assert "n = 2 c / 255 - 1 (c / 65535 for 16 bits)" in normals_extractor.__doc__


@pytest.mark.parametrize("quantity", ["depth", "normals"])
def test_the_size_worked_at_is_told(opened, quantity):
    adapter, image = opened(quantity), picture(1024, 102)
    assert sizes_of(adapter.answer(turn(image))) == {
        "sent": [1024, 102],
        "used": [256, 25],
        "returned": [1024, 102],
    }
    worked_at = predicted(adapter, image, 5, match_input_resolution=False)
    assert worked_at.shape[:2] == (25, 256)
    native = opened(quantity, processing_resolution=0)
    assert sizes_of(native.answer(turn(picture(90, 60))))["used"] == [90, 60]
    other = opened(quantity, processing_resolution=128)
    assert sizes_of(other.answer(turn(picture(90, 60))))["used"] == [128, 85]


@pytest.mark.parametrize("quantity", ["depth", "normals"])
def test_an_answer_depends_on_its_seed_and_not_on_its_place(opened, quantity):
    adapter, shown = opened(quantity), picture(96, 64)
    first = adapter.answer(turn(shown, seed=7)).images
    assert adapter.answer(turn(shown, seed=8)).images != first
    assert adapter.answer(turn(shown, seed=7)).images == first
    assert opened(quantity).answer(turn(shown, seed=7)).images == first


def test_the_text_plays_no_part(opened):
    adapter, shown = opened("depth"), picture(96, 64)
    assert adapter.answer(turn(shown, "a")).images == adapter.answer(turn(shown, "b")).images


@pytest.mark.parametrize("quantity", ["depth", "normals"])
def test_an_ensemble_is_another_answer(opened, quantity):
    shown = turn(picture(96, 64))
    of_three = opened(quantity, ensemble_size=3).answer(shown)
    assert of_three.images != opened(quantity).answer(shown).images
    assert of_three.outcome == "ok" and json.loads(of_three.setup)["batch_size"] == 1


def test_one_picture_is_looked_at(opened):
    adapter = opened("depth")
    shown = Part("image", image=picture(64, 64))
    with pytest.raises(SpecError, match="shows 0 pictures where the model takes one"):
        adapter.answer(turn(None))
    with pytest.raises(SpecError, match="shows 2 pictures"):
        adapter.answer(Turn((shown, shown), {"kind": "depth"}, seed=1))


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("quantity", ["depth", "normals"])
def test_what_is_no_number_is_an_error_that_names_the_number_type(opened, quantity, value):
    """The pipeline clamps infinity to the ends of its range, which are near, far, or an axis."""
    import torch

    adapter = opened(quantity)
    with torch.no_grad():
        adapter.loaded.pipeline.vae.decoder.conv_out.bias[0] = float(value)
    with pytest.raises(AnswerError, match=r"\d+ of \d+ numbers NaN or infinite in float32"):
        adapter.answer(turn(picture(64, 64)))


def test_a_flat_map_is_an_answer(opened):
    import torch

    adapter = opened("depth")
    last = adapter.loaded.pipeline.vae.decoder.conv_out
    with torch.no_grad():
        last.weight.zero_()
        last.bias.fill_(-1.0)
    reply = adapter.answer(turn(picture(64, 64)))
    assert reply.outcome == "ok" and not decode_grey(reply.images[0], matte=BLACK).any()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ensemble_size": 0}, "ensemble_size: 0 is not a whole number of at least 1"),
        ({"num_inference_steps": 2.5}, r"num_inference_steps: 2\.5 is not a whole number"),
        ({"dtype": "float16", "bf16_only": True}, "float16 overflows"),
        ({"model": None}, r"generation\.model' is missing"),
    ],
)
def test_settings_that_cannot_be(opened, settings, words):
    with pytest.raises(SpecError, match=words):
        opened("depth", **settings)


def test_depth_and_normals_are_what_there_is():
    with pytest.raises(SpecError, match="albedo"):
        diffusers_depth.open_model({"model": "a/b", "quantity": "albedo"}, [], Site())


@pytest.mark.parametrize("quantity", ["depth", "normals"])
def test_a_whole_cell(tiny, tmp_path, monkeypatch, quantity):
    monkeypatch.chdir(tmp_path)
    model = {"model": str(tiny[f"marigold_{quantity}"]), "quantity": quantity}
    cell = WholeCell("diffusers_depth", model)
    rows, asked = cell.run()
    assert asked == len(SIZES) and [row.outcome for row in rows] == ["ok"] * len(SIZES)
    for row, size in zip(rows, SIZES, strict=True):
        sent = fit_long_side(*size)
        assert inspect(row.image["bytes"]).upright_size == sent
        assert sizes_of(row)["sent"] == sizes_of(row)["returned"] == list(sent)
    again, asked = cell.run()
    assert again == rows and asked == 0
    (third,), asked = cell.run(ranks=(2, 3), ledger="another")
    assert asked == 1 and third.image == rows[2].image and third.setup == rows[2].setup


def test_a_cell_goes_on_where_it_was_killed(tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cell = WholeCell("diffusers_depth", {"model": str(tiny["marigold_depth"])}, [(64, 64)] * 5)
    answer = diffusers_depth.DiffusersDepth.answer
    answered = []

    def _killed(self, asked):
        if len(answered) == 3:
            raise KeyboardInterrupt
        answered.append(asked.seed)
        return answer(self, asked)

    with monkeypatch.context() as patched:
        patched.setattr(diffusers_depth.DiffusersDepth, "answer", _killed)
        with pytest.raises(KeyboardInterrupt):
            cell.run()
    rows, asked = cell.run()
    assert asked == 2 and len(rows) == 5
    assert [json.loads(row.setup)["seed"] for row in rows][:3] == answered
    whole, asked = cell.run(ledger="another")
    assert asked == 5 and [row.image for row in whole] == [row.image for row in rows]
