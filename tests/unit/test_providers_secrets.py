"""A registered key is found however it is written, and nothing else is touched."""

import base64
import json
import re
import string
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gensight.providers import secrets

#: What may stand in a header, quotes and slashes included.
KEYS = st.text(string.ascii_letters + string.digits + string.punctuation, min_size=8, max_size=60)
ANY_KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=8, max_size=60)
AROUND = st.binary(max_size=40)


@pytest.fixture(autouse=True)
def _no_keys_of_others(monkeypatch):
    monkeypatch.setattr(secrets, "_forms", secrets._Forms())


def registered(*keys):
    # A fixture is made once for all examples of hypothesis.
    secrets._forms = secrets._Forms()
    for key in keys:
        secrets.register(key)


def small_hex(quoted):
    return re.sub("%..", lambda found: found[0].lower(), quoted)


WAYS = {
    "plain": lambda key: key,
    "quoted": lambda key: quote(key, safe=""),
    "quoted but for slashes": quote,
    "quoted plus": quote_plus,
    "in a query": lambda key: urlencode({"key": key}),
    "quoted with small letters": lambda key: small_hex(quote(key, safe="")),
    "JSON": lambda key: json.dumps({"message": f"Incorrect key: {key}"}),
    "JSON of any letter": lambda key: json.dumps([key], ensure_ascii=False),
    "JSON of PHP": lambda key: json.dumps(key).replace("/", r"\/"),
    "Python": repr,
    "Python beside quotes": lambda key: repr(f'it\'s "{key}"'),
    "Python beside one quote": lambda key: repr(f"it's {key}"),
    "Python bytes": lambda key: repr([("x-api-key", key.encode())]),
    "base64 in a query": lambda key: quote(base64.b64encode(key.encode()).decode(), safe=""),
}


@pytest.mark.parametrize("way", WAYS)
@given(key=ANY_KEYS)
def test_a_key_is_found_however_it_is_written(way, key):
    registered(key)
    written = WAYS[way](key)
    clean = secrets.scrub(f"before {written} after")
    assert secrets.MARK in clean
    assert not any(form in clean for form in secrets.forms(key))
    assert secrets.scrub_bytes(f"before {written} after".encode()).decode() == clean


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@given(key=KEYS, before=AROUND, after=AROUND)
def test_a_key_is_found_inside_a_longer_base64_text(encode, key, before, after):
    registered(key)
    text = encode(before + key.encode() + after).decode()
    clean = secrets.scrub(text)
    head, mark, tail = clean.partition(secrets.MARK)
    assert mark
    # Around it stays what stood there, and at most 4 bits of the key's first and last letters.
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) <= (8 * len(before) + 7) // 6 + 1
    assert len(tail) <= (8 * len(after) + 7) // 6 + 4


def test_basic_authentication_is_found():
    registered("sk-live-0123456789")
    header = base64.b64encode(b"user:sk-live-0123456789").decode()
    assert header == "dXNlcjpzay1saXZlLTAxMjM0NTY3ODk="
    # What is left holds 4 bits of the key's last letter.
    assert secrets.scrub(f"Basic {header}") == "Basic dXNlcjp[key]k="


@given(text=st.text(), keys=st.lists(KEYS, max_size=3))
def test_a_text_without_a_key_comes_back_itself(text, keys):
    registered(*keys)
    assume(not any(form in text for key in keys for form in secrets.forms(key)))
    data = text.encode("utf-8", "surrogatepass")
    assert secrets.scrub(text) is text
    assert secrets.scrub_bytes(data) is data


@given(key=KEYS, other=KEYS, split=st.integers(0, 60), before=AROUND)
def test_no_key_is_left_where_another_was_cut_out(key, other, split, before):
    registered(key, other, key + other)
    text = f"{key[:split]}{other}{key[split:]}{key}{other}"
    clean = secrets.scrub_bytes(before + text.encode())
    for form in secrets.forms(key) | secrets.forms(other):
        assert form.encode() not in clean


@given(data=st.binary(max_size=200))
def test_bytes_that_are_no_text_are_kept(data):
    registered("sk-live-0123456789")
    whole = data + b"sk-live-0123456789" + data
    assert secrets.scrub_bytes(whole) == data + b"[key]" + data


def test_what_is_shorter_than_a_key_is_not_looked_for():
    registered("", "k", "seven77")
    text = "a k seven77"
    assert secrets.scrub(text) is text


def test_every_form_is_longer_than_its_mark():
    # Otherwise scrubbing could go on for ever.
    assert all(len(form) > len(secrets.MARK) for form in secrets.forms("\0" * secrets.SHORTEST))
    assert all(len(form) > len(secrets.MARK) for form in secrets.forms("k" * secrets.SHORTEST))


def test_keys_of_several_providers_are_all_found():
    registered("sk-open-0123456789", "sk-open-0123456789-longer", "AIza-0123456789")
    assert secrets.scrub("a sk-open-0123456789-longer b sk-open-0123456789 c AIza-0123456789") == (
        "a [key] b [key] c [key]"
    )


def test_a_large_body_with_a_key_at_its_end_is_scrubbed():
    registered("sk-live-0123456789")
    body = b"A" * 10_000_000
    assert secrets.scrub_bytes(body) is body
    assert secrets.scrub_bytes(body + b'"sk-live-0123456789"') == body + b'"[key]"'
