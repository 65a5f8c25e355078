"""Lotus-2, depth: EnVision-Research/Lotus-2 at b05bf90c, its `infer.process_single_image`.

settings: base, base_revision    FLUX.1-dev, which it was trained on
          num_inference_steps    of the second stage, which sharpens
          dtype, bf16_only       bfloat16 or float32; whether to refuse float16

Checked: the keys of every part of FLUX.1-dev, as its loaders tell them, and of both adapters, whose
missing tensors the repository ignores; it loads the module between them strictly itself.

It draws no noise: the seed changes nothing. The map is disparity, larger values are nearer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import protocol

VERSION = 1
TASK = "depth"


class Model:
    """FLUX.1-dev with two adapters and a small module between them."""

    def __init__(self, generation: dict[str, Any]) -> None:
        _, commit = protocol.use_repository(generation)
        import numpy
        import torch
        from diffusers import FlowMatchEulerDiscreteScheduler, FluxTransformer2DModel
        from infer import (
            CORE_PREDICTOR_FILENAME,
            DETAIL_SHARPENER_FILENAME,
            LCM_FILENAME,
            load_lora_and_lcm_weights,
            process_single_image,
        )
        from pipeline import Lotus2Pipeline

        settings = self.settings = generation["settings"]
        self.numpy, self.process = numpy, process_single_image
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        dtype = getattr(torch, protocol.dtype_of(settings))
        folder, revision = protocol.download(generation["weights"], generation["weights_revision"])
        of_base = {"revision": settings["base_revision"]}
        with protocol.strict_loading(settings.get("accepted_warnings", ())):
            scheduler = FlowMatchEulerDiscreteScheduler.from_pretrained(
                settings["base"], subfolder="scheduler", num_train_timesteps=10, **of_base
            )
            transformer = FluxTransformer2DModel.from_pretrained(
                settings["base"], subfolder="transformer", **of_base
            )
            transformer.requires_grad_(False)
            transformer.to(device=self.device, dtype=dtype)
            files = (CORE_PREDICTOR_FILENAME, LCM_FILENAME, DETAIL_SHARPENER_FILENAME)
            paths = [str(Path(folder) / names[TASK]) for names in files]
            transformer, between = load_lora_and_lcm_weights(transformer, *paths, TASK)
            for adapter, path in (("core_predictor", paths[0]), ("detail_sharpener", paths[2])):
                _check_adapter(transformer, adapter, path, Lotus2Pipeline.lora_state_dict(path))
            parts = {"scheduler": scheduler, "transformer": transformer, "torch_dtype": dtype}
            pipeline = Lotus2Pipeline.from_pretrained(settings["base"], **parts, **of_base)
        pipeline.local_continuity_module = between
        self.pipeline = pipeline.to(self.device)
        protocol.watch("the decoder of the VAE", pipeline.vae.decoder)
        self.setup = {
            "revision": commit,
            "weights_revision": revision or generation["weights_revision"],
            "dtype": protocol.dtype_of(settings),
            "libraries": protocol.versions_of("torch", "diffusers", "peft", "numpy"),
        }

    def answer(self, turn: dict[str, Any]) -> dict[str, Any]:
        """Return the map of the turn's picture, (H, W) floats at the picture's size."""
        _, _, prediction = self.process(
            protocol.images_of(turn)[-1],
            self.pipeline,
            task_name=TASK,
            device=self.device,
            num_inference_steps=self.settings["num_inference_steps"],
        )
        path = Path(turn["folder"]) / "depth.npy"
        self.numpy.save(path, self.numpy.asarray(prediction, self.numpy.float32))
        return {"outcome": "ok", "array": "depth.npy"}


def _check_adapter(transformer: Any, adapter: str, path: str, found: dict[str, Any]) -> None:
    """Compare an adapter's file with the tensors that the transformer has of that adapter."""
    from diffusers.utils import convert_unet_state_dict_to_peft

    read = [key for key in found if key.startswith("transformer.")]  # the repository skips others
    protocol.check_keys(path, read, found)
    named = {key.replace("transformer.", ""): found[key] for key in read}
    inside = f".{adapter}."
    wanted = [key.replace(inside, ".") for key in transformer.state_dict() if inside in key]
    protocol.check_keys(path, wanted, convert_unet_state_dict_to_peft(named))


if __name__ == "__main__":
    protocol.serve(VERSION, Model)
