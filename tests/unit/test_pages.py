"""Pages keep up with sources: cited protocols, keys of specs, commands, the contract on disk."""

import re
from pathlib import Path

import pytest

from gensight import datasets
from gensight.specs import declared
from gensight.specs.benchmark import (
    BenchmarkSpec,
    CandidatesSpec,
    DatasetSpec,
    HeldOutSpec,
    ScorerSpec,
    SourceSpec,
)
from gensight.specs.judge import JudgeSpec, RescoredSpec
from gensight.specs.model import DisplaySpec, LimitsSpec, ModelSpec, OutputSpaceSpec

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    path
    for room in ("src", "tests", "bench", "workflow", "docs")
    for path in sorted((ROOT / room).rglob("*"))
    if path.suffix in (".py", ".md", ".smk") and path != Path(__file__)
]
RUNS = sorted((ROOT / "config/runs").glob("*.yaml"))
HEADINGS = re.findall(r"^#+ (.*)", (ROOT / "docs/PROTOCOLS.md").read_text(), re.MULTILINE)
NUMBERS = {heading.split()[0] for heading in HEADINGS}
#: A name of a case, or a number behind the page's name.
CASE = re.compile(r"\b(?:API|CNT|DEP|EMB|GRD|JDG|PIX|PQT|SEG)-\d+\b")
SECTION = re.compile(r"\bPROTOCOLS\s+(\d+(?:\.\d+)*(?:(?:,| and| to)\s+\d+\.\d+)*)")


def cited(text: str) -> set[str]:
    sections = " ".join(SECTION.findall(text))
    return {*CASE.findall(text), *re.findall(r"\d[\d.]*", sections)}


def is_there(name: str) -> bool:
    # "PROTOCOLS 3" is all of 3.1 to 3.4.
    return name in NUMBERS or any(number.startswith(f"{name}.") for number in NUMBERS)


def test_citations_are_found_in_every_form():
    text = "(PROTOCOLS 2.1, 2.2). PROTOCOLS 3.3 and\n5.1, 10 px; PROTOCOLS SEG-1 (DEP-2)"
    assert cited(text) == {"2.1", "2.2", "3.3", "5.1", "SEG-1", "DEP-2"}


@pytest.mark.parametrize("name", ["1.1", "3", "SEG-2"])
def test_a_heading_is_found(name):
    assert is_there(name)


@pytest.mark.parametrize("name", ["9", "1.99", "SEG-99", "3.4.6"])
def test_a_heading_that_is_not_there_is_missed(name):
    assert not is_there(name)


def test_every_cited_protocol_has_a_heading():
    names = {name: path for path in SOURCES for name in cited(path.read_text())}
    assert len(names) > 20
    assert {name: str(path) for name, path in names.items() if not is_there(name)} == {}


@pytest.mark.parametrize("page", ["DATASETS", "CASES"])
def test_no_source_cites_a_page_that_is_not_shipped(page):
    pattern = re.compile(rf"\b{page} (?:\d+\.|[A-Z]+-\d)")
    assert [str(path) for path in SOURCES if pattern.search(path.read_text())] == []


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_commands_of_run_files_can_be_pasted(path):
    """Snakemake needs cores, or -n; what follows --configfile is taken for another file."""
    for command in re.findall(r"snakemake .*", path.read_text()):
        words, files = command.split(" --configfile ")
        assert "--cores" in words or " -n" in words
        assert all((ROOT / name).is_file() for name in files.split())


PAGES = {
    "adding-a-model": (ModelSpec, DisplaySpec, LimitsSpec, OutputSpaceSpec),
    "adding-a-benchmark": (
        BenchmarkSpec,
        CandidatesSpec,
        DatasetSpec,
        HeldOutSpec,
        ScorerSpec,
        SourceSpec,
    ),
    "judges": (JudgeSpec, RescoredSpec),
}


@pytest.mark.parametrize(("page", "spec"), [(p, s) for p, specs in PAGES.items() for s in specs])
def test_a_page_names_every_key(page, spec):
    told = (ROOT / f"docs/{page}.md").read_text()
    assert [key for key in spec.model_fields if not re.search(rf"\b{key}\b", told)] == []


@pytest.mark.parametrize("name", declared.disk_modules())
def test_the_contract_of_a_data_set_on_disk_is_kept(name):
    section = (ROOT / "docs/adding-a-benchmark.md").read_text().split("on the user's disk\n")[1]
    names = re.findall(r"^\| `([A-Za-z_]+)", section.split("\n## ")[0], re.MULTILINE)
    assert {"FOLDER", "SOURCE", "list_items", "missing_data"} < set(names)
    assert [wanted for wanted in names if not hasattr(datasets.load(name), wanted)] == []
