"""The lettered options of a choice: right answers and distractors dealt out evenly over a list.

All ids of a list are put on a ring in the order of their digests; the distractors of an id lie the
same steps further along for everyone. So every id is a distractor equally often. Which letter is
right is dealt by digest as well, every letter equally often. One shuffle for all questions, as the
PixelBench paper describes it, would show nearly the same distractors everywhere (PROTOCOLS 1.6).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gensight.digests import digest_of
from gensight.errors import SpecError

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def dealt(ids: Sequence[str], number: int) -> dict[str, list[str]]:
    """Return for every id the ids of its `number` options in printed order, its own among them.

    What holds for n ids: an option set has no id twice; every id is a distractor of exactly
    number - 1 others; every letter is right n / number times, rounded up for the first letters
    where that is no whole number. The result is a function of the set of ids and of `number`: the
    order of the list, sizes and sources play no part. A longer list is another deal, because its
    new ids must be distractors too; so deal over a whole population, never over a draw from it.

    Raises:
        SpecError: an id is there twice, `number` is not in 2..26, or there are fewer ids than that.
    """
    _check(ids, number)
    ring = _shuffled(ids, "ring")
    steps = [int(step) for step in _shuffled(map(str, range(1, len(ring))), "step")][: number - 1]
    options = {}
    for turn, owner in enumerate(_shuffled(ids, "letter")):
        place = ring.index(owner)
        others = [ring[(place + step) % len(ring)] for step in steps]
        printed = _shuffled(others, "printed", owner)
        printed.insert(turn % number, owner)
        options[owner] = printed
    return {owner: options[owner] for owner in ids}


def right_letter(options: Sequence[str], owner: str) -> str:
    """Return the letter (A is the first) under which an id stands in its printed options."""
    return LETTERS[list(options).index(owner)]


def _shuffled(values: Iterable[str], *name: str) -> list[str]:
    """Return the values in the order of the digests of (name, value)."""
    return sorted(values, key=lambda value: digest_of(["options", *name, value]))


def _check(ids: Sequence[str], number: int) -> None:
    if not 2 <= number <= len(LETTERS):
        raise SpecError(f"options: {number} options cannot be lettered; use 2 to {len(LETTERS)}")
    if len(set(ids)) < len(ids):
        twice = sorted({one for one in ids if list(ids).count(one) > 1})
        raise SpecError(f"options: {twice[0]!r} is listed twice; a concept can be asked once")
    if len(ids) < number:
        raise SpecError(f"options: {number} options need as many concepts; there are {len(ids)}")
