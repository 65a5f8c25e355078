"""`gensight suspects`: the labels that strong models contradict together, for people to review."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from gensight import images
from gensight.cli.checkout import load_checkout
from gensight.cli.files import make_folder, write_bytes
from gensight.cli.printing import as_text, json_option, print_json, print_table
from gensight.errors import GensightError
from gensight.licences import may_show
from gensight.records import RowFile, Sample, SampleStore
from gensight.specs.project import Project
from gensight.specs.words import unknown
from gensight.suspects import (
    Effect,
    ModelCell,
    Place,
    Rule,
    Suspect,
    effects,
    find_suspects,
    strongest,
)

#: A provider that names a program and not who trained what answers there.
NO_VENDOR = "vllm"
COLUMNS = (
    "sample_id",
    "query",
    "label_flag",
    "models",
    "iou_with_each_other",
    "iou_with_truth",
    "verdict",
)
SHOWN_SUSPECTS = 20
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
HEIGHT_PX, GAP_PX = 320, 8
share = click.FloatRange(0, 1)


@dataclass(frozen=True)
class _Found:
    """What was found: the cells that were compared, by model, and which of them are strong."""

    place: Place
    rule: Rule
    cells: Mapping[str, ModelCell]
    strong: list[str]
    suspects: list[Suspect]
    effects: list[Effect]


@click.command()
@click.argument("benchmark")
@click.option("--scorer", default="mask", show_default=True, help="A scorer that reads masks.")
@click.option("--variant", default="otsu", show_default=True, help="The extractor's variant.")
@click.option("--prompt", default="mid", show_default=True)
@click.option("--models", metavar="A,B,C", help="Who is strong. Default: gIoU above the median.")
@click.option("--vendors", metavar="MODEL=VENDOR,...", help="Who made a model, where specs err.")
@click.option(
    "--agree", type=share, default=0.8, show_default=True, help="IoU from which two agree."
)
@click.option(
    "--miss", type=share, default=0.3, show_default=True, help="IoU below which one misses."
)
@click.option(
    "--least", type=click.IntRange(2), default=3, show_default=True, help="How many vendors must."
)
@click.option("--output", metavar="FILE.csv", help="Write the list, with an empty column verdict.")
@click.option("--pictures", metavar="DIR", help="Write input, label and masks of each.")
@json_option
def command(
    benchmark: str,
    scorer: str,
    variant: str,
    prompt: str,
    models: str | None,
    vendors: str | None,
    agree: float,
    miss: float,
    least: int,
    output: str | None,
    pictures: str | None,
    as_json: bool,
) -> None:
    """List the samples whose label strong models of different vendors contradict together.

    They agree with each other and all miss the truth. That is a reason to look, not a correction:
    every model's numbers are printed with and without these samples, over the same answers.

    Two models are of one vendor if the same provider serves them; other models are each their own.
    Reference models take no part unless --models names them.
    """
    if output is not None and Path(output).exists():
        raise GensightError(f"--output {output}: is there already, perhaps filled; name another")
    project = load_checkout()
    place = _place(project, benchmark, prompt, scorer, variant)
    named = None if models is None else _listed(models)
    found = _found(project, place, named, _pairs(vendors), Rule(agree, miss, least))
    if output is not None:
        write_bytes(Path(output), _list_text(found.suspects).encode())
    withheld = [s for s in found.suspects if not may_show(s.licence)]
    if pictures is not None:
        _write_pictures(found, Path(pictures), project.benchmarks[benchmark].exif == "apply")
    if as_json:
        print_json(_content(found, output, pictures, len(withheld)))
    else:
        _print(found, output, pictures, len(withheld))


def _place(project: Project, benchmark: str, prompt: str, scorer: str, variant: str) -> Place:
    if benchmark not in project.benchmarks:
        raise unknown("config/benchmarks", "benchmark", benchmark, project.benchmarks)
    spec, file = project.benchmarks[benchmark], f"config/benchmarks/{benchmark}.yaml"
    if scorer not in spec.scorers:
        raise unknown(file, "--scorer", scorer, spec.scorers)
    if prompt not in spec.prompts:
        raise unknown(file, "--prompt", prompt, spec.prompts)
    return Place(Path(), benchmark, prompt, scorer, variant)


def _listed(text: str) -> list[str]:
    return list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def _pairs(text: str | None) -> dict[str, str]:
    pairs = {}
    for word in _listed(text or ""):
        model, equals, vendor = word.partition("=")
        if not (model and equals and vendor):
            raise GensightError(f"--vendors {word}: expected a model and its vendor, MODEL=VENDOR")
        pairs[model] = vendor
    return pairs


def _found(
    project: Project, place: Place, named: list[str] | None, vendors: dict[str, str], rule: Rule
) -> _Found:
    here = place.models()
    for word, key in [(w, "--models") for w in named or []] + [(w, "--vendors") for w in vendors]:
        if word not in here:
            raise unknown(f"results/scores of {place.benchmark}", key, word, here)
    measured = [name for name in here if _is_measured(project, name)]
    names = list(dict.fromkeys([*(named or []), *measured]))
    cells = {name: ModelCell(place, name, _vendor(project, name, vendors)) for name in names}
    strong = strongest(list(cells.values())) if named is None else named
    chosen = [cells[name] for name in strong]
    if len({cell.vendor for cell in chosen}) < rule.least:
        told = ", ".join(f"{cell.model} ({cell.vendor})" for cell in chosen) or "none"
        raise GensightError(
            f"{place.benchmark}: {rule.least} strong models of different vendors are needed; with "
            f"scores there are: {told}; name others with --models, or a smaller --least"
        )
    suspects = find_suspects(chosen, rule)
    return _Found(place, rule, cells, strong, suspects, effects(list(cells.values()), suspects))


def _is_measured(project: Project, model: str) -> bool:
    return model in project.models and project.models[model].role == "measured"


def _vendor(project: Project, model: str, given: Mapping[str, str]) -> str:
    spec = project.models.get(model)
    provider = None if spec is None else spec.provider
    return given.get(model) or (model if provider in (None, NO_VENDOR) else provider)


def _list_text(suspects: Sequence[Suspect]) -> str:
    """Return the list as CSV; a query whose licence lets nothing be shown is left empty."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for one in suspects:
        flag = "" if one.label_flag is None else as_text(one.label_flag)
        between = "; ".join(f"{a}, {b} {iou:.3f}" for (a, b), iou in one.between.items())
        writer.writerow(
            {
                "sample_id": one.sample_id,
                "query": _query(one) or "",
                "label_flag": flag,
                "models": "; ".join(one.models),
                "iou_with_each_other": between,
                "iou_with_truth": "; ".join(f"{m} {iou:.3f}" for m, iou in one.truth.items()),
            }
        )
    return stream.getvalue()


