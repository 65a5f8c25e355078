"""`gensight ledger export` and `import`: equal bytes, nothing replaced, money told once."""

import io
import json
import os
import shutil
import tarfile
import threading
from contextlib import closing
from pathlib import Path

import pytest
from cli_files import answer, call, error

from gensight.digests import digest_of, digest_of_bytes
from gensight.errors import GensightError
from gensight.models import Reply
from gensight.outcomes import MODEL_OUTCOMES
from gensight.runner.book import Book, Intent, book_path
from gensight.runner.entries import models_of
from gensight.runner.intake import take_in
from gensight.runner.inventory import take_inventory
from gensight.runner.ledger import Ledger
from gensight.runner.transfer import export
from gensight.runner.turnstile import admitted
from gensight.runner.verification import verify

HERE, THERE, TAR = Path("ledger"), Path("other"), Path("replies.tar")
BODY = b'{"id": "r-1"}'


@pytest.fixture(autouse=True)
def checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
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


# -- files of strangers


def members(source=TAR):
    with tarfile.open(source) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}


def pack(files, listed=None, kinds=None):
    """Write a tar of these files, with a list that fits them or another one."""
    files = {name: content for name, content in files.items() if name != "LEDGER.json"}
    if listed is None:
        facts = {n: {"size": len(c), "sha256": digest_of_bytes(c)} for n, c in files.items()}
        listed = json.dumps({"format_version": 1, "files": facts}).encode()
    with tarfile.open(TAR, "w") as tar:
        for name, content in {"LEDGER.json": listed, **files}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            for field, value in (kinds or {}).get(name, {}).items():
                setattr(member, field, value)
            tar.addfile(member, io.BytesIO(content))


@pytest.fixture
def exported():
    buy("one")
    export(HERE, TAR)
    return members()


def entry_name(files):
    return next(name for name in files if name.startswith("replies/"))


def blob_name(files):
    return next(name for name in files if name.startswith("blobs/"))


@pytest.mark.parametrize(
    "name",
    [
        "../outside",
        "/tmp/outside",
        "replies/../../outside.json",
        "replies/painter/ab/../../../../outside.json",
        "blobs/ab/../../../outside",
        "attempts/../google.jsonl",
        "attempts/google.jsonl/more",
        "google.sqlite",
        "google.lock",
        f"replies/../ab/{'ab' * 32}.json",
        f"replies/Painter/ab/{'ab' * 32}.json",
        f"replies/painter/cd/{'ab' * 32}.json",
        f"blobs/cd/{'ab' * 32}",
        f"blobs/ab/{'ab' * 32}\n",
    ],
)
def test_nothing_is_laid_in_outside_its_place(exported, name):
    pack({**exported, name: b"mine"})
    assert "which is no file of a ledger" in refusal()
    assert laid_in() == []
    assert not Path("outside").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_only_plain_files_are_taken(exported, kind):
    pack(exported, kinds={blob_name(exported): {"type": kind, "linkname": "/etc/passwd"}})
    refusal()
    assert laid_in() == []


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9])
def test_a_file_that_is_cut_short_is_refused(share):
    for words in range(8):
        compute(str(words), picture=os.urandom(4000))
    export(HERE, TAR)
    data = TAR.read_bytes()
    TAR.write_bytes(data[: int(len(data) * share)])
    assert str(TAR) in refusal()
    assert laid_in() == []


def test_a_file_without_its_last_members_is_refused(exported):
    listed = exported["LEDGER.json"]
    del exported[blob_name(exported)]
    pack(exported, listed)
    assert "cut short: 1 of" in refusal()


def test_every_changed_byte_of_a_member_is_noticed(exported):
    for name in exported:
        if name != "LEDGER.json":
            changed = bytes([exported[name][0] ^ 1]) + exported[name][1:]
            pack({**exported, name: changed}, exported["LEDGER.json"])
            assert "is damaged" in refusal()
    assert laid_in() == []


def test_a_member_that_is_not_listed_is_refused(exported):
    pack({**exported, "more": b""}, exported["LEDGER.json"])
    assert "not in its list" in refusal()


@pytest.mark.parametrize("content", [b"", b"no tar at all", b"\x00" * 20000])
def test_what_is_no_export_is_one_line(content):
    TAR.write_bytes(content)
    assert str(TAR) in error("ledger", "import", TAR)


def test_an_archive_of_results_is_told_apart():
    with tarfile.open(TAR, "w") as tar:
        tar.addfile(tarfile.TarInfo("results/ARCHIVE.json"), io.BytesIO())
    assert "its first file must be LEDGER.json" in error("ledger", "import", TAR)
    assert "cannot be imported" in error("ledger", "import", "absent.tar")


@pytest.mark.parametrize(
    ("listed", "told"),
    [
        (b"{", "cannot be read"),
        (b"[]", "cannot be read"),
        (b"[" * 100_000, "cannot be read"),
        (b'{"format_version": 1, "files": []}', "cannot be read"),
        (b'{"format_version": 2, "files": {}}', "format 2 is not known"),
        (b'{"format_version": 1, "files": {"attempts/google.jsonl": 1}}', "form not known"),
    ],
)
def test_a_list_of_another_form_is_refused(exported, listed, told):
    pack(exported, listed)
    assert told in refusal()


def changed(exported, **fields):
    name = entry_name(exported)
    content = json.dumps({**json.loads(exported[name]), **fields}).encode()
    return {**exported, name: content}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"asked": {"words": "else"}}, "its key is not the digest"),
        ({"asked": {"words": "\ud800"}}, "its key is not the digest"),
        ({"outcome": "quota"}, "is no answer"),
        ({"outcome": "splendid"}, "is not known here"),
        ({"images": ["ab" * 32]}, "is not in it"),
        ({"images": ["../../etc/passwd"]}, "digest in it is none"),
        ({"images": "ab"}, "of another type"),
        ({"cost_usd": -1.0}, "of another type"),
        ({"cost_usd": float("nan")}, "of another type"),
        ({"usage": "[1]"}, "no JSON object"),
        ({"more": 1}, "no ledger entry of this version"),
    ],
)
def test_an_entry_is_not_taken_at_its_word(exported, fields, told):
    pack(changed(exported, **fields))
    assert told in refusal()
    assert laid_in() == []


def test_an_entry_under_the_key_of_another_is_refused(exported):
    content = exported.pop(entry_name(exported))
    pack({**exported, f"replies/painter/ab/{'ab' * 32}.json": content})
    assert "under another key" in refusal()


@pytest.mark.parametrize(
    "fields",
    [
        {"cost_usd": -5.0},
        {"cost_usd": 1e999},
        {"model": "../x"},
        {"run": "a b"},
        {"end": "splendid"},
        {"end": None, "ended": None},
        {"ended": None},
        {"ordinal": "0"},
        {"usage": "{"},
        {"id": 7},
        {"key": "ab" * 32},
    ],
)
def test_an_attempt_is_not_taken_at_its_word(exported, fields):
    line = {**json.loads(exported["attempts/google.jsonl"]), **fields}
    pack({**exported, "attempts/google.jsonl": json.dumps(line).encode() + b"\n"})
    assert "attempt" in refusal()
    assert laid_in() == []


def test_a_picture_of_no_reply_is_refused(exported):
    digest = digest_of_bytes(b"stowaway")
    pack({**exported, f"blobs/{digest[:2]}/{digest}": b"stowaway"})
    assert "belongs to no reply" in refusal()


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
