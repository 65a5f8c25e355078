"""Which variant of a scorer is meant where a spec need not name one."""

from __future__ import annotations

from collections.abc import Iterable

from gensight.errors import SpecError


def only_variant(place: str, scorer: str, variants: Iterable[str]) -> str | None:
    """Return the only variant of a scorer, None where it has none.

    Raises:
        SpecError: there are several; the message begins with `place` and lists them.
    """
    # What repeats agree on is asked for by name.
    found = sorted({variant for variant in variants if not variant.endswith("_consensus")})
    if len(found) > 1:
        raise SpecError(f"{place}: name a variant; scorer '{scorer}' has {', '.join(found)}")
    return found[0] if found else None
