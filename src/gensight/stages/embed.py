"""Embedding: what an encoder makes of the grids that were read, and of what they are compared with.

A cell's features lie in a file of their own, so that a new model embeds only its own grids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from gensight import encoders, images
from gensight.errors import SpecError
from gensight.pixels.grid_text import stored_grid
from gensight.pixels.resampling import box_reduced
from gensight.records import Candidate, Feature, Prediction, RowFile, Sample, write_rows
from gensight.vocabulary import vocabulary

#: Pictures that are held at once; how many an encoder takes together is its own setting.
AT_ONCE = 32
T = TypeVar("T")


def embed(predictions: str, output: str, determinants: Mapping[str, Any]) -> int:
    """Write the features of a cell's readings; return their number.

    Readings that are not valid have none. Equal grids are embedded once.
    """
    rows = RowFile(predictions, Prediction, determinants["predictions"])
    return write_rows(output, Feature, _features(rows, determinants), determinants, [predictions])


def gallery(samples: str, output: str, determinants: Mapping[str, Any]) -> int:
    """Write the features of a benchmark's candidates, its own first; return their number."""
    rows = RowFile(samples, Sample, determinants["samples"])
    evaluated = (row for row in rows if row.role == "evaluated")
    encoder = _opened(determinants)
    if determinants["candidates"]["template"] is None:
        found = _pictures(evaluated, encoder, determinants)
    else:
        found = _texts(evaluated, encoder, determinants["candidates"])
    return write_rows(output, Candidate, found, determinants, [samples])


def _opened(determinants: Mapping[str, Any]) -> encoders.Encoder:
    return encoders.open_encoder(determinants["module"], determinants["settings"], Path.cwd())


def _features(rows: Iterable[Prediction], plan: Mapping[str, Any]) -> Iterator[Feature]:
    encoder: encoders.Encoder | None = None
    setup, known = "", dict[str, list[float]]()
    valid = (row for row in rows if row.status == "ok" and row.text is not None)
    for some in _batches(valid, AT_ONCE):
        new = list(dict.fromkeys(row.text for row in some if row.text not in known))
        if new:
            # Weights load at the first grid: a cell without one needs none.
            encoder = encoder or _opened(plan)
            setup = encoder.setup
            shown = [encoders.enlarged(stored_grid(t).picture(), plan["settings"]) for t in new]
            vectors = encoder.pictures(shown)
            known |= dict(zip(new, vectors.tolist(), strict=True))
        for row in some:
            yield Feature(
                sample_id=row.sample_id,
                repeat=row.repeat,
                severity=row.severity,
                variant=row.variant,
                vector=known[row.text],
                setup=setup,
            )


def _pictures(
    samples: Iterable[Sample], encoder: encoders.Encoder, plan: Mapping[str, Any]
) -> Iterator[Candidate]:
    """Yield the samples' own pictures as candidates, named by sample, and each at every size.

    The reduced ones are box-filtered and keep all their colours (PROTOCOLS 1.6).
    """
    orient, settings, setup = plan["exif"] == "apply", plan["settings"], encoder.setup
    for some in _batches(samples, AT_ONCE):
        shown = [
            images.decode_rgb(_picture(row, plan), matte=(255, 255, 255), orient=orient)
            for row in some
        ]
        for row, vector in zip(some, encoder.pictures(shown).tolist(), strict=True):
            yield Candidate(name=row.sample_id, narrow=True, vector=vector, setup=setup)
        for size in plan["sizes"]:
            small = [encoders.enlarged(box_reduced(rgb, size), settings) for rgb in shown]
            for row, vector in zip(some, encoder.pictures(small).tolist(), strict=True):
                yield Candidate(
                    name=row.sample_id, narrow=False, size=size, vector=vector, setup=setup
                )


def _picture(sample: Sample, plan: Mapping[str, Any]) -> bytes:
    if sample.image is None:
        raise SpecError(
            f"config/benchmarks/{plan['samples']['benchmark']}.yaml: candidates: sample "
            f"'{sample.sample_id}' has no picture of its own; give the candidates a template"
        )
    return sample.image["bytes"]


def _texts(
    samples: Iterable[Sample], encoder: encoders.Encoder, candidates: Mapping[str, Any]
) -> Iterator[Candidate]:
    """Yield texts about labels as candidates, named by label: the samples', then the others.

    A sample's label is its true text, which a model that is shown a picture is not told. Of a
    vocabulary all concepts are the benchmark's own, however many of them are asked about.
    """
    own = list(dict.fromkeys(row.target_text for row in samples if row.target_text is not None))
    listed = vocabulary() if candidates["vocabulary"] is not None else ()
    own += [one.label for one in listed if one.is_concept and one.label not in own]
    others = [one.label for one in listed if one.label not in own]
    labels = [*own, *others]
    texts = [candidates["template"].replace("{label}", label) for label in labels]
    for place, (label, vector) in enumerate(
        zip(labels, encoder.texts(texts).tolist(), strict=True)
    ):
        narrow = place < len(own)
        yield Candidate(name=label, narrow=narrow, vector=vector, setup=encoder.setup)


def _batches(rows: Iterable[T], size: int) -> Iterator[Sequence[T]]:
    iterator = iter(rows)
    while some := list(islice(iterator, size)):
        yield some
