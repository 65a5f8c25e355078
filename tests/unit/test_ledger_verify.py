"""`gensight ledger verify`: every damage is found and named, and a whole ledger is not blamed."""

import json
import os
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from cli_files import answer, call
from planned_checkout import PAINTED, PlannedCheckout
from runner_rig import wait_until
from sent_requests import picture

from gensight.digests import digest_of
from gensight.models import Reply
from gensight.providers.exchange import Exchange
from gensight.records import Generation, RowFile, write_rows
from gensight.runner.adoption import adopt
from gensight.runner.book import Book, Intent, book_path
from gensight.runner.ledger import Ledger
from gensight.runner.turnstile import admitted
from gensight.runner.verification import verify

HERE = Path("ledger")
BOOK = book_path(HERE, "google")
BODY = b'{"id": "r-1"}'
ASKED = {"adapter": "google_generate", "words": "Paint."}
KEY = digest_of(ASKED)
#: Commands that read a ledger and write nothing, and what each needs to know.
READING = (("list",), ("list", "--in-doubt"), ("show", KEY), ("verify",), ("prune",))


@pytest.fixture(autouse=True)
def checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return PlannedCheckout(tmp_path)


@pytest.fixture
def kept():
    """A ledger with one reply of a hosted model and one of a local model."""
    ledger = Ledger(HERE, "painter")
    with closing(Book(BOOK)) as book:
        number = open_attempt(book)
        blob = ledger.keep(BODY)
        exchange = Exchange("POST", "http://localhost/", status=200, body=BODY)
        book.keep_exchange(number, 0, exchange, blob, 1000.5)
        ledger.record(KEY, PAINTED, ASKED, 1.0, cost_usd=0.25, raw=[blob], attempts=1)
        book.close_attempt(number, "ok", 1001.0, cost_usd=0.25)
    plan = {"adapter": "reference"}
    Ledger(HERE, "echo").record(
        digest_of(plan), Reply("ok", images=(picture(size=(9, 9)),)), plan, 0.0
    )
    return ledger


def open_attempt(book, key=KEY, usd=1.0):
    return book.open_attempt(Intent(key, 0, "r", "painter", "m", "shapes", "mid", usd), 1000.0)


def problem():
    """Return the only problem that is found, as it is printed."""
    done = call("ledger", "verify")
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert "1 problems" in done.stdout
    return line


def blob_of(content):
    return next(p for p in HERE.rglob("blobs/*/*") if p.read_bytes() == content)


def edit(path, **fields):
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


# -- a whole ledger


def test_a_whole_ledger_is_counted_and_not_blamed(kept):
    told = answer("ledger", "verify")
    assert (told["ok"], told["problems"]) == (True, [])
    assert (told["entries"], told["blobs"], told["attempts"], told["orphans"]) == (2, 3, 1, 0)
    assert told["blob_bytes"] == sum(path.stat().st_size for path in HERE.rglob("blobs/*/*"))
    assert "the ledger is whole" in call("ledger", "verify").stdout


def test_blobs_that_nothing_names_are_counted_and_harm_nothing(kept):
    kept.keep(b"left behind")
    temporary = HERE / "blobs/ab/.half-written"
    temporary.parent.mkdir(exist_ok=True)
    temporary.write_bytes(b"half")
    told = answer("ledger", "verify")
    assert (told["ok"], told["orphans"], told["orphan_bytes"]) == (True, 1, 11)


def test_a_raw_reply_that_is_not_here_is_counted_and_harms_nothing(kept):
    blob_of(BODY).unlink()
    told = answer("ledger", "verify")
    assert (told["ok"], told["absent_raw"]) == (True, 1)


def test_requests_without_a_reply_are_counted_and_are_no_damage(kept):
    with closing(Book(BOOK)) as book:
        open_attempt(book, "cd" * 32)
        book.close_attempt(open_attempt(book, "ef" * 32), "in_doubt", 1002.0)
    told = answer("ledger", "verify")
    assert (told["ok"], told["open_requests"]) == (True, 2)


