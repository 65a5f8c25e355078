"""PixMo-Points: objects named by a label and pointed at, counted (ProbeGen 4.1, its fourth task).

Files. The user's Parquet files, or JSON lines with the same columns (image_url, image_sha256,
points as a list of x and y, count, label, collection_method), in the folder or its `data/`; and
pictures in `images/`, named by their sha256 with or without an extension. Nothing is downloaded
here: `gensight data urls` lists addresses for a downloader of the user's own.

Truth. The number of listed points: duplicates count, an empty list is 0, the column `count` is not
read. Points are per cent of width and height; (52.9, 43.9) of 640 x 480 is the pixel (338.56,
210.72), of the upright picture, as annotators saw it. A point outside 0 to 100 is never taken for
pixels or per mille: its row is refused, and where more than 1 % of the rows (assumed) are like
that, the whole file.

Identity. The id of a row is 12 hex digits of its picture's sha256 and 12 of the sha256 of (sha256,
label, method, points), so it changes neither with the files' format nor with the order or number of
other rows; of rows that are equal in all this, the second ends with _2. Rows of one picture are
one cluster.

Draw. All rows have a fixed order by sha256("{seed}/{id}"). Pictures are missing, dead or changed
for many rows, so the ranks are those of the rows whose picture is here, has the right sha256 and
can be read, without gaps: a row that is passed over is replaced by the next one, never by a new
seed. What was passed over is written to `unavailable.tsv` in the data set's folder. After
`assumed_max_skipped_share` of the rows the draw ends: pictures serve about ten rows each, so that
further replacements would come from the few pictures that are here.

Hence the ranks are those of a folder of pictures, not of the data set. FREEZE A MANIFEST
(`gensight data manifest`) when the pictures are got, before the first model answers: a picture that
arrives or is lost later moves every rank behind it, and other machines have other pictures. With a
manifest the manifest decides, and a picture of it that is not here is an error.

`population_n` of a sample is the number of all rows of the choice, whatever is available;
`population` is how many ranks can be drawn. Neither paper nor data card says which rows were used:
`collection_method` all and no `assumed_max_count` are assumed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from gensight import atomic, images
from gensight.datasets._disk import DISK_DEFAULTS, Item, advised, listed, root_of
from gensight.datasets._pixmo_draw import RankedRows, Walk, frozen_rows, ranked_rows
from gensight.datasets._pixmo_pictures import ABSENT, Pictures
from gensight.datasets._pixmo_rows import FAULTS, NO_LABEL, NO_POINTS, OUTSIDE, read_rows, row_files
from gensight.errors import AbsentDataError, MissingDataError, SpecError
from gensight.records import Sample

VERSION = 1
DEFAULTS = {
    **DISK_DEFAULTS,
    "collection_method": "all",
    "assumed_max_count": None,
    "assumed_max_skipped_share": 0.5,
}
CHOICES = {"collection_method": ["all", "counting", "pointing"]}
# What tables print beside the numbers of a task.
FACTS = {
    "counting": "the truth is the number of listed points, 0 included; pictures that are gone are "
    "replaced by rank",
}
FOLDER = "pixmo_points"
LICENCE = "pixmo"
SOURCE = (
    "get the Parquet files of allenai/pixmo-points on the Hugging Face hub (ODC-BY 1.0), and the "
    "pictures at the addresses that this prints: gensight data urls pixmo_points"
)
ROWS = 2_376_222
IMAGES, LOG = "images", "unavailable.tsv"
ROWS_AT_ONCE = 1024
OPENED_RANKS = 5000

Parameters = Mapping[str, Any]


def list_items(parameters: Parameters) -> RankedRows:
    """Return all rows of the choice in their order, whatever is available.

    A sequence of items that are made when asked for: 2.4 million of them would not fit.

    Raises:
        MissingDataError: the files are not there or are other files.
        SpecError: a parameter is wrong, or an id of the manifest is not among the rows.
    """
    files = row_files(root_of(parameters))
    choice = _choice(parameters)
    names = parameters.get("manifest")
    if names is None:
        return ranked_rows(files, *choice, parameters["seed"])
    return frozen_rows(files, *choice, names)


def read_item(parameters: Parameters, item: Item) -> Sample:
    """Return the sample of an item.

    Raises:
        MissingDataError: its picture is not here, or its row is refused.
    """
    root = root_of(parameters)
    (row,) = read_rows(row_files(root), [item.place]).values()
    return _sample(item, row, Pictures(root / IMAGES).read(item.cluster_id))


def population(parameters: Parameters) -> int:
    """Return how many ranks there are: of the manifest, or that can be drawn here."""
    names = parameters.get("manifest")
    return available(parameters) if names is None else len(names)


def available(parameters: Parameters) -> int:
    """Return how many ranks have their picture here.

    Opens the pictures of the first OPENED_RANKS alone; with more the number is an upper bound.
    """
    walk = _walk(parameters)
    if parameters.get("manifest") is not None:
        return sum(walk.fault(place) is None for place in range(len(walk.items)))
    return walk.count(OPENED_RANKS)


def iter_samples(parameters: Parameters, ranks: Iterable[int]) -> Iterator[Sample]:
    """Yield the samples of these ranks, in their order.

    Raises:
        MissingDataError: the data are not there, too few pictures are, or one of the manifest is
            not.
    """
    ranks = iter(ranks)
    walk = _walk(parameters)
    files = row_files(root_of(parameters))
    while some := list(islice(ranks, ROWS_AT_ONCE)):
        places = _places(parameters, walk, max(some))
        known = [places[rank] for rank in some if 0 <= rank < len(places)]
        items = {place: walk.items[place] for place in known}
        rows = read_rows(files, [item.place for item in items.values()])
        for rank in some:
            if not 0 <= rank < len(places):
                raise _exhausted(parameters, walk, rank)
            item = items[places[rank]]
            sample = _sample(item, rows[item.place], walk.pictures.read(item.cluster_id))
            yield replace(sample, rank=rank, population_n=len(walk.items.rows))


def items_in_rank_order(
    parameters: Parameters, n: int | None, least: int | None = None
) -> list[Item]:
    """Return the items of the first n ranks, or of all that can be drawn.

    Raises:
        MissingDataError: fewer than n, or than `least` where that is given, can be drawn.
    """
    walk = _walk(parameters)
    places = _places(parameters, walk, None if n is None else n - 1)
    least = n if least is None else least
    if least is not None and len(places) < least:
        raise _exhausted(parameters, walk, least - 1)
    return [walk.items[place] for place in places[:n]]


def missing_urls(parameters: Parameters, n: int | None) -> Iterator[dict[str, Any]]:
    """Yield place, image_url and image_sha256 of the pictures to get so that n ranks can be drawn.

    Places are those of the whole order. A picture is named once, at its first place; one that was
    tried in vain (an empty file, another sha256) is not named again.
    """
    walk, seen = _walk(parameters), set()
    places = walk.wanted(n, ABSENT)
    files = row_files(root_of(parameters))
    while some := list(islice(places, ROWS_AT_ONCE)):
        items = {place: walk.items[place] for place in some}
        rows = read_rows(files, [item.place for item in items.values()])
        for place, item in items.items():
            if item.cluster_id not in seen:
                seen.add(item.cluster_id)
                url = rows[item.place]["image_url"]
                yield {"place": place, "image_url": url, "image_sha256": item.cluster_id}


def expected_count(parameters: Parameters) -> int | None:
    """Return the number of rows that the data set ships; None for a part of it or a twin."""
    whole = parameters["collection_method"] == "all" and parameters["assumed_max_count"] is None
    return ROWS if whole and not parameters["twin"] else None


def missing_data(parameters: Parameters) -> str | None:
    """Return what is not there and where to get it, or None; lists no row and opens no picture."""
    try:
        with advised(parameters):
            folder = root_of(parameters, IMAGES) / IMAGES
            row_files(folder.parent)
            if not folder.is_dir() or not any(folder.iterdir()):
                raise AbsentDataError(f"{folder} holds no picture")
    except MissingDataError as error:
        return str(error)
    return None


def _choice(parameters: Parameters) -> tuple[str, int | None]:
    most = parameters["assumed_max_count"]
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
        raise SpecError(
            f"dataset.parameters.assumed_max_count: expected a whole number, got {most!r}"
        )
    return parameters["collection_method"], most


def _walk(parameters: Parameters) -> Walk:
    share = parameters["assumed_max_skipped_share"]
    if not 0 <= share <= 1:
        raise SpecError(
            f"dataset.parameters.assumed_max_skipped_share: expected 0 to 1, got {share!r}"
        )
    pictures = Pictures(Path(parameters["root"]) / IMAGES)
    return Walk(listed(list_items, parameters), pictures, share)


def _places(parameters: Parameters, walk: Walk, rank: int | None) -> list[int] | range:
    """Return the places of the ranks up to this one, of fewer where the draw ends before."""
    if parameters.get("manifest") is not None:
        return range(len(walk.items))
    walk.to_rank(rank)
    _write_log(parameters, walk)
    return walk.drawn


def _exhausted(parameters: Parameters, walk: Walk, rank: int) -> MissingDataError:
    root = Path(parameters["root"])
    if parameters.get("manifest") is not None:
        return MissingDataError(f"rank {rank} is asked for, but the manifest ends before it")
    if not walk.skipped:
        return MissingDataError(
            f"rank {rank} is asked for, but {root} holds {len(walk.items)} samples; lower n or "
            f"held_out.first_rank"
        )
    return MissingDataError(
        f"rank {rank} is asked for, but {len(walk.drawn)} can be drawn: {len(walk.skipped)} of the "
        f"first {walk.walked} rows are not available (see {root / LOG})"
    )


def _write_log(parameters: Parameters, walk: Walk) -> None:
    """Write what was passed over so far; say it where the folder cannot be written."""
    root = Path(parameters["root"])
    log = root / LOG
    if not walk.skipped and not log.exists():
        return
    items = [walk.items[skipped.place] for skipped in walk.skipped]
    rows = read_rows(row_files(root), [item.place for item in items])
    lines = ["place\timage_sha256\timage_url\treason"]
    for item, skipped in zip(items, walk.skipped, strict=True):
        url = rows[item.place]["image_url"]
        lines.append(f"{skipped.place}\t{item.cluster_id}\t{url}\t{skipped.reason}")
    try:
        atomic.write_text(log, "\n".join(lines) + "\n")
    except OSError as error:
        print(f"{log} cannot be written ({error.strerror}):", *lines, sep="\n", file=sys.stderr)


def _sample(item: Item, row: Mapping[str, Any], picture: bytes) -> Sample:
    # Rows at fault are never drawn, but a manifest could name one.
    label, points = (row["label"] or "").strip(), row["points"]
    if not label or points is None:
        raise MissingDataError(f"{item.id}: {FAULTS[NO_POINTS if label else NO_LABEL]}")
    info = images.inspect(picture)
    width, height = info.upright_size
    return Sample(
        sample_id=item.id,
        rank=0,
        cluster_id=item.cluster_id,
        stratum=item.stratum,
        licence=LICENCE,
        image={"bytes": picture, "path": f"{item.id}.{images.EXTENSIONS[info.kind]}"},
        width=width,
        height=height,
        query=label,
        query_kind="referring",
        target_count=len(points),
        target_points=pixels_of(points, width, height),
    )


def pixels_of(
    points: Iterable[Mapping[str, float]], width: int, height: int
) -> list[dict[str, float]]:
    """Return points in per cent as pixels of a picture of this size.

    Raises:
        MissingDataError: a point is outside 0 to 100.
    """
    found = []
    for point in points:
        x, y = point["x"], point["y"]
        if not (0 <= x <= 100 and 0 <= y <= 100):
            raise MissingDataError(f"({x}, {y}): {FAULTS[OUTSIDE]}")
        found.append({"x": x * width / 100, "y": y * height / 100})
    return found
