"""What a run still has to ask, and what that takes: requests, pictures, tokens, money, hours.

Nothing is asked, opened or written. A number is the most that can be needed: the requests are
exactly those that the runner would send, if every turn is answered; their tokens and money are what
it would reserve for them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any, Literal

from gensight.footers import COMMAND, read_footer
from gensight.freshness import Freshness
from gensight.images import LONG_SIDE
from gensight.plan import Cell, Plan, PlannedFile, paths
from gensight.providers.prices import PriceList, Room
from gensight.runner.needs import (
    Lookup,
    Need,
    expected_facts,
    gpu_hours,
    seconds_needed,
    taken,
)
from gensight.specs.model import ModelSpec

State = Literal["complete", "ask", "retired", "stranger", "not_looked_up"]
#: Why nothing is asked for a file that is not there.
MADE_FROM_IT = "what is made from it is there"
#: Looks up generations files whose samples and requests are there; by path.
LookUp = Callable[[Sequence[PlannedFile]], Mapping[str, Lookup]]


@dataclass(frozen=True)
class Row:
    """One model, benchmark and prompt of the run; None is "not known yet", and `note` says why.

    `to_ask` requests take at most `tokens` and `usd`, and `seconds` at the allowed rate; where they
    run on one's own machines, `gpu_hours`. With `more` further ones may follow (`stop_when`);
    `assumed` says that some are about samples, or about answers to judge, that are not there yet.
    Where the model is one of the `judge`, its questions are about the answers of the model `judged`
    to this prompt.
    """

    cell: Cell
    kind: str
    provider: str | None
    api_model: str | None
    state: State
    requests: int | None
    answered: int | None
    in_doubt: int
    to_ask: int | None
    images: int | None = 0
    tokens: int | None = 0
    usd: float | None = 0.0
    seconds: float | None = 0.0
    gpu_hours: float = 0.0
    more: bool = False
    assumed: bool = False
    note: str | None = None
    judge: str | None = None
    judged: str | None = None


@dataclass(frozen=True)
class Total:
    """Rows added up; `at_least` says that something of them is not known yet.

    The models of one provider are asked one after the other: their seconds add up.
    """

    requests: int
    answered: int
    in_doubt: int
    to_ask: int
    images: int
    tokens: int
    usd: float
    seconds: float | None
    gpu_hours: float
    at_least: bool

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Total:
        """Add up rows of one provider."""
        seconds = [row.seconds for row in rows if row.to_ask]
        return cls(
            requests=sum(row.requests or 0 for row in rows),
            answered=sum(row.answered or 0 for row in rows),
            in_doubt=sum(row.in_doubt for row in rows),
            to_ask=sum(row.to_ask or 0 for row in rows),
            images=sum(row.images or 0 for row in rows),
            tokens=sum(row.tokens or 0 for row in rows),
            usd=math.fsum(row.usd or 0.0 for row in rows),
            seconds=None if None in seconds else math.fsum(s for s in seconds if s is not None),
            gpu_hours=math.fsum(row.gpu_hours for row in rows),
            at_least=any(row.to_ask is None or row.more for row in rows),
        )


@dataclass(frozen=True)
class Forecast:
    """All rows, by provider and in the order of the run; providers are asked side by side."""

    rows: tuple[Row, ...]
    price_date: str | None

    @classmethod
    def of(cls, rows: Iterable[Row], prices: Callable[[], PriceList]) -> Forecast:
        """Return rows with the date of their prices; nobody needs those if nothing is to be paid.

        Raises:
            SpecError: the list of prices cannot be read.
        """
        told = tuple(rows)
        priced = any(row.provider and row.to_ask for row in told)
        return cls(told, prices().date if priced else None)

    def by_provider(self) -> dict[str | None, list[Row]]:
        """Return the rows of every provider; None has those that run on one's own machines."""
        found: dict[str | None, list[Row]] = defaultdict(list)
        for row in self.rows:
            found[row.provider].append(row)
        return dict(sorted(found.items(), key=lambda item: (item[0] is None, item[0] or "")))

    def total(self) -> Total:
        """Add up everything; the slowest provider says how long it takes."""
        whole = Total.of(self.rows)
        hosted = [Total.of(rows) for name, rows in self.by_provider().items() if name is not None]
        seconds = [total.seconds for total in hosted if total.to_ask]
        known = [s for s in seconds if s is not None]
        slowest = None if None in seconds else max(known, default=0.0)
        return Total(**{**vars(whole), "seconds": slowest})


