"""Which rows of PixMo-Points are drawn: the order by the seed, less what is not available.

All rows have one fixed order, that of sha256("{seed}/{id}"). It is walked from the start; a row
whose picture is not available is passed over, so the ranks of the others have no gaps. Pictures are
shared by rows: a walk that passed over whatever is not here would end up among other rows of the
few pictures that are. So it ends where more than the allowed share of the rows was passed over.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gensight.datasets._disk import Item
from gensight.datasets._pixmo_pictures import Pictures
from gensight.datasets._pixmo_rows import FAULTS, FINE, Rows, list_rows
from gensight.errors import SpecError

BINS = ((0, "0"), (5, "1-5"), (10, "6-10"), (20, "11-20"), (50, "21-50"))
MOST = ">50"
#: Assumed: so many rows may be passed over before their share counts.
LEAST_SKIPPED = 20


def truth_bin(count: int) -> str:
    """Return the stratum of a true count (PROTOCOLS 1.4)."""
    return next((label for last, label in BINS if count <= last), MOST)


class RankedRows(Sequence[Item]):
    """Rows in their order, as items that are made when they are asked for."""

    def __init__(self, rows: Rows, order: np.ndarray) -> None:
        """Put rows (a table of n) into an order (indices into it)."""
        self.rows, self.order = rows, order

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return RankedRows(self.rows, self.order[place])
        index = int(self.order[place])
        return Item(
            id=self.rows.id(index),
            cluster_id=self.rows.image(index),
            stratum=truth_bin(int(self.rows.counts[index])),
            place=int(self.rows.numbers[index]),
        )

    def fault(self, place: int) -> str | None:
        """Return what is wrong with a row itself, or None."""
        fault = int(self.rows.faults[self.order[place]])
        return None if fault == FINE else FAULTS[fault]

    def image(self, place: int) -> str:
        """Return the sha256 of a row's picture."""
        return self.rows.image(int(self.order[place]))


Stamps = tuple[tuple[Path, int, int], ...]


def ranked_rows(files: Sequence[Path], method: str, max_count: int | None, seed: int) -> RankedRows:
    """Return the rows of the files in the order of the seed.

    Raises:
        MissingDataError: a file cannot be read (see `list_rows`).
    """
    stamps = tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in files)
    return _ranked(stamps, method, max_count, seed)


def frozen_rows(
    files: Sequence[Path], method: str, max_count: int | None, names: Sequence[str]
) -> RankedRows:
    """Return the rows of these ids, in their order.

    Raises:
        SpecError: an id is not in the files.
    """
    stamps = tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in files)
    rows, wanted = _listed(stamps, method, max_count), set(names)
    at = {name: index for index, name in enumerate(rows.ids()) if name in wanted}
    for name in names:
        if name not in at:
            raise SpecError(
                f"dataset.manifest: '{name}' is not among the rows at {files[0].parent} with this "
                f"choice; the manifest belongs to other files or another choice"
            )
    return RankedRows(rows, np.array([at[name] for name in names], np.int64))


# Kept for the next call of the same process: population, evaluated and held-out samples.
@lru_cache(maxsize=1)
def _listed(stamps: Stamps, method: str, max_count: int | None) -> Rows:
    return list_rows([path for path, _, _ in stamps], method, max_count)


@lru_cache(maxsize=1)
def _ranked(stamps: Stamps, method: str, max_count: int | None, seed: int) -> RankedRows:
    rows, keys = _listed(stamps, method, max_count), bytearray()
    for name in rows.ids():
        keys += hashlib.sha256(f"{seed}/{name}".encode()).digest()[:16]
    # 128 bits of the hash order the rows as all of it would: no two of them are equal.
    high, low = np.frombuffer(bytes(keys), ">u8").astype(np.uint64).reshape(-1, 2).T
    return RankedRows(rows, np.lexsort((low, high)))


@dataclass(frozen=True)
class Skipped:
    """A row that was passed over: its place in the whole order, and why."""

    place: int
    reason: str


class Walk:
    """The walk along the order; `drawn` are the places of ranks 0, 1, 2, ..."""

    def __init__(self, items: RankedRows, pictures: Pictures, max_skipped_share: float) -> None:
        """Start before the first place."""
        self.items, self.pictures, self.max_skipped_share = items, pictures, max_skipped_share
        self.drawn: list[int] = []
        self.skipped: list[Skipped] = []

    @property
    def walked(self) -> int:
        """Return how many places were looked at."""
        return len(self.drawn) + len(self.skipped)

    @property
    def is_over(self) -> bool:
        """Say whether the order has ended, or too much of it was passed over."""
        return self._ends_at(self.walked, len(self.skipped))

    def _ends_at(self, walked: int, skipped: int) -> bool:
        allowed = max(LEAST_SKIPPED, self.max_skipped_share * walked)
        return walked == len(self.items) or skipped > allowed

    def fault(self, place: int) -> str | None:
        """Return why a place cannot be drawn, its row's fault first, or None."""
        return self.items.fault(place) or self.pictures.fault(self.items.image(place))

    def to_rank(self, rank: int | None) -> None:
        """Walk until this rank is drawn, or with None until the walk is over."""
        while (rank is None or len(self.drawn) <= rank) and not self.is_over:
            place = self.walked
            fault = self.fault(place)
            if fault is None:
                self.drawn.append(place)
            else:
                self.skipped.append(Skipped(place, fault))

    def count(self, opened: int) -> int:
        """Return how many ranks there are; only the pictures of the first `opened` are opened.

        Of the others a file of the right name counts, so that a mirror of all pictures does not
        cost the decoding of all: the number is then an upper bound.
        """
        self.to_rank(opened - 1)
        walked, skipped = self.walked, len(self.skipped)
        while not self._ends_at(walked, skipped):
            image = self.items.image(walked)
            skipped += bool(self.items.fault(walked)) or not self.pictures.has(image)
            walked += 1
        return walked - skipped

    def wanted(self, n: int | None, getable: str) -> Iterator[int]:
        """Yield the places to get so that n ranks can be drawn: those of the fault `getable`."""
        ready = 0
        for place in range(len(self.items)):
            if n is not None and ready >= n:
                return
            fault = self.fault(place)
            ready += fault in (None, getable)
            if fault == getable:
                yield place
