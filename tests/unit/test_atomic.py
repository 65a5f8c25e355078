"""Files appear complete or not at all, with the rights of a file that was simply opened."""

import os
import threading
from pathlib import Path

import pytest

from gensight.atomic import replacing, write_bytes, write_text


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def files():
    return sorted(str(path) for path in Path().rglob("*") if path.is_file())


@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize("data", [b"", b"\0\r\n\xff", b"long" * 10**6])
@pytest.mark.parametrize("name", ["x", "new/folders/x.json"])
def test_bytes_are_written_as_they_are(name, data, durable):
    write_bytes(name, data, durable)
    write_bytes(Path(name), data + b"again", durable)
    assert Path(name).read_bytes() == data + b"again"
    assert files() == [name]


def test_text_is_utf_8_with_its_own_line_ends():
    write_text("x.tex", "Größe\n深度\r\n")
    assert Path("x.tex").read_bytes() == "Größe\n深度\r\n".encode()


@pytest.mark.parametrize("before", [None, b"old"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_what_was_there_and_nothing_else(before, error):
    if before:
        Path("x").write_bytes(before)
    with pytest.raises(error), replacing("x") as temporary:
        temporary.write_bytes(b"half")
        assert files() == sorted([str(temporary), *(["x"] if before else [])])
        raise error
    assert files() == (["x"] if before else [])
    assert not before or Path("x").read_bytes() == before


def test_text_that_cannot_be_encoded_leaves_nothing():
    with pytest.raises(UnicodeEncodeError):
        write_text("x", "\ud83d")
    assert files() == []


def test_a_folder_in_the_way_leaves_nothing():
    Path("x").mkdir()
    with pytest.raises(OSError, match="x"):
        write_bytes("x", b"data")
    assert files() == []


def test_the_temporary_name_is_hidden_in_the_same_folder_and_never_twice():
    names = set()
    for _ in range(3):
        with replacing("a/x.parquet") as temporary:
            temporary.touch()
        names.add(temporary)
    assert len(names) == 3
    assert {name.parent for name in names} == {Path("a")}
    assert all(name.name.startswith(".x.") for name in names)
    assert not any(name.match("*.parquet") for name in names)


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_rights_are_those_of_any_new_file(mask):
    old = os.umask(mask)
    try:
        write_bytes("x", b"data")
    finally:
        os.umask(old)
    assert Path("x").stat().st_mode & 0o777 == 0o666 & ~mask


def test_threads_that_write_the_same_file_do_not_meet():
    barrier, errors = threading.Barrier(4), []

    def write(letter):
        try:
            with replacing("x") as temporary:
                temporary.write_bytes(letter * 1000)
                barrier.wait(5)
        except Exception as error:
            errors.append(error)

    threads = [
        threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b", b"c", b"d")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(set(Path("x").read_bytes())) == 1 and Path("x").stat().st_size == 1000
    assert files() == ["x"]
