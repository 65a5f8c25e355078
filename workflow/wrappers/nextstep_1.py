"""NextStep-1, editing: stepfun-ai/NextStep-1 at 6e49baeb, its `NextStepPipeline.generate_image`.

settings: tokenizer, tokenizer_revision    the weights that turn pictures into tokens and back
          size                             [width, height] that the input is stretched to
          those of `generate_image` (cfg, cfg_img, timesteps_shift, num_sampling_steps, ...)

Checked: the keys of the transformer, as its loader tells them, and those of the VAE, which the
repository loads leniently: where that fails, it goes on with random numbers.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import protocol

VERSION = 1
#: numpy, which the repository seeds too, takes no larger seed.
SEEDS = 2**32


class Model:
    """The pipeline in bfloat16."""

    def __init__(self, generation: dict[str, Any]) -> None:
        # The repository advises against compiling; it reads this when it is imported.
        os.environ["ENABLE_TORCH_COMPILE"] = "false"
        _, commit = protocol.use_repository(generation)
        import torch
        from nextstep.models.pipeline_nextstep import NextStepPipeline
        from PIL import Image

        self.options = dict(generation["settings"])
        self.size = tuple(self.options.pop("size"))
        tokenizer, its_revision = protocol.download(
            self.options.pop("tokenizer"), self.options.pop("tokenizer_revision")
        )
        folder, revision = protocol.download(generation["weights"], generation["weights_revision"])
        accepted = self.options.pop("accepted_warnings", ())
        with protocol.strict_loading(accepted):
            pipeline = NextStepPipeline(model_name_or_path=folder, vae_name_or_path=tokenizer)
        path = str(Path(tokenizer) / "checkpoint.pt")
        coder = torch.load(path, map_location="cpu")
        protocol.check_keys(path, pipeline.vae.state_dict(), coder, accepted)
        pipeline.vae.load_state_dict(coder, strict=False)  # fails at other shapes
        self.pipeline = pipeline.to("cuda", torch.bfloat16)
        protocol.watch("the decoder of the VAE", pipeline.vae.decoder)
        self.pictures = Image
        self.setup = {
            "revision": commit,
            "weights_revision": revision or generation["weights_revision"],
            "tokenizer_revision": its_revision,
            "dtype": "bfloat16",
            "libraries": protocol.versions_of("torch", "transformers", "diffusers"),
        }

    def answer(self, turn: dict[str, Any]) -> dict[str, Any]:
        """Return the edited picture, of the size that the settings name."""
        paths = protocol.images_of(turn)
        if len(paths) != 1:
            raise ValueError(f"NextStep-1 edits one picture, not {len(paths)}")
        with self.pictures.open(paths[0]) as picture:
            image = picture.convert("RGB").resize(self.size, self.pictures.BICUBIC)
        made = self.pipeline.generate_image(
            captions="<image>" + protocol.text_of(turn),
            images=image,
            num_images_per_caption=1,
            hw=self.size[::-1],
            seed=turn["seed"] % SEEDS,
            progress=False,
            **self.options,
        )
        made[0].save(Path(turn["folder"]) / "answer.png")
        size = {"used_size": list(self.size)}
        return {"outcome": "ok", "image": "answer.png", "setup": size}


if __name__ == "__main__":
    protocol.serve(VERSION, Model)
