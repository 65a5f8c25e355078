"""A marked key goes through every fault of every provider, and is nowhere afterwards."""

import base64
import json
import traceback
from contextlib import closing
from urllib.parse import quote, quote_plus

import pytest
from fakes.billing import Painted, Scenario
from fakes.faults import FAULTS
from fakes.painters import plain
from fakes.serve import FAKES
from runner_rig import KEY, MODELS, Rig, items

from gensight.models import _bfl
from gensight.runner.book import Book, book_path

CODED = base64.b64encode(KEY.encode()).decode()
MARKS = [
    KEY,
    quote(KEY),
    quote(KEY, safe=""),
    quote_plus(KEY),
    json.dumps(KEY)[1:-1],
    CODED[:-4],
    quote(CODED)[:-10],
    base64.b64encode(b"user:" + KEY.encode()).decode()[8:-4],
]
LEAKS = (200, 400, 401, 402, 404, 409, 429, 500, 502, 503)


@pytest.fixture(autouse=True)
def _hurry(monkeypatch):
    monkeypatch.setattr(_bfl, "POLL_INTERVAL_S", 0.001)


def marks_in(text):
    return [mark for mark in MARKS if mark in text]


@pytest.mark.parametrize("model", MODELS)
def test_no_fault_leaves_the_key_anywhere(tmp_path, model):
    said = []
    names = [name for name in FAULTS if name not in ("leak_key", "slow")]
    with FAKES[MODELS[model][1]](**({"pending": 0} if model == "flux" else {})) as fake:
        # In whichever header it comes: without it the fake would have nothing to leak.
        seen = []
        fake.secret = lambda raw: seen.append(KEY in str(raw.headers)) or KEY
        cases = [*((name, {}) for name in names), *(("leak_key", {"status": s}) for s in LEAKS)]
        for number, (fault, options) in enumerate(cases):
            scenario = Scenario().default(fault, **options)
            if model == "flux":
                scenario.on(lambda _: True, "leak_key", free=True, times=1, status=400)
            fake.scenario = scenario
            hosted = {"attempts": 2, "read_timeout_s": 0.2}
            rig = Rig(tmp_path, model, fake.url, hosted=hosted, run=f"run {number}")
            try:
                rig.ask(items(1, start=number), say=said.append)
            except Exception as error:
                said += traceback.format_exception(error)
            lift_stops(rig)
    assert any(seen)
    # The journal of the fake knows it; the ledger, what is said and what is raised must not.
    assert marks_in("\n".join(said)) == []
    files = [path for path in (tmp_path / "ledger").rglob("*") if path.is_file()]
    assert len(files) > 20
    for path in files:
        assert marks_in(path.read_bytes().decode("latin-1")) == [], path
        assert marks_in(str(path)) == []
    kept = b"".join(
        path.read_bytes() for path in (tmp_path / "ledger/blobs").rglob("*") if path.is_file()
    )
    assert b"[key]" in kept, "the fake has leaked it"


def lift_stops(rig):
    with closing(Book(book_path(rig.folder / "ledger", rig.provider))) as book:
        for stop in book.stops():
            book.lift(stop.scope)


@pytest.mark.parametrize("model", [model for model in MODELS if model != "flux"])
def test_a_key_in_a_good_reply_is_read_as_it_is_kept(tmp_path, model):
    """What is read at once and what is read after a crash are the same bytes, without the key."""
    with FAKES[MODELS[model][1]](painter=lambda texts, pictures: painted()) as fake:
        rig = Rig(tmp_path, model, fake.url)
        ends = rig.ask(items(1))
        (entry,) = ends.values()
        assert entry.outcome in ("ok", "no_image", "malformed") and marks_in(str(entry)) == []
        if MODELS[model][2] == "text":
            assert entry.text.startswith("Your key is [key], and [key]")


def painted():
    return Painted(image=plain([], []).image, text=f"Your key is {KEY}, and {CODED}.")
