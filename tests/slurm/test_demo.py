"""The run that ships for trying a cluster, on a real Slurm with two pretend GPUs."""

from __future__ import annotations

import json
import re
from collections import Counter

import pyarrow.parquet as pq
import pytest
from slurm_checkout import SlurmCheckout

pytestmark = pytest.mark.slurm

RUN = ("--configfile", "config/runs/demo_slurm.yaml")
MODEL, N = "example_command", 10
BENCHMARKS = ("scenes_depth", "scenes_segmentation")
MOST_JOBS = 20
PART = f"results/generations/{MODEL}/scenes_depth/mid/part_000.parquet"
PREDICTIONS = f"results/predictions/{MODEL}/scenes_depth/mid/depth.parquet"
#: What a user may well type, and what replaces everything that the profile says of resources.
ON_CPU = ("--default-resources", "slurm_partition=cpu")
LOCAL = ("sample", "render", "generate_reference", "summarize", "tabulate", "collect_tables")


@pytest.fixture(scope="module")
def demo(troubles, tmp_path_factory) -> SlurmCheckout:
    """The finished demo. It runs beside the troubles, which mostly wait."""
    checkout = SlurmCheckout(tmp_path_factory.mktemp("demo") / "checkout")
    done = checkout.on_slurm(*RUN)
    assert done.returncode == 0, done.text
    checkout.said, checkout.submitted = done.text, checkout.jobs()
    return checkout


def places(checkout: SlurmCheckout) -> list[dict[str, str]]:
    return [json.loads(row["place"]) for row in checkout.rows(MODEL)]


def test_every_cell_is_whole(demo):
    assert len(demo.rows(MODEL)) == N * len(BENCHMARKS)
    for benchmark in BENCHMARKS:
        for model in ("oracle", "echo_grey", MODEL):
            (path,) = demo.folder.glob(f"results/scores/{model}/{benchmark}/mid/*.parquet")
            samples = {row["sample_id"] for row in pq.read_table(path).to_pylist()}
            assert len(samples) == N, path
    page = (demo.folder / "results/tables/depth.md").read_text()
    assert "Example command" in page
    assert (demo.folder / "results/figures/gallery_depth.png").stat().st_size > 0


def test_rows_say_where_they_were_made(demo):
    found = places(demo)
    assert {(place["partition"], place["node"]) for place in found} == {("gpu", "gpu1")}
    # Each job saw one GPU, and both were used.
    assert {place["visible_devices"] for place in found} == {"0", "1"}
    assert {place["job"] for place in found} == {
        job["JobId"] for job in demo.submitted if job["Partition"] == "gpu"
    }


def test_what_is_a_job_of_the_cluster_and_what_is_not(demo):
    """A cell's extraction and score are one job; light work stays where the user typed."""
    comments = Counter(job["Comment"] for job in demo.submitted)
    cells = 3 * len(BENCHMARKS)
    assert comments.pop("rule_cell_extract_score") == cells
    parts = [f"{MODEL}_{name}_mid_part_00{i}" for name in BENCHMARKS for i in (0, 1)]
    assert comments == {f"rule_generate_local_wildcards_{part}": 1 for part in parts}
    assert len(demo.submitted) <= MOST_JOBS
    assert {job["JobState"] for job in demo.submitted} == {"COMPLETED"}
    for rule in (*LOCAL, "plot"):
        assert f"localrule {rule}:" in demo.said
    assert not re.search(r"^localrule (extract|score|generate_local):", demo.said, re.MULTILINE)


def test_jobs_ask_for_what_the_models_spec_says(demo):
    for job in demo.jobs_of(MODEL):
        assert job["TresPerJob"] == "gres:gpu:1"
        assert (job["MinMemoryNode"], job["TimeLimit"]) == ("500M", "00:05:00")
    cells = [job for job in demo.submitted if job["Comment"] == "rule_cell_extract_score"]
    # Extraction and score, 20 minutes each.
    assert {(job["MinMemoryNode"], job["TimeLimit"]) for job in cells} == {("1000M", "00:40:00")}


def test_a_second_run_has_nothing_to_do(demo):
    done = demo.on_slurm(*RUN)
    assert (done.returncode, "Nothing to be done" in done.text) == (0, True)


def planned(
    demo: SlurmCheckout, *arguments: str, rule: str = "generate_local", target: str = PART
) -> dict[str, str]:
    """Return the resources that a dry run prints for the only job of a rule."""
    said = demo.snakemake("-n", "--profile", "slurm", *RUN, *arguments, "--", target).stdout
    (line,) = re.findall(rf"^ *rule {rule}:\n(?:    .*\n)*?    +resources: (.*)$", said, re.M)
    return dict(part.split("=") for part in line.split(", "))


def test_a_partition_on_the_command_line_takes_nothing_away(demo):
    (demo.folder / PART).unlink()
    told = planned(demo, *ON_CPU)
    expected = {"gpu": "1", "mem_mb": "500", "runtime": "5", "slurm_partition": "gpu"}
    assert {name: told[name] for name in expected} == expected
    read = planned(demo, *ON_CPU, "--forcerun", "extract", rule="extract", target=PREDICTIONS)
    assert (read["mem_mb"], read["runtime"], read["slurm_partition"]) == ("1000", "20", "cpu")

    before = {job["JobId"] for job in demo.jobs()}
    # Another ledger knows no answer: what the rows then say was seen by this very job.
    done = demo.on_slurm(*RUN, *ON_CPU, "--config", "ledger=asked_again", "--", PART)
    assert done.returncode == 0, done.text
    (job,) = [job for job in demo.jobs() if job["JobId"] not in before]
    assert (job["Partition"], job["NodeList"]) == ("gpu", "gpu1")
    assert (job["TresPerJob"], job["MinMemoryNode"]) == ("gres:gpu:1", "500M")
    rows = pq.read_table(demo.folder / PART).to_pylist()
    found = [json.loads(row["place"]) for row in rows]
    seen = {(place["job"], place["partition"], place["node"]) for place in found}
    assert rows and seen == {(job["JobId"], "gpu", "gpu1")}
    assert {place["visible_devices"] for place in found} <= {"0", "1"}


def test_a_site_has_the_last_word(demo):
    """Whoever knows the cluster sets everything, without touching the repository."""
    site = {"slurm_partition": "a100", "gpu": "0", "gres": "gpu:a100:2", "mem_mb": "700"}
    options = [f"generate_local:{name}={value}" for name, value in site.items()]
    told = planned(demo, "--forcerun", "generate_local", "--set-resources", *options)
    assert {name: told[name] for name in site} == site
