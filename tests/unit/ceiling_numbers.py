"""Print the numbers of docs/ceilings.md: `python tests/unit/ceiling_numbers.py [scenes]`.

Some minutes on one core. Sample files are measured where they are; the tests of the name
`test_ceilings*` hold the same numbers, on fewer pictures, to their limits.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from ceiling_files import READERS, SAMPLES, depth_frames, file_samples, panoptic_masks, person_masks
from ceiling_pictures import (
    BINS,
    CROWDS,
    bands,
    crowd,
    mask_sample,
    outline,
    photograph,
    points_sample,
)
from ceiling_road import (
    COUNTING,
    DEPTH,
    SEGMENTATION,
    absrel_percent,
    area_share,
    benchmark,
    counted,
    held_out,
    iou,
    open_reference,
    read_samples,
    scene_samples,
    travel,
)

from gensight import datasets
from gensight.measures import count_match
from gensight.records import Sample
from gensight.twins import write_twin

FITS = ("depth", "disparity", "monotone", "signed")
SIZES = ((640, 480), (1024, 683), (1654, 1170), (2560, 1707), (5120, 3413))
DISPARITY = open_reference("oracle", depth_code="disparity")


def told(name: str, *numbers: object) -> None:
    """Print a line."""
    words = (f"{n:.4g}" if isinstance(n, float) else str(n) for n in numbers)
    print(f"{name:34}", *words, flush=True)


def masks(name: str, samples: Iterable[Sample], title: str) -> None:
    """Print how many masks there are, their mean IoU, and the least from 1 % of the picture on."""
    pairs = [(area_share(sample), iou(sample, name)) for sample in samples]
    large = [value for share, value in pairs if share >= 0.01]
    values = [value for _, value in pairs]
    least = min(large) if large else float("nan")
    told(title, len(values), "mean", np.mean(values), "least", min(values), "from 1 %", least)


def depths(name: str, samples: Iterable[Sample], title: str) -> None:
    """Print AbsRel of both oracles by all fits, means and the largest in its own space."""
    samples = list(samples)
    for code, model, own in (("depth", None, "depth"), ("disparity", DISPARITY, "disparity")):
        found = [absrel_percent(sample, name, model) for sample in samples]
        means = {fit: float(np.mean([row[fit] for row in found])) for fit in FITS}
        largest = max(row[own] for row in found)
        told(f"{title}, code {code}", *(f"{fit} {means[fit]:.2f}" for fit in FITS), "max", largest)


def counts(name: str, samples: Iterable[Sample], title: str) -> None:
    """Print the share of items with an error, the mean error and localised F1."""
    found = [counted(sample, name) for sample in samples]
    errors = np.array([error for error, _ in found])
    share, f1 = float(np.mean(errors != 0)), float(np.mean([f1 for _, f1 in found]))
    told(title, len(found), "wrong", share, "mean error", float(errors.mean()), "F1", f1)


BY_TASK: dict[str, Callable[[str, Iterable[Sample], str], None]] = {
    "segmentation": masks,
    "depth": depths,
    "counting": counts,
}


def twins(n: int) -> None:
    """Measure the oracle on n scenes in the form of every data set."""
    with tempfile.TemporaryDirectory() as folder:
        write_twin(Path(folder), n)
        for name in (*SEGMENTATION, *DEPTH, *COUNTING):
            module = datasets.load(benchmark(name)["dataset"]["module"])
            samples = read_samples(name, Path(folder) / module.FOLDER)
            BY_TASK[benchmark(name)["task"]](name, samples, f"twin {name}")


def sample_files() -> None:
    """Measure the oracle on real pictures and truths."""
    for name in READERS:
        with tempfile.TemporaryDirectory() as folder:
            samples = file_samples(name, Path(folder))
            BY_TASK[benchmark(name)["task"]](name, samples, f"files {name}")
    for name, frame in depth_frames().items():
        depths("nyuv2", [frame], f"files {name}")
    masks("refcoco", panoptic_masks(), "files panoptic")
    for scale in (1, 4, 8):
        masks("reasonseg", person_masks(scale), f"files people x{scale}")


def outlines() -> None:
    """Measure the oracle on outlines by size of the picture and area band: mean and least IoU."""
    for size in SIZES:
        cells = []
        for low, high in bands():
            share = float(np.sqrt(max(low, 0.0004) * min(high, 0.5)))
            values = [iou(mask_sample(outline(*size, share, seed)), "refcoco") for seed in range(4)]
            cells.append(f"{np.mean(values):.4f} ({min(values):.4f})")
        told(f"outlines {size[0]}x{size[1]}", *cells)


def crowds() -> None:
    """Measure the oracle on crowds by kind and truth bin."""
    sizes = ((640, 480), (480, 640))
    pictures = [photograph(*size, seed=0) for size in sizes]
    for kind in CROWDS:
        for low, high in BINS:
            samples = []
            for seed in range(20):
                number = int(np.random.default_rng([low, seed]).integers(low, high + 1))
                points = crowd(kind, number, *sizes[seed % 2], seed)
                samples.append(points_sample(points, pictures[seed % 2]))
            counts("pixmo_points", samples, f"crowd {kind} {low}-{high}")


def built_in(n: int) -> None:
    """Measure oracle and floors on the built-in scenes."""
    samples = {task: scene_samples(task, range(n)) for task in BY_TASK}
    fitted = {task: held_out(scene_samples(task, range(500, 516))) for task in BY_TASK}
    settings = count_match.settings_from({}, fitted["counting"])
    failed = [count_match.failed(one, settings)[None]["count_error"] for one in samples["counting"]]
    told("scenes counting, failed", "MAE", float(np.mean(np.abs(failed))))
    floors = {
        "segmentation": ("oracle", "salient", "prior_centre", "constant", "echo"),
        "depth": ("oracle", "prior_ramp", "prior_mean", "echo_grey", "constant"),
        "counting": ("oracle", "prior_median", "echo"),
    }
    for task, methods in floors.items():
        for method in methods:
            needs_fit = method in ("prior_centre", "prior_mean", "prior_median")
            model = open_reference(method, fitted[task] if needs_fit else ())
            _row(task, samples[task], model, f"scenes {task}, {method}")
    angles = [
        travel(one, "scenes_normals").parts[None] for one in scene_samples("normals", range(8))
    ]
    told(
        "scenes normals, oracle",
        *(float(np.mean([a[k] for a in angles])) for k in ("mean_angle_deg", "within_11")),
    )


def _row(task: str, samples: list[Sample], model: object, title: str) -> None:
    name = f"scenes_{task}"
    if task == "segmentation":
        told(title, "gIoU", 100 * float(np.mean([iou(one, name, model) for one in samples])))
    elif task == "depth":
        found = [absrel_percent(one, name, model) for one in samples]
        told(title, *(f"{fit} {np.mean([row[fit] for row in found]):.2f}" for fit in FITS))
    else:
        found = [counted(one, name, model) for one in samples]
        errors, f1 = np.array(found).T
        rmse = float(np.sqrt(np.mean(errors**2)))
        told(title, "MAE", float(np.abs(errors).mean()), "RMSE", rmse, "F1", float(f1.mean()))


def main() -> None:
    """Print every number."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    built_in(n)
    twins(n)
    outlines()
    crowds()
    if SAMPLES.exists():
        sample_files()


if __name__ == "__main__":
    main()
