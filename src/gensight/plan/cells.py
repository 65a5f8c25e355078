"""The cells of a run, and the shards that their generations are cut into."""

from __future__ import annotations

from typing import NamedTuple

from gensight.errors import SpecError
from gensight.specs.project import Project


class Cell(NamedTuple):
    """One model answering one prompt about one benchmark."""

    model: str
    benchmark: str
    prompt: str

    @property
    def folder(self) -> str:
        """Return the part of the path that every stage of the cell shares."""
        return f"{self.model}/{self.benchmark}/{self.prompt}"


class Cells:
    """Who answers what in a run."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.run = project.config.run

    def cells(self, benchmark: str | None = None) -> list[Cell]:
        """Return the cells of the run, or of one benchmark, in the order of the run's lists."""
        return [
            Cell(model, name, prompt)
            for name in self.run.benchmarks
            if benchmark in (None, name)
            for prompt in self.prompts(name)
            for model in self.run.models
            if self.project.models[model].kind != "published"
            and self.project.takes_part(model, name, prompt)
        ]

    def prompts(self, benchmark: str) -> list[str]:
        """Return the prompts that the run asks of a benchmark."""
        return [p for p in self.run.prompts if p in self.project.benchmarks[benchmark].prompts]

    def shards(self, cell: Cell) -> dict[str, tuple[int, int | None]]:
        """Return the rank ranges [first, last) of a cell's shards by name; None is "to the end"."""
        size, n = self.project.models[cell.model].shard_size, self.project.n(cell.benchmark)
        if size is None:
            return {"all": (0, None)}
        if not isinstance(n, int):
            raise SpecError(
                f"config/models/{cell.model}.yaml: shard_size: needs a number of "
                f"samples, but {cell.benchmark} asks for n: all"
            )
        return {
            f"part_{i:03}": (first, min(first + size, n))
            for i, first in enumerate(range(0, n, size))
        }
