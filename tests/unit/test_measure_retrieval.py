"""Retrieval: ranks by hand and by a literal loop, ties and NaN, pools, kinds, failed answers."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gensight import metrics, vocabulary
from gensight.errors import RecordError, SpecError
from gensight.measures import retrieval
from gensight.records import Prediction, Sample

NAN = math.nan


@dataclasses.dataclass
class Gallery:
    """What scoring hands over: named rows and the one answer's vector."""

    names: list
    vectors: np.ndarray
    answer: np.ndarray | None
    narrow: np.ndarray | None = None
    small: dict = dataclasses.field(default_factory=dict)

    def of(self, prediction):
        return self.answer

    def reduced(self, sample_id):
        return self.small.get(sample_id)


def gallery(names, cosines, narrow=None):
    """Return unit rows that have these cosines with the answer, the first axis."""
    cosines = np.array(cosines, np.float64)
    rows = np.column_stack([cosines, np.sqrt(1 - cosines**2)]).astype(np.float32)
    return Gallery(list(names), rows, np.array([1, 0], np.float32), narrow)


def sample_of(label="cat", sample_id="s"):
    return Sample(
        sample_id=sample_id, rank=0, cluster_id="c", image={}, width=8, height=8, target_text=label
    )


PREDICTION = Prediction(
    sample_id="s", rank=0, cluster_id="c", variant="strict", status="ok", outcome="ok"
)


def measured(features, sample=None, **given):
    found = retrieval.measure(PREDICTION, sample or sample_of(), {"features": features, **given})
    return None if found is None else found[None]


def missed(features, sample=None, **given):
    found = retrieval.failed(sample or sample_of(), {"features": features, **given})
    return None if found is None else found[None]


def test_parts_by_hand():
    parts = measured(gallery(["dog", "cat", "sun", "car"], [0.6, 0.5, 0.3, -0.6]))
    assert parts == {
        "rank": 2,
        "hit": 0,
        "candidates": 4,
        "paired_cosine": pytest.approx(0.5, abs=1e-7),
        "mismatched_cosine": pytest.approx(0.1, abs=1e-7),
    }
    assert measured(gallery(["dog", "cat"], [0.4, 0.5]))["hit"] == 1


@pytest.mark.parametrize(
    ("cosines", "rank"),
    [
        ([0.5, 0.5], 2),
        ([0.5 - 5e-7, 0.5], 2),
        ([0.5 - 5e-6, 0.5], 1),
        ([0.5 + 5e-7, 0.5], 2),
        ([NAN, 0.5], 2),
        ([0.1, NAN], 2),
        ([NAN, NAN, 0.2], 3),
        ([0.1, 0.9, 0.1, 0.1], 1),
    ],
)
def test_ties_and_nan_count_against_the_model(cosines, rank):
    found = np.array(cosines)
    assert retrieval.rank_of(found, 1) == rank
    assert retrieval.is_hit(found, [1]) == (rank == 1)


COSINES = st.lists(
    st.sampled_from([-0.5, 0.0, 0.3, 0.3 + 5e-7, 0.3 - 3e-6, 0.9, NAN]), min_size=1, max_size=8
)


@given(COSINES, st.data())
@settings(deadline=None)
def test_ranks_and_hits_as_a_loop_would_count_them(cosines, data):
    place = data.draw(st.integers(0, len(cosines) - 1))
    accepted = data.draw(st.sets(st.integers(0, len(cosines) - 1))) | {place}
    found = np.array(cosines)
    rank = 1
    for other, value in enumerate(cosines):
        if other == place:
            continue
        below = not math.isnan(value) and value < cosines[place] - 1e-6
        rank += not below
    assert retrieval.rank_of(found, place) == rank
    best = max((cosines[p] for p in accepted if not math.isnan(cosines[p])), default=None)
    others = [cosines[p] for p in range(len(cosines)) if p not in accepted]
    hit = best is not None and all(value < best - 1e-6 for value in others)
    assert retrieval.is_hit(found, sorted(accepted)) == hit
    # A kind that is accepted can only help.
    assert retrieval.is_hit(found, sorted(accepted)) >= retrieval.is_hit(found, [place])


