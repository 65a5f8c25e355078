"""Replies that strangers export: nothing of a file is taken at its word."""

import io
import json
import os
import tarfile
from pathlib import Path

import pytest
from cli_files import error
from moved_ledgers import (
    HERE,
    TAR,
    buy,
    compute,
    enter,
    laid_in,
    refusal,
)

from gensight.digests import digest_of_bytes
from gensight.runner.transfer import export


@pytest.fixture(autouse=True)
def checkout(tmp_path, monkeypatch):
    enter(tmp_path, monkeypatch)


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
