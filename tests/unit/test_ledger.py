"""The ledger keeps every reply, survives kill -9, and lets two processes ask a key once."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from spine_rows import generation

from gensight.digests import digest_of, digest_of_bytes
from gensight.models import Reply
from gensight.outcomes import MODEL_OUTCOMES, Outcome
from gensight.records import Generation, write_rows
from gensight.runner.adoption import adopt
from gensight.runner.ledger import Ledger

KEY, OTHER = digest_of("one"), digest_of("other")
ASKED = {"parts": [{"text": "Grüße"}], "seed": 3}


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger", "oracle")


def files_below(folder):
    return [path for path in Path(folder).rglob("*") if path.is_file()]


REPLIES = [
    Reply("ok", images=(b"picture",)),
    Reply("ok", text='A reply: Grüße 深度 \n \x00 "', images=(b"one", b"two", b"one")),
    Reply("ok", text="", images=()),
    Reply("text_only", text="No.", detail="why", answered_model="m-1", usage='{"tokens": 3}'),
    Reply("refused_input", detail="policy"),
]


@pytest.mark.parametrize("reply", REPLIES)
@pytest.mark.parametrize("durable", [False, True])
def test_a_reply_is_found_as_it_was(tmp_path, reply, durable):
    Ledger(tmp_path, "m", durable=durable).record(KEY, reply, ASKED, 1.5)
    entry, images = Ledger(tmp_path, "m").find(KEY)
    assert images == list(reply.images)
    assert (entry.key, entry.outcome, entry.text, entry.detail) == (
        KEY,
        reply.outcome,
        reply.text,
        reply.detail,
    )
    assert (entry.answered_model, entry.usage) == (reply.answered_model, reply.usage)
    assert (entry.latency_s, entry.asked) == (1.5, ASKED)
    assert entry.images == [digest_of_bytes(image) for image in reply.images]


def test_an_unknown_key_has_no_reply(ledger):
    assert ledger.find(KEY) is None
    ledger.record(OTHER, Reply("ok", images=(b"x",)), {}, 0)
    assert ledger.find(KEY) is None


def test_replies_of_another_model_do_not_answer(tmp_path, ledger):
    ledger.record(KEY, Reply("ok", text="x"), {}, 0)
    assert Ledger(tmp_path / "ledger", "echo").find(KEY) is None


@pytest.mark.parametrize("outcome", list(Outcome))
def test_only_final_outcomes_are_replayed(ledger, outcome):
    ledger.record(KEY, Reply(outcome, text="x"), {}, 0)
    assert (ledger.find(KEY) is not None) == (outcome in MODEL_OUTCOMES)


def test_a_later_reply_replaces_one_that_was_not_final(ledger):
    ledger.record(KEY, Reply("overloaded_exhausted"), {}, 0)
    ledger.record(KEY, Reply("ok", text="at last"), {}, 0)
    assert ledger.find(KEY)[0].text == "at last"


def test_a_reply_whose_picture_is_gone_is_asked_again(ledger):
    entry = ledger.record(KEY, Reply("ok", images=(b"one", b"two")), {}, 0)
    ledger.blob_path(entry.images[1]).unlink()
    assert ledger.find(KEY) is None
    ledger.record(KEY, Reply("ok", images=(b"one", b"two")), {}, 0)
    assert ledger.find(KEY)[1] == [b"one", b"two"]


def test_equal_pictures_are_kept_once_for_all_models(tmp_path):
    for model in ("a", "b"):
        Ledger(tmp_path, model).record(KEY, Reply("ok", images=(b"same", b"same")), {}, 0)
    assert len(files_below(tmp_path / "blobs")) == 1


def test_nothing_temporary_is_left(ledger):
    with ledger.claim(KEY):
        ledger.record(KEY, Reply("ok", images=(b"x",)), ASKED, 0)
    names = [path.name for path in files_below(ledger.root)]
    assert sorted(names) == sorted([f"{KEY}.json", digest_of_bytes(b"x")])


# Killed at any moment

KILLED = """
import sys
from pathlib import Path
from gensight.digests import digest_of
from gensight.models import Reply
from gensight.runner.ledger import Ledger
ledger = Ledger(Path(sys.argv[1]), "m")
print("ready", flush=True)
for i in range(10**6):
    picture = (b"%08d" % i) * 20_000
    with ledger.claim(digest_of(i)):
        ledger.record(digest_of(i), Reply("ok", images=(picture,)), {"i": i}, 0.0)
"""


@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.15])
def test_after_kill_9_every_entry_that_exists_is_whole(tmp_path, after_s):
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        while not list(tmp_path.glob("replies/m/*/*.json")):
            time.sleep(0.005)
        time.sleep(after_s)
        os.kill(child.pid, signal.SIGKILL)
    ledger = Ledger(tmp_path, "m")
    entries = list(tmp_path.glob("replies/m/*/*.json"))
    assert entries
    for path in entries:
        index = json.loads(path.read_text())["asked"]["i"]
        entry, images = ledger.find(path.stem)
        assert images == [(b"%08d" % index) * 20_000]
        assert entry.images == [digest_of_bytes(images[0])]
    with ledger.claim(digest_of(len(entries))):
        pass  # the claim that the killed process held is free again


# Two processes

ASKING = """
import sys, time
from pathlib import Path
from gensight.digests import digest_of
from gensight.models import Reply
from gensight.runner.ledger import Ledger
root = Path(sys.argv[1])
ledger = Ledger(root, "m")
(root / f"ready_{sys.argv[2]}").touch()
while not (root / "go").exists():
    time.sleep(0.001)
