"""Text from answers: what a picture says, read by OCR, or the reply itself.

Protocol: ProbeGen Appendix D lets a generator write its answer onto the picture and decodes it with
OCR; the engine is not named. Variants:

- `ocr`: RapidOCR on the picture at work size over white, its lines joined in its reading order, by
  line feeds. Engine and confidence floor are assumed. One thread, so that results do not depend on
  the machine's cores.
- `reply`: the text that came back, untouched, so that multimodal LLMs and generators are compared
  by one measure. What counts as equal is the measure's business.

Degenerate cases: a picture without writing is a valid empty text; one of a single grey level is
flagged `degenerate_output`; a reply without text is `no_output`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import cv2

from gensight.errors import GensightError
from gensight.extractors import Answer, Reading
from gensight.extractors._pair import WHITE, grey_range
from gensight.extractors._reading import COMMON_DEFAULTS, read_variants, resolve, work_size
from gensight.images import decode_rgb, resize_picture

VERSION = 1

DEFAULTS: dict[str, Any] = {
    "variants": ["ocr"],
    "assumed_engine": "rapidocr",
    "assumed_min_confidence": 0.5,
    **COMMON_DEFAULTS,
    "flat_range": 16,
}
CHOICES = {"variants": ["ocr", "reply"], "assumed_engine": ["rapidocr"]}


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Read one text per variant.

    Raises:
        GensightError: `ocr` is asked for a picture and the OCR engine is not installed.
    """
    settings = resolve("text", parameters)
    return [
        _reply(answer) if variant == "reply" else _ocr(answer, settings)
        for variant in settings["variants"]
    ]


def _reply(answer: Answer) -> Reading:
    fields: dict[str, Any] = {"parameters": "{}"}
    if answer.text is None:
        return Reading(variant="reply", status="no_output", reason="no_text", fields=fields)
    return Reading(variant="reply", fields={**fields, "text": answer.text})


def _ocr(answer: Answer, settings: dict[str, Any]) -> Reading:
    (reading,) = read_variants(answer, {**settings, "variants": ["ocr"]}, "white", _read)
    return reading


def _read(answer: Answer, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    rgb = resize_picture(decode_rgb(answer.image, matte=WHITE), *work_size(answer, settings))
    # The engine takes OpenCV's channel order.
    found = _engine()(
        cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR), text_score=settings["assumed_min_confidence"]
    )
    lines, scores = found.txts or (), found.scores or ()
    columns = {
        "text": "\n".join(lines),
        "degenerate_output": grey_range(rgb) < settings["flat_range"],
        "facts": {
            "n_lines": float(len(lines)),
            "least_confidence": float(min(scores, default=1.0)),
        },
    }
    return {"ocr": columns}


@cache
def _engine() -> Any:
    """Load the OCR engine and its models, which come with the package, once per process."""
    try:
        from rapidocr import RapidOCR
    except ImportError:
        raise GensightError(
            "text in pictures is read by RapidOCR, which is not installed: "
            "pip install 'gensight[ocr]'"
        ) from None
    one_thread = {
        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    }
    return RapidOCR(params={"Global.log_level": "error", **one_thread})
