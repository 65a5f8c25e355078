"""Checks of what grids need: a source, an encoder with candidates, a judge that can be asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gensight.errors import SpecError
from gensight.specs.benchmark import BenchmarkSpec, ScorerSpec
from gensight.specs.judge import JudgeSpec
from gensight.specs.prompt import PromptSpec
from gensight.specs.words import unknown

if TYPE_CHECKING:
    from gensight.specs.project import Project

#: Where a model runs that can judge: it is asked at once for all answers of a cell, on one machine.
JUDGING_PLACES = ("hosted", "reference")
#: Parameters of a data set that say which task its samples are for.
TASK = "task"


def check_pixels(file: str, benchmark: BenchmarkSpec, project: Project) -> None:
    """Check the parts of a benchmark that only grids have.

    Raises:
        SpecError: one line naming file, key and what to do.
    """
    _check_shared_requests(file, benchmark, project)
    encoded: dict[str, ScorerSpec] = {}
    for name, scorer in benchmark.scorers.items():
        _check_encoder(file, f"scorers.{name}", scorer, benchmark, project, encoded)
        if scorer.judge is not None:
            _known(file, f"scorers.{name}.judge", [scorer.judge], project.judges)
    _check_source(file, benchmark, project)


def _check_shared_requests(file: str, benchmark: BenchmarkSpec, project: Project) -> None:
    """Samples that share a request are asked for by their labels and found again by them."""
    number = benchmark.samples_per_request
    for name in benchmark.prompts if number > 1 else ():
        prompt = project.prompts[(benchmark.task, name)]
        if getattr(prompt.turns[-1].answer_form, "shape", None) != "images":
            raise SpecError(
                f"{file}: samples_per_request: {number} samples share a request only where every "
                f"prompt asks for a list of icons, and '{name}' does not; write 1"
            )
        told = _about_one(prompt)
        if told is not None:
            raise SpecError(
                f"{file}: samples_per_request: {number} samples share a request, and '{name}' "
                f"{told}; write 1, or take a prompt with {{labels}} and nothing of one sample"
            )


def _about_one(prompt: PromptSpec) -> str | None:
    """Say what of a prompt is about one sample alone, None where nothing is."""
    of_one = sorted(prompt.placeholders - {"size", "n", "labels"})
    if of_one:
        return f"shows {{{of_one[0]}}} of one of them"
    if prompt.shows_the_input:
        return "shows the picture of one of them"
    return None if "labels" in prompt.placeholders else "does not list them"


def _check_encoder(
    file: str,
    key: str,
    scorer: ScorerSpec,
    benchmark: BenchmarkSpec,
    project: Project,
    encoded: dict[str, ScorerSpec],
) -> None:
    if scorer.encoder is None:
        return
    _known(file, f"{key}.encoder", [scorer.encoder], project.encoders)
    if benchmark.candidates is None:
        raise SpecError(
            f"{file}: candidates: missing, and {key}.encoder compares with them; say `candidates: "
            f"{{}}` for the samples' own pictures, or give a template"
        )
    first = encoded.setdefault(scorer.encoder, scorer)
    if first.file != scorer.file:
        raise SpecError(
            f"{file}: {key}.reading: '{scorer.encoder}' embeds '{first.file}' already; one encoder "
            f"embeds one reading of a benchmark"
        )


def _check_source(file: str, benchmark: BenchmarkSpec, project: Project) -> None:
    source = benchmark.source
    about_grids = [
        name for name in benchmark.prompts if project.prompts[(benchmark.task, name)].shows_a_grid
    ]
    if source is None:
        if about_grids:
            raise SpecError(
                f"{file}: source: missing, and the prompt '{about_grids[0]}' asks about grids; "
                f"name the model, benchmark and prompt that give them"
            )
        return
    _known(file, "source.model", [source.model], project.models)
    _known(file, "source.benchmark", [source.benchmark], project.benchmarks)
    other = project.benchmarks[source.benchmark]
    for name in about_grids:
        size = project.prompts[(benchmark.task, name)].size
        _known(file, "source.prompt", [f"{source.prompt}_{size}"], other.prompts)
    _known(file, "source.reading", [source.reading], {s.file for s in other.scorers.values()})
    if _which(benchmark) != _which(other):
        raise SpecError(
            f"{file}: dataset: its samples are not those of the source '{source.benchmark}'; give "
            f"both the same module, manifest and parameters, but for the task"
        )


def _which(benchmark: BenchmarkSpec) -> tuple[object, ...]:
    """Return what decides which samples a benchmark has, whatever they are asked."""
    dataset = benchmark.dataset
    rest = {key: value for key, value in dataset.parameters.items() if key != TASK}
    return dataset.module, dataset.manifest, rest


def check_judge(file: str, judge: JudgeSpec, project: Project) -> None:
    """Check that a judge's rubrics are there and its models can be asked.

    Raises:
        SpecError: one line naming file, key and what to do.
    """
    _known(file, "rubrics", judge.rubrics, project.rubrics)
    _known(file, "models", judge.models, project.models)
    for name in judge.models:
        model = project.models[name]
        if model.kind not in JUDGING_PLACES or model.answers != "text":
            raise SpecError(
                f"{file}: models: '{name}' cannot judge: it must answer text and be hosted; a "
                f"model of one's own judges behind an endpoint (adapter openai_chat, service vllm)"
            )


def check_sources(file: str, project: Project) -> None:
    """Check that a run makes the grids that its prompts ask about.

    Raises:
        SpecError: one line naming file, key and what to add.
    """
    run = project.config.run
    for name in run.benchmarks:
        benchmark = project.benchmarks[name]
        for prompt in (p for p in run.prompts if p in benchmark.prompts):
            spec, source = project.prompts[(benchmark.task, prompt)], benchmark.source
            if source is None or not spec.shows_a_grid:
                continue
            needed = (
                ("run.models", source.model, run.models),
                ("run.benchmarks", source.benchmark, run.benchmarks),
                ("run.prompts", f"{source.prompt}_{spec.size}", run.prompts),
            )
            for key, wanted, there in needed:
                if wanted not in there:
                    raise SpecError(
                        f"{file}: {key}: '{name}' under the prompt '{prompt}' asks about grids of "
                        f"'{source.model}' on '{source.benchmark}'; add '{wanted}'"
                    )


def _known(file: str, key: str, words: Iterable[object], known: Iterable[object]) -> None:
    names = list(known)
    for word in words:
        if word not in names:
            raise unknown(file, key, word, names)
