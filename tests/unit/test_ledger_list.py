"""`gensight ledger list` and `show`: what was bought, what is in doubt, what lies under a key."""

import json
import shutil
import time
from contextlib import closing

import pytest
from cli_files import answer, call, error
from planned_checkout import PAINTED, TOLD, PlannedCheckout

from gensight.digests import digest_of_bytes
from gensight.outcomes import Outcome
from gensight.runner.book import Book, book_path
from gensight.runner.ledger import Ledger
from gensight.runner.turnstile import admitted


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return PlannedCheckout(tmp_path)


@pytest.fixture
def bought(checkout):
    """Six replies of a hosted model, and their attempts; the second is in doubt as well."""
    checkout.make_requests()
    checkout.ask("painter")
    for question in checkout.questions("painter"):
        checkout.attempt(question, "ok", usd=0.25)
    return checkout


def files_of(folder):
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# -- list


def test_replies_and_money_are_listed_by_model_and_benchmark(bought):
    (cell,) = answer("ledger", "list")["cells"]
    assert (cell["model"], cell["benchmark"], cell["replies"]) == ("painter", "shapes", 6)
    assert cell["outcomes"] == {"ok": 6}
    assert (cell["spent_usd"], cell["reserved_usd"], cell["in_doubt"]) == (1.5, 0.0, 0)
    (model,) = answer("ledger", "list")["models"]
    # All six pictures are the same.
    assert (model["replies"], model["blob_bytes"]) == (6, len(PAINTED.images[0]))


def test_outcomes_are_told_apart(checkout):
    checkout.make_requests()
    replies = iter([PAINTED, TOLD, TOLD])
    checkout.ask("painter", reply=lambda _: next(replies), at_most=3)
    (cell,) = answer("ledger", "list")["cells"]
    assert cell["outcomes"] == {"ok": 3}
    path = next((checkout.folder / "ledger/replies/painter").rglob("*.json"))
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({**kept, "outcome": "refused_input"}))
    (cell,) = answer("ledger", "list")["cells"]
    assert cell["outcomes"] == {"ok": 2, "refused_input": 1}
    assert "2 ok, 1 refused_input" in call("ledger", "list").stdout


def test_a_request_in_doubt_is_listed_with_its_sample_and_the_most_it_may_have_cost(bought):
    open_, closed, answered, *_ = bought.questions("painter", "mid")
    for key in (open_.key, closed.key):
        Ledger(bought.folder / "ledger", "painter").entry_path(key).unlink()
    bought.attempt(open_, usd=0.75)
    bought.attempt(closed, str(Outcome.IN_DOUBT), usd=0.5)
    bought.attempt(answered, str(Outcome.IN_DOUBT), usd=0.125)
    told = answer("ledger", "list")
    assert (told["in_doubt"], told["in_doubt_usd"]) == (2, 1.25)
    (cell,) = told["cells"]
    assert (cell["in_doubt"], cell["in_doubt_usd"]) == (2, 1.25)
    assert (cell["spent_usd"], cell["reserved_usd"]) == (2.125, 0.75)
    singly = answer("ledger", "list", "--in-doubt")
    assert (singly["in_doubt"], singly["in_doubt_usd"]) == (2, 1.25)
    found = {
        one["key"]: (one["sample"], one["most_usd"], one["sent_again_and_answered"])
        for one in singly["open_requests"]
    }
    assert found == {
        open_.key: (open_.sample_id, 0.75, False),
        closed.key: (closed.sample_id, 0.5, False),
        answered.key: (answered.sample_id, 0.125, True),
    }
    lines = call("ledger", "list", "--in-doubt").stdout.splitlines()
    assert open_.key[:12] in lines[1]
    assert open_.sample_id in lines[1]
    assert "0.75 USD" in lines[1]
    assert "2 requests that may have been billed, 1.25 USD at most" in lines[-1]


def test_in_doubt_is_listed_although_the_project_is_wrong(bought):
    bought.attempt(bought.questions("painter")[0], "in_doubt")
    bought.write("config/models/painter.yaml", {"adapter": "no_such"})
    (found,) = answer("ledger", "list", "--in-doubt")["open_requests"]
    assert found["sample"] is None


def test_a_reply_that_was_kept_and_not_read_is_not_in_doubt(checkout):
    checkout.make_requests()
    checkout.attempt(checkout.questions("painter")[0], replied=True)
    assert answer("ledger", "list")["in_doubt"] == 0
    assert answer("ledger", "list", "--in-doubt")["open_requests"] == []


