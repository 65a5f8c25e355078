"""The run: which models, benchmarks, prompts, tables and figures one invocation plans."""

from __future__ import annotations

from pydantic import Field

from gensight.specs.base import NAME_PATTERN, Spec


class RunSpec(Spec):
    """Lists of names, because a second config file merges mappings but replaces lists.

    `n` overrides the number of samples of single benchmarks.
    """

    name: str = Field(pattern=NAME_PATTERN)
    models: list[str] = Field(min_length=1)
    benchmarks: list[str] = Field(min_length=1)
    prompts: list[str] = Field(min_length=1)
    tables: list[str] = Field(default_factory=list)
    figures: list[str] = Field(default_factory=list)
    n: dict[str, int | str] = Field(default_factory=dict)


class ConfigSpec(Spec):
    """config/config.yaml: the run, and where generated replies are kept."""

    run: RunSpec
    ledger: str = "ledger"
    data_root: dict[str, str] = Field(default_factory=dict)
