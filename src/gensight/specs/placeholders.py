"""Placeholders: `{query}` in a prompt's text, `{port}` in a command; `{{` and `}}` are braces.

Nothing else of Python's format language is allowed: a brace left alone is an error, not a guess.
"""

from __future__ import annotations

import string
from collections.abc import Sequence

#: Of a prompt's text, filled per request: what a sample is asked by, the number of cells of a side,
#: how many samples share the request and their labels, the lettered options, and the grid that is
#: asked about, as it is or with its cells in another order.
PROMPT = (
    "query",
    "size",
    "n",
    "labels",
    "sample_id",
    "options",
    "grid",
    "shuffled_grid",
)
#: Those that are filled with a grid of the benchmark's source.
GRIDS = ("grid", "shuffled_grid")


def pieces(text: str, known: Sequence[str] = PROMPT) -> list[tuple[str, str | None]]:
    """Return a text as pairs: plain text, and the placeholder after it (None at the end).

    >>> pieces("Paint {query} {{red}}")
    [('Paint ', 'query'), (' {', None), ('red}', None)]

    Raises:
        ValueError: a brace without its partner, or anything but a known placeholder in braces.
    """
    hint = f"known placeholders: {', '.join(known)}; write {{{{ and }}}} for braces"
    try:
        parsed = list(string.Formatter().parse(text))
    except ValueError as error:
        raise ValueError(f"the text has a brace without its partner ({error}); {hint}") from None
    for _, name, form, conversion in parsed:
        if name is not None and (name not in known or form or conversion):
            written = name + (f"!{conversion}" if conversion else "") + (f":{form}" if form else "")
            raise ValueError(f"'{{{written}}}' is no placeholder; {hint}")
    return [(plain, name) for plain, name, _, _ in parsed]
