"""SAM 3 by a phrase: the union of what is accepted, and the tool that an agent uses."""

import json

import numpy as np
import pytest
import torch
from checkpoints import edited
from whole_cells import picture, turn

from gensight.errors import AnswerError, SpecError
from gensight.images import decode_grey, inspect
from gensight.models import Part, Site, Turn, transformers_segment
from gensight.models._segmenter import Segmenter
from gensight.models._transformers import as_pillow

SIZES = [(640, 480), (1242, 375), (1024, 102), (102, 1024), (3, 5)]
ALL = {"threshold": 0.0, "assumed_mask_threshold": 0.5}


def opened(folder, **settings):
    return transformers_segment.open_model({"model": str(folder), **settings}, [], Site())


@pytest.fixture(scope="module")
def model(tiny):
    """Accepts all ten instances: random scores mean nothing."""
    return opened(tiny["sam3"], **ALL)


@pytest.fixture(autouse=True)
def _uncompiled():
    """Where torchvision has no compiled part, it would have torch compile one, for a minute."""
    with torch.compiler.set_stance("force_eager"):
        yield


def mask_of(reply):
    return decode_grey(reply.images[0], matte=(0, 0, 0))


@pytest.mark.parametrize("size", SIZES)
def test_the_mask_has_the_size_of_the_picture(model, size):
    reply = model.answer(turn(picture(*size), text="the left ball"))
    info = inspect(reply.images[0])
    assert (reply.outcome, info.kind, info.bit_depth) == ("ok", "png", 8)
    assert (info.width, info.height) == size
    assert set(np.unique(mask_of(reply))) <= {0, 255}
    setup = json.loads(reply.setup)
    assert setup["sizes"] == {"sent": [*size], "used": [112, 112], "returned": [*size]}
    assert len(setup["boxes"]) == len(setup["scores"]) == 10
    assert setup["scores"] == sorted(setup["scores"], reverse=True)


def test_the_answer_is_the_union_of_what_the_tool_finds(model):
    image = picture(90, 70)
    found = model.segmenter.find(as_pillow(image), phrase="ball")
    assert found.masks.shape == (10, 70, 90) and found.masks.dtype == bool and len(found) == 10
    shares = found.masks.mean(axis=(1, 2))
    assert shares.max() > 0 and shares.min() < 1, "the masks tell something apart"
    union = np.logical_or.reduce(found.masks)
    np.testing.assert_array_equal(mask_of(model.answer(turn(image, text="ball"))) == 255, union)


def test_what_is_found_is_what_the_library_makes_of_picture_and_phrase(tiny, model):
    """The same by hand: processor, model, and the shares of its boxes times the picture's sides."""
    from transformers import Sam3Model, Sam3Processor

    image = as_pillow(picture(90, 70))
    processor = Sam3Processor.from_pretrained(tiny["sam3"])
    with torch.inference_mode():
        inputs = processor(images=image, text="ball", return_tensors="pt")
        inputs.pop("original_sizes")
        made = Sam3Model.from_pretrained(tiny["sam3"])(**inputs)
    scores = (made.pred_logits.sigmoid() * made.presence_logits.sigmoid())[0].numpy()
    order = np.argsort(-scores)
    found = model.segmenter.find(image, phrase="ball")
    np.testing.assert_allclose(found.scores, scores[order], rtol=1e-6)
    sides = np.array([90, 70, 90, 70])
    np.testing.assert_allclose(found.boxes, made.pred_boxes[0].numpy()[order] * sides, rtol=1e-5)
    large = torch.nn.functional.interpolate(
        made.pred_masks.sigmoid(), size=(70, 90), mode="bilinear"
    )
    np.testing.assert_array_equal(found.masks, large[0].numpy()[order] > 0.5)


def test_nothing_found_is_a_black_mask_and_an_answer(tiny):
    reply = opened(tiny["sam3"], threshold=1.0).answer(turn(picture(64, 48), text="ball"))
    assert reply.outcome == "ok" and not mask_of(reply).any()
    assert mask_of(reply).shape == (48, 64)
    assert json.loads(reply.setup)["boxes"] == json.loads(reply.setup)["scores"] == []