def test_the_narrow_pool_holds_the_benchmark_s_own_concepts():
    features = gallery(["dog", "cat", "sun"], [0.9, 0.5, 0.3], np.array([False, True, True]))
    assert measured(features)["rank"] == 2
    narrow = measured(features, pool="narrow")
    assert (narrow["rank"], narrow["hit"], narrow["candidates"]) == (1, 1, 2)
    assert narrow["mismatched_cosine"] == pytest.approx(0.3, abs=1e-7)
    assert measured(features, sample_of("dog"), pool="narrow") is None
    assert missed(features, sample_of("dog"), pool="narrow") is None


def test_a_sample_may_be_its_own_target():
    features = gallery(["i2", "i1"], [0.1, 0.8])
    assert measured(features, sample_of(None, "i1"), target="sample")["hit"] == 1
    assert measured(features, sample_of("i1", "i2"), target="sample")["hit"] == 0


@pytest.mark.parametrize("label", ["kite", None, "Cat"])
def test_a_target_that_the_gallery_lacks_is_no_truth(label):
    features = gallery(["cat", "dog"], [0.5, 0.1])
    assert measured(features, sample_of(label)) is None
    assert missed(features, sample_of(label)) is None


def test_a_gallery_of_one_is_hit_and_has_nothing_to_mismatch():
    alone = gallery(["cat"], [-0.5])
    parts = measured(alone)
    assert (parts["rank"], parts["hit"], parts["candidates"]) == (1, 1, 1)
    assert parts["paired_cosine"] == pytest.approx(-0.5, abs=1e-7)
    assert "mismatched_cosine" not in parts
    assert "mismatched_cosine" not in missed(alone)
    assert metrics.load("cosine_above_mismatched").value(parts) is None


@pytest.mark.parametrize("broken", [[NAN, 0.0], [0.0, 0.0], [math.inf, 1.0]])
@pytest.mark.parametrize("others", [0, 3])
def test_a_vector_that_is_no_direction_is_a_miss(broken, others):
    features = gallery(["cat", *"xyz"[:others]], [0.9, 0.1, 0.1, 0.1][: others + 1])
    features.answer = np.array(broken, np.float32)
    parts = measured(features)
    assert (parts["hit"], parts["rank"], parts["paired_cosine"]) == (0, others + 1, 0)
    assert parts.get("mismatched_cosine", 0) == 0
    assert all(math.isfinite(value) for value in parts.values())


def test_a_broken_row_of_the_gallery_counts_against_the_model():
    features = gallery(["cat", "dog", "sun"], [0.9, 0.1, 0.3])
    features.vectors[1] = NAN
    parts = measured(features)
    assert (parts["rank"], parts["hit"]) == (2, 0)
    assert parts["mismatched_cosine"] == pytest.approx(0.3, abs=1e-7)


def test_vectors_of_a_real_length():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 96)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    near = rows[17] + 0.01 * rng.normal(size=96).astype(np.float32)
    features = Gallery([f"label {n}" for n in range(500)], rows, near / np.linalg.norm(near))
    expected = rows.astype(np.float64) @ features.answer.astype(np.float64)
    assert retrieval.cosines(features.answer, rows) == pytest.approx(expected, abs=1e-6)
    assert measured(features, sample_of("label 17"))["hit"] == 1
    wrong = measured(features, sample_of("label 18"))
    assert wrong["rank"] == 1 + int((expected > expected[18]).sum())
    same = Gallery(features.names, rows, rows[17])
    assert measured(same, sample_of("label 17"))["paired_cosine"] == pytest.approx(1, abs=1e-15)


