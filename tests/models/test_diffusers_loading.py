"""Loading pipelines: every key is checked, and what cannot be is refused in one line."""

import importlib.metadata
import json
import shutil

import pytest
from safetensors.torch import load_file, save_file

from gensight.errors import GensightError, SpecError
from gensight.models import Site, _diffusers, _torch, diffusers_depth, diffusers_edit

WEIGHTS = "diffusion_pytorch_model.safetensors"
FLUX2 = {"pipeline": "Flux2Pipeline"}


def copied(tiny, name, folder):
    return shutil.copytree(tiny[name], folder / name)


def edited(path, change):
    """Apply a change to the tensors of a file."""
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path, metadata={"format": "pt"})


def changed_json(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def open_flux2(folder, **settings):
    return diffusers_edit.open_model({**FLUX2, "model": str(folder), **settings}, [], Site())


def test_a_missing_key_is_told_with_its_component(tiny, tmp_path):
    folder = copied(tiny, "flux2", tmp_path)
    edited(folder / "transformer" / WEIGHTS, lambda t: t.pop("x_embedder.weight"))
    with pytest.raises(GensightError, match=r"flux2/transformer: .*x_embedder\.weight"):
        open_flux2(folder)


def test_a_missing_key_of_a_text_encoder_is_told(tiny, tmp_path):
    folder = copied(tiny, "marigold_depth", tmp_path)
    path = folder / "text_encoder" / "model.safetensors"
    gone = next(key for key in load_file(path) if key.endswith("fc1.weight"))
    edited(path, lambda t: t.pop(gone))
    with pytest.raises(
        GensightError, match=r"marigold_depth/text_encoder: .*missing keys: .*fc1\.weight"
    ):
        diffusers_depth.open_model({"model": str(folder)}, [], Site())


def test_an_unexpected_key_is_told_unless_the_spec_names_it(tiny, tmp_path):
    folder = copied(tiny, "flux2", tmp_path)
    stray = load_file(folder / "vae" / WEIGHTS)["encoder.conv_in.bias"].clone()
    edited(folder / "vae" / WEIGHTS, lambda t: t.update({"left.over": stray}))
    with pytest.raises(GensightError, match=r"flux2/vae: .*unexpected keys: left\.over"):
        open_flux2(folder)
    open_flux2(folder, ignored_keys=[r"^left\.over$"])


def test_a_key_of_another_shape_is_told(tiny, tmp_path):
    folder = copied(tiny, "flux2", tmp_path)
    edited(
        folder / "transformer" / WEIGHTS,
        lambda t: t.update({"x_embedder.weight": t["x_embedder.weight"][:, :3].contiguous()}),
    )
    with pytest.raises(GensightError, match=r"flux2/transformer: .*x_embedder\.weight"):
        open_flux2(folder)


def test_another_pipeline_in_the_folder_is_told(tiny):
    with pytest.raises(GensightError, match="says QwenImageEditPlusPipeline, the spec Flux2Pi"):
        open_flux2(tiny["qwen_edit_plus"])


def test_a_folder_without_a_pipeline_is_told(tmp_path):
    with pytest.raises(GensightError, match=r"model_index\.json is not there"):
        open_flux2(tmp_path)
    with pytest.raises(GensightError, match=r"there is no folder \./nowhere"):
        open_flux2("./nowhere")


def test_a_relative_folder_is_below_the_root(tiny):
    folder = tiny["marigold_depth"]
    adapter = diffusers_depth.open_model({"model": folder.name}, [], Site(root=folder.parent))
    assert adapter.loaded.weights.name == folder.name


def test_float16_is_refused_where_only_bfloat16_is_borne(tiny):
    with pytest.raises(SpecError, match="float16 overflows"):
        open_flux2(tiny["flux2"], dtype="float16", bf16_only=True)
    with pytest.raises(SpecError, match=r"dtype: 'float8'|float8"):
        open_flux2(tiny["flux2"], dtype="float8")


def test_every_component_has_the_number_type_of_the_spec(tiny):
    import torch

    adapter = open_flux2(tiny["flux2"], assumed_dtype="bfloat16")
    parts = adapter.loaded.pipeline.components
    modules = {name: part for name, part in parts.items() if isinstance(part, torch.nn.Module)}
    assert set(modules) == {"text_encoder", "transformer", "vae"}
    assert {part.dtype for part in modules.values()} == {torch.bfloat16}
    assert not any(part.training for part in modules.values())


def test_offload_needs_a_cuda_device(tiny):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    for offload in ("model_cpu", "sequential"):
        with pytest.raises(SpecError, match="there is no CUDA device"):
            open_flux2(tiny["flux2"], offload=offload)


def test_nf4_needs_a_cuda_device(tiny):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.raises(SpecError, match="quantisation: nf4 needs a CUDA device"):
        open_flux2(tiny["flux2"], quantisation="nf4")


def test_quantised_weights_must_be_named_in_the_spec(tiny, tmp_path):
    folder = copied(tiny, "flux2", tmp_path)
    stored = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "fp4"}
    changed_json(folder / "transformer" / "config.json", quantization_config=stored)
    with pytest.raises(SpecError, match=r"holds quantised weights \(transformer\)"):
        open_flux2(folder)
    with pytest.raises(SpecError, match=r"says nf4, .*transformer/config\.json says fp4"):
        open_flux2(folder, quantisation="nf4")


