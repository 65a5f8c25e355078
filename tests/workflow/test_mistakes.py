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
        lambda c: (c.folder / "resources/prompts/counting/mid.yaml").unlink(),
        ["config/benchmarks/scenes_counting.yaml", "prompts", "'mid'"],
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


@pytest.mark.parametrize("profile", [(), ("--profile", "slurm")], ids=["plain", "slurm"])
@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line(
    checkout: Checkout, mistake: tuple[object, list[str]], profile: tuple[str, ...]
) -> None:
    make, words = mistake
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


def test_a_file_that_is_no_part_of_the_run_is_one_line(checkout: Checkout) -> None:
    done = checkout.snakemake("results/summaries/scenes_depth.parquet", "-n", check=False)
    lines = [line for line in done.stderr.splitlines() if line.startswith("gensight: ")]
    assert len(lines) == 1
    assert "no part of the run 'small'" in lines[0]
    assert "Traceback" not in done.stderr


def test_a_protocol_that_is_not_here_plans_and_says_so_when_run(checkout: Checkout) -> None:
    checkout.write_yaml(
        "config/models/nano.yaml",
        {"adapter": "google_generate", "generation": {"model": "x"}, "display": {"label": "Nano"}},
    )
    checkout.edit("config/config.yaml", run__models=["nano"], run__tables=[])
    checkout.edit("config/config.yaml", run__benchmarks=["scenes_counting"])
    assert checkout.planned("results/summaries/scenes_counting.parquet")["generate_hosted"] == 1
    done = checkout.snakemake("results/summaries/scenes_counting.parquet", check=False)
    assert done.returncode == 1
    log = (checkout.folder / "logs/generate_hosted/nano/scenes_counting/mid/all.log").read_text()
    lines = [line for line in log.splitlines() if line.startswith("gensight: ")]
    assert len(lines) == 1 and "'google_generate' has no adapter in this version" in lines[0]
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
