"""`gensight plan`: what a run still has to ask, how much that costs at most, how long it takes."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import click

from gensight.answering import answering_files, answering_judgements
from gensight.cli.checkout import configfile_option, load_checkout
from gensight.cli.printing import json_option, print_json, print_table
from gensight.errors import GensightError
from gensight.freshness import settle
from gensight.plan import Plan, PlannedFile, paths
from gensight.providers.prices import PriceList
from gensight.runner.accounts import Accounts, Balance, End
from gensight.runner.adopted_judgements import answered_by_judges
from gensight.runner.adoption import answered_keys
from gensight.runner.forecast import (
    Forecast,
    Forecaster,
    Row,
    Teller,
    Total,
    files_below,
    making,
    needed_below,
)
from gensight.runner.ledger import has_replies
from gensight.runner.parking import told_stop
from gensight.specs.model import ModelSpec
from gensight.specs.run import BudgetSpec


@click.command()
@click.argument("targets", nargs=-1, metavar="[TARGET ...]")
@configfile_option
@json_option
def command(targets: tuple[str, ...], configfiles: tuple[str, ...], as_json: bool) -> None:
    """Say what the run still has to ask, what that costs at most, and how long it takes.

    TARGET restricts it to what some files are made from, as in results/tables/NAME.tex. Nothing is
    sent or written; docs/costs.md says how the numbers are made.
    """
    plan = Plan(load_checkout(configfiles))
    accounts = Accounts.read(plan.project.ledger, plan.run.name)
    wanted, forecast = _forecast(plan, targets, accounts)
    budget = plan.project.config.budget
    if as_json:
        print_json(_as_json(plan, wanted, forecast, accounts, budget))
    else:
        place = configfiles[-1] if configfiles else "config/config.yaml"
        _print(plan, forecast, accounts, budget, place)


def print_what_is_to_pay(plan: Plan) -> None:
    """Print the plan of a whole run that has no budget and would need one; nothing otherwise."""
    config = plan.project.config
    if config.budget is not None:
        return
    accounts = Accounts.read(plan.project.ledger, plan.run.name)
    _, forecast = _forecast(plan, (), accounts)
    if Balance.of(forecast, accounts, None).needed_usd > 0:
        _print(plan, forecast, accounts, None, "the config")


def _has_past(spec: ModelSpec, accounts: Accounts) -> bool:
    return spec.api_model in accounts.ends or spec.api_model in accounts.answered


def _forecast(plan: Plan, targets: Sequence[str], accounts: Accounts) -> tuple[list[str], Forecast]:
    from gensight.stages.judge_forecast import JudgeForecaster
    from gensight.stages.lookup import look_up

    files = plan.files()
    wanted = _wanted(plan, files, targets)
    ledger, models = plan.project.ledger, plan.project.models
    fresh = settle(files, plan.project, main_process=False)
    needed = needed_below(files, wanted, fresh)
    prices = cache(partial(PriceList.load, plan.project.root))
    teller = Teller(plan, prices, _today(), accounts.gone)
    forecaster = Forecaster(
        teller,
        files_below(files, wanted, "generations"),
        needed,
        fresh.current,
        lambda model: _has_past(models[model], accounts) or has_replies(ledger, model),
    )
    known = {
        "ledger": ledger,
        "ends": _ends(plan, files, fresh.current, accounts),
        "answered": accounts.answered,
        "answered_as": {n: spec.answered_as for n, spec in models.items() if spec.kind == "hosted"},
    }
    judges = JudgeForecaster(
        teller, files_below(files, wanted, "judgements"), needed, fresh.current, **known
    )
    rows = [*forecaster.rows(partial(look_up, **known)), *judges.rows()]
    return wanted, Forecast.of(rows, prices)


def _ends(
    plan: Plan, files: Mapping[str, PlannedFile], current: Collection[str], accounts: Accounts
) -> dict[str, dict[str, End]]:
    """Return what is not asked although the ledger has no answer, by a model's id and by key.

    That is also what files in results/ answer, where the ledger was moved or lost.
    """
    project = plan.project
    resends = project.config.hosted.in_doubt == "resend"
    ends = {name: dict(found) for name, found in accounts.asked_no_more(resends=resends).items()}
    here = {path for path in files if Path(path).exists()}
    for model, path in answering_files(files, here, current, project):
        found = ends.setdefault(project.models[model].api_model, {})
        found.update((key, "kept") for key in answered_keys(Path(path)))
    for model, path in answering_judgements(files, here, current, project):
        found = ends.setdefault(project.models[model].api_model, {})
        found.update((key, "kept") for key in answered_by_judges(Path(path)).get(model, ()))
    return ends


def _today() -> date:
    return datetime.now(UTC).date()


def _wanted(plan: Plan, files: Mapping[str, PlannedFile], targets: Sequence[str]) -> list[str]:
    """Return the planned files that are asked about: targets, else all that the run is for.

    Raises:
        GensightError: a target is no file of the run.
    """
    by_sibling = {name: path for path, planned in files.items() for name in planned.siblings}
    wanted = []
    for target in targets:
        name = Path(target).as_posix()
        path = by_sibling.get(name, name)
        if path not in files:
            raise GensightError(plan.not_planned(name))
        wanted.append(path)
    if wanted:
        return wanted
    reports = [path for path, p in files.items() if p.stage in ("tables", "figures")]
    return reports or [paths.summary_path(name) for name in plan.run.benchmarks]


def _as_json(
    plan: Plan,
    wanted: Sequence[str],
    forecast: Forecast,
    accounts: Accounts,
    budget: BudgetSpec | None,
) -> dict[str, Any]:
    total, balance = forecast.total(), Balance.of(forecast, accounts, budget)
    return {
        "run": plan.run.name,
        "targets": wanted,
        "price_date": forecast.price_date,
        "rows": [_row_json(row) for row in forecast.rows],
        "providers": {
            provider or "local": asdict(Total.of(rows))
            for provider, rows in forecast.by_provider().items()
        },
        "total": asdict(total),
        "spent_usd": dict(accounts.spent_usd),
        "in_doubt": [
            {
                "model": attempt.model,
                "benchmark": attempt.benchmark,
                "prompt": attempt.prompt,
                "key": attempt.key,
                "usd": attempt.reserved_usd,
            }
            for attempt in accounts.in_doubt
        ],
        "stops": {name: [asdict(s) for s in stops] for name, stops in accounts.stops.items()},
        "budget": budget.model_dump() if budget else None,
        "left_usd": balance.left_usd,
        "enough": balance.is_enough,
    }


def _row_json(row: Row) -> dict[str, Any]:
    return {**row.cell._asdict(), **{k: v for k, v in vars(row).items() if k != "cell"}}


HEAD = (
    *("model", "benchmark", "prompt", "requests", "answered", "to ask"),
    *("pictures", "tokens", "at most", "time"),
)


def _print(
    plan: Plan,
    forecast: Forecast,
    accounts: Accounts,
    budget: BudgetSpec | None,
    place: str,
) -> None:
    for provider, rows in forecast.by_provider().items():
        click.echo(provider or "on your own machines")
        lines: list[Sequence[Any]] = [HEAD, *map(_row_cells, rows)]
        if len(rows) > 1:
            lines.append(("all", "", "", *_sums(Total.of(rows), provider)))
        print_table(lines, indent="  ")
        for stop in accounts.stops.get(provider or "", ()):
            click.echo(f"  {told_stop(provider or '', stop)}")
        click.echo()
    for line in _closing(plan, forecast, accounts):
        click.echo(line)
    click.echo(_told_budget(forecast, accounts, budget, place))


def _row_cells(row: Row) -> tuple[Any, ...]:
    notes = [f"{row.in_doubt} in doubt"] if row.in_doubt else []
    notes += [row.note] if row.note else []
    cells = _number_cells(row, row.provider)
    of = "" if row.judged is None else f" of {row.judged}"
    return (*row.cell[:2], f"{row.cell.prompt}{of}", *cells, *(["; ".join(notes)] if notes else []))


def _sums(total: Total, provider: str | None) -> tuple[Any, ...]:
    return (*_number_cells(total, provider), *(["or more"] if total.at_least else []))


def _number_cells(counted: Row | Total, provider: str | None) -> tuple[Any, ...]:
    """Return the numbers of a row, in the order of `HEAD`; local models cost nothing here."""
    tokens = counted.tokens if provider else None
    counts = (counted.requests, counted.answered, counted.to_ask, counted.images, tokens)
    usd = None if provider is None or counted.usd is None else told_usd(counted.usd)
    duration = None
    if counted.to_ask:
        duration = told_time(counted.seconds) if provider else told_gpu(counted.gpu_hours)
    return (*(None if n is None else f"{n:,}" for n in counts), usd, duration)


def told_usd(usd: float) -> str:
    """Return dollars in words, rounded up to the cent: what is told is never exceeded."""
    return f"{math.ceil(round(usd * 100, 6)) / 100:,.2f} USD"


def told_left(usd: float) -> str:
    """Return dollars in words, rounded down to the cent: what is told is there."""
    return f"{math.floor(round(usd * 100, 6)) / 100:,.2f} USD"


def told_gpu(hours: float) -> str:
    """Return hours of GPUs in words."""
    return f"{hours:,.1f} GPU hours"


def told_time(seconds: float | None) -> str:
    """Return a time in words; "unknown" where no limit and no time of an answer is known."""
    if seconds is None:
        return "unknown"
    minutes = math.ceil(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def _closing(plan: Plan, forecast: Forecast, accounts: Accounts) -> list[str]:
    total = forecast.total()
    least = "at least " if total.at_least else ""
    words = [f"{least}{total.to_ask:,} of {total.requests:,} requests to ask"]
    if total.to_ask:
        words.append(f"{total.images:,} pictures")
    if forecast.price_date:
        told = f"{told_usd(total.usd)} at the prices of {forecast.price_date}"
        words += [f"{least}{told} at most", f"time {told_time(total.seconds)}"]
    if total.gpu_hours:
        words.append(f"{told_gpu(total.gpu_hours)} at most")
    lines = [f"run '{plan.run.name}': {', '.join(words)}"]
    if accounts.spent_usd:
        lines.append(f"spent so far: {told_usd(math.fsum(accounts.spent_usd.values()))}")
    guessed = next((r.cell for r in forecast.rows if r.assumed and r.judged is None), None)
    if guessed is not None:
        lines.append(
            f"sizes are assumed where samples are not made yet; to count exactly, first run: "
            f"{making(guessed)} (asks nothing; the same for other benchmarks)"
        )
    if any(row.assumed and row.judged is not None for row in forecast.rows):
        lines.append(
            "what judges are asked is counted as if every answer could be judged, as long as the "
            "answers are not there"
        )
    if accounts.in_doubt:
        worth = math.fsum(attempt.reserved_usd for attempt in accounts.in_doubt)
        lines.append(
            f"in doubt: {len(accounts.in_doubt)} requests that may have been billed, with "
            f"{told_usd(worth)} of what is spent; see: gensight ledger list --in-doubt"
        )
    return lines


def _told_budget(
    forecast: Forecast, accounts: Accounts, budget: BudgetSpec | None, place: str
) -> str:
    """Return whether the money is there, and what to write into which file if it is not."""
    balance = Balance.of(forecast, accounts, budget)
    more = " or more" if forecast.total().at_least else ""
    if budget is None or balance.left_usd is None:
        if balance.needed_usd == 0 and not more:
            return "nothing paid is to be sent"
        wanted = f"budget: {{usd: {balance.whole_usd}}}{more}"
        return f"nothing paid will be sent: add {wanted} to {place}"
    left = f"{told_left(balance.left_usd)} of the budget of {told_usd(budget.usd)} are left"
    if balance.is_enough:
        return f"{left}: enough" + (" for what is known" if more else "")
    caps = ", ".join(f"{name}: {usd}" for name, usd in sorted(balance.short.items()))
    usd = max(balance.whole_usd, math.ceil(budget.usd))
    wanted = f"budget: {{usd: {usd}{f', models: {{{caps}}}' if caps else ''}}}{more}"
    return (
        f"{left}: not enough, the run stops where it is spent; for all of it: {wanted} in {place}"
    )
