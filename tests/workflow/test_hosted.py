"""Hosted models through Snakemake: no money, no quota, gaps, models that are gone, and secrets."""

from __future__ import annotations

import datetime
import json
import shutil

import pytest
from conftest import Checkout
from fakes.billing import Scenario
from hosted_checkout import hosted, key_of, rows, writings_of

from gensight.outcomes import Outcome

pytestmark = pytest.mark.workflow

N = 3
MASKS, COUNTS = "scenes_segmentation", "scenes_counting"
RUN = {
    "name": "hosted",
    "models": ["nano_banana_2"],
    "benchmarks": [MASKS],
    "prompts": ["mid"],
    "n": {MASKS: N, COUNTS: N},
    "tables": ["segmentation"],
    "figures": [],
}
BUDGET = {"usd": 50.0}
#: Prints the line of a job that failed.
LOGGED = ("--logger", "gensight")


def small(checkout: Checkout) -> None:
    """Make scenes small and few."""
    for name in (MASKS, COUNTS):
        path = f"config/benchmarks/{name}.yaml"
        checkout.edit(path, held_out={"first_rank": 500, "n": 2})
        checkout.edit(path, dataset__parameters__width=384, dataset__parameters__height=288)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "checkout"


def test_without_a_budget_nothing_is_sent_and_the_plan_is_told(place):
    with hosted(place, {"run": RUN}, {"google": {}}) as (checkout, fakes):
        small(checkout)
        done = checkout.snakemake(*LOGGED, check=False)
        assert done.returncode == 1
        assert "needs 3 paid requests, at most" in done.stderr
        assert "run 'hosted': 3 of 3 requests to ask" in done.stderr
        assert "nothing paid will be sent: add budget: {usd: 1} to the config" in done.stderr
        assert "Traceback" not in done.stderr
        assert len(fakes["google"].journal) == 0
        checkout.edit("config/config.yaml", budget=BUDGET)
        checkout.run()
        assert fakes["google"].journal.charged == N


def test_a_quota_ends_with_a_code_of_its_own_and_the_same_command_goes_on(place):
    run = {**RUN, "models": [*RUN["models"], "seedream_5_0_lite"]}
    spent = Scenario().on(lambda asked: asked.attempt == 0, "quota_402", times=1)
    fakes = {"google": {"scenario": spent}, "ark": {}}
    with hosted(place, {"run": run, "budget": BUDGET}, fakes) as (checkout, servers):
        small(checkout)
        google, ark = servers["google"].journal, servers["ark"].journal
        done = checkout.snakemake("--keep-going", *LOGGED, check=False)
        assert done.returncode == 75
        assert "google takes no requests until" in done.stderr
        assert ark.charged == N  # the others go on
        bought, asked = google.charged, len(google)
        # Parked: the next run does not even ask.
        done = checkout.snakemake("--keep-going", *LOGGED, check=False)
        assert (done.returncode, len(google)) == (75, asked)
        checkout.gensight("ledger", "lift", "google")
        checkout.run()
        assert google.charged == N >= bought
        assert not google.paid_twice
        assert len(ark) == N


def test_questions_in_doubt_fail_the_job_unless_they_are_kept(place):
    lost = Scenario().on(lambda asked: True, "drop_after_charge", times=1)
    config = {"run": RUN, "budget": BUDGET}
    with hosted(place, config, {"google": {"scenario": lost}}) as (checkout, fakes):
        small(checkout)
        journal = fakes["google"].journal
        done = checkout.snakemake(*LOGGED, check=False)
        assert done.returncode == 1
        assert "1 questions have no answer (1 in_doubt)" in done.stderr
        assert "in_doubt: resend" in done.stderr
        assert journal.charged == len(journal) == N

        checkout.edit("config/config.yaml", unresolved="keep")
        checkout.run()
        assert len(journal) == N
        outcomes = sorted(row.outcome for row in rows(checkout, ["nano_banana_2"]))
        assert outcomes == [Outcome.IN_DOUBT, Outcome.OK, Outcome.OK]
        page = (checkout.folder / "results/tables/segmentation.md").read_text()
        assert "*incomplete* (n = 2)" in page

        # What stays open is no cached answer: asked for again, it is bought once more, by request.
        checkout.edit("config/config.yaml", hosted={"in_doubt": "resend"})
        checkout.run()
        assert (len(journal), journal.charged) == (N + 1, N + 1)
        assert len(journal.paid_twice) == 1
        assert {row.outcome for row in rows(checkout, ["nano_banana_2"])} == {Outcome.OK}
        assert "incomplete" not in (checkout.folder / "results/tables/segmentation.md").read_text()


