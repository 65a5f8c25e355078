"""Many settings of the dot decoders on one answer, each picture, mask and outline found once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gensight.errors import ImageError
from gensight.extractors import Answer, Reading
from gensight.extractors._blobs import Outline, accepted, counts_by_limits, outlines
from gensight.extractors._decoders import DECODERS, GATED
from gensight.extractors._pair import grey_range
from gensight.extractors._reading import read_variants
from gensight.extractors._red import RED_DEFAULTS, Marks

BLOB_VARIANTS = ("blobdetector", "diff_red_blob")
MarksOf = Callable[[Answer, Mapping[str, Any]], Marks]


class DotGrid:
    """Reads counts, nothing else, from one answer; `marks_of` decodes it for some settings."""

    def __init__(self, answer: Answer, marks_of: MarksOf) -> None:
        self.answer = answer
        self.marks_of = marks_of
        self._marks: dict[Any, tuple[Marks, float] | ImageError] = {}
        self._outlines: dict[Any, list[Outline]] = {}

    def reading(self, settings: dict[str, Any], matte: str) -> Reading:
        """Return the reading of the only variant of some settings."""
        (reading,) = read_variants(self.answer, settings, matte, self._read)
        return reading

    def _read(self, answer: Answer, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
        marks, spread = self._decoded(settings)
        (variant,) = settings["variants"]
        if variant in BLOB_VARIANTS and counts_by_limits(settings):
            count = accepted(self._outlines_of(marks, variant, settings), settings)
        else:
            count = len(DECODERS[variant](marks, settings)[0])
        return {variant: {"count": count, "degenerate_output": spread < settings["flat_range"]}}

    def _decoded(self, settings: Mapping[str, Any]) -> tuple[Marks, float]:
        key = (settings["long_side_px"], settings["variants"][0] in GATED)
        if key not in self._marks:
            try:
                marks = self.marks_of(self.answer, settings)
                self._marks[key] = marks, grey_range(marks.marked)
            except ImageError as error:
                self._marks[key] = error
        found = self._marks[key]
        if isinstance(found, ImageError):
            raise found
        return found

    def _outlines_of(
        self, marks: Marks, variant: str, settings: Mapping[str, Any]
    ) -> list[Outline]:
        limits = tuple(settings[name] for name in RED_DEFAULTS)
        key = (settings["long_side_px"], variant, limits)
        if key not in self._outlines:
            mask = marks.gated(settings) if variant in GATED else marks.red(settings)
            self._outlines[key] = outlines(mask)
        return self._outlines[key]
