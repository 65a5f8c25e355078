"""A user's mistake is one line with file, key and what to do, before anything runs."""

from __future__ import annotations

import pytest
from conftest import Checkout

pytestmark = pytest.mark.workflow

MISTAKES = {
    "typo-in-model": (
        lambda c: c.replace("config/models/echo.yaml", "adapter:", "adaptor:"),
        ["config/models/echo.yaml", "'adaptor'", "did you mean 'adapter'?"],
    ),
    "unknown-adapter": (
        lambda c: c.edit("config/models/echo.yaml", adapter="referense"),
        ["config/models/echo.yaml", "adapter", "did you mean 'reference'?"],
    ),
    "unknown-generation-key": (
        lambda c: c.edit("config/models/echo.yaml", generation__methd="x"),
        ["config/models/echo.yaml", "generation", "did you mean 'method'?"],
    ),
    "unknown-method": (
        lambda c: c.edit("config/models/echo.yaml", generation__method="ecko"),
        ["config/models/echo.yaml", "generation.method", "did you mean 'echo'?"],
    ),
    "unknown-placeholder": (
        lambda c: c.replace("resources/prompts/counting/mid.yaml", "{query}", "{qurey}"),
        ["resources/prompts/counting/mid.yaml", "turns.0.parts.", "{qurey}", "known", "query"],
    ),
    "unknown-metric-in-table": (
        lambda c: c.replace("config/tables/counting.yaml", "metric: rmse", "metric: rmes"),
        ["config/tables/counting.yaml", "columns.1.metric", "did you mean 'rmse'?"],
    ),
    "held-out-ranks-evaluated": (
        lambda c: c.edit("config/config.yaml", run__n={"scenes_counting": 501}),
        ["config/config.yaml", "run.n.scenes_counting", "held_out.first_rank (500)"],
    ),
    "model-listed-twice": (
        lambda c: c.edit("config/config.yaml", run__models=["oracle", "echo", "oracle"]),
        ["config/config.yaml", "run.models", "'oracle' is listed twice"],
    ),
    "key-given-twice-in-the-config": (
        lambda c: c.replace("config/config.yaml", "run:", "ledger: a\nledger: b\nrun:"),
        ["config/config.yaml", "'ledger' is given twice", "line 2"],
    ),
    "unknown-model-in-run": (
        lambda c: c.edit("config/config.yaml", run__models=["orakel"]),
        ["config/config.yaml", "run.models", "'orakel'", "did you mean 'oracle'?"],
    ),
    "unknown-metric": (
        lambda c: c.edit("config/benchmarks/scenes_counting.yaml", scorers__dots__metrics=["mea"]),
        ["config/benchmarks/scenes_counting.yaml", "scorers.dots.metrics", "did you mean 'mae'?"],
    ),
    "unknown-extractor-parameter": (
        lambda c: c.edit(
            "config/benchmarks/scenes_counting.yaml", scorers__dots__parameters={"min_aera": 3}
        ),
        ["config/benchmarks/scenes_counting.yaml", "did you mean 'min_area'?"],
    ),
    "unknown-dataset-parameter": (
        lambda c: c.edit("config/benchmarks/scenes_counting.yaml", dataset__parameters__sead=3),
        ["config/benchmarks/scenes_counting.yaml", "did you mean 'seed'?"],
    ),
    "wrong-type": (
        lambda c: c.edit("config/benchmarks/scenes_counting.yaml", n="many"),
        ["config/benchmarks/scenes_counting.yaml", "'n'", "many"],
    ),
    "missing-prompt": (
        lambda c: (c.folder / "resources/prompts/counting/flat.yaml").unlink(),
        ["config/benchmarks/scenes_counting.yaml", "prompts", "'flat'"],
    ),
    "not-yaml": (
        lambda c: (c.folder / "config/models/echo.yaml").write_text("adapter: [unclosed"),
        ["config/models/echo.yaml", "not valid YAML"],
    ),
    "key-given-twice": (
        lambda c: c.replace("config/models/echo.yaml", "adapter:", "adapter: x\nadapter:"),
        ["config/models/echo.yaml", "'adapter' is given twice"],
    ),
}


