"""A hosted judge through Snakemake: its share of the plan, no money, no quota, and a second run."""

from __future__ import annotations

import json

import pytest
from fakes.billing import Painted, Scenario
from hosted_checkout import hosted

pytestmark = pytest.mark.workflow

N = 3
ICONS = "icons_t2p"
RUN = {
    "name": "judged",
    "models": ["drawer"],
    "benchmarks": [ICONS],
    "prompts": ["grid_16"],
    "n": {ICONS: N},
    "tables": [],
    "figures": [],
}
SCORES = f"results/scores/drawer/{ICONS}/grid_16/vlm.parquet"
SCORER = {
    "extractor": "palette_grid",
    "reading": "grid",
    "judge": "pixel_icon_gemini",
    "measure": "judged",
    "metrics": ["judge_total"],
}
NAMES = (
    *("subject_identity", "defining_attributes", "structure_proportion"),
    *("detail_quality", "pixel_art_execution", "palette_contrast"),
)


def marks(texts: list[str], pictures: list[bytes]) -> Painted:
    """Answer the rubric of the paper with one point everywhere."""
    assert len(pictures) == 1 and "16 by 16 cells" in texts[0]
    return Painted(text=json.dumps({name: {"score": 1, "reason": "seen"} for name in NAMES}))


def test_judging_alone_stops_without_a_budget_and_is_paid_for_once(tmp_path):
    scenario = Scenario().on(lambda asked: asked.attempt == 0, "quota_429", times=1)
    fakes = {"google": {"scenario": scenario}}
    with hosted(tmp_path / "checkout", {"run": RUN}, fakes) as (checkout, servers):
        fake = servers["google"]
        fake.painter = marks
        path = f"config/benchmarks/{ICONS}.yaml"
        checkout.edit(path, scorers__vlm=SCORER)
        checkout.edit("config/judges/pixel_icon_gemini.yaml", rescored=None)
        stopped = checkout.snakemake(SCORES, "--logger", "gensight", check=False)
        assert stopped.returncode == 1 and "Traceback" not in stopped.stderr
        asked = "gemini_3_5_flash_judge/icons_t2p/grid_16 of drawer needs 3 paid requests"
        assert asked in stopped.stderr
        assert "run 'judged': 3 of 3 requests to ask" in stopped.stderr
        assert "nothing paid will be sent: add budget: {usd: 1} to the config" in stopped.stderr
        assert len(fake.journal) == 0
        checkout.edit("config/config.yaml", budget={"usd": 5.0})
        # Parked: the code of its own says that the same command, run later, goes on.
        parked = checkout.snakemake(SCORES, check=False)
        assert parked.returncode == 75, parked.stderr
        checkout.gensight("ledger", "lift", "google")
        checkout.run(SCORES)
        assert fake.charged == N
        sent = len(fake.journal)
        checkout.run(SCORES)
        told = json.loads(checkout.gensight("plan", SCORES, "--json").stdout)
        assert (told["total"]["answered"], told["total"]["to_ask"]) == (N, 0)
        assert len(fake.journal) == sent
