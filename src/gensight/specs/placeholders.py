"""Placeholders of a prompt's text: `{query}` is filled per sample, `{{` and `}}` are braces.

Nothing else of Python's format language is allowed: a brace left alone is an error, not a guess.
"""

from __future__ import annotations

import string

PLACEHOLDERS = ("query",)
HINT = f"known placeholders: {', '.join(PLACEHOLDERS)}; write {{{{ and }}}} for braces"


def pieces(text: str) -> list[tuple[str, str | None]]:
    """Return a text as pairs: plain text, and the placeholder after it (None at the end).

    >>> pieces("Paint {query} {{red}}")
    [('Paint ', 'query'), (' {', None), ('red}', None)]

    Raises:
        ValueError: a brace without its partner, or anything but a known placeholder in braces.
    """
    try:
        parsed = list(string.Formatter().parse(text))
    except ValueError as error:
        raise ValueError(f"the text has a brace without its partner ({error}); {HINT}") from None
    for _, name, form, conversion in parsed:
        if name is not None and (name not in PLACEHOLDERS or form or conversion):
            written = name + (f"!{conversion}" if conversion else "") + (f":{form}" if form else "")
            raise ValueError(f"'{{{written}}}' is no placeholder; {HINT}")
    return [(plain, name) for plain, name, _, _ in parsed]
