"""`gensight ledger export` and `import`: equal bytes, nothing replaced, money told once."""

import json
import os
import shutil
import tarfile
import threading
from contextlib import closing
from pathlib import Path

import pytest
from cli_files import answer, call, error
from moved_ledgers import (
    BODY,
    HERE,
    TAR,
    THERE,
    asked,
    buy,
    compute,
    enter,
    key_of,
    laid_in,
    refusal,
    replies,
    rows,
    write_config,
)

from gensight.digests import digest_of_bytes
from gensight.errors import GensightError
from gensight.models import Reply
from gensight.runner.book import Book, Intent, book_path
from gensight.runner.entries import models_of
from gensight.runner.intake import take_in
from gensight.runner.inventory import take_inventory
from gensight.runner.ledger import Ledger
from gensight.runner.transfer import export
from gensight.runner.turnstile import admitted
from gensight.runner.verification import verify


@pytest.fixture(autouse=True)
def checkout(tmp_path, monkeypatch):
    enter(tmp_path, monkeypatch)


# -- there and back


def test_replies_pictures_and_attempts_arrive_as_they_were():
    buy("one", ends=("overloaded", "ok"))
    buy("two", Reply("refused_output", detail="SAFETY", text="No. 深度"), ends=["refused_output"])
    buy("three", Reply("ok", images=(b"first", b"second")))
    compute("four")
    told = answer("ledger", "export", TAR)
    assert (told["replies"], told["attempts"], told["blobs"]) == (4, 4, 4)
    report = take_in(TAR, THERE)
    assert (report.replies, report.attempts, report.blobs) == (4, 4, 4)
    assert replies(THERE) == replies(HERE)
    assert [(*row[:2], *row[3:]) for row in rows(THERE)] == [
        (*row[:2], *row[3:]) for row in rows(HERE)
    ]
    assert verify(THERE).problems == []


def test_equal_ledgers_give_equal_bytes():
    buy("one")
    buy("two")
    compute("three")
    answer("ledger", "export", TAR)
    shutil.copytree(HERE, THERE)
    for path in THERE.rglob("*"):
        os.utime(path, (1, 1))
    export(THERE, Path("again/other.tar"))
    assert Path("again/other.tar").read_bytes() == TAR.read_bytes()
    # What was imported is exported as it came.
    take_in(TAR, Path("third"))
    take_in(TAR, Path("fourth"))
    export(Path("third"), Path("third.tar"))
    export(Path("fourth"), Path("fourth.tar"))
    assert Path("third.tar").read_bytes() == Path("fourth.tar").read_bytes()


def test_a_file_holds_no_owner_no_time_and_the_list_first():
    buy("one")
    export(HERE, TAR)
    with tarfile.open(TAR) as tar:
        members = tar.getmembers()
        told = json.loads(tar.extractfile(members[0]).read())
    assert members[0].name == "LEDGER.json"
    assert [m.name for m in members[1:]] == sorted(told["files"])
    assert {(m.uid, m.gid, m.uname, m.gname, m.mtime) for m in members} == {(0, 0, "", "", 0)}


def test_raw_replies_travel_only_if_asked_for():
    key = buy("one")
    export(HERE, TAR)
    take_in(TAR, THERE)
    assert verify(THERE).absent_raw == 1
    export(HERE, TAR, raw=True)
    take_in(TAR, Path("third"))
    assert verify(Path("third")).absent_raw == 0
    blob = Ledger(Path("third"), "").blob_path(digest_of_bytes(BODY))
    assert (blob.read_bytes(), replies(Path("third"))["painter", key][1]) == (BODY, [b"one"])


def test_single_models_can_be_chosen_and_unknown_ones_are_named():
    buy("one")
    compute("two")
    answer("ledger", "export", TAR, "--model", "local")
    take_in(TAR, THERE)
    assert (models_of(THERE), list(THERE.glob("*.sqlite"))) == (["local"], [])
    assert "did you mean 'painter'?" in error("ledger", "export", TAR, "--model", "paintr")


