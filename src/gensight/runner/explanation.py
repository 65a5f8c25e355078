"""Why a request is not answered by the ledger, and what the nearest kept one was asked instead."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from gensight.digests import ABSENT, differences, digest_of
from gensight.errors import RecordError
from gensight.outcomes import MODEL_OUTCOMES
from gensight.runner.book import books
from gensight.runner.entries import (
    adopted_keys,
    adopted_paths,
    entry_paths,
    read_entry,
    reading,
)
from gensight.runner.inventory import OpenRequest, open_requests
from gensight.runner.ledger import Entry, Ledger

#: What the ledger can say of a request: it is answered; it was, and the picture is not here any
#: more; it ended without an answer; it was sent and its reply was not read; nothing.
ANSWERED, PICTURE_GONE, NO_ANSWER, SENT, UNKNOWN = (
    "answered",
    "picture_gone",
    "no_answer",
    "sent",
    "unknown",
)
SHOWN_LETTERS, LETTERS_BEFORE = 60, 15


@dataclass(frozen=True)
class Change:
    """One place where two canonical requests differ; `(absent)` where one has nothing there."""

    name: str
    kept: Any
    asked: Any

    @property
    def told(self) -> str:
        """Return the difference in words, long values cut to where they part."""
        kept, asked = _in_words(self.kept, self.asked)
        return f"{self.name}: {kept} -> {asked}"


@dataclass(frozen=True)
class Explanation:
    """What the ledger knows of a request.

    `state` is one of the words above; `detail` the outcome of a request that has no answer.
    `nearest` is the kept request of the same model that differs least, by `changes`, out of
    `compared`; `silent` adopted files hold replies and do not say what was asked for them.
    """

    key: str
    state: str
    detail: str | None = None
    sent: list[OpenRequest] = field(default_factory=list)
    nearest: str | None = None
    changes: list[Change] = field(default_factory=list)
    compared: int = 0
    silent: int = 0


def explain(ledger: Path, model: str, asked: Mapping[str, Any]) -> Explanation:
    """Say whether a ledger answers a canonical request, and if not, which kept one is nearest.

    Raises:
        RecordError: an entry, a book or an adopted file cannot be read.
    """
    key = digest_of(asked)
    if _is_answered(ledger, model, key):
        return Explanation(key, ANSWERED)
    path = Ledger(ledger, model).entry_path(key)
    if path.exists():
        outcome = read_entry(path).outcome
        gone = outcome in MODEL_OUTCOMES
        return Explanation(key, PICTURE_GONE if gone else NO_ANSWER, outcome)
    sent = [request for request in _sent(ledger, key) if request.attempt.model == model]
    nearest, changes, compared = _nearest(ledger, model, asked)
    return Explanation(
        key=key,
        state=SENT if sent else UNKNOWN,
        sent=sent,
        nearest=nearest,
        changes=changes,
        compared=compared,
        silent=len(adopted_paths(ledger, model)),
    )


def _is_answered(ledger: Path, model: str, key: str) -> bool:
    """Say whether a key is answered, without opening pictures of the ledger's own."""
    kept = Ledger(ledger, model)
    path = kept.entry_path(key)
    if path.exists():
        entry = read_entry(path)
        here = all(kept.blob_path(digest).exists() for digest in entry.images)
        if entry.outcome in MODEL_OUTCOMES and here:
            return True
    return key in adopted_keys(adopted_paths(ledger, model))


def _sent(ledger: Path, key: str) -> Iterator[OpenRequest]:
    for provider, path in books(ledger).items():
        with reading(path) as book:
            pending = open_requests(ledger, provider, book)
        yield from (request for request in pending if request.attempt.key == key)


def _nearest(
    ledger: Path, model: str, asked: Mapping[str, Any]
) -> tuple[str | None, list[Change], int]:
    """Return the kept request of fewest differences, and how many there are.

    Of several it is the one in which the fewest letters differ: with a new wording the request
    about the same sample, not about another one that shares its picture.
    """
    nearest: tuple[str | None, list[Change]] = None, []
    least, compared = (0, 0), 0
    for entry in _readable(ledger, model):
        compared += 1
        changes = [Change(*change) for change in differences(entry.asked, asked)]
        distance = len(changes), sum(_letters_between(change) for change in changes)
        if nearest[0] is None or distance < least:
            nearest, least = (entry.key, changes), distance
    return *nearest, compared


def _letters_between(change: Change) -> int:
    """Return how many letters lie between what two values have in common at both ends."""
    first, second = str(change.kept), str(change.asked)
    alike = _alike(first, second)
    rest = _alike(first[alike:][::-1], second[alike:][::-1])
    return len(first) + len(second) - 2 * (alike + rest)


def _alike(first: str, second: str) -> int:
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    )


def _readable(ledger: Path, model: str) -> Iterator[Entry]:
    for path in entry_paths(ledger, model):
        try:
            yield read_entry(path)
        except RecordError:  # `verify` names it
            continue


def _in_words(first: Any, second: Any) -> tuple[str, str]:
    texts = [
        value if value == ABSENT else json.dumps(value, ensure_ascii=False)
        for value in (first, second)
    ]
    alike = _alike(*texts)
    start = max(0, alike - LETTERS_BEFORE) if max(map(len, texts)) > SHOWN_LETTERS else 0
    cut = []
    for text in texts:
        shown = text[start : start + SHOWN_LETTERS]
        before, after = "..." * (start > 0), "..." * (start + SHOWN_LETTERS < len(text))
        cut.append(f"{before}{shown}{after}")
    return cut[0], cut[1]