def test_a_kind_of_the_target_is_a_tolerant_hit():
    kind = vocabulary.kinds_of("dog")[0]
    features = gallery(["dog", kind, "cat"], [0.5, 0.8, 0.3])
    parts = measured(features, sample_of("dog"), hyponyms=True)
    assert (parts["hit"], parts["rank"], parts["tolerant_hit"]) == (0, 2, 1)
    # The other way round there is no kind, and a stranger ahead of both is none.
    assert measured(features, sample_of(kind), hyponyms=True)["tolerant_hit"] == 1
    back = gallery(["dog", kind, "cat"], [0.8, 0.5, 0.3])
    assert measured(back, sample_of(kind), hyponyms=True)["tolerant_hit"] == 0
    strange = gallery(["dog", kind, "cat"], [0.5, 0.8, 0.9])
    assert measured(strange, sample_of("dog"), hyponyms=True)["tolerant_hit"] == 0
    assert "tolerant_hit" not in measured(features, sample_of("dog"))
    # A kind that is not in the pool is no candidate.
    narrow = dataclasses.replace(strange, narrow=np.array([True, False, True]))
    parts = measured(narrow, sample_of("dog"), hyponyms=True, pool="narrow")
    assert (parts["candidates"], parts["tolerant_hit"]) == (2, 0)


def test_failed_answers_miss_and_have_no_rank():
    features = gallery(["dog", "cat", "sun"], [0.6, 0.5, 0.3])
    parts = missed(features, hyponyms=True)
    assert parts == {
        "hit": 0,
        "tolerant_hit": 0,
        "paired_cosine": 0,
        "mismatched_cosine": 0,
        "candidates": 3,
    }
    assert set(measured(features, hyponyms=True)) == set(parts) | {"rank"}


def test_the_ceiling_is_the_sample_s_own_picture_in_as_many_cells():
    features = gallery(["i1", "i2"], [0.6, 1.0])
    features.small = {"i1": features.vectors[1]}
    ceiling = pytest.approx(0.6, abs=1e-7)
    assert measured(features, sample_of(None, "i1"), target="sample")["ceiling_cosine"] == ceiling
    assert missed(features, sample_of(None, "i1"), target="sample")["ceiling_cosine"] == ceiling
    assert "ceiling_cosine" not in measured(features, sample_of(None, "i2"), target="sample")
    assert "ceiling_cosine" not in missed(features, sample_of(None, "i2"), target="sample")


def test_scores_over_samples_by_hand():
    rows = [
        measured(gallery(["cat", "dog"], [0.8, 0.2])),
        measured(gallery(["cat", "dog", "sun"], [0.2, 0.6, 0.4])),
        missed(gallery(["cat", "dog"], [0, 0])),
        missed(gallery(["cat", "dog"], [0, 0])),
    ]
    names = {name for row in rows for name in row}
    parts = {name: [row.get(name, NAN) for row in rows] for name in names}
    by_name = {
        "retrieval_top1": 25,
        "retrieval_mrr": (1 + 1 / 3) / 2,
        "paired_cosine": 0.25,
        "mismatched_cosine": (0.2 + 0.5) / 4,
        "cosine_above_mismatched": (0.6 - 0.3) / 4,
    }
    for name, expected in by_name.items():
        assert metrics.load(name).aggregate(parts) == pytest.approx(expected, abs=1e-7), name
    assert metrics.load("retrieval_top1_tolerant").aggregate(parts) is None


def test_what_is_missing_is_named():
    features = gallery(["cat", "dog"], [0.5, 0.1])
    with pytest.raises(RecordError, match="sample s: the prediction is ok but the features hold"):
        measured(dataclasses.replace(features, answer=None))
    with pytest.raises(RecordError, match=r"sample s: its vector is \(3,\), the gallery's have 2"):
        measured(dataclasses.replace(features, answer=np.ones(3, np.float32)))
    with pytest.raises(RecordError, match="sample s: the gallery holds 'cat' 2 times"):
        measured(gallery(["cat", "cat"], [0.5, 0.1]))
    with pytest.raises(SpecError, match="no features"):
        retrieval.measure(PREDICTION, sample_of(), {})
    with pytest.raises(SpecError, match="no features"):
        retrieval.failed(sample_of(), {})


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"pool": "wide"}, "settings.pool: 'wide'.*narrow, all"),
        ({"target": "name"}, "settings.target: 'name'.*label, sample"),
        ({"failure": "zero"}, "settings.failure: 'zero'.*miss"),
        ({"hyponyms": True, "target": "sample"}, "only labels have kinds"),
    ],
)
def test_settings_that_cannot_be(given, told):
    with pytest.raises(SpecError, match=told):
        measured(gallery(["cat"], [0.5]), **given)