def test_the_thresholds_are_what_decides(tiny, model):
    image = as_pillow(picture(64, 48))
    found = model.segmenter.find(image, phrase="ball")
    between = float(found.scores[3] + found.scores[4]) / 2
    fewer = opened(tiny["sam3"], threshold=between).segmenter.find(image, phrase="ball")
    np.testing.assert_array_equal(fewer.scores, found.scores[:4])
    np.testing.assert_array_equal(fewer.boxes, found.boxes[:4])
    whole = opened(tiny["sam3"], threshold=0.0, mask_threshold=0.0)
    assert whole.segmenter.find(image, phrase="ball").union().all()
    assert opened(tiny["sam3"]).segmenter.threshold == 0.5


def test_the_phrase_is_what_is_looked_for(model):
    image = as_pillow(picture(64, 48))
    one, same, other = (
        model.segmenter.find(image, phrase=phrase) for phrase in ("ball", "ball", "blue cup")
    )
    np.testing.assert_array_equal(one.scores, same.scores)
    np.testing.assert_array_equal(one.masks, same.masks)
    assert not np.array_equal(one.scores, other.scores)


def test_a_box_is_an_example_with_or_without_a_phrase(model):
    image = as_pillow(picture(64, 48))
    scores = [
        model.segmenter.find(image, phrase=phrase, boxes=boxes).scores.tolist()
        for phrase, boxes in (
            (None, [(4, 4, 20, 20)]),
            (None, [(4, 4, 20, 20), (30, 8, 60, 40)]),
            ("ball", [(4, 4, 20, 20)]),
            ("ball", []),
        )
    ]
    assert len({tuple(found) for found in scores}) == 4
    with pytest.raises(ValueError, match="a phrase or a box"):
        model.segmenter.find(image)


def test_boxes_alone_are_shown_as_what_to_look_for(tiny, model):
    """The same by hand, where the processor itself marks boxes as examples of what is wanted."""
    from transformers import Sam3Model, Sam3Processor

    image, boxes = as_pillow(picture(90, 70)), [[4.0, 4.0, 20.0, 30.0], [30.0, 8.0, 60.0, 40.0]]
    processor = Sam3Processor.from_pretrained(tiny["sam3"])
    with torch.inference_mode():
        inputs = processor(images=image, input_boxes=[boxes], return_tensors="pt")
        inputs.pop("original_sizes")
        made = Sam3Model.from_pretrained(tiny["sam3"])(**inputs)
    scores = (made.pred_logits.sigmoid() * made.presence_logits.sigmoid())[0].numpy()
    found = model.segmenter.find(image, boxes=boxes)
    np.testing.assert_allclose(found.scores, np.sort(scores)[::-1], rtol=1e-6)


def test_a_long_phrase_is_read_as_far_as_it_can_be_and_told(model):
    image, long = picture(64, 48), "the small ball " * 9
    reply = model.answer(turn(image, text=long))
    told = json.loads(reply.setup)["phrase"]
    assert told["read"] == 32 < told["tokens"]
    short = json.loads(model.answer(turn(image, text="cup")).setup)["phrase"]
    assert short == {"tokens": 5, "read": 5}


def test_an_instruction_is_no_phrase(model):
    image = Part("image", image=picture(64, 48))
    for text, told in (("Find the ball.\nPaint it white.", "several lines"), ("", "nothing")):
        parts = (image, Part("text", text=text))
        with pytest.raises(SpecError, match=rf"{told}.*prompts: \[target\]"):
            model.answer(Turn(parts, {"kind": "mask"}))


def test_nan_is_an_error_and_not_an_empty_mask(tiny, tmp_path):
    def spoil(tensors):
        name = next(name for name in tensors if "presence" not in name and "mask_decoder" in name)
        tensors[name].fill_(float("nan"))

    model = opened(edited(tiny["sam3"], tmp_path / "spoilt", spoil))
    with pytest.raises(AnswerError, match="NaN or infinite in float32"):
        model.answer(turn(picture(64, 48), text="ball"))


@pytest.mark.parametrize("value", [-0.1, 1.5, True, "high"])
def test_a_threshold_is_a_share(tiny, value):
    with pytest.raises(SpecError, match=r"threshold: .* is no number from 0 to 1"):
        opened(tiny["sam3"], assumed_threshold=value)


def test_the_tool_has_the_papers_defaults_until_told(model):
    assert isinstance(model.segmenter, Segmenter)
    assert (model.segmenter.threshold, model.segmenter.mask_threshold) == (0.0, 0.5)