@dataclass(frozen=True)
class Teller:
    """Tells a row from what was looked up, whoever asks: a model of the run, or a judge.

    `gone` says since when a provider has a model no more, by provider and id.
    """

    plan: Plan
    prices: Callable[[], PriceList]
    today: date
    gone: Mapping[tuple[str, str], date]

    def row(
        self,
        cell: Cell,
        generation: Mapping[str, Any],
        looked: Sequence[Lookup | None],
        *,
        arithmetic: int | None,
        nothing_left: str | None = None,
        **told: Any,
    ) -> Row:
        """Return the row of a model with this generation block; `looked` has its files, by turn.

        A file that nobody looked at is None: then `arithmetic` is the number of requests, if it is
        known. `nothing_left` says why nothing is to ask, and `told` are further fields of the row.

        Raises:
            SpecError: the model has no price.
        """
        spec = self.model(cell)
        row = partial(
            Row,
            cell=cell,
            kind=spec.kind,
            provider=spec.provider,
            api_model=str(generation.get("model")) if spec.provider else None,
            more=self._is_open(cell),
            **told,
        )
        known = [one for one in looked if one is not None]
        if len(known) < len(looked):
            return row(state="not_looked_up", note=self._why_not(cell), **_unknown(arithmetic))
        left = sum((Counter(one.needs) for one in known), Counter[Need]())
        answered, in_doubt = sum(o.answered for o in known), sum(o.in_doubt for o in known)
        unanswered = sum(one.unanswered for one in known)
        row = partial(
            row,
            requests=answered + in_doubt + unanswered + left.total(),
            answered=answered,
            in_doubt=in_doubt,
        )
        strange = _told_strangers(known, cell.model)
        if not left and strange is None:
            kept = f"{unanswered} without an answer are kept so" if unanswered else nothing_left
            return row(state="complete", to_ask=0, note=kept)
        gone = self._gone_since(spec, generation)
        if left and gone is not None:
            return row(state="retired", to_ask=0, note=f"gone since {gone}: nothing is asked")
        asked = [one for one in known if not one.strangers]
        needs = sum((Counter(one.needs) for one in asked), Counter[Need]())
        if not needs:
            return row(state="stranger", to_ask=0, note=strange)
        needed = self._hosted(cell, generation, needs) if spec.provider else _here(needs)
        shards = sum(1 for one in asked if one.needs)
        needed["gpu_hours"] = self._gpu_hours(cell, needs.total(), shards)
        note = strange or self._how_far(cell)
        assumed = any(one.assumed for one in asked)
        return row(state="ask", to_ask=needs.total(), note=note, assumed=assumed, **needed)

    def model(self, cell: Cell) -> ModelSpec:
        """Return the spec of the model that is asked."""
        return self.plan.project.models[cell.model]

    def _gone_since(self, spec: ModelSpec, generation: Mapping[str, Any]) -> date | None:
        """Return since when a model is not there to be asked, by its spec or its provider."""
        if spec.retired is not None and spec.retired.date <= self.today:
            return spec.retired.date
        return self.gone.get((spec.provider or "", str(generation.get("model"))))

    def _hosted(
        self, cell: Cell, generation: Mapping[str, Any], needs: Mapping[Need, int]
    ) -> dict[str, Any]:
        """Return what needed turns take of a provider."""
        spec = self.model(cell)
        price = self.prices().price_for(generation, f"config/models/{cell.model}.yaml")
        images, tokens, usd = taken(needs, price, Room.of(spec.adapter, generation))
        seconds = seconds_needed(spec.limits, sum(needs.values()), images, tokens)
        return {"images": images, "tokens": tokens, "usd": usd, "seconds": seconds}

    def _gpu_hours(self, cell: Cell, answers: int, shards: int) -> float:
        """Return what answers take of one's own GPUs; of a server's as many as are in flight."""
        spec = self.model(cell)
        in_turn = math.ceil(answers / spec.limits.in_flight) if spec.provider else answers
        return gpu_hours(self.plan.project.gpus(cell.model), spec.limits, in_turn, shards)

    def _why_not(self, cell: Cell) -> str:
        what = "n: all is not counted yet"
        if isinstance(self.plan.project.ranks(cell.benchmark, cell.prompt), int):
            what = "not looked up"
        return f"{what}; first run: {making(cell)}"

    def _how_far(self, cell: Cell) -> str | None:
        if not self._is_open(cell):
            return None
        n, most = self.plan.project.n(cell.benchmark), self.plan.project.most(cell.benchmark)
        return f"stop_when: the first {n} of at most {most} samples"

    def _is_open(self, cell: Cell) -> bool:
        """Say whether more samples may be asked about, once these are answered."""
        stop = self.plan.project.stops.get(cell.benchmark)
        return stop is not None and stop.decided is None