def test_an_empty_ledger_and_a_folder_in_the_way_are_one_line():
    assert "holds no replies" in error("ledger", "export", TAR)
    assert not TAR.exists()
    buy("one")
    TAR.mkdir()
    assert "cannot be written" in error("ledger", "export", TAR)
    assert [path.name for path in Path().iterdir() if path.name.startswith(".")] == []


def test_what_got_no_answer_is_left_out_and_counted():
    buy("one")
    kept = Ledger(HERE, "painter")
    kept.record(key_of("two"), Reply("quota"), asked("two"), None)
    kept.blob_path(digest_of_bytes(b"one")).unlink()
    buy("three")
    told = answer("ledger", "export", TAR)
    assert told["replies"] == 1
    assert "2 entries left out" in told["messages"][0]


def test_a_damaged_picture_is_not_exported():
    buy("one")
    blob = Ledger(HERE, "").blob_path(digest_of_bytes(b"one"))
    blob.write_bytes(b"two")
    assert "gensight ledger verify" in error("ledger", "export", TAR)
    assert not TAR.exists()


# -- money


def test_money_is_told_once_however_often_a_file_is_imported():
    buy("one", ends=("overloaded", "ok"))
    export(HERE, TAR)
    first = take_in(TAR, THERE)
    second = take_in(TAR, THERE)
    assert (first.attempts, second.attempts, second.replies, second.blobs) == (2, 0, 0, 0)
    assert second.messages == ["replies that were here already: 1"]
    (cell,) = take_inventory(THERE).cells
    assert (cell.imported_usd, cell.spent_usd, cell.replies) == (0.25, 0.0, 1)
    # Sent on by somebody else, it is the same money.
    export(THERE, Path("back.tar"))
    take_in(Path("back.tar"), THERE)
    assert take_in(Path("back.tar"), HERE).attempts == 0
    assert len(rows(THERE)) == 2


def test_imported_money_counts_in_no_budget_of_the_same_run():
    buy("one", run="r")
    export(HERE, TAR)
    buy("two", ledger=THERE, run="r", usd=0.5)
    take_in(TAR, THERE)
    with closing(Book(book_path(THERE, "google"), read_only=True)) as book:
        assert book.spent_usd("r") == {"painter": 0.5}


def test_what_is_in_doubt_stays_in_doubt_wherever_it_goes():
    """It may have been paid for: nobody is to pay for it twice."""
    buy("one")
    key = buy("two", ends=("in_doubt",))
    export(HERE, TAR)
    take_in(TAR, THERE)
    (request,) = take_inventory(THERE).open_requests
    assert (request.attempt.key, request.most_usd, request.answered) == (key, 1.0, False)


def test_an_open_attempt_without_an_answer_stays_at_home():
    buy("one")
    buy("two", ends=("overloaded",))
    with closing(Book(book_path(HERE, "google"))) as book:
        book.open_attempt(Intent(key_of("six"), 0, "r", "painter", "m", "b", "p", 1.0), 9.0)
    assert export(HERE, TAR).attempts == 1


def test_an_answer_whose_attempt_was_never_closed_is_paid_for_there_too():
    key = buy("one", ends=("overloaded", None), usd=0.125)
    export(HERE, TAR)
    take_in(TAR, THERE)
    assert [row[5:] for row in rows(THERE)] == [("overloaded", 0.0), ("ok", 0.125)]
    assert verify(THERE).problems == []
    # Once it is closed here, the file brings nothing new.
    with closing(Book(book_path(HERE, "google"))) as book:
        book.close_attempt(2, "ok", 5000.0, cost_usd=0.125)
    export(HERE, TAR)
    assert take_in(TAR, THERE).attempts == 0
    assert rows(THERE)[1][0] == key


# -- what is there is not replaced


@pytest.mark.parametrize(
    "other",
    [
        Reply("ok", images=(b"another picture",), answered_model="m-1"),
        Reply("refused_output", answered_model="m-1"),
        Reply("ok", images=(b"one",), answered_model="m-2"),
        Reply("ok", images=(b"one",), text="more", answered_model="m-1"),
    ],
)
def test_another_reply_to_the_same_key_is_refused_by_name_and_nothing_is_laid_in(other):
    key = buy("one")
    buy("two")
    export(HERE, TAR)
    buy("one", other, ledger=THERE)
    before = laid_in()
    message = refusal()
    assert key[:12] in message
    assert "nothing is replaced" in message
    assert laid_in() == before
    assert replies(THERE)["painter", key][0].outcome == other.outcome


