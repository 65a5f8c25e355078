"""A small checkout with hosted and local models, whose ledger can be filled without asking anyone.

What the ledger holds is put there by the conversation itself, under the keys that it asks under;
the books are written as a desk writes them.
"""

import shutil
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import yaml
from cli_files import answer, call
from sent_requests import picture

from gensight.cli.checkout import load_checkout, load_config
from gensight.models import Reply
from gensight.plan import Plan
from gensight.providers.exchange import Exchange
from gensight.runner.book import Book, Intent, Stop, book_path
from gensight.stages.generate import Shard, conversation_of, generate, played
from gensight.stages.render import render
from gensight.stages.sample import sample

ROOT = Path(__file__).parents[2]
MASK_FORM = {"kind": "mask", "foreground": [255, 255, 255], "background": [0, 0, 0]}
SIZE = {"width": 256, "height": 192}
FILES = {
    "config/config.yaml": {
        "run": {
            "name": "small",
            "models": ["painter", "echo", "local"],
            "benchmarks": ["shapes"],
            "prompts": ["mid"],
        },
    },
    "config/models/painter.yaml": {
        "adapter": "google_generate",
        "generation": {
            "model": "gemini-3.1-flash-image",
            "response_modalities": ["IMAGE"],
            "assumed_image_size": "1K",
        },
        "tasks": ["segmentation"],
        "prompts": ["mid", "plan", "again"],
        "limits": {"in_flight": 4, "requests_per_minute": 60},
        "display": {"label": "Painter"},
    },
    "config/models/teller.yaml": {
        "adapter": "openai_responses",
        "generation": {"model": "gpt-5.4", "max_output_tokens": 64},
        "answers": "text",
        "tasks": ["counting"],
        "prompts": ["mid"],
        "display": {"label": "Teller"},
    },
    "config/models/local.yaml": {
        "adapter": "diffusers_edit",
        "generation": {"pipeline": "Flux2Pipeline", "model": "some/model"},
        "shard_size": 4,
        "limits": {"gpu": 2, "runtime_minutes": 30},
        "display": {"label": "Local"},
    },
    "config/models/echo.yaml": {
        "adapter": "reference",
        "generation": {"method": "echo"},
        "role": "floor",
        "failed_above": None,
        "display": {"label": "Echo"},
    },
    "config/benchmarks/shapes.yaml": {
        "task": "segmentation",
        "dataset": {"module": "scenes", "parameters": {"task": "segmentation", **SIZE}},
        "n": 6,
        "prompts": ["mid", "plan", "again"],
        "scorers": {"mask": {"extractor": "mask", "measure": "overlap", "metrics": ["giou"]}},
        "display": {"label": "Shapes"},
    },
    "config/benchmarks/numbers.yaml": {
        "task": "counting",
        "dataset": {"module": "scenes", "parameters": {"task": "counting"}},
        "n": 5,
        "prompts": ["mid"],
        "scorers": {
            "integer": {
                "extractor": "integer",
                "prompts": ["mid"],
                "measure": "count_match",
                "metrics": ["mae"],
            }
        },
        "display": {"label": "Numbers"},
    },
    "resources/prompts/segmentation/mid.yaml": {
        "task": "segmentation",
        "turns": [
            {
                "parts": [{"image": "input"}, {"text": "Paint {query} white."}],
                "answer_form": MASK_FORM,
            }
        ],
    },
    # The first turn is asked by the next prompt, too.
    "resources/prompts/segmentation/plan.yaml": {
        "task": "segmentation",
        "turns": [
            {
                "parts": [{"image": "input"}, {"text": "Where is {query}?"}],
                "answer_form": {"kind": "text", "content": "bounding_box"},
            },
            {
                "parts": [{"image": "input"}, {"reply": 0}, {"text": "Paint {query} white."}],
                "answer_form": MASK_FORM,
            },
        ],
    },
    "resources/prompts/segmentation/again.yaml": {
        "task": "segmentation",
        "turns": [
            {
                "parts": [{"image": "input"}, {"text": "Where is {query}?"}],
                "answer_form": {"kind": "text", "content": "bounding_box"},
            },
            {
                "parts": [{"reply": 0}, {"text": "Paint that white."}],
                "answer_form": MASK_FORM,
            },
        ],
    },
    "resources/prompts/counting/mid.yaml": {
        "task": "counting",
        "turns": [
            {
                "parts": [{"image": "input"}, {"text": "How many {query}?"}],
                "answer_form": {"kind": "text", "content": "integer"},
            }
        ],
    },
}
PAINTED = Reply(
    "ok", images=(picture(size=(64, 48)),), text="here", answered_model="gemini-3.1-flash-image"
)
TOLD = Reply("ok", text="7", answered_model="gpt-5.4")
CUT = Reply("truncated", text="", answered_model="gpt-5.4")


