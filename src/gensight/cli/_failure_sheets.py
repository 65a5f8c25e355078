"""Sheets for human raters, and the pictures that they are about."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gensight import images
from gensight.cli.files import make_folder, write_bytes
from gensight.errors import GensightError, ImageError
from gensight.failures.labels import sheet_text
from gensight.outcomes import Outcome
from gensight.records import Generation, RowFile, Sample

RATERS = 2


def write_sheets(
    generations: str, samples: str, folder: str, *, task: str, n: int | None
) -> dict[str, Any]:
    """Write pictures and one sheet a rater; return what was written.

    Raises:
        GensightError: there is nothing to label, or the folder holds sheets already.
    """
    target = _prepared(folder)
    answers = RowFile(generations, Generation)
    chosen = _chosen(answers, n)
    if not chosen:
        raise GensightError(f"{generations}: holds no answer with a picture")
    lines = [
        {**line, "task": task} for line in _lines(answers, chosen, target, _names_of(generations))
    ]
    asked = {line["sample"]: line["input_file"] for line in lines}
    _write_inputs(samples, asked, target)
    sheets = []
    for rater in range(1, RATERS + 1):
        sheet = target / f"rater_{rater}.csv"
        ordered = sorted(lines, key=lambda line, rater=rater: _order(rater, line["item"]))
        write_bytes(sheet, sheet_text(ordered).encode())
        sheets.append(str(sheet))
    return {"answers": len(lines), "pictures": len(lines) + len(asked), "sheets": sheets}


def _prepared(folder: str) -> Path:
    target = Path(folder)
    if list(target.glob("rater_*.csv")):
        raise GensightError(f"{folder}: holds sheets already, perhaps filled; name another folder")
    make_folder(target)
    return target


def _names_of(generations: str) -> dict[str, str]:
    """Return model, benchmark and prompt as the path of a result file tells them."""
    parts = Path(generations).absolute().parts[-4:-1]
    return dict(zip(("model", "benchmark", "prompt"), parts, strict=True))


def _key(answer: Generation) -> tuple[str, int, float | None]:
    return answer.sample_ids[0], answer.repeat, answer.severity


def _order(rater: int, name: object) -> bytes:
    return hashlib.sha256(f"failure labels {rater} {name}".encode()).digest()


def _chosen(answers: RowFile[Generation], n: int | None) -> dict[Any, str]:
    """Return the items to label, by sample, repeat and severity."""
    keys = [_key(answer) for answer in answers if _has_picture(answer)]
    keys.sort(key=lambda key: _order(0, key))
    return {key: _order(0, key).hex()[:12] for key in keys[:n]}


def _has_picture(answer: Generation) -> bool:
    return answer.final and answer.outcome == Outcome.OK and bool(answer.image)


def _lines(
    answers: RowFile[Generation], chosen: dict[Any, str], target: Path, names: dict[str, str]
) -> Iterator[dict[str, Any]]:
    """Write the chosen answers' pictures; yield their lines."""
    for answer in answers:
        if not _has_picture(answer) or _key(answer) not in chosen:
            continue
        item, data = chosen[_key(answer)], answer.image["bytes"]
        sample, repeat, severity = _key(answer)
        picture = f"{item}.{_extension(data)}"
        write_bytes(target / picture, data)
        yield {
            **names,
            "item": item,
            "sample": sample,
            "repeat": repeat,
            "severity": "" if severity is None else f"{severity:g}",
            "input_file": f"input_{_order(0, sample).hex()[:12]}.png",
            "answer_file": picture,
        }


def _extension(data: bytes) -> str:
    try:
        return images.EXTENSIONS[images.inspect(data).kind]
    except ImageError:
        return "bin"


def _write_inputs(samples: str, asked: dict[str, str], target: Path) -> None:
    """Write the inputs of these samples, upright and opaque, as PNG."""
    missing = dict(asked)
    for sample in RowFile(samples, Sample):
        name = missing.pop(sample.sample_id, None)
        if name is not None:
            rgb = images.decode_rgb(sample.image["bytes"], matte=(255, 255, 255))
            write_bytes(target / name, images.encode_png(rgb))
    if missing:
        raise GensightError(f"{samples}: lacks the sample {next(iter(missing))}")
