"""One resampling of the clusters of a benchmark, shared by all models (PROTOCOLS 2.1).

W[b, g] says how often replicate b holds cluster g: multinomial counts, drawn stratum by stratum,
from a seed that is the sha256 of the benchmark's name. Every bootstrapped statistic is a function
of W A, where A holds a model's sums by cluster, so differences between models are paired.

Columns belong to the *names* of the clusters: the order of rows, the number of models and samples
that another model lacks change no bit. Nor do threads or the kind of processor: numbers are cut
into whole-number halves of 26 bits, whose sums of products stay below 2^53 and are therefore exact
in whatever order a BLAS adds them; only the last step rounds, once. The draws are the raw stream of
PCG64, which NumPy guarantees never to change.
"""

from __future__ import annotations

import functools
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gensight.errors import GensightError

REPLICATES = 4000
#: Bits of one half of a number; two halves are as good as a double.
HALF_BITS = 26
#: Replicates that are drawn at once, which bounds the memory.
BLOCK_ROWS = 512
#: Products are taken in tiles of this many multiplications, clusters and columns. Up to this size
#: OpenBLAS starts no threads; on a busy machine these wait for each other for 50 times as long.
TILE, TILE_CLUSTERS, TILE_COLUMNS = 2**18, 512, 16


@dataclass(frozen=True)
class Design:
    """The clusters of a benchmark, sorted by name, with their strata (`""` where there are none).

    >>> Design.of("toy", ["b", "a", "b"])
    Design(benchmark='toy', clusters=('a', 'b'), strata=('', ''))
    """

    benchmark: str
    clusters: tuple[str, ...]
    strata: tuple[str, ...]

    @classmethod
    def of(
        cls, benchmark: str, cluster_ids: Sequence[str], strata: Sequence[str] | None = None
    ) -> Design:
        """Return the design of samples (n,), in any order.

        Raises:
            GensightError: a cluster lies in two strata.
        """
        found = strata_of(cluster_ids, strata, f"benchmark '{benchmark}'")
        return cls(benchmark, tuple(found), tuple(found.values()))

    def matrix(self, replicates: int = REPLICATES) -> ResamplingMatrix:
        """Return W; the same object for the same design."""
        return _drawn(self, replicates)


def strata_of(
    cluster_ids: Sequence[str], strata: Sequence[str] | None = None, where: str = "samples"
) -> dict[str, str]:
    """Return the stratum of every cluster, in the order of the clusters' names.

    Raises:
        GensightError: a cluster lies in two strata.
    """
    names = [""] * len(cluster_ids) if strata is None else [str(stratum) for stratum in strata]
    found: dict[str, str] = {}
    for cluster, stratum in zip(map(str, cluster_ids), names, strict=True):
        if found.setdefault(cluster, stratum) != stratum:
            raise GensightError(
                f"{where}: cluster '{cluster}' lies in the strata '{found[cluster]}' and "
                f"'{stratum}'; resample without strata, or name one stratum for each cluster"
            )
    return dict(sorted(found.items()))


def collapsed(strata: Sequence[str]) -> list[str]:
    """Return strata of at least two clusters each, where there are two clusters at all.

    Strata of one cluster have no variance of their own, so they are joined into one; a last lone
    one joins the smallest other stratum.

    >>> collapsed(["a", "a", "b", "c"])
    ['a', 'a', '(single)', '(single)']
    >>> collapsed(["a", "a", "b"])
    ['a', 'a', 'a']
    """
    sizes = Counter(strata)
    joined = ["(single)" if sizes[name] == 1 else name for name in strata]
    sizes = Counter(joined)
    if sizes["(single)"] != 1 or len(sizes) == 1:
        return joined
    host = min((size, name) for name, size in sizes.items() if name != "(single)")[1]
    return [host if name == "(single)" else name for name in joined]


class ResamplingMatrix:
    """W (replicates, clusters) with named columns; `sums` multiplies it with sums by cluster."""

    def __init__(self, clusters: Sequence[str], counts: np.ndarray) -> None:
        self.clusters = tuple(clusters)
        self.counts = counts
        self.counts.flags.writeable = False
        self._places = {name: place for place, name in enumerate(self.clusters)}

    def sums(self, clusters: Sequence[str], numbers: np.ndarray) -> np.ndarray:
        """Return W A, float64 (replicates, k), of finite numbers (clusters, k).

        `clusters` names the rows of `numbers`; clusters that are not named add nothing.

        Raises:
            GensightError: a cluster is not of this benchmark.
        """
        if tuple(clusters) == self.clusters:
            return exact_product(self.counts, numbers)
        unknown = [name for name in clusters if name not in self._places]
        if unknown:
            raise GensightError(
                f"cluster '{unknown[0]}' is not among the {len(self.clusters)} clusters that are "
                f"resampled; give the design all clusters of the benchmark"
            )
        return exact_product(self.counts[:, [self._places[name] for name in clusters]], numbers)


