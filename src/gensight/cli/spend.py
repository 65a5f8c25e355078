"""`gensight spend`: ask in waves until the models of `stop_when` are told apart."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from gensight.cli.checkout import configfile_option, load_checkout
from gensight.errors import GensightError
from gensight.plan import Plan, paths
from gensight.plan.protocol import told_spending
from gensight.plan.stopping import keep, most_of, pair, superseded
from gensight.specs.stops import Stop

if TYPE_CHECKING:
    from gensight.runner.precision import Look, Side
    from gensight.specs.run import StopSpec

DEFAULT_CORES = ("--cores", "2")
#: Options of Snakemake that say how much runs at once.
PACE = ("--cores", "-c", "--jobs", "-j", "--profile")
#: Options that would make Snakemake plan something else than this command does.
REFUSED = ("--configfile", "--configfiles", "--config", "-C", "-n", "--dry-run", "--dryrun")


@click.command()
@configfile_option
@click.argument("arguments", metavar="[-- SNAKEMAKE ARGUMENTS]", nargs=-1)
def command(configfiles: tuple[str, ...], arguments: tuple[str, ...]) -> None:
    """Spend to a precision: run in waves until the rules of run.stop_when are decided.

    While a benchmark is open, only the two models of its rule are asked about its first samples.
    Once all are decided, the whole run is built with the samples used so far. What was asked is
    never asked again, so this can be stopped and started again at any time. Snakemake runs with
    --cores 2 unless its arguments say otherwise.
    """
    _check_arguments(arguments)
    plan = Plan(load_checkout(configfiles))
    if not plan.run.stop_when:
        raise GensightError(
            f"the run '{plan.run.name}' has no stop_when; build it with: snakemake --cores 2"
        )
    for name in plan.run.stop_when:
        _tell_restart(plan, name)
    while undecided := [name for name, stop in plan.project.stops.items() if stop.decided is None]:
        for name in undecided:
            click.echo(_told_wave(plan, name))
        _run_snakemake(_targets(plan, undecided), configfiles, arguments)
        for name in undecided:
            _look(plan, name)
        plan = Plan(load_checkout(configfiles))
    for name in plan.project.stops:
        click.echo(f"stop_when: {told_spending(plan.project, name)}")
    _run_snakemake([], configfiles, arguments)


def _check_arguments(arguments: Sequence[str]) -> None:
    for word in arguments:
        if _option(word, REFUSED):
            raise GensightError(
                f"spend: '{word}' cannot be handed to Snakemake here: config files stand before "
                f"--, as --configfile FILE, and a dry run is: snakemake -n"
            )


def _option(word: str, options: Sequence[str]) -> bool:
    """Say whether a word is one of these options, alone or with its value attached."""
    if word.startswith("--"):
        return word.split("=")[0] in options
    return word[:2] in options


def _tell_restart(plan: Plan, name: str) -> None:
    before = superseded(plan, name)
    if before is not None:
        stop = plan.project.stops[name]
        click.echo(
            f"stop_when: {name}: rule, prompt, data or models have changed since {before} samples "
            f"were asked; starting again from the first {stop.n} (what the ledger holds is free)"
        )
        keep(plan, name, stop)


def _told_wave(plan: Plan, name: str) -> str:
    models, stop = plan.run.stop_when[name].models, plan.project.stops[name]
    return (
        f"stop_when: {name}: {models[0]} and {models[1]} answer the first {stop.n} of at most "
        f"{plan.project.most(name)} samples"
    )


def _targets(plan: Plan, names: Sequence[str]) -> list[str]:
    return [
        paths.score_path(cell, plan.run.stop_when[name].scorer)
        for name in names
        for cell in pair(plan, name)
    ]


def _look(plan: Plan, name: str) -> None:
    """Look at the scores of a wave; keep the decision, or how many samples are asked next."""
    from gensight.runner.precision import look

    rule, stop, most = plan.run.stop_when[name], plan.project.stops[name], most_of(plan, name)
    found = look(*_sides(plan, name), rule)
    click.echo(_told_look(name, found, rule))
    if found.decided is not None or stop.n >= most:
        decided = found.decided or "all"
        keep(plan, name, Stop(stop.n, decided, found.after, found.low, found.high))
    else:
        keep(plan, name, replace(stop, n=min(stop.n + rule.step, most)))


def _sides(plan: Plan, name: str) -> list[Side]:
    from gensight.runner.precision import Side

    rule, native = plan.run.stop_when[name], plan.summary(name)["native"]
    return [
        Side(
            label=plan.project.models[cell.model].display.label,
            path=paths.score_path(cell, rule.scorer),
            determinants=plan.score(cell, rule.scorer),
            fit=native[cell.model] if rule.fit == "native" else rule.fit,
        )
        for cell in pair(plan, name)
    ]


def _told_look(name: str, found: Look, rule: StopSpec) -> str:
    low, high = found.low * rule.scale, found.high * rule.scale
    return (
        f"stop_when: {name}: {rule.models[0]} minus {rule.models[1]} in {rule.metric} is between "
        f"{low:.3g} and {high:.3g} after {found.after} clusters"
    )


def _run_snakemake(
    targets: Sequence[str], configfiles: Sequence[str], arguments: Sequence[str]
) -> None:
    """Run Snakemake in this terminal; leave with its exit code if it fails."""
    paced = any(_option(word, PACE) for word in arguments)
    words = [*targets, *(() if paced else DEFAULT_CORES), *arguments]
    if configfiles:
        words += ["--configfile", *configfiles]
    sys.stdout.flush()
    code = _waited_for([sys.executable, "-m", "snakemake", *words])
    if code != 0:
        click.echo(
            "gensight: Snakemake did not finish; what has arrived is kept, and the same command "
            "goes on from here",
            err=True,
        )
        sys.exit(code if code > 0 else 128 - code)


def _waited_for(words: Sequence[str]) -> int:
    """Return the exit code of a program; what ends this one is left to that one, or told to it.

    Snakemake finishes its running jobs after an interrupt: a paid reply must not be cut off.
    """
    child = subprocess.Popen(words)
    before = signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    try:
        while True:
            try:
                return child.wait()
            except KeyboardInterrupt:
                continue  # the terminal interrupted the child as well
    finally:
        signal.signal(signal.SIGTERM, before)