def test_what_a_living_runner_has_sent_is_not_in_doubt(checkout):
    checkout.make_requests()
    checkout.attempt(checkout.questions("painter")[0])
    with admitted(checkout.folder / "ledger", "google", print):
        told = answer("ledger", "list")
        assert told["in_doubt"] == 0
        assert told["providers"][0]["alive"] is True
        assert "a runner is at work" in call("ledger", "list").stdout
    assert answer("ledger", "list")["in_doubt"] == 1


def test_a_parked_provider_is_told_with_what_lifts_it(bought):
    bought.stop("provider", "quota", until=4_000_000_000.0)
    bought.stop("model:old", "gone", until=1.0)
    told = call("ledger", "list").stdout
    assert (
        "google takes no requests until 2096-10-02 07:06 UTC (quota: why); lift it with: gensight "
        "ledger lift google"
    ) in told
    assert "old was parked until 1970-01-01 00:00 UTC (gone: why)" in told
    (provider,) = answer("ledger", "list")["providers"]
    assert [stop["scope"] for stop in provider["stops"]] == ["model:old", "provider"]


def test_a_ledger_without_any_book_is_listed(checkout):
    checkout.make_requests()
    checkout.write_generations("echo")
    told = answer("ledger", "list")
    (cell,) = told["cells"]
    assert (cell["model"], cell["benchmark"], cell["replies"]) == ("echo", None, 6)
    assert (told["providers"], told["in_doubt"]) == ([], 0)
    assert "nothing is in doubt" in call("ledger", "list").stdout


def test_an_absent_ledger_is_empty_and_is_not_made(checkout):
    told = answer("ledger", "list")
    assert (told["cells"], told["models"], told["providers"]) == ([], [], [])
    assert "holds no replies" in call("ledger", "list").stdout
    assert answer("ledger", "list", "--in-doubt")["open_requests"] == []
    assert answer("ledger", "verify")["ok"] is True
    assert "no key begins with ab" in error("ledger", "show", "ab")
    assert answer("ledger", "lift", "google")["lifted"] == []
    assert not (checkout.folder / "ledger").exists()


def test_an_entry_that_cannot_be_read_is_counted_and_stops_nothing(bought):
    next((bought.folder / "ledger/replies/painter").rglob("*.json")).write_text("{")
    told = answer("ledger", "list")
    assert told["cells"][0]["replies"] == 5
    assert told["models"][0]["unreadable"] == 1
    assert "1 cannot be read: gensight ledger verify" in call("ledger", "list").stdout


def test_a_damaged_book_is_one_line(bought):
    book_path(bought.folder / "ledger", "google").write_bytes(b"no database at all" * 100)
    assert "ledger/google.sqlite" in error("ledger", "list")


def test_another_folder_than_a_checkout_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "Snakefile" in error("ledger", "list")


READING = [
    ("list",),
    ("list", "--in-doubt"),
    ("verify",),
    ("explain-miss", "painter/shapes/mid"),
]


@pytest.mark.parametrize("command", READING)
def test_what_only_reads_writes_nothing_and_does_not_wait_for_a_runner(bought, command):
    bought.attempt(bought.questions("painter")[0])
    ledger = bought.folder / "ledger"
    with admitted(ledger, "google", print), closing(Book(book_path(ledger, "google"))):
        before = files_of(bought.folder)
        assert call("ledger", *command).exit_code == 0
        assert files_of(bought.folder) == before


# -- show


def test_a_key_is_shown_with_what_was_asked_and_every_attempt(bought):
    question = bought.questions("painter")[0]
    bought.attempt(question, "overloaded", usd=0.0)
    told = answer("ledger", "show", question.key[:10])
    assert told["key"] == question.key
    (kept,) = told["kept"]
    assert kept["model"] == "painter"
    assert kept["entry"]["asked"] == json.loads(json.dumps(question.asked))
    assert [attempt["end"] for attempt in kept["attempts"]] == ["ok", "overloaded"]
    (picture,) = kept["images"]
    assert picture["size"] == len(PAINTED.images[0])
    assert digest_of_bytes(PAINTED.images[0]) in picture["path"]
    text = call("ledger", "show", question.key).stdout
    for words in (question.key, '"adapter": "google_generate"', picture["path"], "cost 0.250000"):
        assert words in text


