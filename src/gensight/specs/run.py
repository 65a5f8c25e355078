"""The run: which models, benchmarks, prompts, tables and figures one invocation plans."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gensight.specs.base import Name, Names, Spec
from gensight.specs.benchmark import Number

Ranks = Annotated[int, Field(ge=1)]


class RunSpec(Spec):
    """Lists of names, because a second config file merges mappings but replaces lists.

    `n` overrides the number of samples of single benchmarks, `prompt_ranks` asks a prompt about the
    first ranks only, `prompt_subjects` of some models only (ablations). `subjects` lists the models
    that an ablation is about, under the name that prompts, tables, sweeps and scorers call it by.
    `published` prints the papers' own numbers
    beside the measured rows, or instead of them. `twin` reads synthetic twins of the data sets.
    """

    name: Name
    models: Names = Field(min_length=1)
    benchmarks: Names = Field(min_length=1)
    prompts: Names = Field(min_length=1)
    tables: Names = Field(default_factory=list)
    figures: Names = Field(default_factory=list)
    n: dict[str, Number] = Field(default_factory=dict)
    prompt_ranks: dict[str, Ranks] = Field(default_factory=dict)
    prompt_subjects: dict[str, Name] = Field(default_factory=dict)
    subjects: dict[Name, Names] = Field(default_factory=dict)
    published: Literal["hide", "beside", "only"] = "hide"
    twin: bool = False


class ConfigSpec(Spec):
    """config/config.yaml: the run, where replies are kept, and where data sets lie.

    A data set lies in its own folder below `data_root`, or where `data` says by module.
    """

    run: RunSpec
    ledger: str = "ledger"
    data_root: str = "data"
    data: dict[Name, str] = Field(default_factory=dict)
