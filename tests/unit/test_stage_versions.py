"""A stage whose columns change gets a new version: else old files would be planned and not read."""

from __future__ import annotations

import hashlib

import pytest

from gensight.plan import STAGE_VERSIONS
from gensight.records import (
    Candidate,
    Feature,
    Generation,
    Judgement,
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
    "features": Feature,
    "galleries": Candidate,
    "judgements": Judgement,
    "scores": Score,
    "summaries": Summary,
    # Their numbers stand in the columns of summaries.
    "sweeps": Summary,
    "aggregates": Summary,
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
    ("samples", 3): "37248376b8238e8b",
    ("requests", 3): "84efa25cbeaaf038",
    ("features", 1): "a6d8f00189c5a562",
    ("galleries", 1): "7196685cf410b520",
    ("judgements", 1): "7843193dcc8a9c98",
    ("scores", 3): "9c55c892a5c05456",
    ("summaries", 3): "37e4831256fffcc0",
    ("sweeps", 2): "37e4831256fffcc0",
    ("aggregates", 1): "37e4831256fffcc0",
    ("features", 2): "4e819955369fa6af",
    ("galleries", 2): "abec179faec125b4",
    ("judgements", 2): "288acb94373205f7",
}


def test_every_stage_of_rows_is_here() -> None:
    assert set(STAGE_VERSIONS) - set(ROWS) == {"tables", "figures"}


@pytest.mark.parametrize("stage", ROWS)
def test_the_columns_of_a_stage_are_those_of_its_version(stage: str) -> None:
    columns = schema_of(ROWS[stage]).to_string(show_schema_metadata=False)
    found = hashlib.sha256(columns.encode()).hexdigest()[:16]
    assert COLUMNS.get((stage, STAGE_VERSIONS[stage])) == found, (
        f"the columns of {stage} changed: raise its number in gensight.plan.determinants and add "
        f"its line here"
    )
