import json

import cv2
import numpy as np
import pytest
from pixel_sources import eight_regions, noise, scene

from gensight.errors import AnswerError, GensightError, SpecError
from gensight.extractors import Answer, palette_grid
from gensight.images import encode_png
from gensight.models import Part, Turn, pixelise
from gensight.pixels.methods import METHODS, pixelated

FORM = {"kind": "text", "content": "free", "size": 16}


def turn_of(*pictures, form=FORM, **more):
    parts = (Part("text", text="Draw it."), *(Part("image", image=p) for p in pictures))
    return Turn(parts=parts, answer_form=form, **more)


def opened(method, **settings):
    return pixelise.open_model({"method": method, "settings": settings}, [])


def test_the_methods_are_the_ten_baselines_and_those_with_settings_take_them():
    expected = {name: ["settings"] if m.defaults else [] for name, m in METHODS.items()}
    assert expected == pixelise.METHODS


@pytest.mark.parametrize("method", METHODS)
def test_each_answers_what_the_parser_of_models_reads(method):
    reply = opened(method).answer(turn_of(encode_png(scene())))
    assert reply.outcome == "ok"
    assert reply.text == pixelated(scene(), 16, method).text()
    answer = Answer(text=reply.text, source_width=64, source_height=64)
    readings = palette_grid.extract(answer, {"size": 16})
    assert {reading.status for reading in readings} == {"ok"}


def test_the_seed_is_no_matter():
    model = opened("pia_reduced")
    replies = [model.answer(turn_of(encode_png(noise()), seed=seed)) for seed in (1, 2)]
    assert replies[0] == replies[1]


def test_the_setup_says_every_setting_and_library():
    reply = opened("pia_reduced", assumed_compactness=45.0).answer(
        turn_of(encode_png(eight_regions()))
    )
    setup = json.loads(reply.setup)
    assert setup["settings"] == METHODS["pia_reduced"].defaults | {"assumed_compactness": 45.0}
    assert setup["sizes"] == {"sent": [64, 64], "used": [64, 64], "returned": [16, 16]}
    assert (setup["seed"], setup["batch_size"], reply.device) == (None, 1, "cpu")
    assert set(setup["libraries"]) == set(pixelise.LIBRARIES)
    like = json.loads(opened("pyxelate_like").answer(turn_of(encode_png(scene()))).setup)
    assert like["stands_for"] == "Pyxelate 2.1"


def test_transparency_is_white():
    rgba = np.zeros((64, 64, 4), np.uint8)
    rgba[:, 32:] = (255, 0, 0, 255)
    encoded = cv2.imencode(".png", rgba)[1].tobytes()
    written = json.loads(opened("pia_reduced").answer(turn_of(encoded)).text)
    assert sorted(written["palette"]) == ["#0000FF", "#FFFFFF"]


@pytest.mark.parametrize(
    ("generation", "message"),
    [
        ({"method": "pia"}, "pia"),
        ({}, "method"),
        ({"method": "box", "seed": 1}, "seed"),
        ({"method": "box", "settings": {"seed": 1}}, "settings"),
        ({"method": "pia_reduced", "settings": {"seed": 1}}, "pia_reduced has no setting seed"),
        ({"method": "dpid_one", "settings": {"assumed_lambda": -1}}, "a number of 0 or more"),
    ],
)
def test_wrong_generation_blocks_are_refused(generation, message):
    with pytest.raises(GensightError, match=message):
        pixelise.open_model(generation, [])


@pytest.mark.parametrize(
    ("turn", "error", "message"),
    [
        (turn_of(), SpecError, "shows 0 pictures"),
        (turn_of(b"one", b"two"), SpecError, "shows 2 pictures"),
        (turn_of(b"no picture"), AnswerError, "the picture of the turn"),
        (turn_of(b"one", form={"kind": "text", "content": "free"}), SpecError, "'size'"),
        (turn_of(b"one", form={"kind": "mask", "size": 16}), SpecError, "'size'"),
    ],
)
def test_turns_that_cannot_be_answered_say_why(turn, error, message):
    with pytest.raises(error, match=message):
        opened("box").answer(turn)
