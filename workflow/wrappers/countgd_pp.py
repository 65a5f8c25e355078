"""CountGD++: niki-amini-naieni/CountGDPlusPlus at 43e91c5b, its `app.predict`.

weights:  a file in the repository's clone, or an absolute path; its sha256 is its revision
settings: phrase       regular expression that finds the category in the prompt
          threshold    least score of a box; null for the repository's own
          check_keys   refuse a checkpoint that does not fit (loading ignores it)

Checked: the checkpoint's keys, its text encoder's too, which it replaces; that no score is NaN,
which would be no box.

Prompted with the category alone, without exemplars. It draws no noise: the seed changes nothing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import protocol

VERSION = 1


class Model:
    """The model of the repository's demonstration."""

    def __init__(self, generation: dict[str, Any]) -> None:
        folder, commit = protocol.use_repository(generation)
        # Its configuration and its text encoder are named relative to the clone.
        os.chdir(folder)
        import app
        import torch
        from PIL import Image

        settings = self.settings = generation["settings"]
        self.app, self.pictures = app, Image
        if settings["threshold"] is not None:
            app.CONF_THRESH = settings["threshold"]
        path = str(Path(folder) / generation["weights"])
        arguments = app.get_args_parser().parse_args(["--pretrain_model_path", path])
        model, self.transform = app.build_model_and_transforms(arguments)
        if settings["check_keys"]:
            found = torch.load(path, map_location="cpu")["model"]
            protocol.check_keys(path, model.state_dict(), found)
        self.device = app.get_device()
        self.model = model.to(self.device)
        # As logits, the places of words that the category does not have are infinite.
        protocol.watch("CountGD++", self.model, lambda made: made["pred_logits"].sigmoid())
        self.setup = {
            "revision": commit,
            "weights_revision": protocol.digest_of(path),
            "dtype": "float32",
            "threshold": app.CONF_THRESH,
            "libraries": protocol.versions_of("torch", "torchvision", "transformers"),
        }

    def answer(self, turn: dict[str, Any]) -> dict[str, Any]:
        """Return the number of boxes as text."""
        phrase = protocol.phrase_of(turn, self.settings["phrase"])
        with self.pictures.open(protocol.images_of(turn)[-1]) as picture:
            image = picture.convert("RGB")
        without_exemplars = {"image": image, "points": []}
        boxes, _ = self.app.predict(
            self.model, self.transform, image, phrase, without_exemplars, [], [], self.device
        )
        return {"outcome": "ok", "text": str(len(boxes)), "setup": {"phrase": phrase}}


if __name__ == "__main__":
    protocol.serve(VERSION, Model)
