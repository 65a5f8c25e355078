"""A small checkout of the pixel tasks whose files are made in this process, as Snakemake would.

Every file is made by its own stage, in the plan's order: where it is missing, where freshness says
that it is outdated, or where something that it is made from was made just now. Scripted models
answer through the conversation and its ledger, so that what is asked again can be counted.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from gensight.cli.checkout import load_checkout
from gensight.footers import read_footer
from gensight.freshness import settle
from gensight.models import Reply
from gensight.pixels.palette_grid import PaletteGrid
from gensight.plan import Plan, PlannedFile
from gensight.records import (
    Candidate,
    Feature,
    Generation,
    Prediction,
    Request,
    RowFile,
    Sample,
    Score,
    Summary,
    write_rows,
)
from gensight.runner.questions import Question
from gensight.specs.model import ModelSpec
from gensight.stages.embed import embed, gallery
from gensight.stages.extract import extract
from gensight.stages.gaps import note
from gensight.stages.generate import Shard, conversation_of, generate
from gensight.stages.render import render
from gensight.stages.sample import sample
from gensight.stages.score import score_files
from gensight.stages.summarize import summarize
from gensight.stamps import mark_built

ROOT = Path(__file__).resolve().parents[2]
ROWS = {
    "samples": Sample,
    "requests": Request,
    "generations": Generation,
    "predictions": Prediction,
    "features": Feature,
    "galleries": Candidate,
    "scores": Score,
    "summaries": Summary,
}
GRID = {"extractor": "palette_grid", "reading": "grid"}
VALID = {**GRID, "measure": "grid_format", "metrics": ["valid_grid_share", "flat_grid_share"]}
FOUND = {**GRID, "encoder": "descriptor", "measure": "retrieval", "metrics": ["retrieval_top1"]}
LETTER = {"extractor": "letter", "measure": "text_match", "metrics": ["exact_match"]}
FORM = {"kind": "text", "content": "palette_grid"}
CHOICE = {"kind": "text", "content": "letter", "options": 10}


def reference(method: str, *tasks: str, **generation: Any) -> dict[str, Any]:
    """Return the spec of a reference model."""
    return {
        "adapter": "reference",
        "generation": {"method": method, **generation},
        "answers": "text",
        "tasks": list(tasks),
        "role": "floor",
        "failed_above": None,
        "display": {"label": method},
    }


def scripted(*tasks: str) -> dict[str, Any]:
    """Return the spec of a model whose replies are scripted."""
    return {
        "adapter": "openai_responses",
        "generation": {"model": "gpt-5.4", "max_output_tokens": 64},
        "answers": "text",
        "tasks": list(tasks),
        "display": {"label": "Scripted"},
    }


def icons(task: str, **parameters: Any) -> dict[str, Any]:
    """Return the data set of a task."""
    return {
        "module": "icons",
        "parameters": {"task": task, "assumed_crop_px": 64, **parameters},
    }


def prompt(task: str, text: str, form: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a prompt of one turn."""
    turns = [{"parts": [{"text": text}], "answer_form": form}]
    return {"task": task, "turns": turns, **more}


FILES: dict[str, Any] = {
    "config/config.yaml": {
        "run": {
            "name": "pixels",
            "models": ["nearest", "drawer", "first_option"],
            "benchmarks": ["draw", "redraw", "name"],
            "prompts": ["grid_8", "letter_8", "shuffled_8"],
        }
    },
    "config/models/nearest.yaml": {
        "adapter": "pixelise",
        "generation": {"method": "nearest"},
        "answers": "text",
        "tasks": ["image_to_pixel"],
        "display": {"label": "Nearest"},
    },
    "config/models/drawer.yaml": reference("drawer", "text_to_pixel"),
    "config/models/noise.yaml": reference("noise_grid", "text_to_pixel", "image_to_pixel"),
    "config/models/flat.yaml": reference("flat_grid", "text_to_pixel", "image_to_pixel"),
    "config/models/first_option.yaml": reference("first_option", "pixel_understanding"),
    "config/models/painter.yaml": scripted("text_to_pixel", "image_to_pixel"),
    "config/models/reader.yaml": scripted("pixel_understanding"),
    "config/encoders/descriptor.yaml": {
        "module": "descriptor",
        "stand_in": True,
        "display": {"label": "descriptor"},
    },
    "config/benchmarks/draw.yaml": {
        "task": "text_to_pixel",
        "dataset": icons("text_to_pixel"),
        "n": 6,
        "prompts": ["grid_8", "grid_16"],
        "candidates": {"template": "a pixel art icon depicting {label}."},
        "scorers": {"grid": VALID, "found": FOUND},
        "display": {"label": "Draw"},
    },
    "config/benchmarks/redraw.yaml": {
        "task": "image_to_pixel",
        "dataset": icons("image_to_pixel"),
        "n": 6,
        "prompts": ["grid_8", "grid_16"],
        "candidates": {},
        "scorers": {"grid": VALID, "found": {**FOUND, "settings": {"target": "sample"}}},
        "display": {"label": "Redraw"},
    },
    "config/benchmarks/name.yaml": {
        "task": "pixel_understanding",
        "dataset": icons("pixel_understanding"),
        "n": 6,
        "prompts": ["letter_8", "letter_16", "shuffled_8", "options_only"],
        "source": {"model": "nearest", "benchmark": "redraw", "prompt": "grid"},
        "scorers": {"letter": LETTER},
        "display": {"label": "Name"},
    },
    "resources/prompts/text_to_pixel/grid.yaml": prompt(
        "text_to_pixel",
        "Draw {n} icons of {size} cells a side:\n{labels}",
        {**FORM, "shape": "images"},
        sizes=[8, 16],
    ),
    "resources/prompts/image_to_pixel/grid.yaml": {
        "task": "image_to_pixel",
        "sizes": [8, 16],
        "turns": [
            {
                "parts": [{"image": "input"}, {"text": "Redraw {sample_id} at {size}."}],
                "answer_form": {**FORM, "shape": "grid"},
            }
        ],
    },
    "resources/prompts/pixel_understanding/letter.yaml": prompt(
        "pixel_understanding", "{grid}\n{options}", CHOICE, sizes=[8, 16]
    ),
    "resources/prompts/pixel_understanding/shuffled.yaml": prompt(
        "pixel_understanding", "{shuffled_grid}\n{options}", CHOICE, sizes=[8]
    ),
    "resources/prompts/pixel_understanding/options_only.yaml": prompt(
        "pixel_understanding", "{options}", CHOICE
    ),
}

