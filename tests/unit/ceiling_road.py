"""The road of every answer, for reference models: prompt, answer, extractor, measure.

Everything comes from the shipped configuration, so that a ceiling is that of the benchmark as run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from gensight import datasets, extractors, images, measures
from gensight.datasets import scenes
from gensight.models import Part, Turn
from gensight.models.reference import open_model
from gensight.records import Prediction, Sample

ROOT = Path(__file__).resolve().parents[2]
SEGMENTATION = ("refcoco", "refcoco_plus", "refcocog", "reasonseg", "dram", "manga109")
DEPTH = ("nyuv2", "diode", "kitti", "scannet")
COUNTING = ("pixmo_points",)
#: The scorer whose numbers are the benchmark's main ones.
MAIN = {"segmentation": "mask", "depth": "depth", "counting": "dots", "normals": "normals"}


class Arrived(NamedTuple):
    """What one answer became at the end of the road; parts by fit."""

    prediction: Prediction
    parts: dict[str | None, dict[str, float]]


@cache
def benchmark(name: str) -> dict[str, Any]:
    """Return a benchmark of config/benchmarks."""
    return yaml.safe_load((ROOT / f"config/benchmarks/{name}.yaml").read_text())


@cache
def answer_form(task: str, prompt: str = "mid") -> dict[str, Any]:
    """Return the form of answer that a shipped prompt declares."""
    text = (ROOT / f"resources/prompts/{task}/{prompt}.yaml").read_text()
    return yaml.safe_load(text)["turns"][-1]["answer_form"]


def open_reference(method: str, held_out: Sequence[Sample] = (), **generation: Any) -> Any:
    """Open a reference model; fits are made once."""
    return open_model({"method": method, **generation}, held_out)


def travel(sample: Sample, name: str, model: Any = None, **settings: Any) -> Arrived:
    """Send a sample of a benchmark along the road; the oracle answers unless a model is given.

    The first variant of the scorer is returned; `settings` go to the measure.
    """
    spec = benchmark(name)
    task, orient = spec["task"], spec.get("exif", "apply") == "apply"
    scorer, form = spec["scorers"][MAIN[task]], answer_form(task)
    shown = images.standardise(sample.image["bytes"], orient=orient)
    turn = Turn(parts=(Part("image", image=shown),), answer_form=form, truth=sample)
    reply = (model or open_reference("oracle")).answer(turn)
    reading, *_ = extractors.load(scorer["extractor"]).extract(
        extractors.Answer(
            image=reply.images[0],
            source=sample.image["bytes"],
            source_width=sample.width,
            source_height=sample.height,
            orient_source=orient,
        ),
        scorer.get("parameters", {}),
    )
    prediction = Prediction(
        sample_id=sample.sample_id,
        rank=sample.rank,
        cluster_id=sample.cluster_id,
        variant=reading.variant,
        status=reading.status,
        outcome=reply.outcome,
        **reading.fields,
    )
    given = {"answer_form": form, **scorer.get("settings", {}), **settings}
    parts = measures.load(scorer["measure"]).measure(prediction, sample, given)
    assert parts is not None
    return Arrived(prediction, parts)


def read_samples(name: str, root: Path, **parameters: Any) -> list[Sample]:
    """Read all samples of a benchmark from files, small enough that they pass as a twin only."""
    dataset = benchmark(name)["dataset"]
    module = datasets.load(dataset["module"])
    given = {**module.DEFAULTS, **dataset.get("parameters", {}), "root": str(root), "twin": True}
    given |= parameters
    return list(module.iter_samples(given, range(module.population(given))))


def scene_samples(task: str, ranks: Iterable[int], **parameters: Any) -> list[Sample]:
    """Return built-in scenes of the shipped size unless another is given."""
    return list(scenes.iter_samples({**scenes.DEFAULTS, "task": task, **parameters}, ranks))


def held_out(samples: Iterable[Sample]) -> list[Sample]:
    """Return samples in the role of those that priors are fitted on."""
    return [replace(sample, role="held_out") for sample in samples]


def area_share(sample: Sample) -> float:
    """Return the share of its picture that a target covers."""
    return float(images.decode_mask(sample.target_mask).mean())


def iou(sample: Sample, name: str, model: Any = None) -> float:
    """Return the IoU at the end of the road, on the target's grid."""
    return travel(sample, name, model).parts[None]["iou"]


def absrel_percent(sample: Sample, name: str, model: Any = None) -> dict[str | None, float]:
    """Return AbsRel in per cent by fit."""
    parts = travel(sample, name, model).parts
    return {fit: 100 * numbers["absrel"] for fit, numbers in parts.items()}


def counted(sample: Sample, name: str, model: Any = None) -> tuple[int, float]:
    """Return the error of the count, and localised F1."""
    parts = travel(sample, name, model).parts[None]
    return int(parts["count_error"]), parts["localised_f1"]


def sample_of(name: str, picture: np.ndarray, **truth: Any) -> Sample:
    """Return a sample of a picture, uint8 (H, W, 3), that no file holds."""
    height, width = picture.shape[:2]
    return Sample(
        sample_id=name,
        rank=0,
        cluster_id=name,
        image={"bytes": images.encode_png(np.ascontiguousarray(picture)), "path": None},
        width=width,
        height=height,
        **truth,
    )
