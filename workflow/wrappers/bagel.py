"""BAGEL, editing: ByteDance-Seed/Bagel at 056b5fd5, its `inferencer.InterleaveInferencer`.

settings: those of `interleave_inference` (think, cfg_text_scale, num_timesteps, ...), and
          strict_keys    refuse a checkpoint that does not fit

Loaded on one GPU in bfloat16, as the repository's demonstration does it. The picture that it
returns has the size that the input was brought to. Checked: all keys of the VAE and the model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import protocol

VERSION = 1


class Model:
    """The transformer, its picture encoder, its VAE, and the inferencer over them."""

    def __init__(self, generation: dict[str, Any]) -> None:
        _, commit = protocol.use_repository(generation)
        import torch
        from inferencer import InterleaveInferencer
        from PIL import Image

        self.options = dict(generation["settings"])
        strict = self.options.pop("strict_keys")
        folder, revision = protocol.download(generation["weights"], generation["weights_revision"])
        self.inferencer = InterleaveInferencer(**_parts(Path(folder), torch.bfloat16, strict))
        self.pictures = Image
        self.setup = {
            "revision": commit,
            "weights_revision": revision or generation["weights_revision"],
            "dtype": "bfloat16",
            "libraries": protocol.versions_of("torch", "transformers", "accelerate", "flash_attn"),
        }

    def answer(self, turn: dict[str, Any]) -> dict[str, Any]:
        """Return the picture, and the thoughts where it has them."""
        protocol.seed_all(turn["seed"])
        made = self.inferencer.interleave_inference(
            [self._part(part) for part in turn["parts"]], **self.options
        )
        texts = [part for part in made if isinstance(part, str)]
        picture = next(part for part in made if not isinstance(part, str))
        picture.save(Path(turn["folder"]) / "answer.png")
        answer = {"outcome": "ok", "image": "answer.png", "text": "\n".join(texts) or None}
        return {**answer, "setup": {"used_size": list(picture.size)}}

    def _part(self, part: dict[str, str]) -> Any:
        if "text" in part:
            return part["text"]
        with self.pictures.open(part["image"]) as picture:
            return picture.convert("RGB")


def _parts(folder: Path, dtype: Any, strict: bool) -> dict[str, Any]:
    """Load what the inferencer is made of."""
    from accelerate import init_empty_weights, load_checkpoint_and_dispatch
    from data.data_utils import add_special_tokens
    from data.transforms import ImageTransform
    from modeling import bagel
    from modeling.autoencoder import load_ae
    from modeling.qwen2 import Qwen2Tokenizer
    from safetensors import safe_open

    language = bagel.Qwen2Config.from_json_file(str(folder / "llm_config.json"))
    language.qk_norm, language.tie_word_embeddings = True, False
    language.layer_module = "Qwen2MoTDecoderLayer"
    vision = bagel.SiglipVisionConfig.from_json_file(str(folder / "vit_config.json"))
    vision.rope, vision.num_hidden_layers = False, vision.num_hidden_layers - 1
    coder, weights = str(folder / "ae.safetensors"), str(folder / "ema.safetensors")
    vae, vae_config = load_ae(local_path=coder)
    protocol.watch("the decoder of the VAE", vae.decoder)
    config = bagel.BagelConfig(
        visual_gen=True, visual_und=True, llm_config=language, vit_config=vision,
        vae_config=vae_config, vit_max_num_patch_per_side=70, connector_act="gelu_pytorch_tanh",
        latent_patch_size=2, max_latent_size=64,
    )  # fmt: skip
    with init_empty_weights():
        vit = bagel.SiglipVisionModel(vision)
        model = bagel.Bagel(bagel.Qwen2ForCausalLM(language), vit, config)
        vit.vision_model.embeddings.convert_conv2d_to_linear(vision, meta=True)
    for path, part in ((coder, vae), (weights, model)) if strict else ((coder, vae),):
        with safe_open(path, framework="pt") as file:
            protocol.check_keys(path, part.state_dict(), file.keys())
    placed = {"device_map": {"": 0}, "dtype": dtype}
    model = load_checkpoint_and_dispatch(model, weights, strict=strict, **placed)
    tokenizer, new_ids, _ = add_special_tokens(Qwen2Tokenizer.from_pretrained(str(folder)))
    transforms = {"vae_transform": ImageTransform(1024, 512, 16)}
    transforms["vit_transform"] = ImageTransform(980, 224, 14)
    parts = {"model": model.eval(), "vae_model": vae, "tokenizer": tokenizer}
    return {**parts, **transforms, "new_token_ids": new_ids}


if __name__ == "__main__":
    protocol.serve(VERSION, Model)