#: What a scripted model answers to a question; None: the question stays without an answer.
Answering = Callable[[Question], str | None]


class PixelRoad:
    """A checkout in the working folder, `answers` the scripts of its hosted models by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: dict[str, Answering] = {}
        #: The questions that scripted models were asked, in order.
        self.asked: list[Question] = []
        for name, content in FILES.items():
            self.write(name, content)
        (folder / "Snakefile").touch()
        shutil.copy(ROOT / "resources/prices.yaml", folder / "resources")

    def write(self, name: str, content: Any) -> None:
        """Write a YAML file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(content, sort_keys=False))

    def edit(self, name: str, **changes: Any) -> None:
        """Change dotted keys (`a__b`) of a YAML file; ... takes one out."""
        content = yaml.safe_load((self.folder / name).read_text())
        for key, value in changes.items():
            *steps, last = key.split("__")
            place = content
            for step in steps:
                place = place.setdefault(step, {})
            if value is ...:
                place.pop(last, None)
            else:
                place[last] = value
        self.write(name, content)

    def run_of(self, **run: Any) -> None:
        """Change the run."""
        self.edit("config/config.yaml", **{f"run__{key}": value for key, value in run.items()})

    def plan(self) -> Plan:
        """Return the plan of the checkout as it is now."""
        return Plan(load_checkout())

    def make(self, *endings: str) -> list[str]:
        """Make what is not current, of the whole run or what these paths need; return the paths."""
        project = load_checkout()
        files = Plan(project).files()
        verdict = settle(files, project, main_process=True)
        wanted = _needed(files, endings) if endings else set(files)
        made: list[str] = []
        for path, planned in files.items():
            is_current = path in verdict.current and not set(planned.inputs) & set(made)
            if path in wanted and not is_current:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                self._make(planned, project.models)
                mark_built(path, read_footer(path).content)
                made.append(path)
        return made

    def _make(self, planned: PlannedFile, models: dict[str, ModelSpec]) -> None:
        path, inputs, determinants = planned.path, planned.inputs, planned.determinants
        match planned.stage:
            case "samples":
                sample(path, determinants)
            case "requests":
                render(inputs[0], path, determinants, *inputs[1:])
            case "generations" if models[determinants["model"]].kind == "hosted":
                self._generate(planned)
            case "generations":
                generate(*inputs, path, "ledger", determinants)
            case "predictions":
                extract(inputs[0], inputs[1:], path, determinants)
            case "features":
                embed(*inputs, path, determinants)
            case "galleries":
                gallery(*inputs, path, determinants)
            case "scores":
                score_files(inputs, path, determinants)
            case "summaries":
                summarize(path, determinants)
            case stage:
                raise AssertionError(f"this road has no {stage}")

    def _generate(self, planned: PlannedFile) -> None:
        """Ask a scripted model what its ledger does not know; keep the gaps."""
        shard = Shard.of(*planned.inputs, planned.determinants)
        talk = conversation_of(shard, "ledger")
        script, asked = self.answers[planned.determinants["model"]], self.asked
        nobody = talk.asker

        class Asker:
            def ask(self, question: Question) -> Any:
                asked.append(question)
                text = script(question)
                if text is None:
                    return nobody.ask(question)
                reply = Reply("ok", text=text, answered_model="gpt-5.4")
                return talk.ledger.record(question.key, reply, question.asked, 1.0), []

        answers = shard.answers(replace(talk, asker=Asker()))
        write_rows(
            planned.path, Generation, answers, planned.determinants, planned.inputs, note=note
        )

    def rows(self, path: str) -> list[Any]:
        """Return the rows of a file below results/."""
        return list(RowFile(f"results/{path}.parquet", ROWS[path.split("/")[0]]))

    def questions(self) -> list[str]:
        """Return the samples that scripted models were asked about since the last call."""
        found = [question.sample_id for question in self.asked]
        self.asked.clear()
        return found


def _needed(files: dict[str, PlannedFile], endings: tuple[str, ...]) -> set[str]:
    found = {path for path in files if path.removesuffix(".parquet").endswith(endings)}
    assert found, f"no planned file ends in {endings}"
    for path in reversed(files):
        if path in found:
            found |= set(files[path].inputs)
    return found


def some_grid(size: int = 8, *, seed: int = 0, colours: int = 3) -> PaletteGrid:
    """Return a grid of cells dealt by a seed; other seeds give other cells and colours."""
    dealt = np.random.default_rng([seed, size])
    palette = tuple(map(tuple, dealt.integers(0, 256, (colours, 3)).tolist()))
    return PaletteGrid(palette, dealt.integers(0, colours, (size, size), np.uint8))
