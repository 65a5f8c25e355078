"""What a measure is given of an encoder: a cell's vectors by reading, and the candidates'."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gensight.errors import RecordError
from gensight.records import Candidate, Feature, Judgement, Prediction, RowFile

#: Sample, repeat, severity and variant.
Key = tuple[str, int, float | None, str]


def _vectors(rows: Iterable[Feature]) -> dict[Key, np.ndarray]:
    return {key_of(row): np.array(row.vector, np.float32) for row in rows}


def _refuse_two_checkpoints(files: Mapping[str, Iterable[Feature | Candidate]]) -> None:
    """Refuse vectors of several weights, or revisions of them: their cosines mean nothing.

    A branch of a repository may have moved between two jobs, and two machines may have made the
    files. Other versions of libraries are let pass.
    """
    found: dict[tuple[str | None, str | None], str] = {}
    for path, rows in files.items():
        for setup in sorted({row.setup for row in rows}):
            told = json.loads(setup)
            found.setdefault((told.get("weights"), told.get("revision")), path)
    if len(found) > 1:
        told = "; ".join(
            f"{path} with {weights} at {rev}" for (weights, rev), path in found.items()
        )
        raise RecordError(
            f"made with several checkpoints of one encoder: {told}; name a commit as the encoder's "
            f"revision, or remove the older of these files, and make them again"
        )


def key_of(row: Feature | Judgement | Prediction) -> Key:
    """Return which reading of which answer a row is about."""
    return row.sample_id, row.repeat, row.severity, row.variant


class CellFeatures:
    """The features of one cell beside those of its benchmark's candidates.

    `names` (m), `narrow` (bool, m) and `vectors` (float32, m x d) are the candidates in order.
    """

    def __init__(self, features: str, gallery: str, plan: Mapping[str, Any]) -> None:
        """Read both files, and those of the cells that the scorer looks across at.

        Raises:
            RecordError: one of them is not as planned, or they are of several checkpoints.
        """
        planned = {features: plan["features"], **plan.get("across", {})}
        read = {path: list(RowFile(path, Feature, digest)) for path, digest in planned.items()}
        rows = list(RowFile(gallery, Candidate, plan["gallery"]))
        _refuse_two_checkpoints({**read, gallery: rows})
        self._of = _vectors(read[features])
        self._across = [_vectors(read[path]) for path in plan.get("across", {})]
        shown = [row for row in rows if row.size is None]
        self.names = [row.name for row in shown]
        self.narrow = np.array([row.narrow for row in shown], np.bool_)
        self.vectors = np.array([row.vector for row in shown], np.float32)
        self._reduced = {
            (row.name, row.size): np.array(row.vector, np.float32)
            for row in rows
            if row.size is not None
        }
        self._size = plan["predictions"]["generations"]["requests"].get("size")

    def of(self, prediction: Prediction) -> np.ndarray | None:
        """Return the vector of a reading, float32 (d,), None where it has none."""
        return self._of.get(key_of(prediction))

    def companions(self, prediction: Prediction) -> list[tuple[np.ndarray | None, np.ndarray]]:
        """Return, for each cell across, the vector of the same sample and those of all others.

        The first is None where that answer was no grid, the second float32 (m, d).
        """
        key = key_of(prediction)
        return [
            (
                found.get(key),
                np.array(
                    [v for k, v in found.items() if k[0] != key[0] and k[1:] == key[1:]], np.float32
                ),
            )
            for found in self._across
        ]

    def reduced(self, sample_id: str) -> np.ndarray | None:
        """Return the vector of a sample's own picture at the cell's size, None without one."""
        return self._reduced.get((sample_id, self._size))
