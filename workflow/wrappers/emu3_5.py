"""Emu3.5, picture and text to picture: baaivision/Emu3.5 at 8fcf1da4, its functions `build_image`,
`generate` and `multimodal_decode` under configs/example_config_x2i.py.

settings: tokenizer, tokenizer_revision    the weights that turn pictures into tokens and back
          sampling                         over `sampling_params` of the configuration
          others over what the configuration has (classifier_free_guidance, image_area, ...)

Checked: the keys of the language model, as its loader tells them; the repository loads the decoder
strictly itself. The picture that it returns has the size that the first input was brought to.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import protocol

VERSION = 1


class Model:
    """The language model over picture tokens, and their decoder."""

    def __init__(self, generation: dict[str, Any]) -> None:
        folder, commit = protocol.use_repository(generation)
        # Its configuration makes folders where the process stands.
        os.chdir(tempfile.mkdtemp(prefix="emu3_5-"))
        from configs import example_config_x2i as config
        from PIL import Image
        from src.utils import generation_utils, input_utils, model_utils

        settings = dict(generation["settings"])
        decoder, its_revision = protocol.download(
            settings.pop("tokenizer"), settings.pop("tokenizer_revision")
        )
        weights, revision = protocol.download(generation["weights"], generation["weights_revision"])
        with protocol.strict_loading(settings.pop("accepted_warnings", ())):
            self.model, self.tokenizer, self.decoder = model_utils.build_emu3p5(
                weights,
                str(Path(folder) / "src/tokenizer_emu3_ibq"),
                decoder,
                vq_type=config.vq_type,
                model_device=config.hf_device,
                vq_device=config.vq_device,
            )
        protocol.watch("the decoder of picture tokens", self.decoder.decoder)
        config.sampling_params.update(settings.pop("sampling"))
        for name, value in settings.items():
            if not hasattr(config, name):
                raise ValueError(f"settings: {name} is no setting of configs/example_config_x2i.py")
            setattr(config, name, value)
        config.special_token_ids = {
            name: self.tokenizer.encode(token)[0] for name, token in config.special_tokens.items()
        }
        self.config, self.pictures = config, Image
        self.inputs, self.generating = input_utils, generation_utils
        self.setup = {
            "revision": commit,
            "weights_revision": revision or generation["weights_revision"],
            "tokenizer_revision": its_revision,
            "dtype": "bfloat16",
            "libraries": protocol.versions_of("torch", "transformers", "flash_attn"),
        }

    def answer(self, turn: dict[str, Any]) -> dict[str, Any]:
        """Return the first picture of what is generated, and its text."""
        protocol.seed_all(turn["seed"])
        tokens = "".join(self._tokens(path) for path in protocol.images_of(turn))
        asked = self.config.template.format(question=protocol.text_of(turn))
        prompts = [text.replace("<|IMAGE|>", tokens) for text in (asked, self.config.unc_prompt)]
        ids, unconditional = (
            self.tokenizer.encode(text, return_tensors="pt", add_special_tokens=False).to(
                self.model.device
            )
            for text in prompts
        )
        same_size = len(protocol.images_of(turn)) == 1
        arguments = (self.config, self.model, self.tokenizer, ids, unconditional, None, same_size)
        made = next(iter(self.generating.generate(*arguments)))
        text = self.tokenizer.decode(made, skip_special_tokens=False)
        parts = self.generating.multimodal_decode(text, self.tokenizer, self.decoder)
        told = "\n".join(part for kind, part in parts if kind != "image") or None
        picture = next((part for kind, part in parts if kind == "image"), None)
        if picture is None:
            return {"outcome": "text_only" if told else "no_image", "text": told}
        picture.save(Path(turn["folder"]) / "answer.png")
        size = {"used_size": list(picture.size)}
        return {"outcome": "ok", "image": "answer.png", "text": told, "setup": size}

    def _tokens(self, path: str) -> str:
        with self.pictures.open(path) as picture:
            image = picture.convert("RGB")
        return self.inputs.build_image(image, self.config, self.tokenizer, self.decoder)


if __name__ == "__main__":
    protocol.serve(VERSION, Model)
