"""The cluster that the tests of this folder share; each is skipped where none can be started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cluster
import pytest
from slurm_checkout import SlurmCheckout
from troubles import Troubles, troubled


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker of tests that need the cluster."""
    config.addinivalue_line("markers", "slurm: needs a throw-away Slurm (GENSIGHT_TEST_SLURM=1)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs the cluster, where it cannot be started, with one line that says why."""
    reason = cluster.why_not()
    for item in items:
        if reason is not None and item.get_closest_marker("slurm"):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def nodes() -> Iterator[Path]:
    """Hold the cluster; return its folder."""
    with cluster.cluster() as state:
        yield state


@pytest.fixture(scope="session")
def troubles(nodes: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Troubles]:
    """Start the run of troubles, and make those that are ours to make. It may still be going on."""
    with troubled(tmp_path_factory.mktemp("troubles") / "checkout") as started:
        yield started


@pytest.fixture
def place(nodes: Path, tmp_path: Path) -> SlurmCheckout:
    """Return a checkout of its own."""
    return SlurmCheckout(tmp_path / "checkout")
