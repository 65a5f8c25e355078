"""Checks that need a CUDA device; elsewhere they are skipped: `pytest tests/models/cuda_checks.py`.

They are not collected with the other tests. Those of NF4 need bitsandbytes too (`gensight[quant]`).
"""

import json
from importlib.util import find_spec

import numpy as np
import pytest
from whole_cells import picture, turn

from gensight.images import decode_rgb
from gensight.models import Site, diffusers_edit
from gensight.models._noise import drawn_from, noise

SHORT = {"pipeline": "Flux2Pipeline", "num_inference_steps": 2, "max_sequence_length": 64}
BLACK = (0, 0, 0)


@pytest.fixture(autouse=True)
def _cuda():
    import torch

    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")


def open_flux2(folder, **settings):
    block = {**SHORT, "model": str(folder), **settings}
    return diffusers_edit.open_model(block, [], Site())


def check_nf4(reply):
    told = json.loads(reply.setup)
    assert set(told["quantisation"]) == {"text_encoder", "transformer"}
    assert {part["bnb_4bit_quant_type"] for part in told["quantisation"].values()} == {"nf4"}
    assert reply.device != "cpu" and reply.peak_memory_gb > 0
    assert decode_rgb(reply.images[0], matte=BLACK).std() > 0


def test_the_noise_of_a_seed_is_the_same_on_both_devices():
    import torch
    from diffusers.utils.torch_utils import randn_tensor

    shape = (1, 4, 8, 8)
    drawn = [
        randn_tensor(shape, generator=noise(2**62 + 3), device=torch.device(device))
        for device in ("cpu", "cuda")
    ]
    assert torch.equal(drawn[0], drawn[1].cpu())


def test_draws_that_name_no_generator_are_the_same_on_both_devices():
    import torch

    drawn = []
    for device in ("cpu", "cuda"):
        odds = torch.tensor([0.2, 0.3, 0.5], device=device)
        with drawn_from(noise(3)):
            made = [
                torch.randn(4, device=device),
                torch.randn_like(odds),
                torch.rand(2, device=device),
            ]
            made.append(torch.multinomial(odds, 1))
        assert {one.device.type for one in made} == {device}
        drawn.append([one.cpu() for one in made])
    assert all(torch.equal(one, other) for one, other in zip(*drawn, strict=True))


def test_an_answer_is_the_same_again_and_near_that_of_a_cpu(tiny, monkeypatch):
    from gensight.models import _diffusers

    shown = turn(picture(128, 96))
    adapter = open_flux2(tiny["flux2"])
    reply = adapter.answer(shown)
    assert adapter.answer(shown).images == reply.images
    assert reply.device != "cpu" and reply.peak_memory_gb > 0
    monkeypatch.setattr(_diffusers, "device", lambda: "cpu")
    on_cpu = open_flux2(tiny["flux2"]).answer(shown)
    pictures = [decode_rgb(r.images[0], matte=BLACK).astype(float) for r in (reply, on_cpu)]
    # Kernels round differently; other noise would differ by tens of levels.
    assert np.abs(pictures[0] - pictures[1]).mean() < 2


@pytest.mark.skipif(not find_spec("bitsandbytes"), reason="bitsandbytes is not installed")
def test_nf4_at_load_and_as_it_was_stored(tiny, tmp_path):
    adapter = open_flux2(tiny["flux2"], quantisation="nf4", dtype="bfloat16")
    shown = turn(picture(128, 96))
    reply = adapter.answer(shown)
    check_nf4(reply)
    adapter.loaded.pipeline.save_pretrained(tmp_path / "flux2_nf4")
    stored = open_flux2(tmp_path / "flux2_nf4", quantisation="nf4", dtype="bfloat16")
    again = stored.answer(shown)
    check_nf4(again)
    assert again.images == reply.images


@pytest.mark.parametrize("offload", ["model_cpu", "sequential"])
def test_offload_changes_no_answer(tiny, offload):
    shown = turn(picture(128, 96))
    reply = open_flux2(tiny["flux2"], offload=offload).answer(shown)
    assert json.loads(reply.setup)["offload"] == offload
    assert reply.images == open_flux2(tiny["flux2"]).answer(shown).images
