"""Keys that must not be seen: every text and every reply is scrubbed of them before it is kept.

A key is found as it is, and as it looks in a URL, in JSON, in a Python traceback and in base64,
also inside a longer base64 text (basic authentication writes `user:key`).
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import quote, quote_plus

MARK = "[key]"
#: Shorter keys would be found where there are none.
SHORTEST = 8


class _Forms(NamedTuple):
    texts: tuple[str, ...] = ()
    bytes: tuple[bytes, ...] = ()


_guard = threading.Lock()
_forms = _Forms()


def register(key: str) -> None:
    """Have a key scrubbed from now on, in the whole process; keys below 8 characters are not."""
    global _forms
    if len(key) < SHORTEST:
        return
    with _guard:
        # The longest first: a form may lie inside another.
        texts = tuple(sorted({*_forms.texts, *forms(key)}, key=lambda form: (-len(form), form)))
        _forms = _Forms(texts, tuple(text.encode() for text in texts))


def scrub(text: str) -> str:
    """Replace every registered key by `[key]`; a text without one comes back itself."""
    while found := [form for form in _forms.texts if form in text]:
        # Once more, since what is left may close up to a key. Every round makes it shorter.
        for form in found:
            text = text.replace(form, MARK)
    return text


def scrub_bytes(data: bytes) -> bytes:
    """Replace every registered key by `[key]`; bytes without one come back themselves."""
    while found := [form for form in _forms.bytes if form in data]:
        for form in found:
            data = data.replace(form, MARK.encode())
    return data


def without_keys(variables: Mapping[str, str]) -> dict[str, str]:
    """Return environment variables without the providers' keys, under whatever name they stand."""
    keys = {value for name, value in variables.items() if _names_key(name)}
    return {
        name: value
        for name, value in variables.items()
        if not _names_key(name)
        and scrub(value) == value
        and not any(len(key) >= SHORTEST and key in value for key in keys)
    }


def _names_key(name: str) -> bool:
    # All variables of `gensight.providers` are named so (a test holds them to it).
    return name.upper().endswith("_API_KEY")


def forms(key: str) -> frozenset[str]:
    """Return all ways in which a key may be written."""
    return frozenset(
        written
        for plain in (key, *_base64_forms(key.encode()))
        for written in (plain, *_quoted(plain), *_escaped(plain))
    )


def _base64_forms(key: bytes) -> Iterator[str]:
    """Yield what of the key shows in base64, by how many bytes stand before it, modulo 3.

    Characters that also hold bits of a neighbour are left out: they vary with it.
    """
    for before in range(3):
        bits_before, bits = 8 * before, 8 * (before + len(key))
        inner = slice(-(-bits_before // 6), bits // 6)
        padded = bytes(before) + key
        yield base64.b64encode(padded).decode()[inner]
        yield base64.urlsafe_b64encode(padded).decode()[inner]


def _quoted(text: str) -> Iterator[str]:
    for quoted in (quote(text, safe=""), quote(text), quote_plus(text)):
        yield quoted
        yield _with_small_hex(quoted)


def _with_small_hex(quoted: str) -> str:
    first, *rest = quoted.split("%")
    return "%".join((first, *(part[:2].lower() + part[2:] for part in rest)))


def _escaped(text: str) -> Iterator[str]:
    for as_ascii in (True, False):
        escaped = json.dumps(text, ensure_ascii=as_ascii)[1:-1]
        yield escaped
        yield escaped.replace("/", r"\/")
    # With both kinds of quotes after it, Python writes the single one with a backslash.
    shown = repr(text + "'\"")[1:-4]
    yield shown
    yield shown.replace(r"\'", "'")
    yield repr(text.encode() + b"'\"")[2:-4]
    yield repr(text.encode() + b"'\"")[2:-4].replace(r"\'", "'")
