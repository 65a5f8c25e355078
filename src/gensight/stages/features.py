"""What a measure is given of an encoder: a cell's vectors by reading, and the candidates'."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gensight.records import Candidate, Feature, Prediction, RowFile


class CellFeatures:
    """The features of one cell beside those of its benchmark's candidates.

    `names` (m), `narrow` (bool, m) and `vectors` (float32, m x d) are the candidates in order.
    """

    def __init__(self, features: str, gallery: str, plan: Mapping[str, Any]) -> None:
        """Read both files; RecordError if one of them is not as planned."""
        self._of = {
            (row.sample_id, row.repeat, row.severity, row.variant): np.array(row.vector, np.float32)
            for row in RowFile(features, Feature, plan["features"])
        }
        rows = list(RowFile(gallery, Candidate, plan["gallery"]))
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
        key = (prediction.sample_id, prediction.repeat, prediction.severity, prediction.variant)
        return self._of.get(key)

    def reduced(self, sample_id: str) -> np.ndarray | None:
        """Return the vector of a sample's own picture at the cell's size, None without one."""
        return self._reduced.get((sample_id, self._size))