def test_pictures_in_adopted_files_are_not_missed(checkout):
    checkout.run_of("echo")
    checkout.make_requests()
    checkout.write_generations("echo")
    (planned,) = checkout.generations("echo")
    adopt(HERE, "echo", Path(planned.path))
    shutil.rmtree(HERE / "blobs")
    told = answer("ledger", "verify")
    assert (told["ok"], told["pruned_pictures"], told["adopted_files"]) == (True, 6, 1)


def test_a_ledger_that_grows_meanwhile_is_not_blamed():
    """Whatever is written between two looks: blobs, entries and books are read in their order."""
    ledger, done = Ledger(HERE, "painter"), threading.Event()

    def write():
        with closing(Book(BOOK)) as book:
            number = 0
            # Slowly: every look at the ledger is at all of it.
            while not done.wait(0.002):
                number += 1
                asked = {**ASKED, "number": number}
                attempt = open_attempt(book, digest_of(asked))
                reply = Reply("ok", images=(f"picture {number}".encode(),))
                ledger.record(digest_of(asked), reply, asked, 1.0, cost_usd=0.5)
                book.close_attempt(attempt, "ok", 1001.0, cost_usd=0.5)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        wait_until(lambda: any(HERE.rglob("*.json")))
        found, looks = [], 0
        while thread.is_alive() and verify(HERE).entries < 200:
            looks += 1
            found += verify(HERE).problems
    finally:
        done.set()
        thread.join(60)
    assert found == []
    assert looks > 3 and verify(HERE).entries >= 200


# -- damage


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b'{"key": "x"}', b"[" * 100_000])
def test_an_entry_that_is_none_is_named(kept, content):
    path = kept.entry_path(KEY)
    path.write_bytes(content)
    found = answer_with_damage()
    assert any(line.startswith(f"{path}: is no ledger entry") for line in found)


