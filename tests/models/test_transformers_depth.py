"""Depth models that transformers loads: sizes, levels, setup, what has no answer."""

import json

import numpy as np
import pytest
from checkpoints import edited
from whole_cells import picture, turn

from gensight.errors import AnswerError, SpecError
from gensight.images import decode_grey, decode_rgb, inspect
from gensight.models import Part, Site, Turn, transformers_depth
from gensight.models._grey import stretched

NARROW = [(640, 480), (1242, 375), (1024, 102), (102, 1024), (3, 5)]


def opened(folder, **settings):
    return transformers_depth.open_model({"model": str(folder), **settings}, [], Site())


@pytest.fixture(scope="module")
def model(tiny):
    return opened(tiny["depth_anything"])


def levels(reply):
    return decode_grey(reply.images[0], matte=(0, 0, 0))


@pytest.mark.parametrize("size", NARROW)
def test_the_map_has_the_size_of_the_picture_and_all_levels(model, size):
    reply = model.answer(turn(picture(*size)))
    info = inspect(reply.images[0])
    assert (reply.outcome, info.kind, info.bit_depth) == ("ok", "png", 16)
    assert (info.width, info.height) == size
    grey = levels(reply)
    assert grey.min() == 0 and grey.max() == 65535
    setup = json.loads(reply.setup)
    assert setup["sizes"]["sent"] == setup["sizes"]["returned"] == list(size)
    assert all(side % 14 == 0 for side in setup["sizes"]["used"])
    assert setup["min"] < setup["max"]


def test_the_map_is_what_the_library_makes_of_the_picture(tiny, model):
    """The same by hand: processor, model, and a bicubic resize to the picture's size."""
    import torch
    from transformers import AutoImageProcessor, AutoModelForDepthEstimation

    image = picture(200, 90)
    processor = AutoImageProcessor.from_pretrained(tiny["depth_anything"])
    by_hand = AutoModelForDepthEstimation.from_pretrained(tiny["depth_anything"])
    pixels = torch.from_numpy(decode_rgb(image, matte=(0, 0, 0))).permute(2, 0, 1)
    with torch.inference_mode():
        made = by_hand(**processor(images=pixels, return_tensors="pt")).predicted_depth
        large = torch.nn.functional.interpolate(made[None], size=(90, 200), mode="bicubic")[0, 0]
    reply = model.answer(turn(image))
    setup = json.loads(reply.setup)
    span = setup["max"] - setup["min"]
    read = levels(reply) / 65535 * span + setup["min"]
    np.testing.assert_allclose(read, large.numpy(), atol=span / 65535)


def test_the_picture_is_what_is_looked_at(model):
    one, other = (model.answer(turn(picture(64, 48, seed=seed))).images[0] for seed in (0, 1))
    assert one != other


def test_equal_questions_get_equal_bytes_and_no_seed_matters(tiny, model):
    image = picture(200, 150)
    first = model.answer(turn(image, seed=1))
    assert model.answer(turn(image, seed=2)) == first
    assert opened(tiny["depth_anything"]).answer(turn(image, text="Other words.")) == first


def test_what_is_told_of_an_answer(model):
    reply = model.answer(turn(picture(64, 48)))
    setup = json.loads(reply.setup)
    assert {k: setup[k] for k in ("weights", "revision", "dtype", "seed", "batch_size")} == {
        "weights": "depth_anything",
        "revision": None,
        "dtype": "float32",
        "seed": None,
        "batch_size": 1,
    }
    assert setup["quantisation"] is None and setup["offload"] is None
    assert set(setup["libraries"]) == {"tokenizers", "torch", "torchvision", "transformers"}
    assert all(setup["libraries"].values())
    assert (reply.device, reply.peak_memory_gb, reply.usage) == ("cpu", None, None)


def test_nan_is_an_error_that_names_the_number_type(tiny, tmp_path):
    def spoil(tensors):
        tensors["head.conv3.bias"].fill_(float("nan"))

    model = opened(edited(tiny["depth_anything"], tmp_path / "spoilt", spoil), dtype="bfloat16")
    with pytest.raises(AnswerError, match="NaN or infinite in bfloat16"):
        model.answer(turn(picture(64, 48)))


def test_a_map_of_one_value_is_kept_black(tiny, tmp_path):
    def flatten(tensors):
        tensors["head.conv3.weight"].zero_()

    model = opened(edited(tiny["depth_anything"], tmp_path / "flat", flatten))
    reply = model.answer(turn(picture(64, 48)))
    setup = json.loads(reply.setup)
    assert reply.outcome == "ok" and setup["min"] == setup["max"] and not levels(reply).any()


def test_one_picture_is_needed(model):
    image = Part("image", image=picture(8, 8))
    for parts in ((), (image, image)):
        with pytest.raises(SpecError, match=f"shows {len(parts)} pictures"):
            model.answer(Turn(parts, {"kind": "depth", "near": "bright"}))


def test_a_stretch_is_linear_and_keeps_its_ends():
    values = np.array([[-3.0, -1.0], [0.0, 5.0]], np.float32)
    png, low, high = stretched(values)
    assert (low, high) == (-3.0, 5.0)
    grey = decode_grey(png, matte=(0, 0, 0)).astype(float)
    np.testing.assert_allclose(grey / 65535 * (high - low) + low, values, atol=8 / 65535 / 2)


def test_zoedepth_is_told_the_size_that_it_padded(tmp_path):
    """Its processor adds a border, which only the size before takes away again."""
    from transformers import BeitConfig, ZoeDepthConfig, ZoeDepthForDepthEstimation
    from transformers import ZoeDepthImageProcessor as Processor

    backbone = BeitConfig(
        hidden_size=16,
        num_hidden_layers=4,
        num_attention_heads=2,
        intermediate_size=16,
        image_size=64,
        patch_size=16,
        out_indices=[1, 2, 3, 4],
        reshape_hidden_states=False,
        use_relative_position_bias=True,
    )
    config = ZoeDepthConfig(
        backbone_config=backbone,
        neck_hidden_sizes=[8, 8, 8, 8],
        reassemble_factors=[4, 2, 1, 0.5],
        fusion_hidden_size=8,
        bottleneck_features=8,
        num_relative_features=4,
        bin_embedding_dim=8,
        num_attractors=[4, 2, 2, 1],
        bin_configurations=[{"n_bins": 8, "min_depth": 0.001, "max_depth": 10.0, "name": "nyu"}],
    )
    ZoeDepthForDepthEstimation(config).eval().save_pretrained(tmp_path / "zoe")
    size = {"height": 64, "width": 64}
    Processor(size=size, ensure_multiple_of=16).save_pretrained(tmp_path / "zoe")
    reply = opened(tmp_path / "zoe").answer(turn(picture(130, 90)))
    assert inspect(reply.images[0]).upright_size == (130, 90)
