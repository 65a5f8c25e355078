"""Efficiency needs no extraction: a reading that says nothing, so that every answer has a row.

The stage copies latency and peak memory from the generation into each prediction; the measure
`efficiency` reads them there (ProbeGen Appendix B). The reading is `ok` whatever the answer shows,
since a useless picture takes its time like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensight.extractors import Answer, Reading
from gensight.extractors._reading import resolve

VERSION = 1

DEFAULTS: dict[str, Any] = {"variants": ["timing"]}
CHOICES = {"variants": ["timing"]}


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Return one `ok` reading without columns of its own."""
    resolve("timing", parameters)
    return [Reading(variant="timing")]
