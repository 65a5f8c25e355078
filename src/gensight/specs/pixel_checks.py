"""Checks of what grids need: a source, an encoder with candidates, a judge that can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gensight.errors import SpecError
from gensight.specs import declared
from gensight.specs.benchmark import BenchmarkSpec, ScorerSpec, SourceSpec
from gensight.specs.figures import FigureSpec
from gensight.specs.judge import JudgeSpec
from gensight.specs.prompt import PromptSpec
from gensight.specs.protocols import OWN_SERVER
from gensight.specs.tables import TableSpec
from gensight.specs.words import refuse_unknown

if TYPE_CHECKING:
    from gensight.specs.project import Project

#: Where models judge in a job of the cluster, and where they do beside the main process.
IN_A_JOB, BESIDE_IT = ("local", "served", "external"), ("hosted", "reference")
#: What reads grids from answers.
GRID_EXTRACTOR = "palette_grid"
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
            refuse_unknown(file, f"scorers.{name}.judge", [scorer.judge], project.judges)
            _check_rubrics(file, f"scorers.{name}.judge", scorer.judge, benchmark, project)
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
        if scorer.across is not None:
            raise SpecError(f"{file}: {key}.across: needs an encoder; name one, or remove it")
        return
    refuse_unknown(file, f"{key}.encoder", [scorer.encoder], project.encoders)
    refuse_unknown(file, f"{key}.across", scorer.across or (), benchmark.prompts)
    if benchmark.candidates is None:
        raise SpecError(
            f"{file}: candidates: missing, and {key}.encoder compares with them; say `candidates: "
            f"{{}}` for the samples' own pictures, or give a template"
        )
    module = project.encoders[scorer.encoder].module
    reads_text = declared.constants("encoders", module)["READS_TEXT"]
    if benchmark.candidates.template is not None and not reads_text:
        raise SpecError(
            f"{file}: {key}.encoder: '{scorer.encoder}' reads no texts, which the candidates are; "
            f"take another encoder, or say `candidates: {{}}`"
        )
    if scorer.extractor != GRID_EXTRACTOR:
        raise SpecError(
            f"{file}: {key}.extractor: an encoder is shown grids, and '{scorer.extractor}' reads "
            f"none; write {GRID_EXTRACTOR}"
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
    refuse_unknown(file, "source.model", [source.model], project.models)
    refuse_unknown(file, "source.benchmark", [source.benchmark], project.benchmarks)
    other = project.benchmarks[source.benchmark]
    for name in about_grids:
        size = project.prompts[(benchmark.task, name)].size
        refuse_unknown(file, "source.prompt", [f"{source.prompt}_{size}"], other.prompts)
        _check_gives_grids(file, source, project.prompts[(other.task, f"{source.prompt}_{size}")])
    _check_reading(file, source, other)
    _check_samples(file, benchmark, source.benchmark, other)


def _check_gives_grids(file: str, source: SourceSpec, prompt: PromptSpec) -> None:
    asks_for_a_grid = getattr(prompt.turns[-1].answer_form, "content", None) == "palette_grid"
    if not asks_for_a_grid or prompt.shows_a_grid:
        told = "shows grids of its own source" if prompt.shows_a_grid else "asks for no grid"
        raise SpecError(
            f"{file}: source.prompt: '{source.prompt}' of '{source.benchmark}' {told}; take a "
            f"prompt whose answers are grids of what was asked"
        )


def _check_reading(file: str, source: SourceSpec, other: BenchmarkSpec) -> None:
    """A question shows what an extractor of grids read in one of its variants."""
    readings = {scorer.file: scorer for scorer in other.scorers.values()}
    refuse_unknown(file, "source.reading", [source.reading], readings)
    scorer = readings[source.reading]
    if scorer.extractor != GRID_EXTRACTOR:
        raise SpecError(
            f"{file}: source.reading: '{source.reading}' of '{source.benchmark}' reads no grids; "
            f"take one of the extractor {GRID_EXTRACTOR}"
        )
    variants = declared.constants("extractors", GRID_EXTRACTOR)["DEFAULTS"]["variants"]
    refuse_unknown(
        file, "source.variant", [source.variant], scorer.parameters.get("variants", variants)
    )


def _check_samples(file: str, benchmark: BenchmarkSpec, name: str, other: BenchmarkSpec) -> None:
    """Grids are found by the ids of samples, so both benchmarks draw the same ones."""
    other_file = f"config/benchmarks/{name}.yaml"
    for place, spec in ((file, benchmark), (other_file, other)):
        if spec.dataset.parameters.get("seed") == "fresh":
            raise SpecError(
                f"{place}: dataset.parameters.seed: 'fresh' draws other samples for each "
                f"benchmark, and a source has the same ones; give a number"
            )
    if _which(file, benchmark) != _which(other_file, other):
        raise SpecError(
            f"{file}: dataset: its samples are not those of the source '{name}'; give both the "
            f"same module, manifest and parameters, but for the task"
        )


def _which(file: str, benchmark: BenchmarkSpec) -> tuple[object, ...]:
    """Return what decides which samples a benchmark has, whatever they are asked."""
    dataset = benchmark.dataset
    refuse_unknown(file, "dataset.module", [dataset.module], declared.names("datasets"))
    parameters = declared.merged(
        file, "dataset.parameters", "datasets", dataset.module, dataset.parameters
    )
    return dataset.module, dataset.manifest, {**parameters, TASK: None}


def _check_rubrics(
    file: str, key: str, judge: str, benchmark: BenchmarkSpec, project: Project
) -> None:
    """Check that a judge's rubrics are about what the benchmark asks, and can be filled."""
    for name in project.judges[judge].rubrics:
        rubric = project.rubrics.get(name)
        if rubric is None:  # told where the judge is checked
            continue
        if rubric.task != benchmark.task:
            raise SpecError(
                f"{file}: {key}: the rubric '{name}' of '{judge}' is about {rubric.task}, not "
                f"{benchmark.task}; name a judge of this task"
            )
        if rubric.per == "reference":
            raise SpecError(
                f"resources/rubrics/{name}.yaml: per: no data set of this version has pictures to "
                f"compare with; write per: answer"
            )
        if "query" in rubric.placeholders and benchmark.task == "image_to_pixel":
            raise SpecError(
                f"resources/rubrics/{name}.yaml: parts: {{query}} has no value in a benchmark that "
                f"shows a picture and names nothing; write {{label}}"
            )


