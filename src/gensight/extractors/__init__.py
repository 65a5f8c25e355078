"""Extractors: what a returned picture says, read by fixed rules; one module per extractor.

A module has `VERSION`, `DEFAULTS` and `extract(answer, parameters) -> list[Reading]`, one reading
per variant, the picture decoded once. An `Answer` carries no trace of who gave it, so a rule
cannot depend on that (ProbeGen section 3: one extraction for all).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from gensight import modules
from gensight.specs import declared


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer as an extractor sees it, and the input picture that was asked about.

    `image` and `text` are what came back, untouched. `source` is the sample's input picture,
    `source_width` x `source_height` pixels as the sample counts them (0 x 0 where there is none);
    `orient_source` says whether its EXIF tag is applied to get there. `form` is the form of answer
    that was asked for; `label` what is the sample's own in an answer about several, and `echo` what
    the reply was to repeat of the question.
    """

    image: bytes | None = None
    text: str | None = None
    source: bytes | None = None
    source_width: int
    source_height: int
    orient_source: bool = True
    form: Mapping[str, Any] = field(default_factory=dict)
    label: str | None = None
    echo: str | None = None


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What one variant read; the keys of `fields` are columns of `records.Prediction`.

    `status` is `ok`, `invalid` (with a reason such as `unreadable`) or `no_output`. `detail` is a
    sentence for the log.
    """

    variant: str
    status: str = "ok"
    reason: str | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    detail: str | None = None


def names() -> tuple[str, ...]:
    """Return the names of all extractors: the modules of this folder."""
    return declared.names("extractors")


def load(name: str) -> ModuleType:
    """Import the extractor of this name; SpecError lists those there are."""
    return modules.load("extractors", name)