def test_a_retired_model_lives_on_in_cached_outputs(place, tmp_path):
    card = "config/models/nano_banana_2.yaml"
    retired = {"date": datetime.date(2026, 1, 2), "source": "a page"}
    config = {"run": RUN, "budget": BUDGET}
    with hosted(place, config, {"google": {}}) as (checkout, fakes):
        small(checkout)
        checkout.run()
        journal, before = fakes["google"].journal, checkout.digests(".tex")
        checkout.edit(card, retired=retired)
        assert checkout.planned() == {}
        # From the ledger: the same rows, without a request.
        shutil.rmtree(checkout.folder / "results")
        checkout.run()
        assert (checkout.digests(".tex"), len(journal)) == (before, N)
        # From cached outputs alone: no ledger, no key, no provider.
        clone = Checkout(tmp_path / "clone")
        shutil.copytree(checkout.folder / "config", clone.folder / "config", dirs_exist_ok=True)
        shutil.copytree(
            checkout.folder / "results/generations", clone.folder / "results/generations"
        )

        # A sample more cannot be bought any more, and that is not a zero.
        checkout.edit("config/config.yaml", run__n={MASKS: N + 1})
        done = checkout.snakemake(*LOGGED, check=False)
        assert done.returncode == 1
        assert "1 model_gone" in done.stderr
        assert "lay in cached generations" in done.stderr
        assert len(journal) == N
    clone.run()
    assert clone.digests(".tex") == before
    assert not (clone.folder / "ledger/google.sqlite").exists()


def test_no_file_of_a_run_through_faults_holds_a_key(place):
    faults = (
        Scenario()
        .on(lambda asked: True, "leak_key", times=1, status=500)
        .on(lambda asked: True, "wait_429", times=1, retry_after_s=0.01)
        .on(lambda asked: True, "leak_key", times=1, status=400)
    )
    config = {"run": RUN, "budget": BUDGET}
    with hosted(place, config, {"google": {"scenario": faults}}) as (checkout, fakes):
        small(checkout)
        outputs = [checkout.snakemake("--verbose", check=False) for _ in range(2)]
        journal = fakes["google"].journal
        assert {entry.fault for entry in journal} >= {"leak_key", "wait_429"}
        marks = writings_of(key_of("google"))
    files = [path for path in checkout.folder.rglob("*") if path.is_file()]
    assert any(".snakemake" in path.parts for path in files)
    assert any(path.suffix == ".sqlite" for path in files)
    # The fake's words are kept, without the key: the search looks at files that could hold it.
    assert any(b"Incorrect API key provided" in path.read_bytes() for path in files)
    found = [str(path) for path in files for mark in marks if mark in path.read_bytes()]
    assert found == []
    told = "".join(done.stdout + done.stderr for done in outputs).encode()
    assert not any(mark in told for mark in marks)


WITHOUT_SDKS = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("httpx2", "openai", "anthropic") or name == "google.genai":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""


def test_what_is_there_is_replayed_without_key_and_sdk(place, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_SDKS)
    with hosted(place, {"run": RUN, "budget": BUDGET}, {"google": {}}) as (checkout, fakes):
        small(checkout)
        checkout.run()
        before = checkout.digests(".tex")
        environment = {**checkout.environment(), "PYTHONPATH": f"{tmp_path}:{place / 'src'}"}
        del environment["GOOGLE_API_KEY"]
        monkeypatch.setattr(checkout, "environment", lambda: environment)
        shutil.rmtree(place / "results")
        checkout.run()
        assert checkout.digests(".tex") == before
        checkout.edit("config/config.yaml", run__n={MASKS: N + 1})
        done = checkout.snakemake(*LOGGED, check=False)
        assert "httpx2 is not installed, and without it nothing can be asked" in done.stderr
        assert "Traceback" not in done.stderr
        assert len(fakes["google"].journal) == N


def test_all_that_was_bought_is_in_the_ledgers_list(place):
    config = {"run": RUN, "budget": BUDGET}
    with hosted(place, config, {"google": {}}) as (checkout, fakes):
        small(checkout)
        checkout.run()
        told = json.loads(checkout.gensight("ledger", "list", "--json").stdout)
        assert f'"{MASKS}"' in json.dumps(told)
        assert fakes["google"].journal.charged == N
