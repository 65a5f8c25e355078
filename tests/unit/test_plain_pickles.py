"""Pickles: plain values of every protocol come back, anything else is refused unrun."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from images_by_hand import HTML
from refcoco_files import one_line, python2_pickle

from gensight.datasets._pickles import load_plain
from gensight.errors import MissingDataError


# Each pickle asks for something that is not plain; the first ones would write a file.
def evil(path: Path) -> dict[str, bytes]:
    class Command:
        def __reduce__(self):
            return (Path.write_text, (path, "it ran"))

    class State:
        pass

    return {
        "a call": pickle.dumps([Command()], protocol=2),
        "a call in protocol 4": pickle.dumps([Command()], protocol=4),
        "eval": b"cbuiltins\neval\n(S'1+1'\ntR.",
        "eval of Python 2": b"c__builtin__\neval\n(S'1+1'\ntR.",
        "an instance": b"(ios\nsystem\n.",
        "stacked names": b"\x80\x04\x8c\x02os\x8c\x06system\x93.",
        "a persistent id": b"Psomething\n.",
        "a persistent object": b"\x80\x02K\x01Q.",
        "an extension": b"\x80\x02\x82\x01.",
        "a tuple": pickle.dumps([(1, 2)], protocol=2),
        "a set": pickle.dumps({1, 2}, protocol=4),
        "an array": pickle.dumps(np.zeros(2), protocol=2),
        "bytes of Python 3": pickle.dumps(b"abc", protocol=2),
    }


@pytest.mark.parametrize("name", evil(Path("unused")))
def test_pickles_of_anything_but_plain_values_are_refused(tmp_path, name):
    mark, path = tmp_path / "mark", tmp_path / "refs(unc).p"
    path.write_bytes(evil(mark)[name])
    with pytest.raises(MissingDataError) as error:
        load_plain(path)
    assert not mark.exists()
    assert str(path) in one_line(error)


def test_the_same_call_does_run_in_an_open_unpickler(tmp_path):
    """The refused pickle is a live one, so that its refusal proves something."""
    mark = tmp_path / "mark"
    pickle.loads(evil(mark)["a call"])
    assert mark.read_text() == "it ran"


@pytest.mark.parametrize("data", [b"", b"\x80\x02](", HTML, b"\x80\x02U\x05ab", b"\x80\x02h\x05."])
def test_damaged_pickles_end_in_one_line(tmp_path, data):
    path = tmp_path / "refs(unc).p"
    path.write_bytes(data)
    with pytest.raises(MissingDataError, match="not a whole pickle") as error:
        load_plain(path)
    one_line(error)


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**31), 2**31 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None)
@given(PLAIN, st.integers(0, 5))
def test_plain_values_come_back_from_every_protocol(tmp_path_factory, value, protocol):
    path = tmp_path_factory.mktemp("pickles") / "one.p"
    path.write_bytes(pickle.dumps(value, protocol=protocol))
    assert load_plain(path) == value
    path.write_bytes(python2_pickle(value))
    assert load_plain(path) == value


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=24))
def test_no_bytes_end_in_a_traceback(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("pickles") / "one.p"
    path.write_bytes(data)
    try:
        load_plain(path)
    except MissingDataError as error:
        assert "\n" not in str(error)


def test_a_list_that_holds_itself_does_not_hang(tmp_path):
    path = tmp_path / "one.p"
    path.write_bytes(b"\x80\x02]q\x00h\x00a.")
    value = load_plain(path)
    assert value[0] is value