def _query(one: Suspect) -> str | None:
    return one.query if may_show(one.licence) else None


def _write_pictures(found: _Found, folder: Path, orient: bool) -> None:
    """Write input, label and masks, in the list's order of models, of what may be shown."""
    shown = [one for one in found.suspects if may_show(one.licence)]
    wanted = {one.sample_id for one in shown}
    masks = {model: found.cells[model].masks(wanted) for model in found.strong}
    store = SampleStore(RowFile(found.place.samples(), Sample))
    make_folder(folder)
    for place, one in enumerate(shown):
        sample = store[one.sample_id]
        drawn = [sample.target_mask, *(masks[model][one.sample_id] for model in one.models)]
        picture = _row(sample.image["bytes"], drawn, orient)
        name = f"{place:03}_{UNSAFE.sub('_', one.sample_id)}.png"
        write_bytes(folder / name, images.encode_png(picture))


def _row(source: bytes, masks: Sequence[Any], orient: bool) -> np.ndarray:
    """Return a picture and each mask over it, side by side, uint8 (H, W, 3)."""
    from gensight.figures.pictures import tinted

    rgb = images.decode_rgb(source, matte=(255, 255, 255), orient=orient)
    width = max(1, round(rgb.shape[1] * HEIGHT_PX / rgb.shape[0]))
    small = images.resize_picture(rgb, width, HEIGHT_PX)
    tiles = [small, *(tinted(small, images.decode_mask(mask)) for mask in masks)]
    gap = np.full((HEIGHT_PX, GAP_PX, 3), 255, np.uint8)
    return np.hstack([part for tile in tiles for part in (tile, gap)][:-1])


def _content(
    found: _Found, output: str | None, pictures: str | None, withheld: int
) -> dict[str, Any]:
    place, rule = found.place, found.rule
    return {
        "benchmark": place.benchmark,
        "prompt": place.prompt,
        "scorer": place.scorer,
        "variant": place.variant,
        "agree": rule.agree,
        "miss": rule.miss,
        "least": rule.least,
        "strong": found.strong,
        "vendors": {model: cell.vendor for model, cell in found.cells.items()},
        "suspects": [_described(one) for one in found.suspects],
        "models": [
            {
                "model": e.model,
                "n": e.n,
                "n_without": e.n_without,
                "metrics": {m: {"with": w, "without": o} for m, (w, o) in e.metrics.items()},
            }
            for e in found.effects
        ],
        "output": output,
        "pictures": pictures,
        "withheld": withheld,
    }


def _described(one: Suspect) -> dict[str, Any]:
    return {
        "sample_id": one.sample_id,
        "query": _query(one),
        "label_flag": one.label_flag,
        "models": list(one.models),
        "iou_with_each_other": [{"models": list(p), "iou": iou} for p, iou in one.between.items()],
        "iou_with_truth": dict(one.truth),
    }


def _print(found: _Found, output: str | None, pictures: str | None, withheld: int) -> None:
    strong = ", ".join(f"{model} ({found.cells[model].vendor})" for model in found.strong)
    click.echo(f"strong: {strong}")
    suspects = found.suspects
    n = found.effects[0].n
    click.echo(f"suspect: {len(suspects)} labels; {n} samples answered by all")
    print_table(
        [
            (one.sample_id, f"agree {min(one.between.values()):.2f}", ", ".join(one.models))
            for one in suspects[:SHOWN_SUSPECTS]
        ],
        indent="  ",
    )
    if len(suspects) > SHOWN_SUSPECTS:
        click.echo(f"  and {len(suspects) - SHOWN_SUSPECTS} more (--output and --json list all)")
    names = list(found.effects[0].metrics)
    head = ("model", *(word for name in names for word in (name, "without")))
    print_table(
        [head, *((e.model, *(v for m in names for v in e.metrics[m])) for e in found.effects)]
    )
    if output is not None:
        click.echo(f"list written to {output}: fill in the column verdict")
    if pictures is not None:
        click.echo(f"{len(suspects) - withheld} pictures written, {withheld} may not be shown")
