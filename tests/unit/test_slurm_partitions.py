import pytest

from gensight.errors import GensightError
from gensight.slurm.jobs import JobNeeds
from gensight.slurm.partitions import Partition, at_most, read, with_gpus

CPU = Partition("cpu", longest_minutes=1440, is_default=True)
GPU = Partition("gpu", gpus=4, longest_minutes=600)
BIG = Partition("big", gpus=8)


def test_rows_of_sinfo_are_read():
    rows = [
        ["cpu*", "(null)", "1-00:00:00", "up"],
        ["gpu", "gpu:a100:4(S:0-1),shard:16", "10:00:00", "up"],
        ["gpu", "(null)", "10:00:00", "up"],  # nodes of one partition may differ
        ["big", "gpu:h100:4,gpu:a100:4", "infinite", "up"],
        ["plain", "gpu:2", "30:00", "up"],
        ["tile", "mps:400,xgpu:3", "n/a", "up"],
        ["closed", "gpu:8", "infinite", "down"],
    ]
    assert read(rows) == (
        CPU,
        GPU,
        BIG,
        Partition("plain", gpus=2, longest_minutes=30),
        Partition("tile"),
    )


@pytest.mark.parametrize(
    ("asked", "gpus", "minutes", "known", "taken"),
    [
        (None, 0, 60, [CPU, GPU], None),  # no GPU is needed
        ("cpu", 0, 60, [CPU, GPU], "cpu"),
        ("cpu", 1, 60, [CPU, GPU], "gpu"),
        (None, 1, 60, [CPU, GPU], "gpu"),  # the default has none
        ("gpu", 1, 60, [CPU, GPU, BIG], "gpu"),  # what was asked for will do
        ("cpu,big", 1, 60, [CPU, GPU, BIG], "cpu,big"),
        ("cpu", 8, 60, [CPU, GPU, BIG], "big"),  # the only one with so many
        ("gpu", 1, 601, [CPU, GPU, BIG], "big"),  # the only one for so long
        ("cpu", 16, 60, [CPU, GPU, BIG], "cpu"),  # none has: Slurm says so
        ("cpu", 1, 60, [], "cpu"),  # nothing is known of the cluster
        (None, 1, 60, [], None),
    ],
)
def test_jobs_go_where_their_gpus_are(asked, gpus, minutes, known, taken):
    needs = JobNeeds("model", gpus, 1000, minutes)
    assert with_gpus(asked, needs, known, "generate_local") == taken


def test_where_several_have_gpus_the_user_chooses():
    with pytest.raises(
        GensightError,
        match=r"^judge: .*cpu has none, .* \(gpu, big\); .* judge_local:slurm_parti.*=gpu",
    ):
        with_gpus(None, JobNeeds("judge", 1, 1000, 60), [CPU, GPU, BIG], "judge_local")


@pytest.mark.parametrize(
    ("attempt", "asked", "known", "minutes"),
    [
        (1, "gpu", [CPU, GPU], 250),
        (2, "gpu", [CPU, GPU], 500),
        (3, "gpu", [CPU, GPU], 600),  # no more than the partition gives
        (3, "big", [GPU, BIG], 750),  # which sets no limit
        (3, "gpu,big", [GPU, BIG], 750),
        (3, "unknown", [GPU, BIG], 750),
        (3, None, [], 750),
        (9, None, [CPU, GPU], 1440),
    ],
)
def test_later_tries_get_more_time_as_far_as_there_is(attempt, asked, known, minutes):
    assert at_most(250, attempt, asked, known) == minutes


def test_a_job_longer_than_its_partition_asks_for_all_of_it():
    """Slurm then says what is wrong, which a shorter time would hide."""
    assert at_most(900, 1, "gpu", [GPU]) == 900
