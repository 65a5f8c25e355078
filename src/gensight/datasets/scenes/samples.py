"""Samples of every task from finished scenes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from gensight.datasets.scenes.counting import Wanted, count_bin
from gensight.datasets.scenes.parameters import Address, SceneParameters, locate, parse
from gensight.datasets.scenes.places import inner_point, named_places, tight_box
from gensight.datasets.scenes.reading import ask
from gensight.datasets.scenes.room import MAX_DEPTH_M, MIN_DEPTH_M
from gensight.datasets.scenes.scene import Scene, build
from gensight.images import encode_array, encode_mask, encode_png
from gensight.records import Sample

LICENCE = "gensight"

Truth = dict[str, Any]


def iter_samples(parameters: Mapping[str, Any], ranks: Iterable[int]) -> Iterator[Sample]:
    """Yield the samples of these ranks, in their order; each depends on its own rank alone.

    Raises:
        SpecError: a parameter or a rank is wrong.
        GensightError: the knobs leave no scene that obeys the rules.
    """
    checked = parse(parameters)
    built_for: tuple[int, Mapping[str, Any]] | None = None
    for rank in ranks:
        address = locate(checked, rank)
        if built_for != (address.scene, address.knobs):
            scene = build(checked, address.scene, address.knobs)
            built_for = (address.scene, address.knobs)
        yield _sample(checked, address, rank, scene)


def _sample(parameters: SceneParameters, address: Address, rank: int, scene: Scene) -> Sample:
    split = "" if parameters.split == "main" else f"{parameters.split}_"
    sample_id = f"scenes_{parameters.seed}_{split}{parameters.task}_{rank:06d}"
    knobs = {**address.knobs, "objects": len(scene.layout.plans)}
    colours = {plan.colour for plan in scene.layout.plans}
    truth = TRUTHS[parameters.task]
    return Sample(
        sample_id=sample_id,
        rank=rank,
        cluster_id=f"scenes_{parameters.seed}_{split}{parameters.family}_{address.scene:06d}",
        licence=LICENCE,
        image={"bytes": encode_png(scene.picture), "path": f"{sample_id}.png"},
        width=parameters.width,
        height=parameters.height,
        tags=["red_scene"] if "red" in colours else [],
        knobs={name: str(level) for name, level in sorted(knobs.items())},
        **truth(scene, address, parameters),
    )


def _segmentation(scene: Scene, address: Address, _: SceneParameters) -> Truth:
    query, twin = scene.queries[address.query], scene.queries[1 - address.query]
    return {
        "query": query.text,
        "query_kind": query.kind,
        "stratum": query.kind,
        "target_mask": encode_mask(scene.silhouettes[query.target]),
        "twin_mask": encode_mask(scene.silhouettes[twin.target]),
    }


def _depth(scene: Scene, address: Address, _: SceneParameters) -> Truth:
    return {
        "stratum": f"ratio {address.knobs['depth_ratio']}",
        "target_depth_m": encode_array(scene.depth_m),
        "valid_mask": encode_mask(np.ones(scene.depth_m.shape, bool)),
        "min_depth_m": MIN_DEPTH_M,
        "max_depth_m": MAX_DEPTH_M,
    }


def _normals(scene: Scene, address: Address, _: SceneParameters) -> Truth:
    return {
        "stratum": f"ratio {address.knobs['depth_ratio']}",
        "target_normals": encode_array(scene.normals()),
        "valid_mask": encode_mask(np.ones(scene.depth_m.shape, bool)),
    }


def _counting(scene: Scene, address: Address, _: SceneParameters) -> Truth:
    wanted, masks = _wanted(scene)
    return {
        "query": wanted.phrase,
        "query_kind": "referring",
        "stratum": count_bin(len(masks)),
        "target_count": len(masks),
        "target_points": [inner_point(mask) for mask in masks],
        "target_instances": [encode_mask(mask) for mask in masks],
    }


def _detection(scene: Scene, address: Address, _: SceneParameters) -> Truth:
    """Box what counting counts; the mask of all of them serves prompts that ask for one."""
    wanted, masks = _wanted(scene)
    return {
        "query": wanted.phrase,
        "query_kind": "referring",
        "stratum": count_bin(len(masks)),
        "target_boxes": [tight_box(mask) for mask in masks],
        "target_mask": encode_mask(np.any([*masks, np.zeros_like(scene.silhouettes[0])], axis=0)),
    }


def _keypoints(scene: Scene, address: Address, _: SceneParameters) -> Truth:
    query = scene.queries[0]
    mask = scene.silhouettes[query.target]
    return {
        "query": query.text,
        "query_kind": query.kind,
        "stratum": query.kind,
        "target_keypoints": named_places(mask),
        "target_boxes": [tight_box(mask)],
        "target_mask": encode_mask(mask),
    }


def _reading(scene: Scene, address: Address, parameters: SceneParameters) -> Truth:
    question = ask(scene, address.scene, parameters.split)
    return {
        "query": question.text,
        "query_kind": question.kind,
        "stratum": question.attribute,
        "target_text": question.answer,
    }


def _wanted(scene: Scene) -> tuple[Wanted, list[np.ndarray]]:
    """Return what a scene for counting asks for, and the visible masks of it."""
    wanted = scene.layout.wanted
    if wanted is None:
        raise ValueError("only counting scenes say what is counted")
    masks = [
        mask
        for plan, mask in zip(scene.layout.plans, scene.silhouettes, strict=True)
        if wanted.matches(plan.shape, plan.colour)
    ]
    return wanted, masks


TRUTHS: dict[str, Callable[[Scene, Address, SceneParameters], Truth]] = {
    "segmentation": _segmentation,
    "depth": _depth,
    "counting": _counting,
    "normals": _normals,
    "detection": _detection,
    "keypoints": _keypoints,
    "reading": _reading,
}
