"""Ledgers that are filled without asking anyone, and what is laid into another one."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from gensight.digests import digest_of
from gensight.errors import GensightError
from gensight.models import Reply
from gensight.outcomes import MODEL_OUTCOMES
from gensight.runner.book import Book, Intent, book_path
from gensight.runner.entries import models_of
from gensight.runner.intake import take_in
from gensight.runner.ledger import Ledger

HERE, THERE, TAR = Path("ledger"), Path("other"), Path("replies.tar")
BODY = b'{"id": "r-1"}'


def enter(folder, monkeypatch):
    """Make a folder the root of a checkout whose ledger is `HERE`."""
    monkeypatch.chdir(folder)
    Path("Snakefile").touch()
    write_config("ledger")


def write_config(ledger):
    Path("config").mkdir(exist_ok=True)
    run = {"name": "r", "models": ["echo"], "benchmarks": ["shapes"], "prompts": ["mid"]}
    Path("config/config.yaml").write_text(json.dumps({"run": run, "ledger": ledger}))


def asked(words):
    return {"adapter": "google_generate", "words": words}


def key_of(words):
    return digest_of(asked(words))


def buy(words, reply=None, ledger=HERE, model="painter", ends=("ok",), usd=0.25, run="r"):
    """Keep a reply as a desk does, with an attempt for each end: the last one is the reply's."""
    kept, key = Ledger(ledger, model), key_of(words)
    reply = reply or Reply("ok", images=(words.encode(),), answered_model="m-1")
    with closing(Book(book_path(ledger, "google"))) as book:
        for ordinal, end in enumerate(ends):
            intent = Intent(key, ordinal, run, model, "m", "shapes", "mid", 1.0)
            attempt = book.open_attempt(intent, 1000.0 + ordinal)
            if end is not None:
                cost = None if end == "in_doubt" else usd if end in MODEL_OUTCOMES else 0.0
                book.close_attempt(attempt, end, 1001.0, cost_usd=cost, price_date="2026-11-29")
    if ends[-1] is None or ends[-1] in MODEL_OUTCOMES:
        facts = {"cost_usd": usd, "price_date": "2026-11-29", "attempts": len(ends)}
        kept.record(key, reply, asked(words), 1.5, raw=[kept.keep(BODY)], **facts)
    return key


def compute(words, model="local", ledger=HERE, picture=b"picture"):
    """Keep the reply of a model that runs here: no book knows of it."""
    plan = {"adapter": "reference", "words": words}
    Ledger(ledger, model).record(digest_of(plan), Reply("ok", images=(picture,)), plan, 0.1)
    return digest_of(plan)


def rows(ledger):
    with closing(Book(book_path(ledger, "google"), read_only=True)) as book:
        return [
            (a.key, a.ordinal, a.run, a.started, a.ended, a.end, a.cost_usd)
            for a in book.attempts()
        ]


def replies(ledger):
    """Return every entry with its pictures."""
    found = {}
    for model in models_of(ledger):
        for path in sorted((ledger / "replies" / model).rglob("*.json")):
            entry, pictures = Ledger(ledger, model).find(path.stem)
            found[model, path.stem] = (entry, pictures)
    return found


def refusal(source=TAR, ledger=THERE):
    with pytest.raises(GensightError) as caught:
        take_in(source, ledger)
    message = str(caught.value)
    assert "\n" not in message
    return message


def laid_in(ledger=THERE):
    """Return the names of all that lies in a ledger but locks."""
    return sorted(
        str(path.relative_to(ledger))
        for path in ledger.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    )
