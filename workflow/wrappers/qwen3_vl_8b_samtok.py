"""Qwen3-VL-8B-SAMTok: bytedance/Sa2VA at f695ee6f, its `projects.samtok.models.VQ_SAM2`.

settings: phrase            regular expression that finds the thing in the prompt
          question          what the model is asked, with {phrase}
          max_new_tokens    of its answer, which is decoded greedily: the seed changes nothing

A mask is two words of the answer, codes of two codebooks. All masks are united: white on black.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import protocol

VERSION = 1
CODES, BOOKS, SIDE = 256, 2, 1024
MASK = re.compile(r"<\|mt_start\|>((?:<\|mt_\d+\|>)+)")


class Model:
    """The language model, and the decoder of its mask words."""

    def __init__(self, generation: dict[str, Any]) -> None:
        _, commit = protocol.use_repository(generation)
        import numpy
        import torch
        from PIL import Image
        from projects.samtok.models import VQ_SAM2, DirectResize, SAM2Config, VQ_SAM2Config
        from transformers import AutoProcessor, Qwen3VLForConditionalGeneration

        self.numpy, self.torch, self.pictures = numpy, torch, Image
        settings = self.settings = generation["settings"]
        folder, revision = protocol.download(generation["weights"], generation["weights_revision"])
        device = "cuda" if torch.cuda.is_available() else "cpu"
        with protocol.strict_loading(settings.get("accepted_warnings", ())):
            model = Qwen3VLForConditionalGeneration.from_pretrained(folder, torch_dtype="auto")
        self.model, self.processor = model.to(device).eval(), AutoProcessor.from_pretrained(folder)
        sam = SAM2Config(ckpt_path=str(Path(folder) / "sam2.1_hiera_large.pt"))
        books = {"codebook_size": CODES, "codebook_depth": BOOKS, "shared_codebook": False}
        decoder = VQ_SAM2(VQ_SAM2Config(sam2_config=sam, latent_dim=256, **books))
        path = str(Path(folder) / f"mask_tokenizer_{CODES}x{BOOKS}.pth")
        decoder.load_state_dict(torch.load(path, map_location="cpu"))  # strict
        self.decoder, self.resizer = decoder.to(device).eval(), DirectResize(SIDE)
        self.setup = {
            "revision": commit,
            "weights_revision": revision or generation["weights_revision"],
            "dtype": str(self.model.dtype).split(".")[-1],
            "libraries": protocol.versions_of("torch", "transformers"),
        }

    def answer(self, turn: dict[str, Any]) -> dict[str, Any]:
        """Return the union of the masks in the answer, and the answer."""
        path = protocol.images_of(turn)[-1]
        text = self._said(path, protocol.phrase_of(turn, self.settings["phrase"]))
        codes = [_codes(words) for words in MASK.findall(text)]
        if not codes:
            return {"outcome": "text_only", "text": text}
        with self.pictures.open(path) as picture:
            mask = self._united(picture.convert("RGB"), codes)
        self.pictures.fromarray(mask).save(Path(turn["folder"]) / "mask.png")
        facts = {"masks": len(codes), "used_size": [SIDE, SIDE]}
        return {"outcome": "ok", "image": "mask.png", "text": text, "setup": facts}

    def _said(self, path: str, phrase: str) -> str:
        question = self.settings["question"].format(phrase=phrase)
        content = [{"type": "image", "image": path}, {"type": "text", "text": question}]
        inputs = self.processor.apply_chat_template(
            [{"role": "user", "content": content}],
            tokenize=True, add_generation_prompt=True, return_dict=True, return_tensors="pt",
        ).to(self.model.device)  # fmt: skip
        limit, asked = self.settings["max_new_tokens"], inputs["input_ids"].shape[1]
        ids = self.model.generate(**inputs, max_new_tokens=limit, do_sample=False)
        return self.processor.batch_decode(ids[:, asked:], skip_special_tokens=True)[0]

    def _united(self, picture: Any, codes: list[list[int]]) -> Any:
        torch, decoder = self.torch, self.decoder
        pixels = torch.from_numpy(self.resizer.apply_image(self.numpy.array(picture)))
        pixels = pixels.permute(2, 0, 1).unsqueeze(0).to(decoder.dtype).to(decoder.device)
        ids = torch.LongTensor(codes).to(decoder.device)
        with torch.no_grad():
            masks = decoder.forward_with_codes(pixels.repeat(len(codes), 1, 1, 1), ids)
        protocol.check_finite("the mask decoder", masks)
        size = picture.size[::-1]
        masks = torch.nn.functional.interpolate(masks.float(), size=size, mode="bilinear")
        return (masks > 0.5)[:, 0].cpu().numpy().any(axis=0).astype(self.numpy.uint8) * 255


def _codes(words: str) -> list[int]:
    """Return the code of each book; -1 for one that is missing or not of its book."""
    told = re.findall(r"\d+", words)[:BOOKS]
    codes = [int(number) - place * CODES for place, number in enumerate(told)]
    codes += [-1] * (BOOKS - len(codes))
    return [code if 0 <= code < CODES else -1 for code in codes]


if __name__ == "__main__":
    protocol.serve(VERSION, Model)
