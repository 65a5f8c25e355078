"""A fresh clone with cached outputs: nothing is generated, nothing stale is served."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import QUIET, Checkout, write_small_config

pytestmark = pytest.mark.workflow

STAGES = ("samples", "requests", "generations", "predictions", "scores", "summaries", "tables")


@pytest.fixture
def clone(tmp_path: Path) -> Checkout:
    made = Checkout(tmp_path / "clone")
    write_small_config(made)
    return made


def by_tar(source: Path, target: Path) -> None:
    """Unpack in alphabetical order with the times of unpacking: the worst case."""
    archive = target.parent / "results.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(source, "results")
    subprocess.run(["tar", "-xmf", str(archive), "-C", str(target.parent)], check=True)


def in_reverse_order(source: Path, target: Path) -> None:
    for stage in reversed(STAGES):
        shutil.copytree(source / stage, target / stage, copy_function=shutil.copy)


def shuffled(seed: int):
    def lay(source: Path, target: Path) -> None:
        shutil.copytree(source, target)
        files = sorted(path for path in target.rglob("*") if path.is_file())
        times = random.Random(seed).sample(range(10**9, 10**9 + 10 * len(files)), len(files))
        for path, time in zip(files, times, strict=True):
            os.utime(path, (time, time))

    return lay


@pytest.mark.parametrize("metadata", [False, True], ids=["no-metadata", "metadata"])
@pytest.mark.parametrize(
    "lay",
    [by_tar, in_reverse_order, shuffled(0), shuffled(1), shuffled(2)],
    ids=["tar-m", "reverse", "shuffled-0", "shuffled-1", "shuffled-2"],
)
def test_a_whole_tree_plans_nothing(
    clone: Checkout, finished_results: Checkout, lay: object, metadata: bool
) -> None:
    lay(finished_results.folder / "results", clone.folder / "results")
    if metadata:
        shutil.copytree(
            finished_results.folder / ".snakemake/metadata", clone.folder / ".snakemake/metadata"
        )
    assert clone.planned() == {}
    # The clone is a live checkout from here on: a new version reruns what follows from it.
    clone.replace("src/gensight/extractors/dots.py", "VERSION = 1", "VERSION = 2")
    planned = clone.planned()
    assert planned == {"extract": 2, "score": 2, "summarize": 1, "tabulate": 1, "collect_tables": 1}


def test_an_archive_restores_without_asking_anything(
    clone: Checkout, finished_results: Checkout, tmp_path: Path
) -> None:
    archive = tmp_path / "outputs.tar"
    finished_results.gensight("archive", "create", str(archive))
    clone.gensight("archive", "restore", str(archive))
    clone.gensight("archive", "verify")
    assert clone.planned() == {}
    assert clone.adapter_calls() == 0
    # Growing asks only for what the archive does not hold.
    clone.edit("config/config.yaml", run__n={"scenes_counting": 5})
    clone.run("results/summaries/scenes_counting.parquet")
    assert clone.adapter_calls() == 2


def test_only_generations_rebuild_everything_else_identically(
    clone: Checkout, finished_results: Checkout
) -> None:
    shutil.copytree(
        finished_results.folder / "results/generations", clone.folder / "results/generations"
    )
    planned = clone.planned()
    assert not any(rule.startswith("generate") for rule in planned)
    assert planned["sample"] == 2
    clone.run()
    assert clone.adapter_calls() == 0
    kinds = (".parquet", ".tex", ".csv", ".md")
    expected = finished_results.digests(*kinds)
    unneeded = {path for path in expected if path.startswith("results/requests/")}
    built = clone.digests(*kinds)
    assert built == {path: digest for path, digest in expected.items() if path not in unneeded}
    assert clone.planned() == {}


def test_only_scores_rebuild_the_tables(clone: Checkout, finished_results: Checkout) -> None:
    shutil.copytree(finished_results.folder / "results/scores", clone.folder / "results/scores")
    assert clone.planned() == {"summarize": 2, "tabulate": 2, "collect_tables": 1}
    clone.run()
    for name in ("segmentation.tex", "counting.csv", "all.tex"):
        built = (clone.folder / "results/tables" / name).read_bytes()
        assert built == (finished_results.folder / "results/tables" / name).read_bytes()
    assert clone.planned() == {}


def test_a_metric_version_over_bare_scores_asks_nothing_in_silence(
    clone: Checkout, finished_results: Checkout
) -> None:
    shutil.copytree(finished_results.folder / "results/scores", clone.folder / "results/scores")
    clone.run()
    clone.replace("src/gensight/metrics/mae.py", "VERSION = 1", "VERSION = 2")
    done = clone.snakemake("-n", check=False)
    lines = [line for line in done.stderr.splitlines() if line.startswith("gensight: ")]
    assert done.returncode == 1
    assert len(lines) == 1
    assert "the answers that it was made from are not here" in lines[0]
    # With the answers laid in, everything is read again and nothing is asked.
    shutil.copytree(
        finished_results.folder / "results/generations", clone.folder / "results/generations"
    )
    planned = clone.planned()
    assert planned["score"] == 2 and not any(rule.startswith("generate") for rule in planned)


def test_galleries_never_generate_again(clone: Checkout, finished: Checkout) -> None:
    """Scores alone are enough: what is not in the archive is a tile that says so."""
    clone.edit("config/config.yaml", run__figures=["gallery_segmentation"])
    shutil.copytree(finished.folder / "results/scores", clone.folder / "results/scores")
    planned = clone.planned()
    assert planned.pop("sample") == planned.pop("plot") == 1
    assert planned == {"summarize": 2, "tabulate": 2, "collect_tables": 1}
    clone.run()
    figure = clone.folder / "results/figures/gallery_segmentation.png"
    bare = figure.read_bytes()
    assert clone.planned() == {}
    # With the pictures laid in, it is drawn again, and still nothing is generated.
    for stage in ("generations", "predictions"):
        shutil.copytree(finished.folder / "results" / stage, clone.folder / "results" / stage)
    assert clone.planned() == {"plot": 1}
    clone.run()
    assert figure.read_bytes() != bare
    assert clone.adapter_calls() == 0


@pytest.mark.parametrize(
    ("edit", "key"),
    [
        (lambda c: c.edit("config/config.yaml", run__n={"scenes_counting": 3}), "n is 4"),
        (
            lambda c: c.edit("config/benchmarks/scenes_counting.yaml", dataset__parameters__seed=9),
            "parameters.seed is 0",
        ),
    ],
    ids=["n", "seed"],
)
@pytest.mark.parametrize("stages", [STAGES, ("generations",), ("scores",)], ids=len)
def test_files_of_other_settings_are_refused_in_one_line(
    clone: Checkout, finished_results: Checkout, edit: object, key: str, stages: tuple[str, ...]
) -> None:
    for stage in stages:
        shutil.copytree(
            finished_results.folder / "results" / stage, clone.folder / "results" / stage
        )
    edit(clone)
    done = clone.snakemake(check=False)
    lines = [line for line in done.stderr.splitlines() if "profile" not in line]
    assert done.returncode == 1
    assert len(lines) == 1
    assert lines[0].startswith("gensight: results/")
    assert key in lines[0]
    assert "gensight archive adopt" in lines[0]
    assert clone.adapter_calls() == 0


def test_adopting_files_of_another_n_asks_only_for_what_is_new(
    clone: Checkout, finished_results: Checkout
) -> None:
    """The advice of the refusal works: replies that fit are replayed, the rest is made again."""
    shutil.copytree(finished_results.folder / "results", clone.folder / "results")
    clone.edit("config/config.yaml", run__n={"scenes_counting": 5})
    assert clone.snakemake("-n", check=False).returncode == 1
    clone.gensight("archive", "adopt")
    clone.run("results/summaries/scenes_counting.parquet")
    assert clone.adapter_calls() == 2


@pytest.mark.parametrize("harm", ["flip", "rewrite"])
def test_a_file_that_was_altered_is_refused(
    clone: Checkout, finished_results: Checkout, harm: str
) -> None:
    shutil.copytree(finished_results.folder / "results/scores", clone.folder / "results/scores")
    name = "results/scores/echo/scenes_counting/mid/dots.parquet"
    path = clone.folder / name
    if harm == "flip":
        content = bytearray(path.read_bytes())
        content[len(content) // 8] ^= 1
        path.write_bytes(content)
    else:
        table = pq.read_table(path)
        zeros = pa.array([0.0] * len(table))
        place = table.column_names.index("value")
        pq.write_table(table.set_column(place, table.schema.field(place), zeros), path)
    done = clone.snakemake("-n", check=False)
    lines = [line for line in done.stderr.splitlines() if "profile" not in line]
    assert done.returncode == 1
    assert len(lines) == 1 and name in lines[0], done.stderr


def test_nothing_is_reached_and_no_torch_is_needed(
    clone: Checkout, finished_results: Checkout, tmp_path: Path
) -> None:
    """Sockets are blocked and importing torch fails, in Snakemake and in every job."""
    shutil.copytree(
        finished_results.folder / "results/generations", clone.folder / "results/generations"
    )
    site = tmp_path / "site"
    site.mkdir()
    (site / "torch.py").write_text("raise ImportError('torch is not here')\n")
    (site / "sitecustomize.py").write_text(
        "import socket\n"
        "def refuse(self, address, *rest):\n"
        "    if self.family != socket.AF_UNIX:\n"
        "        raise OSError(f'a connection to {address} was tried')\n"
        "socket.socket.connect = refuse\n"
        "socket.socket.connect_ex = refuse\n"
    )
    environment = clone.environment()
    environment["PYTHONPATH"] = f"{site}:{environment['PYTHONPATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "2", *QUIET],
        cwd=clone.folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (clone.folder / "results/tables/all.tex").exists()
    assert clone.adapter_calls() == 0
