"""The shipped run files plan without data, stay small, and print what a paper prints."""

from __future__ import annotations

import csv
import re

import pytest
from conftest import Checkout

pytestmark = pytest.mark.workflow

PROBEGEN = ("--configfile", "config/runs/probegen.yaml")
PUBLISHED = (*PROBEGEN, "config/runs/published_only.yaml")
#: Every run file must stay plannable and pleasant.
MOST_JOBS = 2000
MOST_TWIN_JOBS = 300


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Checkout:
    """A checkout in which nothing was run, without any data set."""
    return Checkout(tmp_path_factory.mktemp("run_files") / "checkout")


def test_probegen_plans_whole_without_any_data(fresh):
    jobs = fresh.planned(*PROBEGEN)
    assert sum(jobs.values()) < MOST_JOBS
    assert jobs["sample"] == 12
    assert jobs["plot"] == 7
    assert jobs["tabulate"] == 18
    assert jobs["sweep"] == 1


@pytest.mark.parametrize("name", ["probed", "extensions", "reading", "demo_slurm"])
def test_every_other_run_file_plans(fresh, name):
    jobs = fresh.planned("--configfile", f"config/runs/{name}.yaml")
    assert 0 < sum(jobs.values()) < MOST_JOBS


@pytest.mark.parametrize("options", [(), ("--default-resources", "slurm_partition=cpu")])
def test_every_job_of_a_cluster_asks_for_memory_and_time(fresh, options):
    """Also where the command line replaces what the profile says of all rules."""
    run = ("--profile", "slurm", "--configfile", "config/runs/demo_slurm.yaml")
    said = fresh.snakemake("-n", *run, *options).stdout
    asked = re.findall(r"^ *rule (\w+):\n(?: +[a-z]+: .*\n)*? +resources: (.*)$", said, re.M)
    jobs = {rule: told for rule, told in asked if rule in ("generate_local", "extract", "score")}
    assert sorted(jobs) == ["extract", "generate_local", "score"]
    for rule, told in jobs.items():
        resources = dict(part.split("=") for part in told.split(", "))
        expected = ("500", "5") if rule == "generate_local" else ("1000", "20")
        assert (resources["mem_mb"], resources["runtime"]) == expected
        assert resources.get("slurm_partition") == ("cpu" if options else None)


def test_judges_and_encoders_of_ones_own_are_jobs_with_what_their_files_say(checkout):
    limits = {"gpu": 1, "memory_mb": 7000, "runtime_minutes": 40}
    checkout.edit("config/encoders/descriptor.yaml", limits=limits)
    checkout.edit("config/judges/pixel_icon_examiner.yaml", models=["qwen3_vl_8b_instruct"])
    (checkout.folder / "config/tables/icons_stand_ins.yaml").unlink()
    run = {"name": "own", "models": ["drawer"], "benchmarks": ["icons_t2p"]}
    checkout.write_yaml("config/config.yaml", {"run": {**run, "prompts": ["grid_16"]}})
    said = checkout.snakemake(
        "-n", "--profile", "slurm", "results/summaries/icons_t2p.parquet"
    ).stdout
    asked = re.findall(r"^ *rule (\w+):\n(?: +[a-z]+: .*\n)*? +resources: (.*)$", said, re.M)
    found = {rule: dict(part.split("=") for part in told.split(", ")) for rule, told in asked}
    assert not re.search(r"^localrule judge:", said, re.M)
    judged = found["judge_local"]
    assert (judged["gpu"], judged["mem_mb"], judged["runtime"]) == ("1", "48000", "60")
    embedded = found["embed_candidates"]
    assert (embedded["gpu"], embedded["mem_mb"], embedded["runtime"]) == ("1", "7000", "40")


def test_the_twin_is_small(fresh):
    jobs = fresh.planned("--configfile", "config/runs/twin.yaml")
    assert sum(jobs.values()) <= MOST_TWIN_JOBS
    assert jobs["tabulate"] == 11


def test_a_data_set_that_is_not_here_is_one_line(fresh):
    done = fresh.snakemake("results/samples/refcoco.parquet", *PROBEGEN, check=False)
    assert done.returncode != 0
    log = (fresh.folder / "logs/sample/refcoco.log").read_text()
    assert "Traceback" not in log
    (line,) = [line for line in log.splitlines() if line.startswith("gensight: ")]
    assert "data/refcoco" in line and "refer" in line


def test_tables_in_print_need_no_model_and_no_data(fresh):
    jobs = fresh.planned("results/tables/all.tex", *PUBLISHED)
    assert jobs == {"tabulate": 9, "collect_tables": 1}
    fresh.snakemake("results/tables/all.tex", *PUBLISHED)
    text = (fresh.folder / "results/tables/probegen_table_2.csv").read_text()
    rows = csv.DictReader(text.splitlines())
    found = {(r["label"], r["column_group"], r["column"]): r["printed"] for r in rows}
    assert found["Nano Banana Pro", "RefCOCO", "gIoU"] == "70.7"
    assert found["Seedream-4.5", "RefCOCOg", "cIoU"] == "×"
    # Asked for the measured tables, the same checkout makes them anew.
    assert fresh.planned("results/tables/probegen_table_2.tex", *PROBEGEN)["generate_hosted"] > 0