# Specs are read before any profile matters, so a few kinds of mistake stand for all under slurm.
SLURM = ("typo-in-model", "unknown-model-in-run", "not-yaml")
CASES = [(name, ()) for name in MISTAKES] + [(name, ("--profile", "slurm")) for name in SLURM]


@pytest.mark.parametrize(("name", "profile"), CASES)
def test_a_mistake_is_one_line(checkout: Checkout, name: str, profile: tuple[str, ...]) -> None:
    make, words = MISTAKES[name]
    make(checkout)
    done = checkout.snakemake("-n", *profile, check=False)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("Using ")]
    assert done.returncode == 1
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("gensight: ")
    for word in words:
        assert word in lines[0]
    assert str(checkout.folder) not in lines[0]
    assert not done.stdout.strip()


def test_a_mistake_in_a_second_config_is_not_blamed_on_the_first(checkout: Checkout) -> None:
    checkout.write_yaml("second.yaml", {"run": {"models": ["orakel"]}})
    done = checkout.snakemake("-n", "--configfile", "second.yaml", check=False)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("Using ")]
    assert done.returncode == 1
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith(
        "gensight: the config (config/config.yaml and any --configfile): run.models: 'orakel'"
    )
    alone = checkout.snakemake("-n", check=False)
    assert alone.returncode == 0, alone.stderr


def test_a_file_that_is_no_part_of_the_run_is_one_line(checkout: Checkout) -> None:
    done = checkout.snakemake("results/summaries/scenes_depth.parquet", "-n", check=False)
    lines = [line for line in done.stderr.splitlines() if line.startswith("gensight: ")]
    assert len(lines) == 1
    assert "no part of the run 'small'" in lines[0]
    assert "Traceback" not in done.stderr


def test_a_target_that_is_mistyped_names_the_nearest(checkout: Checkout) -> None:
    done = checkout.snakemake("results/tables/countign.tex", "-n", check=False)
    lines = [line for line in done.stderr.splitlines() if line.startswith("gensight: ")]
    assert len(lines) == 1
    assert "did you mean 'results/tables/counting.tex'?" in lines[0]


def test_a_protocol_that_is_not_here_plans_and_says_so_when_run(checkout: Checkout) -> None:
    (checkout.folder / "src/gensight/models/diffusers_edit.py").unlink()
    checkout.write_yaml(
        "config/models/nano.yaml",
        {"adapter": "diffusers_edit", "generation": {"model": "x"}, "display": {"label": "Nano"}},
    )
    checkout.edit("config/config.yaml", run__models=["nano"], run__tables=[])
    checkout.edit("config/config.yaml", run__benchmarks=["scenes_counting"])
    assert checkout.planned("results/summaries/scenes_counting.parquet")["generate_local"] == 1
    done = checkout.snakemake("results/summaries/scenes_counting.parquet", check=False)
    assert done.returncode == 1
    log = (checkout.folder / "logs/generate_local/nano/scenes_counting/mid/all.log").read_text()
    lines = [line for line in log.splitlines() if line.startswith("gensight: ")]
    assert len(lines) == 1 and "'diffusers_edit' has no adapter in this version" in lines[0]
    assert "Traceback" not in log


def test_a_damaged_result_is_one_line(finished: Checkout) -> None:
    path = finished.folder / "results/scores/echo/scenes_counting/mid/dots.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    done = finished.snakemake("-n", check=False)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("Using ")]
    assert done.returncode == 1
    assert len(lines) == 1
    assert "results/scores/echo/scenes_counting/mid/dots.parquet" in lines[0]
    assert "snakemake --cores 2 results/scores/echo" in lines[0]
