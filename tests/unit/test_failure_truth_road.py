"""From masks to a summary where the other objects of some samples are not known."""

from __future__ import annotations

import numpy as np
import pytest

from gensight.digests import digest_of
from gensight.images import encode_mask
from gensight.records import Prediction, RowFile, Sample, Score, Summary, write_rows
from gensight.stages.score import score
from gensight.stages.summarize import summarize

SAMPLED = {"stage": "samples"}
MASKS = {
    "stage": "predictions",
    "extractor": "mask",
    "generations": {"stage": "generations", "requests": {"samples": SAMPLED}},
}


def box(left):
    mask = np.zeros((16, 32), np.bool_)
    mask[4:10, left : left + 6] = True
    return encode_mask(mask)


#: What is known of the other objects of four samples; all of them ask for the left one.
KNOWN = [{"other_masks": [box(20)]}, {"other_masks": []}, {"twin_mask": box(20)}, {}]


@pytest.fixture
def summary(tmp_path, monkeypatch):
    """Score a model that always marks the object on the right; return its rows by class."""
    monkeypatch.chdir(tmp_path)

    def _summary(known, *, failed=()):
        names = range(len(known))
        samples = [
            Sample(
                sample_id=f"s{rank}",
                rank=rank,
                cluster_id=f"s{rank}",
                image={"bytes": b"", "path": None},
                width=32,
                height=16,
                target_mask=box(2),
                **known[rank],
            )
            for rank in names
        ]
        write_rows("samples.parquet", Sample, samples, SAMPLED)
        answers = [
            Prediction(
                sample_id=f"s{rank}",
                rank=rank,
                cluster_id=f"s{rank}",
                outcome="ok",
                variant="otsu",
                status="no_output" if rank in failed else "ok",
                mask=None if rank in failed else box(20),
            )
            for rank in names
        ]
        write_rows("masks.parquet", Prediction, answers, MASKS)
        plan = {
            "measure": "failure_truth",
            "metrics": {"truth_class_share": {"metric_version": 1}},
            "settings": {},
            "predictions": MASKS,
            "classes": None,
        }
        path = "results/scores/shown/toy/mid/truth.parquet"
        score("samples.parquet", ["masks.parquet"], path, plan)
        determinants = {
            "stage": "summaries",
            "benchmark": "toy",
            "subsets": [],
            "scores": {path: digest_of(RowFile(path, Score).footer.determinants)},
            "roles": {"shown": "measured"},
            "native": {"shown": "depth"},
            "failed_above": {"shown": 0.5},
            "groups": {"shown": "models"},
        }
        summarize("summary.parquet", determinants)
        return {row.fit: row for row in RowFile("summary.parquet", Summary)}

    return _summary


def test_the_share_of_wrong_objects_is_over_those_who_could_mark_one(summary):
    rows = summary(KNOWN)
    wrong, missed = rows["wrong_object"], rows["missed"]
    assert (wrong.value, wrong.n) == (pytest.approx(200 / 3), 3)
    assert (missed.value, missed.n) == (50, 4)
    assert (rows["ok"].value, rows["no_answer"].value) == (0, 0)


def test_failed_answers_are_left_out_alike(summary):
    rows = summary(KNOWN, failed=(0, 3))
    assert (rows["wrong_object"].value, rows["wrong_object"].n) == (pytest.approx(100 / 3), 3)
    assert (rows["no_answer"].value, rows["no_answer"].n) == (50, 4)


def test_where_no_sample_tells_there_is_no_row_to_print(summary):
    rows = summary([{}, {}])
    assert "wrong_object" not in rows
    assert rows["missed"].value == 100
