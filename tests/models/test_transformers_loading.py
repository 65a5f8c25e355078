"""Loading with transformers: every key is checked, and what cannot be is refused in one line."""

import pytest
import torch
from checkpoints import edited, renamed

from gensight.errors import GensightError, SpecError
from gensight.models import Site, transformers_chat, transformers_depth, transformers_segment
from gensight.models._torch import DTYPES

KINDS = {
    "depth_anything": (transformers_depth, {}),
    "sam3": (transformers_segment, {}),
    "qwen3vl": (transformers_chat, {"max_new_tokens": 4}),
    "qwen2_5vl": (transformers_chat, {"max_new_tokens": 4}),
    "molmo2": (transformers_chat, {"max_new_tokens": 4}),
}
#: A key of each model as its checkpoint has it; what is told may begin otherwise.
KEYS = {
    "depth_anything": "neck.fusion_stage.layers.0.projection.weight",
    "sam3": "text_encoder.text_model.embeddings.token_embedding.weight",
    "qwen3vl": "model.language_model.layers.1.self_attn.q_proj.weight",
    "qwen2_5vl": "model.layers.1.self_attn.q_proj.weight",
    "molmo2": "model.transformer.blocks.1.self_attn.q_norm.weight",
}


def opened(name, folder, **settings):
    module, needed = KINDS[name]
    return module.open_model({"model": str(folder), **needed, **settings}, [], Site())


@pytest.mark.parametrize("name", KINDS)
def test_a_missing_key_is_told(tiny, tmp_path, name):
    folder = edited(tiny[name], tmp_path / name, lambda tensors: tensors.pop(KEYS[name]))
    told = f"{name}: .*missing keys: .*{KEYS[name][-20:]}"
    with pytest.raises(GensightError, match=told) as error:
        opened(name, folder)
    assert "\n" not in str(error.value) and str(tmp_path) not in str(error.value)


@pytest.mark.parametrize("name", KINDS)
def test_an_unexpected_key_is_told_unless_the_spec_names_it(tiny, tmp_path, name):
    folder = edited(
        tiny[name], tmp_path / name, lambda tensors: tensors.update({"left.over": torch.ones(2)})
    )
    with pytest.raises(GensightError, match=f"{name}: .*unexpected keys: .*left.over"):
        opened(name, folder)
    opened(name, folder, ignored_keys=["left\\.over$"])


def test_a_renamed_key_of_sam3s_text_encoder_is_told(tiny, tmp_path):
    """Otherwise the phrase is read with random numbers, and nothing says so."""
    key = KEYS["sam3"]
    other = key.replace("text_encoder.", "language_encoder.")
    folder = edited(tiny["sam3"], tmp_path / "sam3", renamed(key, other))
    with pytest.raises(GensightError, match=r"missing keys: text_.*; unexpected keys: language_"):
        opened("sam3", folder)


def test_a_key_of_another_shape_is_told(tiny, tmp_path):
    key = KEYS["depth_anything"]
    folder = edited(
        tiny["depth_anything"],
        tmp_path / "depth_anything",
        lambda tensors: tensors.update({key: tensors[key][:3].contiguous()}),
    )
    with pytest.raises(GensightError, match=f"mismatched keys: {key}"):
        opened("depth_anything", folder)


def test_weights_that_are_cut_off_are_told_in_one_line(tiny, tmp_path):
    folder = edited(tiny["depth_anything"], tmp_path / "cut", lambda tensors: None)
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(GensightError, match="cut: cannot be loaded") as told:
        opened("depth_anything", folder)
    assert "\n" not in str(told.value)


def test_a_folder_that_holds_no_model_is_told_in_one_line(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in KINDS:
        with pytest.raises(GensightError, match="empty: cannot be loaded") as told:
            opened(name, tmp_path / "empty")
        assert "\n" not in str(told.value)


def test_a_model_of_another_kind_is_told_in_one_line(tiny):
    with pytest.raises(GensightError, match=r"cannot be loaded|do not fit") as told:
        opened("depth_anything", tiny["qwen3vl"])
    assert "\n" not in str(told.value)


def test_a_repository_that_is_out_of_reach_is_told_in_one_line():
    with pytest.raises(GensightError, match="nobody/nothing: cannot be loaded") as told:
        opened("sam3", "nobody/nothing")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("settings", "place"), [({}, 1), ({"assumed_revision": "main"}, 1), ({"revision": "0" * 40}, 0)]
)
def test_a_repository_is_loaded_at_its_revision_and_the_commit_is_told(
    tiny, tmp_path, monkeypatch, settings, place
):
    """A repository in the hub's cache, in two commits with another bias each."""
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    folder = tmp_path / "models--owner--tiny"
    for number in range(2):
        edited(
            tiny["depth_anything"],
            folder / "snapshots" / (str(number) * 40),
            lambda tensors, number=number: tensors["head.conv3.bias"].fill_(float(number)),
        )
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("1" * 40)
    adapter = opened("depth_anything", "owner/tiny", **settings)
    assert adapter.opened.model.head.conv3.bias.item() == place
    assert (adapter.opened.weights.name, adapter.opened.revision) == ("owner/tiny", f"{place}" * 40)


def test_a_relative_folder_is_below_the_root(tiny):
    folder = tiny["depth_anything"]
    site = Site(root=folder.parent)
    adapter = transformers_depth.open_model({"model": folder.name}, [], site)
    assert adapter.opened.weights.name == "depth_anything"


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_number_type_is_that_of_the_spec(tiny, dtype):
    adapter = opened("depth_anything", tiny["depth_anything"], assumed_dtype=dtype)
    assert adapter.opened.model.dtype == getattr(torch, dtype)
    assert not adapter.opened.model.training


def test_float16_is_refused_where_only_bfloat16_is_borne(tiny):
    with pytest.raises(SpecError, match="float16 overflows"):
        opened("depth_anything", tiny["depth_anything"], dtype="float16", bf16_only=True)
