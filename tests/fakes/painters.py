"""What fakes answer with: a small picture told by the request, or what a reference model paints."""

from __future__ import annotations

import hashlib
import io
import json
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from fakes.billing import Painted

SIDE = 16


def plain(texts: list[str], pictures: list[bytes]) -> Painted:
    """Return a uniform picture whose colour follows from the request, and the text "7"."""
    asked = hashlib.sha256("\n".join(texts).encode())
    for picture in pictures:
        asked.update(hashlib.sha256(picture).digest())
    red, green, blue = asked.digest()[:3]
    return Painted(image=png(Image.new("RGB", (SIDE, SIDE), (red, green, blue))), text="7")


def png(picture: Image.Image) -> bytes:
    """Return a picture as PNG."""
    data = io.BytesIO()
    picture.save(data, format="PNG")
    return data.getvalue()


class UnknownRequestError(LookupError):
    """A request that no prompt of the results asks about any of their samples."""


class Gallery:
    """Paints answers to a checkout's requests with gensight's reference models.

    A request is known by its words and by a picture: those of results/requests, and a sample's
    picture as it is sent. Files are read when the first request comes, and once more when one comes
    that is not known: samples may be made after a fake was started.

    `method` and its settings are a generation block of the adapter `reference`, with the truth of
    the sample at hand: {"disturbance": "shift"} with a `severity` paints worse. Whole numbers are
    told by the scripted `teller`, other words by the oracle, whatever the method.
    """

    def __init__(
        self,
        results: str | Path,
        *,
        method: str = "oracle",
        severity: float | None = None,
        **settings: Any,
    ) -> None:
        # A fake without a gallery starts without gensight.
        from gensight.models.reference import open_model

        self.severity = severity
        self._painter = open_model({"method": method, **settings}, [])
        self._oracle = open_model({"method": "oracle"}, [])
        self._teller = open_model({"method": "teller"}, [])
        self._shelves = _Shelves(Path(results))
        self._lock = threading.Lock()

    def __call__(self, texts: list[str], pictures: list[bytes]) -> Painted:
        """Answer a request.

        Raises:
            UnknownRequestError: nothing in the results asks this.
        """
        from gensight.models import Part, Turn

        with self._lock:
            sample, form, picture = self._shelves.find(texts, pictures)
        parts = [Part("image", image=picture), *(Part("text", text=text) for text in texts)]
        turn = Turn(tuple(parts), form, severity=self.severity, truth=sample)
        reply = self._model_for(form).answer(turn)
        return Painted(image=reply.images[0] if reply.images else None, text=reply.text)

    def _model_for(self, form: dict[str, Any]) -> Any:
        if form["kind"] != "text":
            return self._painter
        return self._teller if form["content"] == "integer" else self._oracle


class _Place(NamedTuple):
    benchmark: str
    sample_id: str


class _Shelves:
    """Where the samples of a checkout are: by the words that ask for them, then by their picture.

    Pictures are brought to the sent size one by one until the one that was sent is among them, so
    that a benchmark costs a fake no more than it costs the runner.
    """

    def __init__(self, results: Path) -> None:
        self.results = results
        self._seen: list[tuple[str, int, int]] = []
        self._stores: dict[str, Any] = {}
        # {words of a turn: {place: answer form}}
        self._asked: dict[tuple[str, ...], dict[_Place, str]] = {}
        self._digests: dict[_Place, set[str]] = {}

    def find(self, texts: Sequence[str], pictures: Sequence[bytes]) -> tuple[Any, Any, bytes]:
        """Return the sample, the form of the answer, and which of the pictures is the sample's."""
        for _ in range(2):
            found = self._look(texts, pictures)
            if found is not None:
                place, form, picture = found
                sample = self._stores[place.benchmark][place.sample_id]
                return sample, json.loads(form), picture
            if not self._read_again():
                break
        raise UnknownRequestError(
            f"gallery: nothing in {self.results} asks '{' '.join(texts)[:200]}' about any of "
            f"{len(pictures)} pictures"
        )

    def _look(
        self, texts: Sequence[str], pictures: Sequence[bytes]
    ) -> tuple[_Place, str, bytes] | None:
        sent = {hashlib.sha256(picture).hexdigest(): picture for picture in pictures}
        said = "\n".join(texts)
        wordings = [words for words in self._asked if _says(said, words)]
        for words in sorted(wordings, key=lambda words: -sum(map(len, words))):
            for place, form in self._known_first(self._asked[words]):
                for digest in self._pictures(place) & set(sent):
                    return place, form, sent[digest]
        return None

    def _known_first(self, asked: dict[_Place, str]) -> Iterator[tuple[_Place, str]]:
        known = [item for item in asked.items() if item[0] in self._digests]
        yield from known
        yield from (item for item in asked.items() if item[0] not in self._digests)

    def _pictures(self, place: _Place) -> set[str]:
        """Return the digests that a sample's picture may be sent under: upright, or as it lies."""
        from gensight import images

        if place not in self._digests:
            data = self._stores[place.benchmark][place.sample_id].image["bytes"]
            # A plan says whether orientation tags count; most pictures have none.
            ways = [True] if images.inspect(data).orientation == 1 else [True, False]
            self._digests[place] = {
                hashlib.sha256(images.standardise(data, orient=way)).hexdigest() for way in ways
            }
        return self._digests[place]

    def _read_again(self) -> bool:
        """Read the results if they changed since; say whether they did."""
        requests = sorted(self.results.glob("requests/*/*.parquet"))
        samples = sorted(self.results.glob("samples/*.parquet"))
        states = [(path, path.stat()) for path in [*requests, *samples]]
        seen = [(str(path), state.st_mtime_ns, state.st_size) for path, state in states]
        if seen == self._seen:
            return False
        self._seen = seen
        self._read(samples, requests)
        return True

    def _read(self, samples: list[Path], requests: list[Path]) -> None:
        from gensight.records import Request, RowFile, Sample, SampleStore

        self._stores = {path.stem: SampleStore(RowFile(path, Sample)) for path in samples}
        self._asked, self._digests = {}, {}
        for path in requests:
            benchmark = path.parent.name
            if benchmark not in self._stores:
                continue
            for row in RowFile(path, Request):
                for turn in row.turns:
                    words = tuple(part["text"] for part in turn["parts"] if part["kind"] == "text")
                    places = self._asked.setdefault(words, {})
                    places[_Place(benchmark, row.sample_ids[0])] = turn["answer_form"]


def _says(said: str, words: Sequence[str]) -> bool:
    """Say whether a text contains these pieces, in this order."""
    start = 0
    for piece in words:
        found = said.find(piece, start)
        if found < 0:
            return False
        start = found + len(piece)
    return True
