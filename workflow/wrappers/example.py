"""Example of an external command: returns the input picture in grey. It understands nothing.

settings: {noise: 0}    grey levels of noise (0 to 255) that follow from the seed
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import protocol

VERSION = 1


class Model:
    """Nothing is loaded here; a model would load its weights."""

    def __init__(self, generation: dict[str, Any]) -> None:
        from PIL import Image

        self.pictures = Image
        self.noise = generation["settings"].get("noise", 0)
        self.setup = {"libraries": protocol.versions_of("pillow"), "dtype": "uint8"}

    def answer(self, turn: dict[str, Any]) -> dict[str, Any]:
        """Return the turn's last picture in grey."""
        print("what a library prints goes into the log")
        with self.pictures.open(protocol.images_of(turn)[-1]) as picture:
            grey = picture.convert("L")
        if self.noise:
            chance = random.Random(turn["seed"])
            shifts = (chance.randint(-self.noise, self.noise) for _ in range(10**9))
            levels = [min(max(a + b, 0), 255) for a, b in zip(grey.tobytes(), shifts)]  # noqa: B905
            grey = self.pictures.frombytes("L", grey.size, bytes(levels))
        grey.save(Path(turn["folder"]) / "grey.png")
        return {"outcome": "ok", "image": "grey.png", "setup": {"used_size": list(grey.size)}}


if __name__ == "__main__":
    protocol.serve(VERSION, Model)