class Forecaster:
    """Makes the rows of the models of a run.

    `listed` are the generations files that are asked about, `needed` those that Snakemake would
    make, `current` all files that are as planned. `has_asked` says whether a model has ever been
    asked anything: without its requests, nobody knows then what is left.
    """

    def __init__(
        self,
        teller: Teller,
        listed: Iterable[PlannedFile],
        needed: set[str],
        current: set[str],
        has_asked: Callable[[str], bool],
    ) -> None:
        self._teller, self._plan = teller, teller.plan
        self._needed, self._current = needed, current
        self._has_asked = has_asked
        self._files: dict[Cell, list[PlannedFile]] = defaultdict(list)
        order = {name: place for place, name in enumerate(self._plan.run.models)}
        for planned in sorted(listed, key=lambda p: order[cell_of(p).model]):
            if teller.model(cell_of(planned)).kind != "reference":
                self._files[cell_of(planned)].append(planned)

    def rows(self, look_up: LookUp) -> Iterator[Row]:
        """Yield what every cell takes.

        Raises:
            SpecError: a model that is to be asked has no price.
        """
        wanted = [p for files in self._files.values() for p in files if self._can_look(p)]
        found = look_up(wanted)
        for cell, files in self._files.items():
            yield self._teller.row(
                cell,
                files[0].determinants["generation"],
                [self._looked(cell, planned, found) for planned in files],
                arithmetic=self._arithmetic(files),
                nothing_left=self._why_none(files),
            )

    def _can_look(self, planned: PlannedFile) -> bool:
        ready = all(path in self._current for path in planned.inputs)
        return ready and planned.path in self._needed

    def _looked(
        self, cell: Cell, planned: PlannedFile, found: Mapping[str, Lookup]
    ) -> Lookup | None:
        """Return what is known of a file; None where somebody would have to look first."""
        if planned.path in self._current:
            footer = read_footer(planned.path)
            open_ends = sum(footer.gaps.values())
            return Lookup(answered=footer.rows - open_ends, unanswered=open_ends)
        if planned.path not in self._needed:
            return Lookup(answered=self._number(planned) or 0)
        if planned.path in found:
            return found[planned.path]
        if self._has_asked(cell.model):
            return None
        number = self._number(planned)
        if number is None:
            return None
        return Lookup(needs=self._expected(cell, planned), assumed=True)

    def _number(self, planned: PlannedFile) -> int | None:
        """Return how many turns a file takes, by arithmetic; None where `n: all` is not known."""
        turns = len(planned.determinants["requests"]["turns"])
        answers = self._answers(planned)
        return None if answers is None else answers * turns

    def _answers(self, planned: PlannedFile) -> int | None:
        cell, (first, last) = cell_of(planned), planned.determinants["ranks"]
        n = self._plan.project.ranks(cell.benchmark, cell.prompt)
        if not isinstance(n, int):
            return None
        # A request about several samples is of the rank of its first one.
        together = planned.determinants["requests"].get("samples_per_request", 1)
        end = n if last is None else min(last, n)
        requests = max(0, math.ceil(end / together) - math.ceil(first / together))
        return requests * planned.determinants["repeats"]

    def _expected(self, cell: Cell, planned: PlannedFile) -> Counter[Need]:
        """Return the turns of a file whose requests are not made yet."""
        tree = planned.determinants
        turns, number = tree["requests"]["turns"], self._answers(planned) or 0
        found: Counter[Need] = Counter()
        for index in range(len(turns)):
            facts = expected_facts(
                turns,
                index,
                (LONG_SIDE, LONG_SIDE),
                tree["adapter"],
                tree["generation"],
                tree["requests"].get("size"),
            )
            found[Need(facts)] += number
        return found

    def _arithmetic(self, files: Sequence[PlannedFile]) -> int | None:
        numbers = [self._number(planned) for planned in files]
        return None if None in numbers else sum(n for n in numbers if n is not None)

    def _why_none(self, files: Sequence[PlannedFile]) -> str | None:
        there = all(p.path in self._needed or p.path in self._current for p in files)
        return None if there else MADE_FROM_IT


def files_below(
    files: Mapping[str, PlannedFile], targets: Iterable[str], stage: str
) -> list[PlannedFile]:
    """Return a stage's files that targets are made from, whatever is there, in the plan's order."""
    below = _below(targets, lambda path: files[path].inputs)
    return [files[path] for path in files if path in below and files[path].stage == stage]


def needed_below(
    files: Mapping[str, PlannedFile], targets: Iterable[str], fresh: Freshness
) -> set[str]:
    """Return the files that Snakemake would make for targets: those that are not as planned."""
    return _below(targets, lambda path: fresh.inputs(files[path])) - fresh.current


def _below(targets: Iterable[str], inputs: Callable[[str], Iterable[str]]) -> set[str]:
    seen, waiting = set[str](), list(targets)
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += inputs(path)
    return seen


def cell_of(planned: PlannedFile) -> Cell:
    """Return the cell of a generations file."""
    return Cell(*planned.path.split("/")[2:5])


def making(cell: Cell) -> str:
    """Return the command that makes a cell's samples and requests, and asks nothing."""
    return f"{COMMAND} {paths.requests_path(cell.benchmark, cell.prompt)}"


def _here(needs: Mapping[Need, int]) -> dict[str, Any]:
    """Return what needed turns take of a model that runs in its job, its GPUs apart."""
    images = sum(number for need, number in needs.items() if need.facts.returns_picture)
    return {"images": images, "seconds": None}


def _told_strangers(known: Sequence[Lookup], model: str) -> str | None:
    """Return who answered without being asked for, and what to do about it."""
    found = sum((Counter(one.strangers) for one in known), Counter[str]())
    if not found:
        return None
    names = ", ".join(f"{name} ({number})" for name, number in sorted(found.items()))
    return f"answered by {names}: nothing is asked unless answered_as in {model}.yaml allows it"


def _unknown(requests: int | None) -> dict[str, Any]:
    nothing = dict.fromkeys(("answered", "to_ask", "images", "tokens", "usd", "seconds"))
    return {**nothing, "requests": requests, "in_doubt": 0}
