"""`gensight ledger prune`: what a finished cell holds itself goes, and nothing is bought again."""

import json
import shutil
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from cli_files import answer, call, error
from planned_checkout import PAINTED, PlannedCheckout
from sent_requests import picture

from gensight.digests import digest_of, digest_of_bytes
from gensight.models import Reply
from gensight.outcomes import Outcome
from gensight.providers.exchange import Exchange
from gensight.records import Generation, RowFile, write_rows
from gensight.runner.book import Book, Intent, book_path
from gensight.runner.ledger import Ledger
from gensight.runner.turnstile import admitted

BODY = b'{"id": "r-1"}'


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    checkout = PlannedCheckout(tmp_path)
    checkout.run_of("painter")
    checkout.make_requests()
    return checkout


def painted(number=0, *, more=()):
    """Return a reply with a picture of its own."""
    image = picture(size=(64 + number, 48))
    return Reply("ok", images=(image, *more), answered_model="gemini-3.1-flash-image")


def numbered(first=0):
    numbers = iter(range(first, first + 1000))
    return lambda question: painted(next(numbers))


@pytest.fixture
def finished(checkout):
    """A cell of six different pictures, written."""
    checkout.ask("painter", reply=numbered())
    checkout.write_generations("painter")
    return checkout


def blobs():
    return sorted(path.name for path in Path("ledger/blobs").rglob("*") if path.is_file())


def cell(checkout):
    (planned,) = checkout.generations("painter")
    return Path(planned.path)


def tree(folder="."):
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


# -- what goes


def test_without_yes_it_is_only_told(finished):
    before = tree()
    told = answer("ledger", "prune")
    assert (told["pictures"], told["removed"]) == (6, False)
    assert told["bytes"] == sum(path.stat().st_size for path in Path("ledger/blobs").rglob("??*/*"))
    assert "--yes" in call("ledger", "prune").stdout
    assert tree() == before


def test_pictures_of_a_finished_cell_go_and_its_entries_stay(finished):
    for question in finished.questions("painter"):
        attempt(question, "ok")
    entries = sorted(Path("ledger/replies").rglob("*.json"))
    assert answer("ledger", "prune", "--yes")["pictures"] == 6
    assert blobs() == []
    assert sorted(Path("ledger/replies").rglob("*.json")) == entries
    told = answer("ledger", "verify")
    assert (told["ok"], told["pruned_pictures"]) == (True, 6)
    again = answer("ledger", "prune", "--yes")
    assert (again["pictures"], again["bytes"]) == (0, 0)


def test_a_pruned_cell_is_made_again_with_the_same_bytes(finished):
    before = cell(finished).read_bytes()
    answer("ledger", "prune", "--yes")
    cell(finished).unlink()
    assert finished.counts("painter") == (6, 6, 0, 0)
    finished.write_generations("painter")
    assert cell(finished).read_bytes() == before


def test_after_n_has_grown_only_the_new_samples_are_asked(finished):
    """Snakemake removes the old file before it makes the larger one."""
    first = [row.image["bytes"] for row in RowFile(cell(finished), Generation)]
    answer("ledger", "prune", "--yes")
    cell(finished).unlink()
    finished.edit("config/benchmarks/shapes.yaml", n=9)
    finished.make_requests()
    assert finished.counts("painter") == (9, 6, 0, 3)
    asked = []
    reply = numbered(100)

    class Asker:
        """Answers what the ledger cannot, as a provider would."""

        def __init__(self, ledger):
            self.ledger = ledger

        def ask(self, question):
            asked.append(question.key)
            found = reply(question)
            entry = self.ledger.record(question.key, found, question.asked, 1.0)
            return entry, list(found.images)

    for planned in finished.generations("painter"):
        finished._play(planned, Asker)
    assert len(asked) == 3
    finished.write_generations("painter")
    rows = [row.image["bytes"] for row in RowFile(cell(finished), Generation)]
    assert len(rows) == 9
    assert rows[:6] == first
    # And the grown cell can be pruned, and made again, in its turn.
    assert answer("ledger", "prune", "--yes")["pictures"] == 3
    cell(finished).unlink()
    assert finished.counts("painter") == (9, 9, 0, 0)


def test_pruned_replies_are_exported_from_the_file(finished):
    shutil.copytree("ledger", "whole")
    answer("ledger", "prune", "--yes")
    cell(finished).unlink()
    told = answer("ledger", "export", "pruned.tar")
    assert (told["replies"], told["blobs"]) == (6, 6)
    finished.edit("config/config.yaml", ledger="whole")
    answer("ledger", "export", "whole.tar")
    assert Path("pruned.tar").read_bytes() == Path("whole.tar").read_bytes()


def test_on_another_file_system_the_file_is_copied(finished, monkeypatch):
    def refuse(*_):
        raise OSError("another file system")

    monkeypatch.setattr("os.link", refuse)
    answer("ledger", "prune", "--yes")
    cell(finished).unlink()
    assert finished.counts("painter") == (6, 6, 0, 0)


def test_replies_of_local_models_are_pruned_without_any_book(checkout):
    checkout.run_of("echo")
    checkout.write_generations("echo")
    assert list(Path("ledger").glob("*.sqlite")) == []
    here = len(blobs())
    assert here > 0
    assert answer("ledger", "prune", "--yes")["pictures"] == here
    assert blobs() == []
    assert answer("ledger", "verify")["ok"] is True


# -- what stays


def test_an_unfinished_cell_is_left_alone(checkout):
    checkout.ask("painter", reply=numbered())
    assert answer("ledger", "prune", "--yes")["files"] == []
    assert len(blobs()) == 6


