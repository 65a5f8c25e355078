"""What processes hold of the GPUs' memory, as a stand-in for the driver tells it."""

import os

import pytest
from pretend_driver import GPU, put

from gensight.runner import gpu_memory
from gensight.runner.gpu_memory import (
    LOOK_EVERY_S,
    PATIENCE,
    Held,
    HeldMemory,
    NoDriverError,
    held_by,
)

MIB_GB = 2**20 / 1e9


class Clock:
    now = 0.0

    def monotonic(self):
        return self.now


def told(folder, monkeypatch, *lines):
    put(folder, monkeypatch, "".join(f"echo '{line}'\n" for line in lines))


def test_what_processes_hold_on_all_gpus_is_added_up(tmp_path, monkeypatch):
    told(
        tmp_path, monkeypatch, f"10, 40000, {GPU}", f"10, 500, {GPU}", f"11, 36, {GPU}", "12, 7, X"
    )
    held = held_by({10, 11, 99})
    assert held.memory_gb == pytest.approx(40536 * MIB_GB) and held.device == GPU
    assert held_by({10, 12}).device == f"{GPU} + X"


@pytest.mark.parametrize(
    "lines",
    [
        [f"10, [N/A], {GPU}"],
        [f"10, 40, {GPU}", f"10, [Not Supported], {GPU}"],
    ],
)
def test_half_a_sum_is_none(tmp_path, monkeypatch, lines):
    told(tmp_path, monkeypatch, *lines)
    assert held_by({10}) == Held(None, GPU)


@pytest.mark.parametrize(
    "script",
    [
        f"echo '12, 40, {GPU}'",  # other ids, as seen from outside a container
        "echo 'No devices were found'; exit 6",
        "echo 'NVIDIA-SMI has failed'",
        "printf '\\n10\\n, ,\\n'",
        "true",
    ],
)
def test_what_nobody_tells_is_not_known(tmp_path, monkeypatch, script):
    put(tmp_path, monkeypatch, script)
    assert held_by({10}) == Held()


def test_without_a_driver_nothing_is_known(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoDriverError):
        held_by({os.getpid()})
    assert HeldMemory(lambda: {os.getpid()}).read() == Held()


def test_a_driver_that_hangs_is_given_up_after_a_while_and_what_was_known_stands(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(gpu_memory, "TIMEOUT_S", 0.2)
    put(tmp_path, monkeypatch, f"echo '10, 1000, {GPU}'")
    clock = Clock()
    memory = HeldMemory(lambda: {10}, clock)
    assert memory.read() == Held(1.048576, GPU)
    looks = put(tmp_path, monkeypatch, "exec sleep 30")
    looks.write_text("")
    for turn in range(1, PATIENCE + 3):
        clock.now = turn * LOOK_EVERY_S
        assert memory.read() == Held(1.048576, GPU)
    assert looks.read_text().count("look") == PATIENCE


def test_the_driver_is_asked_now_and_then(tmp_path, monkeypatch):
    looks = put(tmp_path, monkeypatch, f"echo '10, 1000, {GPU}'")
    clock = Clock()
    memory = HeldMemory(lambda: {10}, clock)
    for now in (0, 1, LOOK_EVERY_S - 0.1):
        clock.now = now
        assert memory.read() == Held(1.048576, GPU)
    assert looks.read_text().count("look") == 1
    put(tmp_path, monkeypatch, f"echo '10, 3000, {GPU}'")
    clock.now = LOOK_EVERY_S
    assert memory.read().memory_gb == pytest.approx(3000 * MIB_GB)
    assert looks.read_text().count("look") == 2
