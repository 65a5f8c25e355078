"""Hosted models asked through the runner itself: real ledger, book, SDK and sockets, fake provider.

A `Rig` is a folder with a ledger and a key, and one model; `ask` does to a list of words what a
cell does to its questions. It can be pickled, so that a process of its own can do the same.
"""

import os
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from time import monotonic, sleep, time
from unittest.mock import patch

from sent_requests import PNG

from gensight import providers
from gensight.digests import digest_of
from gensight.models import Part, Site, Turn
from gensight.outcomes import MODEL_OUTCOMES
from gensight.providers.prices import PriceList
from gensight.runner.book import Book, book_path
from gensight.runner.crowd import work_through
from gensight.runner.inventory import IN_DOUBT, take_inventory
from gensight.runner.ledger import Ledger
from gensight.runner.opening import opened
from gensight.runner.progress import Progress
from gensight.runner.questions import Question
from gensight.runner.terms import Terms
from gensight.specs import declared
from gensight.specs.model import ModelSpec
from gensight.specs.run import BudgetSpec, HostedSpec

ROOT = Path(__file__).parents[2]
KEY = "marked+key/0123456789=unmistakable"
RICH = {"usd": 1000.0}
#: {model: (adapter, provider, what is asked for, generation block)}: every protocol once.
MODELS = {
    "google": ("google_generate", "google", "mask", {
        "model": "gemini-3.1-flash-image",
        "response_modalities": ["IMAGE"],
        "assumed_image_size": "1K",
    }),
    "gpt_image": ("openai_images", "openai", "mask", {
        "model": "gpt-image-2-2026-04-21", "assumed_size": "1024x1024", "assumed_quality": "low"
    }),
    "gpt": ("openai_responses", "openai", "text", {"model": "gpt-5.4", "max_output_tokens": 256}),
    "seedream": ("ark_images", "ark", "mask", {"model": "doubao-seedream-4-5-251128"}),
    "claude": ("anthropic_messages", "anthropic", "text", {
        "model": "claude-opus-4-7", "max_tokens": 128
    }),
    "deepseek": ("openai_chat", "deepseek", "text", {
        "service": "deepseek", "model": "deepseek-v4-pro", "max_tokens": 128
    }),
    "flux": ("bfl_task", "bfl", "mask", {"model": "flux-2-pro"}),
}  # fmt: skip


class HurriedClock:
    """The machine's clock, except that waiting is skipped: time goes on as if it had been done."""

    def __init__(self):
        self._skipped, self._guard = 0.0, Lock()

    def time(self):
        return time() + self._skipped

    def monotonic(self):
        return monotonic() + self._skipped

    def sleep(self, seconds):
        with self._guard:
            self._skipped += max(seconds, 0.0)


@dataclass(frozen=True)
class Rig:
    """One model of `MODELS` in a folder; every field but the first three has a use in one test."""

    folder: Path
    model: str
    url: str
    budget: dict | None = field(default_factory=lambda: dict(RICH))
    hosted: dict = field(default_factory=dict)
    limits: dict = field(default_factory=dict)
    generation: dict = field(default_factory=dict)
    run: str = "run"
    workers: int = 4

    @property
    def provider(self):
        return MODELS[self.model][1]

    @property
    def terms(self):
        adapter, provider, _, chosen = MODELS[self.model]
        defaults = declared.constants("models", adapter)["DEFAULTS"]
        generation = {**defaults, **chosen, **self.generation}
        spec = ModelSpec.model_validate(
            {
                "adapter": adapter,
                "generation": generation,
                "limits": self.limits,
                "display": {"label": self.model},
            }
        )
        prices = PriceList.load(ROOT)
        return Terms(
            run=self.run,
            model=self.model,
            spec=spec,
            generation=generation,
            provider=provider,
            api_model=generation["model"],
            base_url=self.url,
            price=prices.price_of(generation["model"]),
            price_date=prices.date,
            budget=None if self.budget is None else BudgetSpec(**self.budget),
            hosted=HostedSpec(**self.hosted),
            keys_file=f"{provider}.env",
            site=Site(root=self.folder),
        )

    @property
    def ledger(self):
        return Ledger(self.folder / "ledger", self.model, durable=True)

    def question(self, words):
        _, _, form, _ = MODELS[self.model]
        # One of these models reads no pictures.
        shown = () if self.model == "deepseek" else (Part("image", image=PNG),)
        turn = Turn((*shown, Part("text", text=words)), {"kind": form}, seed=None)
        asked = {"model": self.model, "words": words}
        return Question(digest_of(asked), asked, turn, "b", "p", words)

    @contextmanager
    def desk(self, clock=None, say=lambda line: None, total=1):
        """Open the model as a job does, with the key of this folder and no other."""
        write_key(self.folder, self.provider)
        with without_keys():
            progress = Progress(self.model, total, say)
            with opened(self.ledger, self.terms, progress, clock or HurriedClock()) as desk:
                yield desk

    def ask(self, words, clock=None, say=lambda line: None):
        """Ask what the ledger has no answer to, like a cell; return how each question ended."""
        ledger, ends = self.ledger, {}
        for told in words:
            found = ledger.find(self.question(told).key)
            if found is not None:
                ends[told] = found[0]
        missing = [told for told in words if told not in ends]
        if not missing:
            return ends
        with self.desk(clock, say, len(missing)) as desk:

            def play(told):
                ends[told] = desk.ask(self.question(told))[0]

            try:
                work_through(missing, play, self.workers, desk.close)
            finally:
                say(desk._progress.line())
        return ends

    @contextmanager
    def book(self):
        with closing(
            Book(book_path(self.folder / "ledger", self.provider), read_only=True)
        ) as book:
            yield book

    def attempts(self):
        with self.book() as book:
            return book.attempts()

    def in_doubt(self, answered=True):
        """Return the attempts that `gensight ledger list --in-doubt` would list."""
        found = take_inventory(self.folder / "ledger").open_requests
        return [
            request.attempt
            for request in found
            if request.state == IN_DOUBT and (answered or not request.answered)
        ]


def write_key(folder, provider, key=KEY):
    folder.mkdir(parents=True, exist_ok=True)
    variable = (providers.load(provider).KEY_VARIABLES or ["NO_KEY"])[0]
    path = folder / f"{provider}.env"
    path.touch(mode=0o600)
    path.write_text(f"{variable}={key}\n")


@contextmanager
def without_keys():
    """Leave out the keys that whoever runs the tests may have."""
    names = {
        name
        for _, provider, _, _ in MODELS.values()
        for name in providers.load(provider).KEY_VARIABLES
    }
    kept = {name: value for name, value in os.environ.items() if name not in names}
    with patch.dict(os.environ, kept, clear=True):
        yield


def items(number, start=0):
    return [f"Paint thing {i}." for i in range(start, start + number)]


def outcomes(ends):
    return Counter(entry.outcome for entry in ends.values())


def answered(ends):
    return sum(entry.outcome in MODEL_OUTCOMES for entry in ends.values())


def wait_until(is_true, limit_s=60.0):
    """Wait for something to become true; a test that waits longer has failed."""
    end = monotonic() + limit_s
    while not is_true():
        if monotonic() > end:
            raise AssertionError("waited in vain")
        sleep(0.005)
