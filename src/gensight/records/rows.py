"""The rows of every stage: one dataclass per stage, from which its one Parquet schema follows.

Pixel axes: x to the right, y down, the centre of the first pixel at (0, 0).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

PICTURE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
ARRAY = pa.struct([("bytes", pa.binary()), ("dtype", pa.string()), ("shape", pa.list_(pa.int32()))])
MASK = pa.struct([("size", pa.list_(pa.int32())), ("counts", pa.string())])
POINT = pa.struct([("x", pa.float64()), ("y", pa.float64())])
#: Edges in pixels, the far ones exclusive: width = right - left. `score` orders drawn boxes.
BOX = pa.struct(
    [
        ("left", pa.float64()),
        ("top", pa.float64()),
        ("right", pa.float64()),
        ("bottom", pa.float64()),
        ("score", pa.float64()),
    ]
)
KEYPOINT = pa.struct([("name", pa.string()), ("x", pa.float64()), ("y", pa.float64())])
FACTS = pa.list_(pa.struct([("name", pa.string()), ("value", pa.float64())]))
KNOBS = pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())]))
VECTOR = pa.list_(pa.float32())
PART = pa.struct(
    [("kind", pa.string()), ("text", pa.string()), ("sample_id", pa.string()), ("turn", pa.int32())]
)
TURN = pa.struct([("parts", pa.list_(PART)), ("answer_form", pa.string())])


def column(arrow_type: pa.DataType, **options: Any) -> Any:
    """Declare a dataclass field that is a Parquet column of this type."""
    return field(metadata={"arrow": arrow_type}, **options)


def optional(arrow_type: pa.DataType) -> Any:
    """Declare a nullable column whose default is missing."""
    return column(arrow_type, default=None)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One evaluation item: what is shown of it, a query and its truth.

    `image` is the input picture, `width` x `height` pixels; missing where the item has none to be
    shown (a label to draw, a grid to name).
    `role` is `evaluated` or `held_out`: held-out rows feed fitted reference models only and are
    never rendered into requests. `target_depth_m` is z-depth in metres (float32, height x width);
    pixels outside `valid_mask` take no part. `target_instances` holds one mask per counted
    instance, in the order of `target_points`. `target_image` is a drawing of what was asked for,
    `options` what a question lets choose from, in its order: `target_text` is then the letter.
    `twin_mask` is the target of another query on the same picture (query sensitivity),
    `other_masks` are all other annotated instances. `label_flag` is true where a review of the
    annotations found this one wrong. `licence` is a tag of `gensight.licences`.
    """

    sample_id: str = column(pa.string())
    rank: int = column(pa.int32())
    role: str = column(pa.string(), default="evaluated")
    cluster_id: str = column(pa.string())
    stratum: str | None = optional(pa.string())
    population_n: int | None = optional(pa.int64())
    label_flag: bool | None = optional(pa.bool_())
    licence: str | None = optional(pa.string())
    image: dict[str, Any] | None = optional(PICTURE)
    width: int | None = optional(pa.int32())
    height: int | None = optional(pa.int32())
    query: str | None = optional(pa.string())
    query_kind: str | None = optional(pa.string())
    target_mask: dict[str, Any] | None = optional(MASK)
    twin_mask: dict[str, Any] | None = optional(MASK)
    other_masks: list[dict[str, Any]] | None = optional(pa.list_(MASK))
    ignore_mask: dict[str, Any] | None = optional(MASK)
    target_depth_m: dict[str, Any] | None = optional(ARRAY)
    valid_mask: dict[str, Any] | None = optional(MASK)
    min_depth_m: float | None = optional(pa.float64())
    max_depth_m: float | None = optional(pa.float64())
    target_count: int | None = optional(pa.int64())
    target_points: list[dict[str, float]] | None = optional(pa.list_(POINT))
    target_instances: list[dict[str, Any]] | None = optional(pa.list_(MASK))
    target_normals: dict[str, Any] | None = optional(ARRAY)
    target_boxes: list[dict[str, float]] | None = optional(pa.list_(BOX))
    target_keypoints: list[dict[str, Any]] | None = optional(pa.list_(KEYPOINT))
    target_text: str | None = optional(pa.string())
    target_image: dict[str, Any] | None = optional(PICTURE)
    options: list[str] | None = optional(pa.list_(pa.string()))
    tags: list[str] = column(pa.list_(pa.string()), default_factory=list)
    knobs: dict[str, str] = column(KNOBS, default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A prompt rendered for one item or several, independent of any model; pictures by `sample_id`.

    One that is `unasked` for a reason (an outcome) has no turns: what it was to show is not there.
    """

    request_id: str = column(pa.string())
    sample_ids: list[str] = column(pa.list_(pa.string()))
    rank: int = column(pa.int32())
    prompt: str = column(pa.string())
    prompt_hash: str = column(pa.string())
    turns: list[dict[str, Any]] = column(pa.list_(TURN))
    unasked: str | None = optional(pa.string())


@dataclass(frozen=True, kw_only=True)
class Generation:
    """What a model returned to one turn, untouched; `final` marks the turn that is extracted.

    A reply that `goes_on` is a round of an agent; its next one stands in the next row.

    `severity` is the strength of a reference model's disturbance; missing for every other model.
    Times are missing for reference models, whose speed means nothing. `setup` is JSON of how a
    model that runs here made it (`gensight.models.Reply`), `place` JSON of where: the host and, on
    a cluster, partition, node, job and visible devices.
    """

    request_key: str = column(pa.string())
    parent_key: str | None = optional(pa.string())
    request_id: str = column(pa.string())
    sample_ids: list[str] = column(pa.list_(pa.string()))
    rank: int = column(pa.int32())
    turn: int = column(pa.int32())
    final: bool = column(pa.bool_())
    goes_on: bool = column(pa.bool_(), default=False)
    repeat: int = column(pa.int32(), default=0)
    severity: float | None = optional(pa.float64())
    outcome: str = column(pa.string())
    detail: str | None = optional(pa.string())
    text: str | None = optional(pa.string())
    image: dict[str, Any] | None = optional(PICTURE)
    images_returned: int = column(pa.int32(), default=0)
    requested_model: str | None = optional(pa.string())
    answered_model: str | None = optional(pa.string())
    attempts: int | None = optional(pa.int32())
    latency_s: float | None = optional(pa.float64())
    peak_memory_gb: float | None = optional(pa.float64())
    device: str | None = optional(pa.string())
    warm_up: bool | None = optional(pa.bool_())
    setup: str | None = optional(pa.string())
    place: str | None = optional(pa.string())
    cost_usd: float | None = optional(pa.float64())
    usage: str | None = optional(pa.string())


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """One reading of one answer by one variant of an extractor.

    `status` is `ok`, `invalid` or `no_output`; `reason` says why it is not ok. `mask` and `grey`
    are at the returned picture's size; `points`, `boxes` and `keypoints` are in pixels of the work
    size (`work_width` x `work_height`, long side 1024). `failure_blind` is the class that the blind
    classifier gives the answer (`gensight.failures`). Memory is the generation's, and so is
    latency, shared by the samples of its request. `aspect_error` is |returned aspect / input
    aspect - 1|. `parameters` is JSON of every parameter of the variant; `facts` are the extractor's
    own counts.
    """

    sample_id: str = column(pa.string())
    rank: int = column(pa.int32())
    cluster_id: str = column(pa.string())
    stratum: str | None = optional(pa.string())
    repeat: int = column(pa.int32(), default=0)
    severity: float | None = optional(pa.float64())
    variant: str = column(pa.string())
    status: str = column(pa.string())
    reason: str | None = optional(pa.string())
    outcome: str = column(pa.string())
    image_kind: str | None = optional(pa.string())
    returned_width: int | None = optional(pa.int32())
    returned_height: int | None = optional(pa.int32())
    work_width: int | None = optional(pa.int32())
    work_height: int | None = optional(pa.int32())
    aspect_error: float | None = optional(pa.float64())
    aspect_changed: bool | None = optional(pa.bool_())
    matte: str | None = optional(pa.string())
    had_alpha: bool | None = optional(pa.bool_())
    bit_depth: int | None = optional(pa.int32())
    degenerate_output: bool | None = optional(pa.bool_())
    failure_blind: str | None = optional(pa.string())
    mask: dict[str, Any] | None = optional(MASK)
    grey: dict[str, Any] | None = optional(PICTURE)
    normals: dict[str, Any] | None = optional(PICTURE)
    count: int | None = optional(pa.int64())
    points: list[dict[str, float]] | None = optional(pa.list_(POINT))
    boxes: list[dict[str, float]] | None = optional(pa.list_(BOX))
    keypoints: list[dict[str, Any]] | None = optional(pa.list_(KEYPOINT))
    text: str | None = optional(pa.string())
    latency_s: float | None = optional(pa.float64())
    peak_memory_gb: float | None = optional(pa.float64())
    parameters: str | None = optional(pa.string())
    facts: dict[str, float] | None = optional(FACTS)


@dataclass(frozen=True, kw_only=True)
class Feature:
    """What an encoder makes of one grid that was read: `vector`, float32, of unit length.

    `setup` is JSON of how the encoder was made: its weights, their revision, versions.
    """

    sample_id: str = column(pa.string())
    repeat: int = column(pa.int32(), default=0)
    severity: float | None = optional(pa.float64())
    variant: str = column(pa.string())
    vector: list[float] = column(VECTOR)
    setup: str = column(pa.string())


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One thing that grids are compared with: `vector`, float32, of unit length.

    `name` is a label, or the id of the sample whose picture it is; a `narrow` one is the
    benchmark's own (of a vocabulary: a concept), the others are there to distract. One with a
    `size` is no candidate: it is the sample's picture at so many pixels a side, the most that a
    grid of that size could keep of it. `setup` is that of a feature.
    """

    name: str = column(pa.string())
    narrow: bool = column(pa.bool_())
    size: int | None = optional(pa.int32())
    vector: list[float] = column(VECTOR)
    setup: str = column(pa.string())


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """One reply of one judge about one reading of one answer, its raw text kept.

    The columns up to `variant` say what was judged, `unit` which of the sample's references it was
    compared with. `run` counts the repeats of a judge, `reask` the questions that were asked again
    because a reply could not be read; a `rescored` one was asked for to see how stable the judge
    is. `judge_outcome` is how the request ended (`gensight.outcomes`), `status` what the reply is:
    `ok`, `unparseable`, `refused`, `empty`, or `no_answer` where none arrived; only an `ok` one has
    `points`, by dimension. `cut_replies` is JSON of the replies before it that were too short, on
    the ladder of lengths: their request_key, text, answered_model, latency_s, cost_usd and usage.
    """

    sample_id: str = column(pa.string())
    repeat: int = column(pa.int32(), default=0)
    severity: float | None = optional(pa.float64())
    variant: str = column(pa.string())
    unit: str | None = optional(pa.string())
    rubric: str = column(pa.string())
    judge_model: str = column(pa.string())
    run: int = column(pa.int32(), default=0)
    reask: int = column(pa.int32(), default=0)
    rescored: bool = column(pa.bool_(), default=False)
    request_key: str = column(pa.string())
    judge_outcome: str = column(pa.string())
    status: str = column(pa.string())
    reason: str | None = optional(pa.string())
    points: dict[str, float] | None = optional(FACTS)
    notes: dict[str, str] | None = optional(KNOBS)
    fence_stripped: bool = column(pa.bool_(), default=False)
    text: str | None = optional(pa.string())
    answered_model: str | None = optional(pa.string())
    latency_s: float | None = optional(pa.float64())
    cost_usd: float | None = optional(pa.float64())
    usage: str | None = optional(pa.string())
    cut_replies: str | None = optional(pa.string())


@dataclass(frozen=True, kw_only=True)
class Score:
    """One number of one sample: a metric (`kind` metric) or a sufficient statistic (`part`).

    `raw` is missing where the answer could not be read; `value` is the number under the
    benchmark's failure policy. `fit` names the alignment (depth benchmarks only).
    `status` is the prediction's, `no_ground_truth`, or `unjudged` where no reply of a judge could
    be read; the `outcome` of an answer that a judge was
    asked about in vain is that of the judge's request. `judged_by` names the models that judged,
    each with the id under which it answered.
    """

    sample_id: str = column(pa.string())
    rank: int = column(pa.int32())
    cluster_id: str = column(pa.string())
    stratum: str | None = optional(pa.string())
    repeat: int = column(pa.int32(), default=0)
    severity: float | None = optional(pa.float64())
    variant: str = column(pa.string())
    fit: str | None = optional(pa.string())
    status: str = column(pa.string())
    reason: str | None = optional(pa.string())
    outcome: str = column(pa.string())
    population_n: int | None = optional(pa.int64())
    label_flag: bool | None = optional(pa.bool_())
    failure_blind: str | None = optional(pa.string())
    format_valid: bool = column(pa.bool_())
    degenerate_output: bool | None = optional(pa.bool_())
    aspect_changed: bool | None = optional(pa.bool_())
    judged_by: str | None = optional(pa.string())
    kind: str = column(pa.string())
    name: str = column(pa.string())
    raw: float | None = optional(pa.float64())
    value: float | None = optional(pa.float64())


@dataclass(frozen=True, kw_only=True)
class Summary:
    """One metric of one cell over its samples, with coverage, uncertainty, floor and ceiling.

    `value` applies the failure policy, `valid_only` leaves answers out that could not be read or do
    not have the asked format; `n_valid` counts the others and `coverage` is their share of `n`.
    `common_valid` is the number over the `common_n` answers that every measured model gave validly.
    `format_valid` is that share again, with its Wilson interval at `n_eff`. `infrastructure` counts
    answers that never arrived: they are not scored and block a final table.

    `interval_*` speak of new samples, `finite_*` of the whole data set of `population_n` samples.
    `rank_low` to `rank_high` are the ranks that the model may have, at once for all `family_size`
    measured models of the column; `group_rank_*` the same within its group. `smallest_difference`
    is what two models of a group must differ by to be told apart with a power of 80 %; the other
    two say so of two variants, and of two prompts, of the same model.

    `judged_by` names every judge of the answers, each with the id under which it answered. `n`
    counts samples; each has `repeats` answers. `failure_constant` is what a failed count is
    scored by, where the benchmark's policy has one.
    """

    model: str = column(pa.string())
    benchmark: str = column(pa.string())
    prompt: str = column(pa.string())
    scorer: str = column(pa.string())
    variant: str = column(pa.string())
    fit: str | None = optional(pa.string())
    severity: float | None = optional(pa.float64())
    stratum: str | None = optional(pa.string())
    metric: str = column(pa.string())
    higher_is_better: bool = column(pa.bool_())
    unit: str = column(pa.string())
    value: float | None = optional(pa.float64())
    valid_only: float | None = optional(pa.float64())
    common_valid: float | None = optional(pa.float64())
    common_n: int | None = optional(pa.int64())
    failure_constant: float | None = optional(pa.float64())
    n: int = column(pa.int64())
    repeats: int = column(pa.int64(), default=1)
    n_valid: int = column(pa.int64())
    coverage: float | None = optional(pa.float64())
    infrastructure: int = column(pa.int64(), default=0)
    no_ground_truth: int = column(pa.int64(), default=0)
    degenerate: int = column(pa.int64(), default=0)
    aspect_changed: int = column(pa.int64(), default=0)
    format_valid: float | None = optional(pa.float64())
    format_valid_low: float | None = optional(pa.float64())
    format_valid_high: float | None = optional(pa.float64())
    clusters: int = column(pa.int64())
    n_eff: float | None = optional(pa.float64())
    interval_low: float | None = optional(pa.float64())
    interval_high: float | None = optional(pa.float64())
    interval_method: str | None = optional(pa.string())
    population_n: int | None = optional(pa.int64())
    finite_low: float | None = optional(pa.float64())
    finite_high: float | None = optional(pa.float64())
    uncertainty_flag: str | None = optional(pa.string())
    family_size: int | None = optional(pa.int32())
    rank_low: int | None = optional(pa.int32())
    rank_high: int | None = optional(pa.int32())
    group_size: int | None = optional(pa.int32())
    group_rank_low: int | None = optional(pa.int32())
    group_rank_high: int | None = optional(pa.int32())
    smallest_difference: float | None = optional(pa.float64())
    judged_by: str | None = optional(pa.string())
    smallest_difference_variants: float | None = optional(pa.float64())
    smallest_difference_prompts: float | None = optional(pa.float64())
    floor: float | None = optional(pa.float64())
    floor_model: str | None = optional(pa.string())
    ceiling: float | None = optional(pa.float64())
    ceiling_model: str | None = optional(pa.string())