def test_a_reply_takes_the_place_of_a_question_that_got_no_answer():
    key = buy("one")
    export(HERE, TAR)
    Ledger(THERE, "painter").record(key, Reply("quota"), asked("one"), None)
    assert take_in(TAR, THERE).replies == 1
    assert replies(THERE)["painter", key][1] == [b"one"]


def test_a_picture_that_was_lost_comes_back():
    key = buy("one")
    export(HERE, TAR)
    Ledger(HERE, "").blob_path(digest_of_bytes(b"one")).unlink()
    report = take_in(TAR, HERE)
    assert (report.replies, report.blobs) == (0, 1)
    assert Ledger(HERE, "painter").find(key)[1] == [b"one"]
    assert len(rows(HERE)) == 1


def test_an_import_that_was_interrupted_anywhere_can_be_repeated(monkeypatch):
    buy("one", ends=("overloaded", "ok"))
    buy("two")
    export(HERE, TAR)
    steps = ["gensight.runner.ledger.write_bytes", "gensight.runner.intake.write_bytes"]
    steps += ["gensight.runner.book.Book.open_attempt", "gensight.runner.book.Book.close_attempt"]
    for place, name in enumerate(steps):
        with monkeypatch.context() as patched:
            patched.setattr(name, interrupted(name))
            with pytest.raises(KeyboardInterrupt):
                take_in(TAR, Path(f"ledger{place}"))
        take_in(TAR, Path(f"ledger{place}"))
        assert replies(Path(f"ledger{place}")) == replies(HERE)
        assert [row[5:] for row in rows(Path(f"ledger{place}"))] == [row[5:] for row in rows(HERE)]
        assert verify(Path(f"ledger{place}")).problems == []


def interrupted(name):
    """Return a function that does its work once, and is interrupted the second time."""
    import importlib

    module, _, last = name.rpartition(".")
    if last.endswith("attempt"):
        module, owner = module.rpartition(".")[0], module.rpartition(".")[2]
        original = getattr(getattr(importlib.import_module(module), owner), last)
    else:
        original = getattr(importlib.import_module(module), last)
    calls = []

    def work(*given, **named):
        calls.append(given)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return original(*given, **named)

    return work


def test_two_imports_at_once_leave_one_whole_ledger():
    for words in range(30):
        compute(f"thing {words}")
    export(HERE, TAR)
    reports, errors = [], []

    def work():
        try:
            reports.append(take_in(TAR, THERE))
        except GensightError as found:
            errors.append(found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    assert sum(report.replies for report in reports) == 30
    assert replies(THERE) == replies(HERE)


def test_nothing_is_imported_while_a_runner_is_at_work():
    buy("one")
    export(HERE, TAR)
    with admitted(THERE, "google", print):
        assert "a runner of google is at work" in refusal()
    assert laid_in() == []


def test_exporting_does_not_wait_for_a_runner_and_writes_nothing_into_the_ledger():
    buy("one")
    with admitted(HERE, "google", print), closing(Book(book_path(HERE, "google"))):
        before = {path: path.stat().st_mtime_ns for path in HERE.rglob("*")}
        assert answer("ledger", "export", TAR)["replies"] == 1
        assert {path: path.stat().st_mtime_ns for path in HERE.rglob("*")} == before


def test_people_are_told_what_was_moved():
    buy("one")
    assert call("ledger", "export", TAR).stdout == (
        f"exported: 1 replies, 1 attempts, 1 blobs, {TAR.stat().st_size / 1e6:.1f} MB\n"
    )
    write_config("other")
    assert call("ledger", "import", TAR).stdout == (
        "imported: 1 replies, 1 attempts, 1 blobs, 0.0 MB\n"
    )
    assert call("ledger", "import", TAR).stdout.endswith("replies that were here already: 1\n")
