"""PixelBench's 100 concepts as samples: labels to draw, and questions about them."""

from collections import Counter

import pytest

from gensight.datasets import pixelbench_concepts
from gensight.datasets._options import LETTERS
from gensight.errors import SpecError
from gensight.vocabulary import concepts


def ask(ranks=range(100), **given):
    return list(pixelbench_concepts.iter_samples({**pixelbench_concepts.DEFAULTS, **given}, ranks))


def test_a_sample_is_a_label_to_draw():
    found = ask()
    assert len(found) == 100 == pixelbench_concepts.population({})
    for rank, (sample, concept) in enumerate(zip(found, concepts(), strict=True)):
        assert sample.rank == rank == concept.number - 1
        assert sample.query == sample.target_text == concept.label
        assert sample.stratum == concept.category
        assert sample.image is None
        assert sample.target_image is None
        assert sample.options is None
        assert sample.cluster_id == sample.sample_id == f"concept_{concept.number:03d}"


def test_a_question_has_the_same_samples_and_every_concept_as_often():
    drawn, asked = ask(), ask(task="pixel_understanding")
    for one, other in zip(drawn, asked, strict=True):
        assert (one.sample_id, one.cluster_id, one.rank) == (
            other.sample_id,
            other.cluster_id,
            other.rank,
        )
        assert other.query is None
        assert len(set(other.options)) == 10
        assert other.options[LETTERS.index(other.target_text)] == one.target_text
    letters = Counter(sample.target_text for sample in asked)
    assert letters == dict.fromkeys("ABCDEFGHIJ", 10)
    shown = Counter(label for sample in asked for label in sample.options)
    assert shown == {concept.label: 10 for concept in concepts()}


def test_a_sample_follows_from_its_rank_alone():
    for task in ("text_to_pixel", "pixel_understanding"):
        assert ask([41, 7], task=task) == [ask(task=task)[rank] for rank in (41, 7)]


def test_there_are_no_more():
    with pytest.raises(SpecError, match="rank 100 is asked for, and there are 100 concepts"):
        ask([99, 100])
    with pytest.raises(SpecError, match="27 options cannot be lettered"):
        ask(task="pixel_understanding", options=27)
