"""What determines each report of a run: its spec, its labels, and what it is made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gensight.digests import digest_of, digest_of_bytes
from gensight.licences import LICENCES, may_show
from gensight.plan.determinants import Determinants, native_fit, stage_of
from gensight.plan.protocol import told_protocol
from gensight.plan.sent import sent_settings
from gensight.specs.figures import FigureSpec
from gensight.specs.protocols import PROTOCOLS
from gensight.specs.tables import TableSpec


class ReportDeterminants(Determinants):
    """The determinants of tables and figures, on those of everything before them."""

    def table(self, table: str) -> dict[str, Any]:
        """Return what determines a table: its spec, labels and summaries."""
        spec, needs = self.project.tables[table], self.tables_needs(table)
        found = {
            **stage_of("tables"),
            "table": table,
            "subjects": self.project.subjects(spec.subjects) if spec.subjects else [],
            "published": self._published(spec),
            **self._report(spec, needs),
        }
        if spec.listing is not None:
            found["listed"] = digest_of_bytes(self._resource(spec.listed_file))
            if spec.listing.sent and spec.published and self.run.published != "only":
                paper = spec.published.paper
                found["sent"] = sent_settings(self.project, spec.listing.sent, paper)
        return found

    def _published(self, spec: TableSpec) -> dict[str, Any] | None:
        """Return how a table prints a paper's own numbers, with the digest of those numbers."""
        how = self.run.published
        if how == "hide" or spec.published is None:
            return None
        name = f"resources/published/{spec.published.paper}_table_{spec.published.table}.csv"
        return {"how": how, "sha256": digest_of_bytes(self._resource(name))}

    def all_tables(self) -> dict[str, Any]:
        """Return what determines the document of all tables."""
        return {
            **stage_of("tables"),
            "run": self.run.name,
            "tables": {name: digest_of(self.table(name)) for name in self.run.tables},
        }

    def figure(self, figure: str) -> dict[str, Any]:
        """Return what determines a figure: its spec, labels, what it draws from and may show."""
        spec = self.project.figures[figure]
        report = self._report(spec, spec.benchmarks)
        if not spec.galleries:
            return {**stage_of("figures"), "figure": figure, **report}
        scorers = {name: self.project.benchmarks[name].scorers for name in spec.benchmarks}
        return {
            **stage_of("figures"),
            "figure": figure,
            **report,
            # The file that each scorer reads, and the fit that `native` stands for.
            "readings": {
                name: {scorer: read.file for scorer, read in found.items()}
                for name, found in scorers.items()
            },
            "native": {name: native_fit(self.project.models[name]) for name in report["models"]},
            "may_show": sorted(tag for tag in LICENCES if may_show(tag)),
        }

    def _report(self, spec: Any, needs: Sequence[str]) -> dict[str, Any]:
        benchmarks = [name for name in needs if name in self.project.benchmarks]
        sweeps = [name for name in needs if name in self.project.sweeps]
        aggregates = [name for name in needs if name in self.project.aggregates]
        below = [n for a in aggregates for n in self.project.aggregated(a)]
        shown = list(dict.fromkeys([*benchmarks, *below]))
        models = {cell.model for name in shown for cell in self.cells(name)}
        if self.run.published != "hide":
            models |= {name for name in self.run.models if self.project.models[name].published}
        dumped = spec.model_dump(exclude_none=True)
        if self.run.twin:
            dumped["title"] += " (synthetic twins)"
        return {
            "spec": dumped,
            "run": self.run.name,
            "models": {name: self._shown(name) for name in sorted(models)},
            "benchmarks": {
                name: self.project.benchmarks[name].display.model_dump(exclude_none=True)
                for name in spec.benchmarks
                if name in self.project.benchmarks
            },
            "tasks": {name: self.project.benchmarks[name].task for name in benchmarks},
            "exif": {name: self.project.benchmarks[name].exif for name in benchmarks},
            "protocol": told_protocol(
                self.project,
                [*shown, *(self.project.sweeps[name].benchmark for name in sweeps)],
                self._scorers_of(spec),
                self.samples,
            ),
            # In the order of the files that a report is made from.
            "summaries": {name: digest_of(self._source(name)) for name in needs},
        }

    def _source(self, name: str) -> dict[str, Any]:
        """Return what determines the file of a report's benchmark, sweep or aggregate."""
        if name in self.project.sweeps:
            return self.sweep(name)
        return self.aggregate(name) if name in self.project.aggregates else self.summary(name)

    def _scorers_of(self, spec: TableSpec | FigureSpec) -> set[tuple[str, str]]:
        """Return the (benchmark, scorer) pairs that a report shows numbers of, or is made from."""
        found = {(number.benchmark, number.scorer) for number in spec.numbers.values()}
        for name in {benchmark for benchmark, _ in found} & {*self.project.aggregates}:
            for below in self.project.all_aggregates(name):
                numbers = self.project.aggregates[below].numbers.values()
                found |= {(number.benchmark, number.scorer) for number in numbers}
        return found

    def _shown(self, name: str) -> dict[str, Any]:
        """Return what reports need to know of a model."""
        model = self.project.models[name]
        return {
            "display": model.display.model_dump(exclude_none=True),
            "role": model.role,
            "hosted": model.kind == "hosted",
            "proven": PROTOCOLS[model.adapter].proven,
            "answered_as": model.answered_as,
            "exposure": model.exposure,
            "published": model.published,
            "failed_above": model.failed_above,
            "severity_unit": model.severity_unit,
        }
