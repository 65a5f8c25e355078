"""A model is one YAML, a benchmark one YAML and one module, a metric or extractor one module."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from conftest import Checkout

pytestmark = pytest.mark.workflow

COINS = '''
"""Coins: grey discs on a page, counted. Drawn here."""
import numpy as np

from gensight import images
from gensight.records import Sample

VERSION = 1
DEFAULTS = {"seed": 0}


def iter_samples(parameters, ranks):
    """Yield pages with rank % 4 discs."""
    rows, columns = np.mgrid[:120, :160]
    for rank in ranks:
        rng = np.random.default_rng([parameters["seed"], rank])
        page = rng.integers(200, 255, (120, 160, 3)).astype(np.uint8)
        points = []
        for place in range(rank % 4):
            x, y = 20 + 35 * place, int(rng.integers(20, 100))
            page[(columns - x) ** 2 + (rows - y) ** 2 < 100] = 60
            points.append({"x": float(x), "y": float(y)})
        yield Sample(
            sample_id=f"coins_{rank:06}", rank=rank, cluster_id=f"coins_{rank}", width=160,
            height=120, image={"bytes": images.encode_png(page), "path": f"coins_{rank:06}.png"},
            query="coins", target_count=len(points), target_points=points,
        )
'''

MEDIAN_ERROR = '''
"""Median absolute count error."""
import numpy as np

VERSION = 1
MEASURE = "count_match"
HIGHER_IS_BETTER = False
UNIT = "count"
INTERVAL = "none"


def value(parts):
    """Return the absolute error of one sample."""
    return parts.get("absolute_error")


def aggregate(parts):
    """Return the median over samples."""
    return float(np.median(parts["absolute_error"]))
'''

ALWAYS_TWO = '''
"""Reads every answer as two."""
from gensight.extractors import Reading

VERSION = 1
DEFAULTS = {"answer": 2}


def extract(answer, parameters):
    """Return the same count for any picture."""
    return [Reading(variant="two", fields={"count": parameters["answer"], "points": []})]
'''


def test_a_model_is_one_yaml(finished: Checkout) -> None:
    finished.write_yaml(
        "config/models/oracle_soft.yaml",
        {
            "adapter": "reference",
            "generation": {"method": "oracle", "disturbance": "blur", "severities": [3]},
            "role": "disturbed",
            "failed_above": None,
            "display": {"label": "Oracle, soft", "group": "reference", "order": 26},
        },
    )
    models = ["oracle", "oracle_plan", "echo", "oracle_soft"]
    finished.edit("config/config.yaml", run__models=models)
    finished.run()
    assert "Oracle, soft" in (finished.folder / "results/tables/all.tex").read_text()


def test_a_benchmark_a_metric_and_an_extractor_are_modules(checkout: Checkout) -> None:
    library = checkout.folder / "src/gensight"
    (library / "datasets/coins.py").write_text(COINS)
    (library / "metrics/median_error.py").write_text(MEDIAN_ERROR)
    (library / "extractors/always_two.py").write_text(ALWAYS_TWO)
    scorer = {"measure": "count_match", "metrics": ["mae", "median_error"]}
    checkout.write_yaml(
        "config/benchmarks/coins.yaml",
        {
            "task": "counting",
            "dataset": {"module": "coins"},
            "n": 8,
            "prompts": ["mid"],
            "scorers": {
                "dots": {"extractor": "dots", **scorer},
                "two": {"extractor": "always_two", **scorer},
            },
            "display": {"label": "Coins"},
        },
    )
    checkout.edit(
        "config/config.yaml",
        run__benchmarks=["coins"],
        run__models=["oracle"],
        run__tables=[],
        run__prompts=["mid"],
    )
    checkout.run("results/summaries/coins.parquet")
    rows = pq.read_table(checkout.folder / "results/summaries/coins.parquet").to_pylist()
    found = {(row["scorer"], row["metric"]): row["value"] for row in rows}
    # Truths 0, 1, 2, 3 twice: "two" is off by 2, 1, 0, 1.
    assert found == {
        ("dots", "mae"): 0.0,
        ("dots", "median_error"): 0.0,
        ("two", "mae"): 1.0,
        ("two", "median_error"): 1.0,
    }