def test_a_cell_with_gaps_is_left_alone(finished):
    key = finished.questions("painter")[0].key
    Ledger(Path("ledger"), "painter").entry_path(key).unlink()
    cell(finished).unlink()
    finished.edit("config/config.yaml", unresolved="keep")
    gone = {"date": date(2026, 1, 31), "source": "a page"}
    finished.edit("config/models/painter.yaml", retired=gone)
    finished.write_generations("painter")
    assert next(row.outcome for row in RowFile(cell(finished), Generation)) == "model_gone"
    assert answer("ledger", "prune", "--yes")["pictures"] == 0
    assert len(blobs()) == 6


def test_a_file_that_the_plan_does_not_want_does_not_count(finished):
    finished.edit("config/models/painter.yaml", generation__assumed_image_size="2K")
    done = call("ledger", "prune", "--yes")
    assert "Traceback" not in done.stdout + done.stderr
    assert len(blobs()) == 6


def test_a_picture_that_another_reply_needs_stays(checkout):
    checkout.ask("painter", reply=PAINTED)
    checkout.write_generations("painter")
    other = Ledger(Path("ledger"), "other")
    key = digest_of({})
    other.record(key, PAINTED, {}, 0.0)
    told = answer("ledger", "prune", "--yes")
    assert (told["pictures"], told["shared"]) == (0, 1)
    assert other.find(key) is not None


def test_further_pictures_of_a_reply_stay(checkout):
    second = picture(size=(99, 48))
    checkout.ask("painter", reply=painted(more=(second,)))
    checkout.write_generations("painter")
    answer("ledger", "prune", "--yes")
    assert blobs() == [digest_of_bytes(second)]
    cell(checkout).unlink()
    checkout.write_generations("painter")
    assert {row.images_returned for row in RowFile(cell(checkout), Generation)} == {2}


def with_raw(checkout):
    """Give the first reply of the cell a raw blob and an attempt with it."""
    question = checkout.questions("painter")[0]
    ledger = Ledger(Path("ledger"), "painter")
    digest = ledger.keep(BODY)
    path = ledger.entry_path(question.key)
    path.write_text(json.dumps({**json.loads(path.read_text()), "raw": [digest]}))
    return question, digest


def attempt(question, end, blob=None):
    with closing(Book(book_path(Path("ledger"), "google"))) as book:
        intent = Intent(question.key, 0, "small", "painter", "m", "shapes", "mid", 0.5)
        number = book.open_attempt(intent, 1000.0)
        if blob is not None:
            exchange = Exchange("POST", "http://localhost/", status=200, body=BODY)
            book.keep_exchange(number, 0, exchange, blob, 1000.5)
        if end is not None:
            book.close_attempt(number, end, 1001.0)


def test_raw_replies_stay_unless_they_are_asked_for(finished):
    question, digest = with_raw(finished)
    attempt(question, "ok", digest)
    answer("ledger", "prune", "--yes")
    assert blobs() == [digest]
    told = answer("ledger", "prune", "--raw", "--yes")
    assert (told["pictures"], told["raw"]) == (0, 1)
    assert blobs() == []
    assert "not here any more" in error("ledger", "show", question.key, "--raw")


@pytest.mark.parametrize("end", [None, str(Outcome.IN_DOUBT)])
def test_nothing_in_doubt_is_touched(finished, end):
    question, digest = with_raw(finished)
    attempt(question, end, digest)
    book = book_path(Path("ledger"), "google").read_bytes()
    answer("ledger", "prune", "--raw", "--yes")
    assert digest in blobs()
    assert book_path(Path("ledger"), "google").read_bytes() == book


def test_a_reply_that_is_another_than_the_files_stays(finished):
    question = finished.questions("painter")[0]
    ledger = Ledger(Path("ledger"), "painter")
    ledger.record(question.key, painted(500), question.asked, 1.0)
    assert answer("ledger", "prune", "--yes")["pictures"] == 5
    assert ledger.find(question.key)[1] == list(painted(500).images)


def test_money_and_stops_are_not_touched(finished):
    attempt(finished.questions("painter")[0], "ok")
    finished.stop("provider", "quota")
    book = book_path(Path("ledger"), "google").read_bytes()
    answer("ledger", "prune", "--yes")
    assert book_path(Path("ledger"), "google").read_bytes() == book


# -- when it does not


def test_nothing_is_removed_while_a_runner_is_at_work(finished):
    attempt(finished.questions("painter")[0], "ok")
    with admitted(Path("ledger"), "google", print):
        assert "a runner of google is at work" in error("ledger", "prune", "--yes")
        assert answer("ledger", "prune")["pictures"] == 6
    assert len(blobs()) == 6


def test_nothing_is_removed_while_a_workflow_is_at_work(finished):
    Path(".snakemake/locks").mkdir(parents=True)
    Path(".snakemake/locks/0.input.lock").touch()
    assert "snakemake --unlock" in error("ledger", "prune", "--yes")
    assert len(blobs()) == 6


def test_an_entry_that_cannot_be_read_stops_it(finished):
    next(Path("ledger/replies/painter").rglob("*.json")).write_text("{")
    assert "no ledger entry" in error("ledger", "prune", "--yes")
    assert len(blobs()) == 6


def test_a_link_that_is_not_the_file_stops_it(finished, monkeypatch):
    """A copy of an earlier file may have the same name."""
    rows = list(RowFile(cell(finished), Generation))
    kept = "ledger/adopted/painter/earlier.parquet"
    write_rows(kept, Generation, rows[:5], {"stage": "generations"})
    monkeypatch.setattr("gensight.runner.pruning.adopt", lambda *_: kept)
    assert "nothing was removed" in error("ledger", "prune", "--yes")
    assert len(blobs()) == 6


def test_an_absent_ledger_has_nothing_to_prune(checkout):
    assert answer("ledger", "prune", "--yes")["pictures"] == 0
    assert not Path("ledger").exists()
