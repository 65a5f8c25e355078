"""What a reply used, in one form for all vendors: what money is counted from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Usage:
    """Tokens by what they are made of, and pictures that came back; 0 where there were none.

    Tokens that a model thinks with are output text. Cached input is part of `input_text_tokens`,
    and is counted at the full price: a bill may be lower, never higher.
    """

    input_text_tokens: int = 0
    input_image_tokens: int = 0
    output_text_tokens: int = 0
    output_image_tokens: int = 0
    images: int = 0

    @property
    def tokens(self) -> int:
        """Return all tokens, as a limit of tokens per minute counts them."""
        return (
            self.input_text_tokens
            + self.input_image_tokens
            + self.output_text_tokens
            + self.output_image_tokens
        )

    def to_json(self) -> str:
        """Return it as canonical JSON, for the column `usage` of generations."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | None) -> Usage | None:
        """Return what was written by `to_json`; None where nothing was told."""
        if text is None:
            return None
        told: Mapping[str, Any] = json.loads(text)
        return cls(**{field.name: int(told.get(field.name, 0)) for field in fields(cls)})
