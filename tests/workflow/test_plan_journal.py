"""`gensight plan` beside what fakes were really asked and charged: empty, half-cached, full."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import QUIET, Checkout
from fakes.server import Fake
from hosted_checkout import hosted

pytestmark = pytest.mark.workflow

BENCHMARK = "scenes_segmentation"
#: Half of the samples are bought first; the next run asks for all of them.
HALF, ALL = 2, 4
MODELS = {"nano_banana_2": "google", "gpt_image_2": "openai", "seedream_5_0_lite": "ark"}
RUN = {
    "name": "planned",
    "models": list(MODELS),
    "benchmarks": [BENCHMARK],
    "prompts": ["mid", "plan"],
    "n": {BENCHMARK: HALF},
    "tables": [],
    "figures": [],
}
#: Turns of a sample: one model is also asked in two turns.
TURNS = {"google": 1 + 2, "openai": 1, "ark": 1}


@pytest.fixture(scope="module")
def place(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Checkout, dict[str, Fake]]]:
    """Return a checkout and its providers; nothing has been asked."""
    folder = tmp_path_factory.mktemp("planned") / "checkout"
    config = {"run": RUN, "budget": {"usd": 20.0}}
    with hosted(folder, config, {name: {} for name in MODELS.values()}) as (checkout, fakes):
        benchmark = f"config/benchmarks/{BENCHMARK}.yaml"
        checkout.edit(benchmark, held_out={"first_rank": 500, "n": 2})
        checkout.edit(benchmark, dataset__parameters__width=384, dataset__parameters__height=288)
        checkout.edit("config/models/nano_banana_2.yaml", prompts=["mid", "plan"])
        # Two pictures: this model is asked for nothing else, so words would end the conversation.
        checkout.replace(
            "resources/prompts/segmentation/plan.yaml",
            "{kind: text, content: bounding_box}",
            "{kind: mask, foreground: [255, 255, 255], background: [0, 0, 0]}",
        )
        # What is asked is looked at here, not how fast.
        checkout.edit("config/models/gpt_image_2.yaml", limits={"in_flight": 4})
        yield checkout, fakes


def planned(checkout: Checkout) -> dict[str, Any]:
    """Return the JSON of the plan for everything that hosted models are asked."""
    return json.loads(checkout.gensight("plan", *generations(checkout), "--json").stdout)


def generations(checkout: Checkout) -> list[str]:
    cells = [f"{model}/{BENCHMARK}/mid" for model in MODELS]
    cells.append(f"nano_banana_2/{BENCHMARK}/plan")
    return [f"results/generations/{cell}/all.parquet" for cell in cells]


def asked(fakes: dict[str, Fake]) -> dict[str, int]:
    return {name: len(fake.journal) for name, fake in fakes.items()}


def charged_usd(fakes: dict[str, Fake]) -> dict[str, float]:
    return {name: fake.charged_usd for name, fake in fakes.items()}


def to_ask(plan: dict[str, Any]) -> dict[str, int]:
    return {name: total["to_ask"] for name, total in plan["providers"].items()}


def check_bought(
    checkout: Checkout, fakes: dict[str, Fake], expected: dict[str, int], already: int
) -> None:
    """Plan, run, and compare the plan with the journals."""
    plan, before, bill = planned(checkout), asked(fakes), charged_usd(fakes)
    assert to_ask(plan) == expected
    assert plan["total"]["answered"] == already
    checkout.snakemake(*generations(checkout), *QUIET)
    assert {name: n - before[name] for name, n in asked(fakes).items()} == to_ask(plan)
    for name, usd in charged_usd(fakes).items():
        most, paid = plan["providers"][name]["usd"], usd - bill[name]
        assert paid <= most <= 1.2 * paid, name
    after = planned(checkout)
    assert after["spent_usd"] == {
        model: pytest.approx(fakes[name].charged_usd) for model, name in MODELS.items()
    }


def test_the_plan_is_what_is_asked_and_bounds_the_bill(
    place: tuple[Checkout, dict[str, Fake]],
) -> None:
    checkout, fakes = place
    first = {name: HALF * turns for name, turns in TURNS.items()}
    # Before there are samples the number is exact, and the money the most for any picture.
    guessed = planned(checkout)
    assert to_ask(guessed) == first
    assert all(row["assumed"] for row in guessed["rows"])
    requests = [f"results/requests/{BENCHMARK}/{prompt}.parquet" for prompt in RUN["prompts"]]
    checkout.snakemake(*requests, *QUIET)
    assert planned(checkout)["total"]["usd"] <= guessed["total"]["usd"]
    check_bought(checkout, fakes, first, already=0)

    checkout.edit("config/config.yaml", run__n={BENCHMARK: ALL})
    checkout.snakemake(*requests, *QUIET)
    rest = {name: (ALL - HALF) * turns for name, turns in TURNS.items()}
    check_bought(checkout, fakes, rest, already=sum(first.values()))

    everything = asked(fakes)
    full = planned(checkout)
    assert (full["total"]["to_ask"], full["total"]["usd"], full["price_date"]) == (0, 0.0, None)
    # Also where only the ledger knows it.
    for path in generations(checkout):
        (checkout.folder / path).unlink()
    again = planned(checkout)
    assert (again["total"]["to_ask"], again["total"]["answered"]) == (0, full["total"]["answered"])
    checkout.snakemake(*generations(checkout), *QUIET)
    assert asked(fakes) == everything


def test_a_budget_that_ends_in_the_middle_leaves_what_the_plan_then_says(tmp_path: Path) -> None:
    """Money for a part is spent on that part, and the plan and the journal agree on the rest."""
    run = {**RUN, "models": ["seedream_5_0_lite"], "prompts": ["mid"], "n": {BENCHMARK: ALL}}
    config = {"run": run, "budget": {"usd": 0.035 * HALF}}
    target = f"results/generations/seedream_5_0_lite/{BENCHMARK}/mid/all.parquet"
    with hosted(tmp_path / "checkout", config, {"ark": {}}) as (checkout, fakes):
        checkout.edit(f"config/benchmarks/{BENCHMARK}.yaml", held_out={"first_rank": 500, "n": 2})
        done = checkout.snakemake(target, "--logger", "gensight", check=False)
        assert done.returncode != 0 and "the budget is spent" in done.stderr
        plan = json.loads(checkout.gensight("plan", target, "--json").stdout)
        assert (plan["total"]["answered"], plan["total"]["to_ask"]) == (HALF, ALL - HALF)
        assert (plan["left_usd"], plan["enough"]) == (pytest.approx(0), False)
        checkout.edit("config/config.yaml", budget__usd=0.035 * ALL)
        checkout.snakemake(target, *QUIET)
        assert fakes["ark"].charged == fakes["ark"].distinct == ALL
