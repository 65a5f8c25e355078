"""OmniGen2, editing: VectorSpaceLab/OmniGen2 at 0f72fa92, its `inference.load_pipeline`.

settings: those of its command line (num_inference_step, text_guidance_scale, ...) over its own
          defaults; a setting that it does not know ends the run
          bf16_only    refuse dtype fp16

Checked: the keys of the transformer, the language model and the VAE, as their loaders tell them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import protocol

VERSION = 1


class Model:
    """The pipeline, in the number type `dtype` of the settings."""

    def __init__(self, generation: dict[str, Any]) -> None:
        _, commit = protocol.use_repository(generation)
        import inference
        import torch
        from accelerate import Accelerator
        from PIL import Image

        folder, revision = protocol.download(generation["weights"], generation["weights_revision"])
        settings = dict(generation["settings"])
        accepted = settings.pop("accepted_warnings", ())
        bf16_only = settings.pop("bf16_only", False)
        sys.argv[1:] = ["--model_path", folder]
        arguments = self.arguments = inference.parse_args()
        for name, value in settings.items():
            if not hasattr(arguments, name):
                raise ValueError(f"settings: {name} is no option of OmniGen2's inference.py")
            setattr(arguments, name, value)
        dtype = protocol.dtype_of({"dtype": arguments.dtype, "bf16_only": bf16_only})
        accelerator = Accelerator(
            mixed_precision="no" if arguments.dtype == "fp32" else arguments.dtype
        )
        with protocol.strict_loading(accepted):
            self.pipeline = inference.load_pipeline(arguments, accelerator, getattr(torch, dtype))
        protocol.watch("the decoder of the VAE", self.pipeline.vae.decoder)
        self.torch, self.pictures = torch, Image
        self.setup = {
            "revision": commit,
            "weights_revision": revision or generation["weights_revision"],
            "dtype": dtype,
            "libraries": protocol.versions_of("torch", "transformers", "diffusers", "accelerate"),
        }

    def answer(self, turn: dict[str, Any]) -> dict[str, Any]:
        """Return the edited picture; with one picture in, its size follows that."""
        arguments = self.arguments
        noise = self.torch.Generator("cpu").manual_seed(turn["seed"] % 2**63)
        images = []
        for path in protocol.images_of(turn):
            with self.pictures.open(path) as picture:
                images.append(picture.convert("RGB"))
        made = self.pipeline(
            prompt=protocol.text_of(turn),
            negative_prompt=arguments.negative_prompt,
            input_images=images,
            width=arguments.width,
            height=arguments.height,
            num_inference_steps=arguments.num_inference_step,
            max_sequence_length=1024,
            text_guidance_scale=arguments.text_guidance_scale,
            image_guidance_scale=arguments.image_guidance_scale,
            cfg_range=(arguments.cfg_range_start, arguments.cfg_range_end),
            num_images_per_prompt=1,
            generator=noise,
            output_type="pil",
        )
        picture = made.images[0]
        picture.save(Path(turn["folder"]) / "answer.png")
        size = {"used_size": list(picture.size)}
        return {"outcome": "ok", "image": "answer.png", "setup": size}


if __name__ == "__main__":
    protocol.serve(VERSION, Model)
