"""A stage whose columns change gets a new version: else old files would be planned and not read."""

from __future__ import annotations

import hashlib

import pytest

from gensight.plan import STAGE_VERSIONS
from gensight.records import (
    Generation,
    Prediction,
    Request,
    Sample,
    Score,
    Summary,
    schema_of,
)

ROWS = {
    "samples": Sample,
    "requests": Request,
    "generations": Generation,
    "predictions": Prediction,
    "scores": Score,
    "summaries": Summary,
}
#: Digest of the columns by stage and version; add a line, never change one that was released.
COLUMNS = {
    ("samples", 1): "28032ab16c8bc48d",
    ("requests", 1): "70f593ab42164b4b",
    ("generations", 1): "438762541842cf46",
    ("predictions", 1): "5625d233d0ebc0f1",
    ("scores", 1): "1e5288122487abca",
    ("summaries", 1): "3d702d8fa71e9844",
    ("samples", 2): "99f6fd839c6a2e81",
    ("requests", 2): "70f593ab42164b4b",
    ("generations", 2): "329e7f2dfe30de9d",
    ("generations", 3): "10a3f9974f86ecf8",
    ("predictions", 3): "ef0d8c579f7d1979",
    ("predictions", 2): "ef0d8c579f7d1979",
    ("scores", 2): "b399f2c02891bf83",
    ("summaries", 2): "0fa3dd64916ffc22",
}


@pytest.mark.parametrize("stage", ROWS)
def test_the_columns_of_a_stage_are_those_of_its_version(stage: str) -> None:
    columns = schema_of(ROWS[stage]).to_string(show_schema_metadata=False)
    found = hashlib.sha256(columns.encode()).hexdigest()[:16]
    assert COLUMNS.get((stage, STAGE_VERSIONS[stage])) == found, (
        f"the columns of {stage} changed: raise its number in gensight.plan.determinants and add "
        f"its line here"
    )
