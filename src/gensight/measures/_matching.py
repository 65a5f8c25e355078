"""One-to-one matching of as many pairs as possible."""

from __future__ import annotations

from collections import deque

import numpy as np


def maximum_matching(allowed: np.ndarray) -> int:
    """Return the largest number of disjoint allowed pairs; `allowed` is bool (n, m).

    Breadth-first augmenting paths. Equal to the number of gated pairs in a Hungarian assignment
    that charges more for a forbidden pair than for all allowed ones together.

    >>> maximum_matching(np.array([[True, True], [True, False]]))
    2
    """
    partners = [np.flatnonzero(row).tolist() for row in allowed]
    owner: dict[int, int] = {}
    return sum(_augment(row, partners, owner) for row in range(len(partners)))


def _augment(start: int, partners: list[list[int]], owner: dict[int, int]) -> bool:
    """Give row `start` a column, moving earlier rows to others; False if none can be freed."""
    held = {row: column for column, row in owner.items()}
    reached_from: dict[int, int] = {}
    queue = deque([start])
    while queue:
        row = queue.popleft()
        for column in partners[row]:
            if column in reached_from:
                continue
            reached_from[column] = row
            if column in owner:
                queue.append(owner[column])
                continue
            while True:
                row = reached_from[column]
                owner[column] = row
                if row == start:
                    return True
                column = held[row]
    return False