def resampling_matrix(
    benchmark: str,
    clusters: Sequence[str],
    strata: Sequence[str] | None = None,
    replicates: int = REPLICATES,
) -> ResamplingMatrix:
    """Return W of a benchmark: columns are its clusters sorted by name, each row sums to G.

    `clusters` and `strata` may be those of samples: repeated, in any order.

    >>> W = resampling_matrix("toy", ["b", "a", "c"], replicates=2)
    >>> W.clusters, W.counts.sum(axis=1).tolist()
    (('a', 'b', 'c'), [3, 3])
    """
    return Design.of(benchmark, clusters, strata).matrix(replicates)


@functools.lru_cache(maxsize=8)
def _drawn(design: Design, replicates: int) -> ResamplingMatrix:
    strata = np.array(collapsed(design.strata))
    dtype = np.uint16 if len(strata) < 2**16 else np.uint32
    counts = np.zeros((replicates, len(strata)), dtype)
    stream = bit_stream(design.benchmark)
    for stratum in sorted(set(strata.tolist())):
        places = np.flatnonzero(strata == stratum)
        for rows in _blocks(replicates, BLOCK_ROWS):
            drawn = _multinomial(stream, rows.stop - rows.start, len(places))
            counts[rows, places] = drawn
    return ResamplingMatrix(design.clusters, counts)


def _multinomial(stream: np.random.PCG64, rows: int, size: int) -> np.ndarray:
    """Return how often each of `size` is drawn in `size` draws, (rows, size)."""
    raw = stream.random_raw(rows * size)
    # The upper half times the size, over 2^32: uniform but for a share of size / 2^32.
    drawn = ((raw >> np.uint64(32)) * np.uint64(size) >> np.uint64(32)).astype(np.int64)
    drawn += np.repeat(np.arange(rows) * size, size)
    return np.bincount(drawn, minlength=rows * size).reshape(rows, size)


def _blocks(size: int, step: int) -> Iterator[slice]:
    for start in range(0, size, step):
        yield slice(start, min(start + step, size))


def bit_stream(name: str) -> np.random.PCG64:
    """Return the stream of random bits that belongs to a name: its seed is the name's sha256."""
    return np.random.PCG64(int.from_bytes(hashlib.sha256(name.encode()).digest(), "big"))


def exact_product(integers: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return integers (b, g) times finite numbers (g, k), with the same bits on every machine.

    Exact but for a rounding of each number to 2^-52 of the largest in its column and a last one of
    the result, as long as the absolute integers of a row sum to less than 2^27.

    >>> exact_product(np.array([[1, 2]]), np.array([[0.5], [0.25]])).tolist()
    [[1.0]]
    """
    _, exponents = np.frexp(np.abs(numbers).max(axis=0, initial=0.0))
    shifts = HALF_BITS - exponents
    scaled = np.ldexp(numbers, shifts)
    upper = np.rint(scaled)
    lower = np.rint(np.ldexp(scaled - upper, HALF_BITS))
    # Whole numbers, such as counts, have no lower half; leaving it out changes no bit.
    used = lower.any(axis=0)
    halves = np.ascontiguousarray(np.hstack([upper, lower[:, used]]))
    products = _tiled_product(integers, halves)
    result = products[:, : numbers.shape[1]]
    result[:, used] += np.ldexp(products[:, numbers.shape[1] :], -HALF_BITS)
    return np.ldexp(result, -shifts)


def _tiled_product(integers: np.ndarray, halves: np.ndarray) -> np.ndarray:
    products = np.zeros((len(integers), halves.shape[1]))
    rows_at_once = max(1, TILE // (TILE_CLUSTERS * min(max(1, halves.shape[1]), TILE_COLUMNS)))
    for rows in _blocks(len(integers), rows_at_once):
        block = integers[rows].astype(np.float64)
        for clusters in _blocks(len(halves), TILE_CLUSTERS):
            for columns in _blocks(halves.shape[1], TILE_COLUMNS):
                products[rows, columns] += block[:, clusters] @ halves[clusters, columns]
    return products