for i in range(40):
    key = digest_of(i)
    if ledger.find(key) is None:
        with ledger.claim(key):
            if ledger.find(key) is None:
                with open(root / "asked", "a") as asked:
                    asked.write(f"{i}\\n")
                time.sleep(0.002)
                ledger.record(key, Reply("ok", images=(b"same picture",)), {}, 0.0)
"""


def test_processes_that_want_the_same_keys_ask_each_once(tmp_path):
    command = [sys.executable, "-c", ASKING, str(tmp_path)]
    children = [subprocess.Popen([*command, str(i)]) for i in range(3)]
    while len(list(tmp_path.glob("ready_*"))) < 3:
        time.sleep(0.01)
    (tmp_path / "go").touch()
    assert [child.wait(timeout=60) for child in children] == [0, 0, 0]
    asked = [int(line) for line in (tmp_path / "asked").read_text().split()]
    assert sorted(asked) == list(range(40))
    ledger = Ledger(tmp_path, "m")
    assert all(ledger.find(digest_of(i))[1] == [b"same picture"] for i in range(40))
    assert [p.suffix for p in files_below(tmp_path / "replies")] == [".json"] * 40


def test_a_failed_request_frees_its_claim(ledger):
    with pytest.raises(ValueError, match="x"), ledger.claim(KEY):
        raise ValueError("x")
    with ledger.claim(KEY):
        assert ledger.find(KEY) is None


# Replies that came with an archive


PAID = {"attempts": 2, "cost_usd": 0.039, "usage": "{}", "latency_s": 1.5}


def adopt_rows(tmp_path, ledger, rows, name="all"):
    path = tmp_path / f"results/generations/oracle/{name}.parquet"
    write_rows(path, Generation, rows, {"stage": "generations"})
    return adopt(ledger.root, "oracle", path)


def test_adopted_files_answer_for_their_keys(tmp_path, ledger):
    rows = [
        generation(i, b"answer %d" % i, text=f"text {i}", answered_model="m", **PAID)
        for i in range(40)
    ]
    adopt_rows(tmp_path, ledger, rows)
    for row in (rows[39], rows[0], rows[16]):
        entry, images = ledger.find(row.request_key)
        assert images == [row.image["bytes"]]
        assert (entry.key, entry.outcome, entry.text) == (row.request_key, "ok", row.text)
        assert entry.answered_model == "m"
        assert {name: getattr(entry, name) for name in PAID} == PAID
    assert ledger.find(OTHER) is None


def test_an_adopted_reply_that_was_not_final_is_asked_again(tmp_path, ledger):
    row = generation(0, None, outcome="overloaded_exhausted")
    adopt_rows(tmp_path, ledger, [row])
    assert ledger.find(row.request_key) is None


def test_the_ledgers_own_reply_goes_before_an_adopted_one(tmp_path, ledger):
    row = generation(0, b"adopted")
    adopt_rows(tmp_path, ledger, [row])
    ledger.record(row.request_key, Reply("ok", images=(b"own",)), {}, 0)
    assert ledger.find(row.request_key)[1] == [b"own"]


def test_an_adopted_file_outlives_the_one_it_came_from(tmp_path, ledger):
    row = generation(0)
    adopted = adopt_rows(tmp_path, ledger, [row])
    results = tmp_path / "results/generations/oracle/all.parquet"
    assert adopted.read_bytes() == results.read_bytes()
    results.unlink()
    assert ledger.find(row.request_key)[1] == [b"answer"]


def test_adopting_twice_keeps_one_file_and_another_content_keeps_two(tmp_path, ledger):
    first = adopt_rows(tmp_path, ledger, [generation(0)])
    path = tmp_path / "results/generations/oracle/all.parquet"
    assert adopt(ledger.root, "oracle", path) == first
    second = adopt_rows(tmp_path, ledger, [generation(1), generation(2)])
    assert second != first and first.exists() and second.exists()
    for rank in range(3):
        assert ledger.find(generation(rank).request_key) is not None


def test_a_file_system_without_links_gets_a_copy(tmp_path, ledger, monkeypatch):
    def no_links(*_args):
        raise OSError("not supported")

    monkeypatch.setattr(os, "link", no_links)
    row = generation(0)
    adopted = adopt_rows(tmp_path, ledger, [row])
    assert adopted.stat().st_nlink == 1 and ledger.find(row.request_key) is not None
    assert [path.name for path in adopted.parent.iterdir()] == [adopted.name]


def test_many_threads_find_their_own_adopted_replies(tmp_path, ledger):
    rows = [generation(i, b"answer %d" % i, text=f"text {i}") for i in range(64)]
    adopt_rows(tmp_path, ledger, rows)

    def found(place):
        row = rows[place % len(rows)]
        entry, images = ledger.find(row.request_key)
        return (entry.text, images) == (row.text, [row.image["bytes"]])

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(found, range(0, 64 * 37, 37)))