def test_an_unknown_component_cannot_be_quantised(tiny):
    with pytest.raises(SpecError, match="quantised_components"):
        open_flux2(tiny["flux2"], quantisation="nf4", quantised_components=["unet"])


def test_the_nf4_config_has_the_right_fields(monkeypatch):
    """The classes are the real ones; only bitsandbytes' presence is pretended."""
    import diffusers
    import transformers

    version_of = importlib.metadata.version

    def pretended(name):
        return "0.50.2" if name == "bitsandbytes" else version_of(name)

    monkeypatch.setattr(importlib.metadata, "version", pretended)
    monkeypatch.setattr(_diffusers, "load_sdk", lambda *_: None)
    index = {
        "text_encoder": ("transformers", "Mistral3ForConditionalGeneration"),
        "transformer": ("diffusers", "Flux2Transformer2DModel"),
    }
    config = _diffusers.nf4_config("tests", list(index), index, "bfloat16")
    assert isinstance(config, diffusers.PipelineQuantizationConfig)
    kinds = {name: type(part) for name, part in config.quant_mapping.items()}
    assert kinds == {
        "text_encoder": transformers.BitsAndBytesConfig,
        "transformer": diffusers.BitsAndBytesConfig,
    }
    for part in config.quant_mapping.values():
        told = _diffusers.told_quantisation(part.to_dict())
        assert told == {
            "quant_method": "bitsandbytes",
            "load_in_4bit": True,
            "load_in_8bit": False,
            "bnb_4bit_quant_type": "nf4",
            "bnb_4bit_compute_dtype": "bfloat16",
            "bnb_4bit_use_double_quant": False,
        }


def test_what_quantisation_stores_beside_a_weight_is_not_unexpected():
    beside = ["absmax", "quant_map", "nested_absmax", "quant_state.bitsandbytes__nf4"]
    keys = [*(f"blocks.0.proj.weight.{name}" for name in beside), "blocks.0.weights", "absmax"]
    settings = {"ignored_keys": []}
    strangers = _diffusers.strangers({"unexpected_keys": keys}, settings)
    assert strangers == ["blocks.0.weights", "absmax"]


def test_mismatches_are_told_by_key_and_not_all():
    info = {
        "mismatched_keys": [("a.weight", (1, 2), (3, 4))],
        "missing_keys": {f"k{n}" for n in range(9)},
    }
    with pytest.raises(GensightError) as caught:
        _torch.check_loading("folder", info)
    told = str(caught.value)
    assert "missing keys: k0, k1, k2, k3 and 5 more; mismatched keys: a.weight" in told
    assert "\n" not in told
    _torch.check_loading("folder", {"missing_keys": [], "unexpected_keys": set()})


def test_a_package_that_is_not_there_is_told_with_its_extra():
    with pytest.raises(GensightError, match=r"no_such_package .*pip install 'gensight\[models\]'"):
        _torch.load_package("diffusers_edit", "no_such_package")


@pytest.fixture
def cached(tiny, tmp_path, monkeypatch):
    """A repository in the hub's cache, in two commits; `main` is the second."""
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    folder = tmp_path / "models--owner--tiny"
    commits = ["a" * 40, "b" * 40]
    for commit in commits:
        shutil.copytree(tiny["marigold_depth"], folder / "snapshots" / commit)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(commits[1])
    return commits


@pytest.mark.parametrize(
    ("settings", "place"), [({}, 1), ({"assumed_revision": "main"}, 1), ({"revision": "a" * 40}, 0)]
)
def test_a_repository_is_loaded_at_its_revision_and_the_commit_is_told(cached, settings, place):
    block = {"model": "owner/tiny", **settings}
    loaded = diffusers_depth.open_model(block, [], Site()).loaded
    assert (loaded.weights.name, loaded.revision) == ("owner/tiny", cached[place])
    assert cached[place] in loaded.pipeline.config["_name_or_path"]


def test_a_repository_that_is_not_there_is_told(cached):
    with pytest.raises(GensightError, match="owner/other"):
        diffusers_depth.open_model({"model": "owner/other"}, [], Site())
