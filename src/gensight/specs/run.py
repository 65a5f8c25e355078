"""The run: which models, benchmarks, prompts, tables and figures one invocation plans."""

from __future__ import annotations

from pydantic import Field

from gensight.specs.base import Name, Names, Spec
from gensight.specs.benchmark import Number


class RunSpec(Spec):
    """Lists of names, because a second config file merges mappings but replaces lists.

    `n` overrides the number of samples of single benchmarks.
    """

    name: Name
    models: Names = Field(min_length=1)
    benchmarks: Names = Field(min_length=1)
    prompts: Names = Field(min_length=1)
    tables: Names = Field(default_factory=list)
    figures: Names = Field(default_factory=list)
    n: dict[str, Number] = Field(default_factory=dict)


class ConfigSpec(Spec):
    """config/config.yaml: the run, and where generated replies are kept."""

    run: RunSpec
    ledger: str = "ledger"