def answer_with_damage():
    done = call("ledger", "verify", "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert told["ok"] is False
    return told["problems"]


def test_an_entry_that_says_it_was_asked_something_else_is_named(kept):
    edit(kept.entry_path(KEY), asked={**ASKED, "words": "Paint it red."})
    assert "its key is not the digest of what it says was asked" in answer_with_damage()[0]


def test_an_entry_under_another_key_is_named(kept):
    other = kept.entry_path("ab" * 32)
    other.parent.mkdir()
    shutil.copy(kept.entry_path(KEY), other)
    assert problem().startswith(f"{other}: lies under another key")


def test_a_picture_that_is_gone_is_named(kept):
    blob_of(PAINTED.images[0]).unlink()
    assert problem().startswith(f"{kept.entry_path(KEY)}: its picture")


@pytest.mark.parametrize("content", [b"", b"something else"])
def test_a_blob_with_other_bytes_is_named(kept, content):
    path = blob_of(BODY)
    path.write_bytes(content)
    assert problem().startswith(f"{path}: its bytes are not those")


def test_a_blob_in_the_wrong_folder_is_named(kept):
    path = kept.blob_path(kept.keep(b"stray"))
    wrong = HERE / "blobs/zz" / path.name
    wrong.parent.mkdir()
    path.rename(wrong)
    assert problem().startswith(f"{wrong}: its bytes are not those")


def test_an_answer_that_was_paid_for_and_has_no_entry_is_named(kept):
    kept.entry_path(KEY).unlink()
    line = problem()
    assert line.startswith(f"{BOOK}: attempt 1 of painter was answered (ok)")
    assert KEY[:12] in line


def test_a_providers_reply_without_an_attempt_is_named(kept):
    BOOK.unlink()
    line = problem()
    assert line.startswith(f"{kept.entry_path(KEY)} (and 0 more)")
    assert "its money is not counted" in line


@pytest.mark.parametrize("fields", [{"cost_usd": 0.125}, {"outcome": "refused_output"}])
def test_an_entry_and_a_book_that_disagree_are_named(kept, fields):
    edit(kept.entry_path(KEY), **fields)
    assert "and its book ok for 0.25 USD" in problem()


def test_a_reply_that_was_kept_for_reading_and_is_gone_is_named(kept):
    with closing(Book(BOOK)) as book:
        number = open_attempt(book, "ab" * 32)
        exchange = Exchange("POST", "http://localhost/", status=200, body=b"more")
        book.keep_exchange(number, 0, exchange, kept.keep(b"more"), 1000.5)
    assert answer("ledger", "verify")["ok"] is True
    blob_of(b"more").unlink()
    assert "which was not read yet, is not here any more" in problem()


def test_an_adopted_file_that_was_altered_is_named(checkout):
    checkout.run_of("echo")
    checkout.make_requests()
    checkout.write_generations("echo")
    (planned,) = checkout.generations("echo")
    # Other rows under the footer of these.
    rows = list(RowFile(planned.path, Generation))
    write_rows("other.parquet", Generation, rows[::-1], planned.determinants)
    path = adopt(HERE, "echo", Path("other.parquet"))
    swapped = path.read_bytes().replace(
        RowFile("other.parquet", Generation).footer.content.encode(),
        RowFile(planned.path, Generation).footer.content.encode(),
    )
    path.unlink()
    path.write_bytes(swapped)
    assert problem() == f"{path}: its rows are not those that were written"
    path.write_bytes(b"PAR1")
    assert problem().startswith(f"{path}: cannot be read")


@pytest.mark.parametrize("content", [b"no database", b"no database at all" * 1000])
def test_a_book_that_is_none_is_named_and_the_rest_is_looked_at(kept, content):
    BOOK.write_bytes(content)
    blob_of(BODY).write_bytes(b"else")
    found = answer_with_damage()
    assert len(found) == 2
    assert found[1].startswith(f"{BOOK}: cannot be read")


def test_a_book_that_is_damaged_inside_is_named():
    with closing(Book(BOOK)) as book:
        for number in range(400):
            open_attempt(book, digest_of(number))
    data = bytearray(BOOK.read_bytes())
    # Pages behind the first few: the schema can still be read.
    for place in range(4096 * 8, len(data), 4096):
        data[place : place + 64] = os.urandom(64)
    BOOK.write_bytes(data)
    found = answer_with_damage()
    assert all(line.startswith(f"{BOOK}: ") for line in found)
    done = call("ledger", "list")
    assert (done.exit_code in (0, 2), "Traceback" in done.stderr) == (True, False)


def test_a_book_of_another_version_is_named(kept):
    with closing(sqlite3.connect(BOOK)) as connection:
        connection.execute("PRAGMA user_version = 99")
    assert "is of version 99" in problem()


# -- read only


def tree(folder):
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.rglob("*")}


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_reading_changes_nothing_beside_a_runner(kept, command):
    with admitted(HERE, "google", print), closing(Book(BOOK)) as book:
        open_attempt(book, "ab" * 32)
        before = tree(HERE)
        assert call("ledger", *command).exit_code == 0
        assert tree(HERE) == before


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_reading_opens_nothing_for_writing_where_nothing_can_be_written(kept, command, monkeypatch):
    """As on a file system that is read-only: every way to write there is an error."""

    def refuse(*given, **_):
        raise OSError(30, "Read-only file system", str(given[0]))

    for name in ("mkdir", "rename", "replace", "unlink", "link", "utime", "rmdir"):
        monkeypatch.setattr(os, name, refuse)
    opened = os.open

    def open_for_reading(path, flags, *given, **named):
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            refuse(path)
        return opened(path, flags, *given, **named)

    monkeypatch.setattr(os, "open", open_for_reading)
    monkeypatch.setattr(
        "io.open", lambda path, mode="r", *more, **named: _opened(path, mode, refuse, more, named)
    )
    assert call("ledger", *command).exit_code == 0


def _opened(path, mode, refuse, more, named):
    if set(mode) & set("wax+"):
        refuse(path)
    return open(path, mode, *more, **named)  # noqa: PTH123 - Path.open is what is replaced