def test_letters_that_begin_several_keys_are_refused_by_name(bought):
    keys = [question.key for question in bought.questions("painter")]
    bought.attempt(bought.questions("painter")[0])  # twins of the same first letters
    ledger, twin = Ledger(bought.folder / "ledger", "painter"), keys[0][:20] + "0" * 44
    with closing(Book(book_path(bought.folder / "ledger", "google"))) as book:
        assert book.attempts_of(keys[0])
        book._connection.execute("UPDATE attempts SET key = ? WHERE ended IS NULL", (twin,))
    assert ledger.entry_path(keys[0]).exists()
    line = error("ledger", "show", keys[0][:20])
    assert "ambiguous" in line
    assert keys[0][:28] in line
    assert twin[:28] in line
    assert answer("ledger", "show", twin)["kept"][0]["entry"] is None
    assert answer("ledger", "show", keys[0][:40])["key"] in (keys[0], twin)


@pytest.mark.parametrize("key", ["", "xyz", "../../etc", "%", "_" * 64, "a" * 65])
def test_what_is_no_key_is_one_line(bought, key):
    assert "is no key" in error("ledger", "show", key)


def test_raw_writes_what_the_provider_sent_and_nothing_else(bought):
    question = bought.questions("painter")[0]
    ledger = Ledger(bought.folder / "ledger", "painter")
    body = b'{"odd": "\xff\x00"}\r\n'
    digest = ledger.keep(body)
    path = ledger.entry_path(question.key)
    path.write_text(json.dumps({**json.loads(path.read_text()), "raw": [digest]}))
    done = call("ledger", "show", question.key, "--raw")
    assert (done.exit_code, done.stdout_bytes) == (0, body)
    ledger.blob_path(digest).unlink()
    assert "not here any more" in error("ledger", "show", question.key, "--raw")


def test_a_reply_that_nobody_read_can_be_looked_at(checkout):
    checkout.make_requests()
    question = checkout.questions("painter")[0]
    checkout.attempt(question, replied=True)
    blob = Ledger(checkout.folder / "ledger", "").blob_path("ab" * 32)
    blob.parent.mkdir(parents=True)
    blob.write_bytes(b"{}")
    assert call("ledger", "show", question.key, "--raw").stdout == "{}"
    assert "no reply was read" in call("ledger", "show", question.key).stdout


def test_only_hosted_replies_have_something_raw(checkout):
    checkout.make_requests()
    checkout.write_generations("echo")
    key = checkout.questions("echo")[0].key
    assert "nothing raw is kept" in error("ledger", "show", key, "--raw")


def test_a_reply_in_an_adopted_file_is_found(checkout):
    from gensight.runner.adoption import adopt

    checkout.make_requests()
    checkout.write_generations("echo")
    key = checkout.questions("echo")[0].key
    (planned,) = checkout.generations("echo")
    adopt(checkout.folder / "ledger", "echo", checkout.folder / planned.path)
    shutil.rmtree(checkout.folder / "ledger/replies")
    (kept,) = answer("ledger", "show", key)["kept"]
    assert (kept["entry"], len(kept["adopted"])) == (None, 1)


# -- lift


def test_lifting_removes_the_stops_of_a_provider(bought):
    bought.stop("provider", "quota", until=time.time() + 999)
    bought.stop("model:gemini-3.1-flash-image", "bad_request")
    told = answer("ledger", "lift", "google")
    assert [stop["kind"] for stop in told["lifted"]] == ["bad_request", "quota"]
    assert answer("ledger", "list")["providers"][0]["stops"] == []
    done = call("ledger", "lift", "google")
    assert (done.exit_code, done.stdout) == (0, "nothing keeps google from being asked\n")


def test_lifting_leaves_other_providers_and_all_money_alone(bought):
    before = answer("ledger", "list")
    bought.stop("provider", "quota")
    answer("ledger", "lift", "openai")
    assert answer("ledger", "list")["providers"][0]["stops"] != []
    assert not book_path(bought.folder / "ledger", "openai").exists()
    answer("ledger", "lift", "google")
    assert answer("ledger", "list") == before


def test_nothing_is_lifted_while_a_runner_is_at_work(bought):
    bought.stop("provider", "quota")
    with admitted(bought.folder / "ledger", "google", print):
        assert "a runner of google is at work" in error("ledger", "lift", "google")
    assert answer("ledger", "list")["providers"][0]["stops"] != []


def test_an_unknown_provider_is_told_with_the_nearest(checkout):
    assert "did you mean 'google'?" in error("ledger", "lift", "gogle")
