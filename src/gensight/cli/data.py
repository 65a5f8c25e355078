"""`gensight data`: what data sets are here, which items are sampled, and synthetic twins."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from gensight import datasets, twins
from gensight.cli.checkout import (
    check_benchmark,
    configfile_option,
    default_parameters,
    load_checkout,
    parameters_of,
    ranks_needed,
)
from gensight.cli.files import make_folder, write_bytes
from gensight.cli.holdings import PRESENT, Holding, examine_data
from gensight.cli.printing import json_option, print_json, print_table
from gensight.datasets._disk import Item, in_rank_order
from gensight.datasets._manifest import manifest_text
from gensight.errors import GensightError
from gensight.specs.declared import disk_modules
from gensight.specs.project import Project
from gensight.specs.words import unknown

LACKING = 1
MANIFESTS = "resources/manifests"
# Asked for where no benchmark says how many.
USUAL_RANKS = 500


@click.group()
def command() -> None:
    """Look at the data sets on this machine; nothing is ever downloaded."""


@command.command()
@configfile_option
@json_option
def check(configfiles: tuple[str, ...], as_json: bool) -> None:
    """Say which data sets are here and complete, where they are looked for, and how to get them.

    Exit code 1 if one that the run needs is missing or partial.
    """
    project = load_checkout(configfiles)
    holdings = examine_data(project)
    lacking = [holding for holding in holdings if holding.needed and holding.state != PRESENT]
    if as_json:
        print_json({"data_sets": [asdict(h) for h in holdings], "ok": not lacking})
    else:
        _print(project, holdings, lacking)
    if lacking:
        click.get_current_context().exit(LACKING)


def _print(project: Project, holdings: list[Holding], lacking: list[Holding]) -> None:
    head = ("data set", "benchmark", "state", "found", "of", "folder", "licence")
    print_table([head, *((*_cells(holding), holding.licence) for holding in holdings)])
    for holding in holdings:
        if holding.state != PRESENT:
            needed = " (needed)" if holding.needed else ""
            name = holding.benchmark or holding.module
            click.echo(f"\n{name}{needed}: {holding.lack}")
    names = ", ".join(str(holding.benchmark) for holding in lacking) or "nothing"
    click.echo(f"\nthe run '{project.config.run.name}' lacks: {names}")


def _cells(holding: Holding) -> tuple[Any, ...]:
    found = (holding.found, holding.expected)
    return (holding.module, holding.benchmark, holding.state, *found, holding.folder)


@command.command()
@click.argument("benchmark")
@click.option("--output", metavar="FILE", help="Default: the benchmark's own, or - for stdout.")
@click.option("--all", "whole", is_flag=True, help="Every item, not only the ranks that are used.")
@click.option("--overwrite", is_flag=True, help="Replace a manifest that says something else.")
@configfile_option
def manifest(
    benchmark: str,
    output: str | None,
    whole: bool,
    overwrite: bool,
    configfiles: tuple[str, ...],
) -> None:
    """Write which items BENCHMARK samples, in rank order, as CSV.

    Name the file under dataset.manifest of the benchmark: the items are then those, whatever the
    seed draws elsewhere. A longer manifest begins like a shorter one.
    """
    project = load_checkout(configfiles)
    spec = project.benchmarks[check_benchmark(project, benchmark)]
    parameters = parameters_of(project, benchmark, frozen=False)
    items, population = _items(project, benchmark, parameters, whole)
    text = manifest_text(
        items,
        dataset=spec.dataset.module,
        seed=parameters["seed"],
        population_n=population,
    )
    name = output or spec.dataset.manifest or f"{MANIFESTS}/{benchmark}.csv"
    if name == "-":
        click.echo(text, nl=False)
        return
    _write(Path(name), text, overwrite, with_folder=output is None)
    click.echo(f"{name}: {len(items)} of {population} items, seed {parameters['seed']}")


def _items(
    project: Project, benchmark: str, parameters: dict[str, Any], whole: bool
) -> tuple[list[Item], int]:
    """Return the items of the ranks to freeze, and how many the data set holds."""
    module = datasets.load(project.benchmarks[benchmark].dataset.module)
    needed, n = ranks_needed(project, benchmark), project.n(benchmark)
    if whole:
        needed = None
    if hasattr(module, "items_in_rank_order"):
        least = None if isinstance(n, str) else n
        drawn = module.items_in_rank_order(parameters, needed, least)
        return drawn, len(module.list_items(parameters))
    items = in_rank_order(module.list_items, parameters)
    if not isinstance(n, str) and len(items) < n:
        raise GensightError(f"{benchmark}: {n} samples are asked for, {len(items)} are there")
    return items[:needed], len(items)


def _write(path: Path, text: str, overwrite: bool, with_folder: bool) -> None:
    """Write a manifest; one that is there and differs has been used, perhaps, and stays."""
    if path.exists() and not overwrite and path.read_bytes() != text.encode():
        raise GensightError(f"{path} is there and differs; add --overwrite to draw anew")
    if with_folder:
        make_folder(path.parent)
    write_bytes(path, text.encode())


@command.command()
@click.argument("name", metavar="BENCHMARK|DATASET")
@click.option("--n", type=click.IntRange(min=1), help="Ranks to be drawn; default: those needed.")
@configfile_option
def urls(name: str, n: int | None, configfiles: tuple[str, ...]) -> None:
    """Print the pictures that are still to be got, as TSV: place, address, sha256.

    For a downloader of your own: save each under its sha256 in the folder images/ of the data set,
    an empty file where the address is dead, and ask again: what is dead is replaced by rank.
    """
    project = load_checkout(configfiles)
    module, parameters, needed = _addressed(project, name)
    click.echo("place\timage_url\timage_sha256")
    for row in datasets.load(module).missing_urls(parameters, n or needed):
        click.echo(f"{row['place']}\t{row['image_url']}\t{row['image_sha256']}")


def _addressed(project: Project, name: str) -> tuple[str, dict[str, Any], int | None]:
    """Return the module, the parameters and the ranks that a benchmark or data set means."""
    if name in project.benchmarks:
        benchmark, module = name, project.benchmarks[name].dataset.module
    elif name in disk_modules():
        users = [n for n, spec in project.benchmarks.items() if spec.dataset.module == name]
        if len(users) > 1:
            raise GensightError(f"{name}: say for which benchmark: {', '.join(users)}")
        benchmark, module = (users or [None])[0], name
    else:
        known = [*project.benchmarks, *disk_modules()]
        raise unknown("gensight data urls", "benchmark or data set", name, known)
    if not hasattr(datasets.load(module), "missing_urls"):
        raise GensightError(f"{name}: its files come as a whole, not by addresses; see data check")
    if benchmark is None:
        return module, default_parameters(project, module), USUAL_RANKS
    return module, parameters_of(project, benchmark), ranks_needed(project, benchmark)


@command.command()
@click.argument("folder", metavar="FOLDER")
@click.option("--n", default=8, type=click.IntRange(min=1), help="Scenes of each; default 8.")
@click.option("--overwrite", is_flag=True, help="Replace twins that lie there.")
@json_option
def twin(folder: str, n: int, overwrite: bool, as_json: bool) -> None:
    """Write synthetic twins of all data sets below FOLDER: true formats, built-in scenes.

    A run reads them with `data_root: FOLDER` and `run: {twin: true}`.
    """
    names = twins.write_twin(Path(folder), n, overwrite=overwrite)
    if as_json:
        print_json({"folder": folder, "n": n, "data_sets": names})
    else:
        click.echo(f"{folder}: {n} scenes as {', '.join(names)}")
