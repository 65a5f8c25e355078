"""A checkout in which all of PixelBench runs: tiny encoders, hosted models that answer from fakes.

Its files are made in this process, in the plan's order, by what Snakemake's jobs call: hundreds of
processes that each load torch would take minutes. What Snakemake then says of them is a test's.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from fakes.anthropic import AnthropicFake
from fakes.billing import Asked, Scenario
from fakes.chat import DeepSeekFake
from fakes.google import GoogleFake
from fakes.openai import OpenAIFake
from fakes.server import Fake
from pixelbench_artist import Artist, Scripted
from workflow.conftest import Checkout

from gensight.cli.checkout import load_checkout, load_config
from gensight.footers import read_footer
from gensight.freshness import settle
from gensight.plan import Plan, PlannedFile
from gensight.stages.aggregate import aggregate
from gensight.stages.embed import embed, gallery
from gensight.stages.extract import extract
from gensight.stages.generate import generate
from gensight.stages.judge import judge
from gensight.stages.plot import plot
from gensight.stages.render import render
from gensight.stages.sample import sample
from gensight.stages.score import score_files
from gensight.stages.summarize import summarize
from gensight.stages.tabulate import collect_tables, tabulate
from gensight.stamps import mark_built

N = 4
SIZES = (16, 32, 64)
HOSTED = [
    "gpt_6_astra",
    "gpt_5_6_sol",
    "claude_opus_5",
    "gemini_3_6_flash",
    "deepseek_v4_pro",
]
BASELINES = ["nearest", "box", "ssim_optimal", "pia_reduced"]
REFERENCES = ["flat_grid", "noise_grid", "oracle_text", "first_option"]
BENCHMARKS = [
    "pixelbench_t2p",
    "pixelbench_i2p",
    "pixelbench_understanding_pia",
    "pixelbench_understanding_astra",
]
#: Scorers that no table of the paper prints.
UNPRINTED = ("failures", "likeness", "consistency")
FIGURE = "pixelbench_correlations"
TABLES = [f"pixelbench_table_{number}" for number in (1, 2, 3, 4, 22, 23, 24, 25)]
RUN = {
    "name": "pixelbench_tiny",
    "models": [*HOSTED, *BASELINES, *REFERENCES],
    "benchmarks": BENCHMARKS,
    "prompts": [
        *(f"{name}_{size}" for name in ("grid", "letter") for size in SIZES),
        *("shuffled_16", "options_only"),
    ],
    "n": dict.fromkeys(BENCHMARKS, N),
    "subjects": {"pixel_baselines": BASELINES},
    "tables": TABLES,
    "figures": [FIGURE],
    "published": "hide",
}
#: The provider whose first grid of 64 cells a side is cut.
CUT = "anthropic"
FAKES = {
    "anthropic": (AnthropicFake, "ANTHROPIC_API_KEY"),
    "deepseek": (DeepSeekFake, "DEEPSEEK_API_KEY"),
    "google": (GoogleFake, "GOOGLE_API_KEY"),
    "openai": (OpenAIFake, "OPENAI_API_KEY"),
}


def cut_once() -> Scenario:
    """Cut the first grid of 64 cells a side, as a model does that thinks long."""

    def is_long(asked: Asked) -> bool:
        return "64 by 64 cells" in asked.text

    return Scenario().on(is_long, "truncated", times=1)


@contextlib.contextmanager
def hosted(
    folder: Path, encoders: Mapping[str, Path]
) -> Iterator[tuple[Checkout, dict[str, Fake]]]:
    """Yield a checkout, in which we then stand, and the fake of each provider.

    `encoders` are the folders of the tiny copies of `siglip` and `dinov2`.
    """
    checkout = Checkout(folder)
    artist = Artist(folder / "results")
    saved, stood = dict(os.environ), Path.cwd()
    with contextlib.ExitStack() as stack:
        stack.callback(os.chdir, stood)
        stack.callback(os.environ.update, saved)
        stack.callback(os.environ.clear)
        servers: dict[str, Fake] = {}
        for name, (kind, variable) in FAKES.items():
            made = type(f"Scripted{kind.__name__}", (Scripted, kind), {"artist": artist})
            scenario = cut_once() if name == CUT else None
            servers[name] = stack.enter_context(made(scenario=scenario))
            os.environ[variable] = f"key-of-{name}"
        endpoints = {name: server.url for name, server in servers.items()}
        config = {"run": RUN, "endpoints": endpoints, "budget": {"usd": 1000.0}, "ledger": "ledger"}
        checkout.write_yaml("config/config.yaml", config)
        make_small(checkout, encoders)
        os.chdir(folder)
        yield checkout, servers


def make_small(checkout: Checkout, encoders: Mapping[str, Path]) -> None:
    """Give a checkout the built-in pictures for ImageNet's, the tiny encoders, and no more."""
    for path in (checkout.folder / "config/figures").glob("*.yaml"):
        if path.stem != FIGURE:
            path.unlink()
    for path in other_tables(checkout):
        path.unlink()
    for name in BENCHMARKS:
        path = f"config/benchmarks/{name}.yaml"
        scorers = yaml.safe_load((checkout.folder / path).read_text())["scorers"]
        kept = {key: one for key, one in scorers.items() if key not in UNPRINTED}
        checkout.edit(path, scorers=kept)
        if name != "pixelbench_t2p":
            checkout.edit(path, dataset__module="icons")
    # The set of rows is the paper's: those that this run has.
    aggregate = "config/aggregates/pixelbench_i2p_scores.yaml"
    checkout.replace(aggregate, "kimi_k3, seed_2_1_pro, ", "")
    # Cells are shuffled at one size alone.
    aggregate = checkout.folder / "config/aggregates/pixelbench_understanding_scores.yaml"
    leave_out(
        aggregate, [f"shuffled_{source}_{size}" for source in ("pia", "astra") for size in (32, 64)]
    )
    tiny = {"assumed_revision": None, "assumed_dtype": "float32"}
    siglip, dinov2 = ({**tiny, "model": str(encoders[name])} for name in ("siglip", "dinov2"))
    checkout.edit("config/encoders/siglip_so400m.yaml", settings=siglip)
    checkout.edit("config/encoders/dinov2_large.yaml", settings={**dinov2, "assumed_side_px": 56})
    # What is asked is looked at here, not how fast.
    for name in (*HOSTED, "gemini_3_5_flash_judge"):
        checkout.edit(f"config/models/{name}.yaml", limits={"in_flight": 4})


