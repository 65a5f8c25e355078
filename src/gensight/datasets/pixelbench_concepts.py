"""PixelBench's 100 concepts as labels to draw, in the paper's order; built in, without drawings.

Protocol. Text-to-pixel names a concept and shows nothing, so a sample has a label for its query and
its truth, and no picture. `target_image` is missing: no drawing is the right one (the data set
`icons` has drawings of its own). Pixel understanding asks for the concept among ten, for grids that
a model made of these labels; options are dealt over all 100 concepts, whatever n is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gensight.datasets._options import dealt, right_letter
from gensight.errors import SpecError
from gensight.records import Sample
from gensight.vocabulary import concepts

VERSION = 1
# What is read from the checkout besides; a change makes the samples anew.
RESOURCES = ["resources/pixelbench/concepts.csv"]
DEFAULTS = {"task": "text_to_pixel", "options": 10}
CHOICES = {"task": ["text_to_pixel", "pixel_understanding"]}
FACTS = {
    "text_to_pixel": "the paper's 100 concepts in its order",
    "pixel_understanding": "ten options: the concept and nine others of the 100, each concept a "
    "distractor equally often",
}


def population(parameters: Mapping[str, Any]) -> int:
    """Return the number of concepts: 100."""
    return len(concepts())


def iter_samples(parameters: Mapping[str, Any], ranks: Iterable[int]) -> Iterator[Sample]:
    """Yield the samples of these ranks, in their order; rank r is the concept of number r + 1.

    Raises:
        SpecError: a rank is asked for that there is not, or the options cannot be dealt.
    """
    known = concepts()
    labels = [concept.label for concept in known]
    task = parameters["task"]
    options = dealt(labels, parameters["options"]) if task == "pixel_understanding" else {}
    for rank in ranks:
        if rank >= len(known):
            raise SpecError(
                f"pixelbench_concepts: rank {rank} is asked for, and there are {len(known)} "
                f"concepts; lower n or held_out.first_rank"
            )
        yield _sample(rank, known[rank].label, known[rank].category, len(known), options)


def _sample(
    rank: int, label: str, category: str, population_n: int, options: Mapping[str, list[str]]
) -> Sample:
    name = f"concept_{rank + 1:03d}"
    asked = options.get(label)
    return Sample(
        sample_id=name,
        rank=rank,
        cluster_id=name,
        stratum=category,
        population_n=population_n,
        licence="gensight",
        query=None if asked else label,
        query_kind=None if asked else "label",
        options=asked,
        target_text=right_letter(asked, label) if asked else label,
        knobs={"label": label},
    )
