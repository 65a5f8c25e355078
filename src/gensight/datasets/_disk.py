"""Data sets on the user's disk: the whole population listed, then drawn in one fixed order.

A module for files on disk offers `list_items(parameters)` and `read_item(parameters, item)`, and
gets `population` and `iter_samples` from here. A sample whose files cannot be read is told to
`parameters["left_out"]`, where there is one, and left out. Rank r is the r-th item in the order of
sha256("{seed}/{item id}"): no random generator, no listing order of a folder and no number of asked
samples can change it, so the first 100 ranks are a subset of the first 500.

`parameters["root"]` is where the data set lies; it is the user's and never part of a digest.
`parameters["manifest"]`, where the benchmark names one, holds the ids in rank order instead.
`parameters["twin"]` says that the folder holds a synthetic twin (see `gensight.twins`): the files
of one are marked, and neither is ever taken for the other. `parameters["source"]` says where the
data set is to be had: errors about files that are not there, and no others, end with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gensight.errors import AbsentDataError, GensightError, MissingDataError, SpecError
from gensight.records import Sample

Parameters = Mapping[str, Any]

#: What every module of this kind has among its DEFAULTS.
DISK_DEFAULTS = {"seed": 0, "twin": False}
TWIN_MARK = "GENSIGHT_TWIN"
#: One bad file must not stop a benchmark; a share like this is no accident any more.
UNREADABLE_SHARE = 0.01


@dataclass(frozen=True)
class Item:
    """One possible sample: its id, what it shares with others, and where to read it.

    `place` is the module's own (a path, an index, a key); nothing else reads it.
    """

    id: str
    cluster_id: str
    stratum: str | None = None
    place: Any = None


ListItems = Callable[[Parameters], Sequence[Item]]
ReadItem = Callable[[Parameters, Item], Sample]
PicturePath = Callable[[Parameters, Item], Path]


@contextmanager
def advised(parameters: Parameters) -> Iterator[None]:
    """Add to an AbsentDataError how to get the files: from their source, or as a new twin."""
    try:
        yield
    except AbsentDataError as error:
        advice = _how_to_get(parameters)
        # No AbsentDataError any more: advice is given once.
        raise MissingDataError(f"{error}; {advice}" if advice else str(error)) from error


def _how_to_get(parameters: Parameters) -> str:
    if not parameters["twin"]:
        return str(parameters.get("source", ""))
    root = Path(parameters["root"])
    again = " --overwrite" if root.exists() else ""
    return f"make twins: gensight data twin {root.parent}{again}"


@contextmanager
def item_told(item: Item) -> Iterator[None]:
    """Add to an error which sample it stopped."""
    try:
        yield
    except GensightError as error:
        raise type(error)(f"sample {item.id}: {error}") from error


def listed(list_items: ListItems, parameters: Parameters) -> Sequence[Item]:
    """Return a module's items; of files that are not there the error says how to get them."""
    with advised(parameters):
        return list_items(parameters)


def ranked(items: Iterable[Item], seed: int) -> list[Item]:
    """Return the items in rank order; two items of one id are a fault of the data set.

    Raises:
        MissingDataError: there is no item, or an id occurs twice.
    """
    by_id: dict[str, Item] = {}
    for item in items:
        if item.id in by_id:
            raise MissingDataError(
                f"two items are called {item.id}; the data set is not as shipped"
            )
        by_id[item.id] = item
    if not by_id:
        raise MissingDataError("the data set holds no item; it may be a partial download")
    return [by_id[name] for name in sorted(by_id, key=lambda name: (draw_key(seed, name), name))]


def draw_key(seed: int, name: str) -> str:
    """Return what names are drawn by: in the order of these keys, by the seed and nothing else."""
    return hashlib.sha256(f"{seed}/{name}".encode()).hexdigest()


def population_of(list_items: ListItems) -> Callable[[Parameters], int]:
    """Return the `population` of a module that lists its items."""

    def _population(parameters: Parameters) -> int:
        return len(in_rank_order(list_items, parameters))

    _population.__doc__ = "Return the number of samples that the data set holds."
    return _population