def leave_out(aggregate: Path, numbers: Sequence[str]) -> None:
    """Take numbers out of an aggregate, and out of its means."""
    spec = yaml.safe_load(aggregate.read_text())
    for name in numbers:
        del spec["numbers"][name]
    for row in spec["rows"]:
        if "mean_of" in row:
            row["mean_of"] = [name for name in row["mean_of"] if name not in numbers]
    aggregate.write_text(yaml.safe_dump(spec, sort_keys=False))


def other_tables(checkout: Checkout) -> list[Path]:
    """Return the tables that show what does not run here."""
    found = (checkout.folder / "config/tables").glob("*.yaml")
    return [path for path in found if path.stem not in TABLES]


def make(*stages: str) -> list[str]:
    """Make what is not current here, or of these stages; return the paths."""
    project = load_checkout()
    files = Plan(project).files()
    verdict = settle(files, project, main_process=True)
    made: list[str] = []
    for path, planned in files.items():
        is_current = path in verdict.current and set(planned.inputs).isdisjoint(made)
        if not is_current and (not stages or planned.stage in stages):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            make_file(planned, load_config())
            for written in (path, *planned.siblings):
                if not written.endswith(".json"):  # the log of a figure, which has no digest
                    mark_built(written, read_footer(written).content)
            made.append(path)
    return made


def make_file(planned: PlannedFile, config: dict[str, Any]) -> None:
    """Make one file as the script of its rule does."""
    path, inputs, determinants = planned.path, planned.inputs, planned.determinants
    match planned.stage:
        case "samples":
            sample(path, determinants)
        case "requests":
            render(inputs[0], path, determinants, *inputs[1:])
        case "generations":
            generate(*inputs, path, "ledger", determinants, config)
        case "predictions":
            extract(inputs[0], inputs[1:], path, determinants)
        case "features":
            embed(*inputs, path, determinants)
        case "galleries":
            gallery(*inputs, path, determinants)
        case "judgements":
            judge(*inputs, path, "ledger", determinants, config)
        case "scores":
            score_files(inputs, path, determinants)
        case "summaries":
            summarize(path, determinants)
        case "aggregates":
            aggregate(path, determinants)
        case "tables" if path.endswith("/all.tex"):
            collect_tables(inputs, path, determinants)
        case "tables":
            tabulate(inputs, path, determinants)
        case "figures":
            plot(inputs, path, determinants)
        case stage:
            raise AssertionError(f"nothing here makes {stage}")
