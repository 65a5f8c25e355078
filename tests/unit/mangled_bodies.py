"""Bodies that no provider should send, and some will: noise, other JSON, good bodies gone wrong."""

from __future__ import annotations

import copy
import json

from hypothesis import strategies as st

NASTY = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        2**70,
        1e308,
        float("nan"),
        "",
        "\ud800",
        "x" * 300,
        [],
        {},
        [[]],
        [None],
        "STOP",
        "image/png",
        "!!",
        "Ready",
        {"a": 1},
        [{}],
        {"thought": True},
        "text",
        ["text"],
    ]
)
ANY_JSON = st.recursive(
    NASTY | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
    # A list that is drawn twice must not be one list.
).map(copy.deepcopy)


@st.composite
def mangled(draw, good):
    """A body as bytes: one of the good ones with up to three things wrong, or anything at all."""
    kind = draw(st.sampled_from(["changed", "changed", "changed", "cut", "noise", "other"]))
    if kind == "noise":
        return draw(st.binary(max_size=60))
    if kind == "other":
        return json.dumps(draw(ANY_JSON)).encode()
    body = copy.deepcopy(draw(st.sampled_from(good)))
    if kind == "cut":
        data = json.dumps(body).encode()
        return data[: draw(st.integers(0, len(data)))]
    for _ in range(draw(st.integers(1, 3))):
        body = _changed(draw, body)
    return json.dumps(body).encode()


def _changed(draw, body):
    """Change what lies at a random depth: replaced, removed, or repeated."""
    inner = _inner(body)
    if not inner or draw(st.integers(0, 3)) == 0:
        return draw(ANY_JSON)
    name = draw(st.sampled_from(inner))
    if draw(st.integers(0, 2)) and _inner(body[name]):
        body[name] = _changed(draw, body[name])
    elif draw(st.booleans()):
        del body[name]
    elif isinstance(body, list) and draw(st.booleans()):
        body.append(copy.deepcopy(body[name]))
    else:
        body[name] = draw(ANY_JSON)
    return body


def _inner(value):
    if isinstance(value, dict):
        return list(value)
    return list(range(len(value))) if isinstance(value, list) else []
