"""`gensight score`: generated pictures against their truth, by the pipeline's rules.

Options may be repeated; the first prediction belongs to the first target, and so on. Exit code 0
whenever numbers come out, also for predictions that cannot be read: these are scored by the failure
policy. A truth that cannot be read, a missing file or unpaired options: one line, exit code 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from gensight import extractors
from gensight.cli import truths
from gensight.cli.extract import read
from gensight.cli.files import read_bytes, upright_size
from gensight.cli.printing import json_option, print_json
from gensight.cli.score_tables import print_scores
from gensight.cli.scoring import Pair, prediction_of, score_pairs
from gensight.errors import GensightError
from gensight.extractors import Answer, Reading
from gensight.records import Sample

# By the sign of d(depth) / d(grey): the end of the grey scale that is near.
POLARITY = {-1: "near_bright", 0: "none", 1: "near_dark"}

# What a pair of files can be measured by: no twin query, no true places of what is counted.
METRICS = {
    "overlap": ("giou", "ciou"),
    "depth_fit": ("absrel", "delta1", "rmse_m", "polarity_contradicted"),
    "count_match": ("mae", "rmse", "log_count_error"),
    "normal_angle": ("mean_angle", "median_angle", "within_11", "within_22", "within_30"),
}

prediction_option = click.option(
    "--prediction",
    "predictions",
    multiple=True,
    metavar="FILE",
    help="A picture as the generator returned it; may be repeated.",
)
target_option = click.option(
    "--target", "targets", multiple=True, metavar="FILE", help="Its truth; as often, in order."
)
method_option = click.option(
    "--method", metavar="NAME", help="The extractor's variant. Default: its first."
)


@click.group()
def command() -> None:
    """Score generated pictures against their truth; options repeat, pairs in order."""


@command.command()
@prediction_option
@target_option
@method_option
@json_option
def segmentation(
    predictions: tuple[str, ...], targets: tuple[str, ...], method: str | None, as_json: bool
) -> None:
    """Print gIoU and cIoU of masks, in percent.

    A target is a mask of two levels: grey 0/255 or 0/1, 1 bit, palette, or RGB with equal channels.
    """
    _check_pairs(predictions, targets)
    samples = (truths.mask_sample(i, path) for i, path in enumerate(targets, 1))
    pairs = _picture_pairs("mask", predictions, targets, samples, method)
    _report("segmentation", "mask", score_pairs(pairs, "overlap", METRICS["overlap"], {}), as_json)


@command.command()
@prediction_option
@target_option
@method_option
@click.option(
    "--scale",
    type=float,
    default=1000.0,
    show_default=True,
    help="Stored value of one metre in PNG targets (256: KITTI); 0 is missing.",
)
@click.option("--min-depth", type=float, metavar="METRES", help="Nearer truth takes no part.")
@click.option("--max-depth", type=float, metavar="METRES", help="Farther truth takes no part.")
@click.option(
    "--near",
    type=click.Choice(["bright", "dark", "unspecified"]),
    default="bright",
    show_default=True,
    help="Which end of the grey scale the prompt promised to be near.",
)
@json_option
def depth(
    predictions: tuple[str, ...],
    targets: tuple[str, ...],
    method: str | None,
    scale: float,
    min_depth: float | None,
    max_depth: float | None,
    near: str,
    as_json: bool,
) -> None:
    """Print AbsRel, delta1 and RMSE of depth pictures, for each way to fit grey to metres.

    A target is a grey PNG of 16 bits (see --scale) or a .npy array in metres.
    """
    _check_pairs(predictions, targets)
    truths.check_depth_options(scale, min_depth, max_depth)
    samples = (
        truths.depth_sample(i, path, scale=scale, min_depth_m=min_depth, max_depth_m=max_depth)
        for i, path in enumerate(targets, 1)
    )
    pairs = _picture_pairs("depth", predictions, targets, samples, method)
    settings = {"answer_form": {"kind": "depth", "near": near}}
    result = score_pairs(pairs, "depth_fit", METRICS["depth_fit"], settings)
    for pair in result["pairs"]:
        _describe_fits(pair.get("fits", {}))
    caps = {"target_scale": scale, "min_depth_m": min_depth, "max_depth_m": max_depth}
    _report("depth", "depth", result | caps, as_json)


@command.command()
@prediction_option
@target_option
@click.option(
    "--input",
    "sources",
    multiple=True,
    metavar="FILE",
    help="The picture that was marked: one for each prediction that is a picture.",
)
@method_option
@click.option(
    "--failure-constant",
    type=float,
    default=5.0,
    show_default=True,
    help="Constant that a failed answer may not beat (median of held-out counts).",
)
@json_option
def counting(
    predictions: tuple[str, ...],
    targets: tuple[str, ...],
    sources: tuple[str, ...],
    method: str | None,
    failure_constant: float,
    as_json: bool,
) -> None:
    """Print the errors of counts. A prediction is a whole number or a marked picture (--input).

    A target is a whole number. A file whose name is a number is written as ./12.
    """
    _check_pairs(predictions, targets)
    inputs = _paired_inputs(predictions, sources)
    pairs = _count_pairs(predictions, targets, inputs, method)
    settings = {"failure_constant": failure_constant}
    _report(
        "counting",
        "dots",
        score_pairs(pairs, "count_match", METRICS["count_match"], settings),
        as_json,
    )


@command.command()
@prediction_option
@target_option
@method_option
@json_option
def normals(
    predictions: tuple[str, ...], targets: tuple[str, ...], method: str | None, as_json: bool
) -> None:
    """Print the angles between normals, in degrees.

    Red is right, green up, blue towards the viewer. A target is such a picture, black where there
    is no truth, or a .npy array (height, width, 3) of vectors.
    """
    _check_pairs(predictions, targets)
    samples = (truths.normals_sample(i, path) for i, path in enumerate(targets, 1))
    pairs = _picture_pairs("normals", predictions, targets, samples, method)
    _report(
        "normals",
        "normals",
        score_pairs(pairs, "normal_angle", METRICS["normal_angle"], {}),
        as_json,
    )


def _check_pairs(predictions: tuple[str, ...], targets: tuple[str, ...]) -> None:
    if len(predictions) != len(targets) or not predictions:
        raise GensightError(
            f"{len(predictions)} --prediction and {len(targets)} --target were given; "
            "give them in pairs, at least one"
        )


def _picture_pairs(
    extractor: str,
    predictions: tuple[str, ...],
    targets: tuple[str, ...],
    samples: Iterator[Sample],
    method: str | None,
) -> Iterator[Pair]:
    module = extractors.load(extractor)
    for prediction, target, sample in zip(predictions, targets, samples, strict=True):
        # The truth lies on the grid of the input, so its size stands for the input's.
        answer = Answer(
            image=read_bytes(prediction), source_width=sample.width, source_height=sample.height
        )
        reading = read(module, answer, method)
        named = {"prediction": prediction, "target": target}
        yield Pair(named, prediction_of(sample, reading), sample, reading.detail)


def _paired_inputs(predictions: tuple[str, ...], sources: tuple[str, ...]) -> list[str | None]:
    """Return the input of each prediction: None for a number, one of the sources for a picture.

    Sources are taken in order, by the pictures alone or, if there are as many, by all pairs.
    """
    pictures = [text for text in predictions if truths.whole_number(text) is None]
    for text in pictures:
        if not Path(text).exists():
            raise GensightError(
                f"--prediction {text}: neither a whole number, 0 or more, nor a file"
            )
    if len(sources) == len(predictions):
        pairs = zip(predictions, sources, strict=True)
        return [source if text in pictures else None for text, source in pairs]
    if len(sources) != len(pictures):
        raise GensightError(
            f"of the predictions {len(pictures)} are marked pictures, and {len(sources)} --input "
            "were given: name for each, in order, the picture that was marked"
        )
    remaining = iter(sources)
    return [next(remaining) if text in pictures else None for text in predictions]


def _count_pairs(
    predictions: tuple[str, ...],
    targets: tuple[str, ...],
    inputs: list[str | None],
    method: str | None,
) -> Iterator[Pair]:
    triples = zip(predictions, targets, inputs, strict=True)
    for index, (prediction, target, source) in enumerate(triples, 1):
        if source is None:
            sample = truths.count_sample(index, target)
            count = truths.whole_number(prediction)
            reading = Reading(variant="integer", fields={"count": count})
        else:
            sample, reading = _marked(index, prediction, target, source, method)
        named = {"prediction": prediction, "target": target, "input": source}
        yield Pair(named, prediction_of(sample, reading), sample, reading.detail)


def _marked(
    index: int, prediction: str, target: str, source: str, method: str | None
) -> tuple[Sample, Reading]:
    """Return the sample of a marked picture, and what the decoder reads."""
    data, source_data = read_bytes(prediction), read_bytes(source)
    width, height = upright_size(source, source_data)
    sample = truths.count_sample(index, target, width=width, height=height)
    answer = Answer(image=data, source=source_data, source_width=width, source_height=height)
    return sample, read(extractors.load("dots"), answer, method)


def _describe_fits(fits: dict[str, dict[str, Any]]) -> None:
    """Bring scale and shift beside the errors of each fit, and which end of grey came out near."""
    for name, numbers in fits.items():
        parts = numbers["parts"]
        numbers["scale"], numbers["shift"] = parts.get("scale"), parts.get("shift")
        slope = parts.get("scale", parts.get("direction", 0.0))
        # Disparity grows towards the viewer, depth away from it.
        towards_dark = slope if name != "disparity" else -slope
        numbers["polarity"] = POLARITY[(towards_dark > 0) - (towards_dark < 0)]


def _report(task: str, extractor: str, result: dict[str, Any], as_json: bool) -> None:
    result = {"task": task, "extractor": extractor, **result}
    result["versions"][extractor] = extractors.load(extractor).VERSION
    if as_json:
        print_json(result)
    else:
        print_scores(result)