class PlannedCheckout:
    """A checkout in the working folder."""

    def __init__(self, folder):
        self.folder = folder
        for name, content in FILES.items():
            self.write(name, content)
        (folder / "Snakefile").touch()
        shutil.copy(ROOT / "resources/prices.yaml", folder / "resources")

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(content))

    def edit(self, name, **changes):
        """Change dotted keys (`a__b`) of a YAML file."""
        content = yaml.safe_load((self.folder / name).read_text())
        for key, value in changes.items():
            *steps, last = key.split("__")
            place = content
            for step in steps:
                place = place.setdefault(step, {})
            place[last] = value
        self.write(name, content)

    def run_of(self, *models, **run):
        """Let the run be of these models."""
        changes = {f"run__{key}": value for key, value in run.items()}
        self.edit("config/config.yaml", run__models=list(models), **changes)

    # -- what would have been made

    def files(self, stage):
        files = Plan(load_checkout()).files()
        return [planned for planned in files.values() if planned.stage == stage]

    def make_requests(self):
        """Make the samples and requests of the run."""
        for planned in self.files("samples"):
            sample(planned.path, planned.determinants)
        for planned in self.files("requests"):
            render(planned.inputs[0], planned.path, planned.determinants)

    def ask(self, model, reply=PAINTED, at_most=None, prompt="mid"):
        """Fill the ledger with replies as if they had been asked for; return how many there are."""
        given = []

        class Asker:
            def __init__(self, ledger):
                self.ledger = ledger

            def ask(self, question):
                if at_most is not None and len(given) >= at_most:
                    raise StopIteration
                given.append(question.key)
                found = reply(question) if callable(reply) else reply
                entry = self.ledger.record(question.key, found, question.asked, 1.0)
                return entry, list(found.images)

        for planned in self.generations(model, prompt):
            self._play(planned, Asker)
        return len(given)

    def generations(self, model, prompt="mid"):
        return [
            planned
            for planned in self.files("generations")
            if planned.path.split("/")[2] == model and planned.path.split("/")[4] == prompt
        ]

    def questions(self, model, prompt="mid"):
        """Return the first question of every request."""
        shard, talk = self._opened(self.generations(model, prompt)[0])
        return [
            talk.first_question(request, shard.about(request), setting)
            for request, setting in shard.questions()
        ]

    def write_generations(self, model):
        """Make the generations of a model out of the ledger, which must have all of them."""
        for planned in self.generations(model):
            files = (*planned.inputs, planned.path, "ledger")
            generate(*files, planned.determinants, load_config())

    def attempt(self, question, end=None, *, replied=False, run="small", usd=0.5, model="painter"):
        """Write that a question was sent, and how that ended; None: it never did."""
        with closing(Book(book_path(self.folder / "ledger", "google"))) as book:
            intent = Intent(
                question.key, 0, run, model, "gemini-3.1-flash-image", "shapes", "mid", usd
            )
            attempt = book.open_attempt(intent, time.time())
            if replied:
                exchange = Exchange("POST", "http://localhost/", status=200, body=b"{}")
                book.keep_exchange(attempt, 0, exchange, "ab" * 32, time.time())
            if end is not None:
                book.close_attempt(attempt, end, time.time())

    def stop(self, scope, kind, until=None):
        with closing(Book(book_path(self.folder / "ledger", "google"))) as book:
            book.stop(Stop(scope, kind, "why", time.time(), until))

    def _opened(self, planned):
        shard = Shard.of(*planned.inputs, planned.determinants)
        return shard, conversation_of(shard, "ledger")

    def _play(self, planned, asker):
        shard, talk = self._opened(planned)
        talk = replace(talk, asker=asker(talk.ledger))
        for request, setting in shard.questions():
            try:
                for _ in played(talk, request, shard.about(request), setting):
                    pass
            except (StopIteration, RuntimeError):
                return

    # -- what the command says

    def plan(self, *arguments):
        """Return the JSON of `gensight plan`."""
        return answer("plan", *arguments)

    def row(self, model, prompt="mid"):
        """Return the row of a model."""
        (found,) = [
            row for row in self.plan()["rows"] if (row["model"], row["prompt"]) == (model, prompt)
        ]
        return found

    def counts(self, model, prompt="mid"):
        """Return how many requests a model takes, has answers to, has in doubt, and has to ask."""
        row = self.row(model, prompt)
        return tuple(row[name] for name in ("requests", "answered", "in_doubt", "to_ask"))

    def told(self, *arguments):
        """Return the lines that are printed for people."""
        done = call("plan", *arguments)
        assert (done.exit_code, done.stderr) == (0, ""), done.stderr
        return done.stdout.splitlines()
