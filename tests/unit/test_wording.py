"""Shipped prompts are our own words: no run of eight words stands in the papers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT.parent / "shared" / "papers"
RUN = 8


def runs_of_words(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z0-9]+", text.lower())
    return {tuple(words[place : place + RUN]) for place in range(len(words) - RUN + 1)}


def shipped_texts() -> dict[str, str]:
    texts = {}
    for path in sorted((ROOT / "resources/prompts").glob("*/*.yaml")):
        turns = yaml.safe_load(path.read_text())["turns"]
        parts = [part["text"] for turn in turns for part in turn["parts"] if "text" in part]
        texts[f"{path.parent.name}/{path.name}"] = "\n".join(parts)
    return texts


def test_a_copied_run_would_be_found() -> None:
    shared = runs_of_words("one two three four five six seven eight") & runs_of_words(
        "zero One, two three; four five six seven EIGHT nine"
    )
    assert len(shared) == 1


@pytest.mark.skipif(not PAPERS.exists(), reason="the papers' texts are not here")
@pytest.mark.parametrize(("name", "text"), shipped_texts().items(), ids=shipped_texts())
def test_prompts_share_no_run_of_words_with_the_papers(name: str, text: str) -> None:
    papers = sorted(PAPERS.glob("*.txt"))
    assert papers
    for paper in papers:
        shared = runs_of_words(text) & runs_of_words(paper.read_text())
        assert not shared, f"{name} shares {sorted(shared)[0]} with {paper.name}"