def check_judge(file: str, judge: JudgeSpec, project: Project) -> None:
    """Check that a judge's rubrics are there and its models can be asked.

    Raises:
        SpecError: one line naming file, key and what to do.
    """
    refuse_unknown(file, "rubrics", judge.rubrics, project.rubrics)
    refuse_unknown(file, "models", judge.models, project.models)
    for name in judge.models:
        model = project.models[name]
        if model.kind not in (*IN_A_JOB, *BESIDE_IT) or model.answers != "text":
            raise SpecError(
                f"{file}: models: '{name}' cannot judge: it must answer text, and run somewhere"
            )
    kinds = {name: project.models[name].kind for name in judge.models}
    own = [name for name, kind in kinds.items() if kind in IN_A_JOB]
    hosted = [
        name
        for name, kind in kinds.items()
        if kind == "hosted" and project.models[name].provider != OWN_SERVER
    ]
    if own and hosted:
        raise SpecError(
            f"{file}: models: '{own[0]}' judges in a job of its own machine, which has no key for "
            f"'{hosted[0]}'; make a judge of each"
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
            _check_answered(file, name, prompt, project)


def _check_answered(file: str, benchmark: str, prompt: str, project: Project) -> None:
    """The source answers its prompt, once to a sample, and about as many samples as are asked."""
    source = project.benchmarks[benchmark].source
    size = project.prompt(benchmark, prompt).size
    given = f"{source.prompt}_{size}"
    place = f"config/benchmarks/{benchmark}.yaml"
    model = project.models[source.model]
    if model.kind == "published" or not project.takes_part(source.model, source.benchmark, given):
        raise SpecError(
            f"{place}: source.model: '{source.model}' does not answer the prompt '{given}' of "
            f"'{source.benchmark}' in this run; name a model that does"
        )
    if model.generation.get("severities"):
        raise SpecError(
            f"{place}: source.model: '{source.model}' answers once for each of its severities; "
            f"name a model that gives one grid"
        )
    if source.benchmark in project.config.run.stop_when:
        raise SpecError(
            f"{file}: run.stop_when.{source.benchmark}: '{benchmark}' asks about its grids, and "
            f"would ask about other ones after every wave; remove the one or the other"
        )
    asked, answered = project.ranks(benchmark, prompt), project.ranks(source.benchmark, given)
    readers = project.benchmarks[source.benchmark].scorers.values()
    limits = [s.ranks for s in readers if s.file == source.reading and s.ranks is not None]
    if limits:
        answered = min(limits) if answered == "all" else min(*limits, answered)
    if answered != "all" and (asked == "all" or asked > answered):
        raise SpecError(
            f"{file}: run.n.{source.benchmark}: '{benchmark}' asks about {asked} samples under "
            f"'{prompt}', and its source answers '{given}' for {answered}; raise the one or lower "
            f"the other"
        )


def check_stand_ins(file: str, spec: TableSpec | FigureSpec, project: Project) -> None:
    """Refuse a report in which what only stands in is set beside what it stands in for.

    Raises:
        SpecError: one line naming the file and both.
    """
    shown: dict[bool, set[str]] = {False: set(), True: set()}
    for benchmark, name in _shown(spec, project):
        scorer = project.benchmarks[benchmark].scorers.get(name)
        if scorer is not None and scorer.encoder in project.encoders:
            shown[project.encoders[scorer.encoder].stand_in].add(scorer.encoder)
        if scorer is not None and scorer.judge in project.judges:
            models = project.judges[scorer.judge].models
            is_scripted = all(project.models[model].kind == "reference" for model in models)
            shown[is_scripted].add(scorer.judge)
    if all(shown.values()):
        real, stand_in = sorted(shown[False])[0], sorted(shown[True])[0]
        raise SpecError(
            f"{file}: '{stand_in}' only stands in, and is set beside '{real}'; give it a page of "
            f"its own"
        )


def _shown(spec: TableSpec | FigureSpec, project: Project) -> set[tuple[str, str]]:
    """Return the (benchmark, scorer) pairs behind a report's numbers, where they are known."""
    found = {(number.benchmark, number.scorer) for number in spec.numbers.values()}
    for name in {benchmark for benchmark, _ in found} & {*project.aggregates}:
        numbers = project.aggregates[name].numbers.values()
        found |= {(number.benchmark, number.scorer) for number in numbers}
    return {pair for pair in found if pair[0] in project.benchmarks}
