"""ProbeGen's hosted rows, bought from fakes: Table 4's MLLMs, Table 9's times through an API."""

from __future__ import annotations

import math
import re
import shutil
import statistics

import pytest
import yaml
from conftest import QUIET
from hosted_checkout import cells, hosted, rows

from gensight.records import Generation, RowFile, Sample
from gensight.twins import write_twin

pytestmark = pytest.mark.workflow

N = 3
READERS = ["gemini_3_5_flash", "gpt_5_4", "claude_opus_4_7"]
PAINTERS = ["nano_banana_2", "gpt_image_2", "seedream_5_0_lite"]
BENCHMARKS = ["nyuv2", "reasonseg", "pixmo_points"]
TABLES = ["probegen_table_4", "probegen_table_9"]
RUN = {
    "name": "hosted",
    "models": [*READERS, *PAINTERS, "oracle"],
    "benchmarks": BENCHMARKS,
    "prompts": ["mid", "integer"],
    "tables": TABLES,
    "figures": [],
    "n": dict.fromkeys(BENCHMARKS, N),
    "twin": True,
}
CONFIG = {"run": RUN, "data_root": "twin", "budget": {"usd": 100.0}}
PROFILE = ("--profile", "slurm", "--executor", "local", "--cores", "2")
FAKES = ("anthropic", "ark", "google", "openai")


@pytest.fixture(scope="module")
def bought(tmp_path_factory):
    """Return a checkout in which hosted and local models ran, and the fakes' journals."""
    folder = tmp_path_factory.mktemp("hosted") / "checkout"
    with hosted(folder, CONFIG, {name: {} for name in FAKES}) as (checkout, fakes):
        write_twin(folder / "twin", N)
        # As its provider does, the fake lets another model answer for this one.
        checkout.edit("config/models/gemini_3_5_flash.yaml", answered_as=["gemini-3.6-flash"])
        checkout.snakemake(*PROFILE, *QUIET)
        yield checkout, {name: fake.journal for name, fake in fakes.items()}


def page_of(checkout, name):
    return (checkout.folder / f"results/tables/{name}.md").read_text()


def table_of(checkout, name):
    """Return a table's rows by label: its cells as they are printed."""
    lines = page_of(checkout, name).splitlines()
    split = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return {cells[0]: cells[1:] for cells in split}


def number_in(cell):
    """Return the number of a cell without its marks: <u>**0.0**</u>, 16.7<sup>f</sup>."""
    return float(re.sub(r"<sup>.*?</sup>|</?u>|\*", "", cell))


def label_of(checkout, model):
    spec = yaml.safe_load((checkout.folder / f"config/models/{model}.yaml").read_text())
    return spec["display"]["label"]


def test_every_answer_was_paid_for_once(bought):
    checkout, journals = bought
    answers = {name: rows(checkout, [name]) for name in READERS + PAINTERS}
    assert {name: len(found) for name, found in answers.items()} == {
        **dict.fromkeys(READERS, N),
        **dict.fromkeys(PAINTERS, 3 * N),
    }
    assert {row.outcome for found in answers.values() for row in found} == {"ok"}
    assert sum(journal.charged for journal in journals.values()) == 12 * N
    assert all(not journal.paid_twice for journal in journals.values())
    keys = [row.request_key for found in answers.values() for row in found]
    assert len(keys) == len(set(keys)) == 12 * N


def test_the_money_of_the_rows_is_the_bill(bought):
    checkout, journals = bought
    for provider, models in {
        "google": ["gemini_3_5_flash", "nano_banana_2"],
        "openai": ["gpt_5_4", "gpt_image_2"],
        "anthropic": ["claude_opus_4_7"],
        "ark": ["seedream_5_0_lite"],
    }.items():
        told = math.fsum(row.cost_usd for row in rows(checkout, models))
        assert told == pytest.approx(journals[provider].charged_usd)


def test_multimodal_models_have_their_rows_in_table_4(bought):
    checkout, _ = bought
    table = table_of(checkout, "probegen_table_4")
    samples = RowFile(checkout.folder / "results/samples/pixmo_points.parquet", Sample)
    true = {row.sample_id: row.target_count for row in samples}
    for model in READERS:
        errors = [
            abs(int(re.fullmatch(r"\D*(\d+)\D*", row.text)[1]) - true[row.sample_ids[0]])
            for row in rows(checkout, [model])
        ]
        printed = number_in(table[label_of(checkout, model)][0])
        assert printed == pytest.approx(statistics.fmean(errors), abs=0.05)
    for model in PAINTERS:  # they paint what the oracle would: every dot is counted
        assert number_in(table[label_of(checkout, model)][0]) == 0.0


def test_times_through_an_api_have_a_dagger_and_no_memory(bought):
    checkout, _ = bought
    table = table_of(checkout, "probegen_table_9")
    for model in READERS + PAINTERS:
        told = table[label_of(checkout, model)]
        by_benchmark = {path.parts[-3]: path for path in cells(checkout, model)}
        for place, benchmark in enumerate(["reasonseg", "nyuv2", "pixmo_points"]):
            speed, memory = told[2 * place : 2 * place + 2]
            if benchmark in by_benchmark:
                seconds = [row.latency_s for row in RowFile(by_benchmark[benchmark], Generation)]
                assert speed.endswith("<sup>†</sup>")
                assert number_in(speed) == pytest.approx(60 / statistics.fmean(seconds), 0.01)
            else:
                assert speed == "–"
            assert not any(character.isdigit() for character in memory)
    assert "Never run by the makers of gensight" in page_of(checkout, "probegen_table_9")


def test_the_same_again_asks_nothing_and_needs_no_ledger(bought):
    checkout, journals = bought
    asked = {name: len(journal) for name, journal in journals.items()}
    assert checkout.planned() == {}
    (checkout.folder / "ledger").rename(checkout.folder / "elsewhere")
    assert checkout.planned() == {}
    (checkout.folder / "elsewhere").rename(checkout.folder / "ledger")
    # From the ledger the same bytes; what follows from them stands, since nothing has changed.
    paths = [path for model in READERS + PAINTERS for path in cells(checkout, model)]
    before = {path: path.read_bytes() for path in paths}
    shutil.rmtree(checkout.folder / "results/generations")
    checkout.snakemake(
        *(str(path.relative_to(checkout.folder)) for path in paths), *PROFILE, *QUIET
    )
    assert {name: len(journal) for name, journal in journals.items()} == asked
    assert {path: path.read_bytes() for path in paths} == before
    assert checkout.planned() == {}
    assert len(cells(checkout, "nano_banana_2")) == 3