def samples_of(
    list_items: ListItems, read_item: ReadItem
) -> Callable[[Parameters, Iterable[int]], Iterator[Sample]]:
    """Return the `iter_samples` of a module that lists and reads its items."""

    def _iter_samples(parameters: Parameters, ranks: Iterable[int]) -> Iterator[Sample]:
        whole = listed(list_items, parameters)
        items, unreadable = _ordered(whole, parameters), []
        for rank in ranks:
            if rank >= len(items):
                raise MissingDataError(
                    f"rank {rank} is asked for, but the data set holds {len(items)} samples; lower "
                    f"n or held_out.first_rank, or check that the download is complete"
                )
            try:
                sample = read_item(parameters, items[rank])
            except GensightError as error:
                if "left_out" not in parameters:
                    raise
                unreadable.append(f"rank {rank}, {items[rank].id}: {error}")
                parameters["left_out"](unreadable[-1])
                _check_few(parameters, unreadable, len(items))
                continue
            yield _placed(sample, items[rank], rank, len(whole))

    _iter_samples.__doc__ = "Yield the samples of these ranks, in their order."
    return _iter_samples


def missing_by(
    list_items: ListItems, picture_path: PicturePath | None = None
) -> Callable[[Parameters], str | None]:
    """Return the `missing_data` of a module: what its listing complains of, else absent pictures.

    `picture_path` is where the picture of an item lies, for modules whose listing does not look.
    """

    def _missing_data(parameters: Parameters) -> str | None:
        try:
            with advised(parameters):
                items = list_items(parameters)
                if picture_path is not None:
                    _check_pictures({picture_path(parameters, item) for item in items})
        except GensightError as error:
            return str(error)
        return None

    _missing_data.__doc__ = "Return in one line what is missing and what to get; None: all is here."
    return _missing_data


def _check_pictures(paths: set[Path]) -> None:
    absent = sorted(path for path in paths if not path.is_file())
    if absent:
        raise AbsentDataError(
            f"{len(absent)} of {len(paths)} pictures are not there, as {absent[0]}"
        )


def _check_few(parameters: Parameters, unreadable: Sequence[str], population: int) -> None:
    """Let single broken files pass, named in the log; more of them are a broken download.

    Raises:
        MissingDataError: more than one file, and more than one in a hundred, cannot be read.
    """
    if len(unreadable) > max(1, population * UNREADABLE_SHARE):
        raise MissingDataError(
            f"{parameters['root']}: {len(unreadable)} samples cannot be read, the last of them "
            f"{unreadable[-1]}; the download is damaged"
        )


def _placed(sample: Sample, item: Item, rank: int, population: int) -> Sample:
    return replace(
        sample,
        sample_id=item.id,
        rank=rank,
        cluster_id=item.cluster_id,
        stratum=item.stratum,
        population_n=population,
    )


def in_rank_order(list_items: ListItems, parameters: Parameters) -> list[Item]:
    """Return the data set's items in rank order: the manifest's, or drawn by the seed.

    Raises:
        SpecError: the manifest names an item that the data set does not hold.
    """
    return _ordered(listed(list_items, parameters), parameters)


def _ordered(items: Sequence[Item], parameters: Parameters) -> list[Item]:
    order = parameters.get("manifest")
    if order is None:
        return ranked(items, parameters["seed"])
    by_id = {item.id: item for item in items}
    for name in order:
        if name not in by_id:
            raise SpecError(
                f"dataset.manifest: '{name}' is not in the data set at {parameters['root']}; the "
                f"manifest belongs to other files, or the download is partial"
            )
    return [by_id[name] for name in order]


def root_of(parameters: Parameters, *needed: str) -> Path:
    """Return the data set's folder after looking for these files or folders in it.

    Raises:
        AbsentDataError: the folder or one of them is not there.
        MissingDataError: it is a twin where the real data set is asked for, or the other way round.
    """
    root = Path(parameters["root"])
    if not root.exists():
        raise AbsentDataError(f"{root} is not there")
    marked = (root / TWIN_MARK).exists()
    if marked and not parameters["twin"]:
        raise MissingDataError(f"{root} holds a synthetic twin; set run.twin, or give the real one")
    if parameters["twin"] and not marked:
        raise MissingDataError(
            f"{root} holds no synthetic twin; write twins into another folder and set data_root to "
            f"it: gensight data twin FOLDER"
        )
    for name in needed:
        if not (root / name).exists():
            raise AbsentDataError(f"{root / name} is not there")
    return root


def check_count(parameters: Parameters, found: int, expected: int, what: str) -> None:
    """Refuse a partial download; a twin has as many items as it likes.

    Raises:
        AbsentDataError: the number found is not the number that the data set ships.
    """
    if not parameters["twin"] and found != expected:
        raise AbsentDataError(
            f"{parameters['root']}: {found} {what} where the data set ships {expected}; the "
            f"download is partial, or these are other files"
        )
