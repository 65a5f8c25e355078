"""The run: which models, benchmarks, prompts, tables and figures one invocation plans."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gensight.specs.base import Name, Names, Spec
from gensight.specs.benchmark import Number

Ranks = Annotated[int, Field(ge=1)]


class StopSpec(Spec):
    """When to stop spending on a benchmark: once two models are told apart, or nearly alike.

    Samples are asked in the order of their ranks, `first` of them at once and then `step` at a
    time, until a confidence sequence of the paired difference excludes 0, or is at most `width`
    wide, or the benchmark's n is reached. The metric's scores lie between 0 and `scale`.
    """

    models: Names = Field(min_length=2, max_length=2)
    prompt: Name
    scorer: Name
    metric: Name
    variant: str | None = None
    fit: str | None = None
    scale: float = Field(default=1.0, gt=0)
    width: float | None = Field(default=None, gt=0, le=2)
    first: int = Field(default=20, ge=2)
    step: int = Field(default=20, ge=1)


class BudgetSpec(Spec):
    """What a run may spend, in US dollars, over all its invocations; single models may have less.

    Money is reserved before a request is sent, at the most that it may cost.
    """

    usd: float = Field(ge=0)
    models: dict[Name, Annotated[float, Field(ge=0)]] = Field(default_factory=dict)


class HostedSpec(Spec):
    """How hosted models are asked.

    A safe fault is asked again up to `attempts` times in all. A server that wants a longer pause
    than `longest_wait_s` ends the run for now. A request `in_doubt` may have been billed: it is
    held, or sent again, `resend_at_most` of them in a run.
    """

    attempts: int = Field(default=6, ge=1)
    longest_wait_s: float = Field(default=300.0, ge=0)
    read_timeout_s: float = Field(default=1800.0, gt=0)
    in_doubt: Literal["hold", "resend"] = "hold"
    resend_at_most: int = Field(default=20, ge=0)


class RunSpec(Spec):
    """Lists of names, because a second config file merges mappings but replaces lists.

    `n` overrides the number of samples of single benchmarks, `prompt_ranks` asks a prompt about the
    first ranks only, `prompt_subjects` of some models only (ablations). `subjects` lists the models
    that an ablation is about, under the name that prompts, tables, sweeps and scorers call it by.
    `published` prints the papers' own numbers beside the measured rows, or instead of them. `twin`
    reads synthetic twins of the data sets. `stop_when` ends a benchmark before its n is reached.
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
    stop_when: dict[Name, StopSpec] = Field(default_factory=dict)
    published: Literal["hide", "beside", "only"] = "hide"
    twin: bool = False


class ConfigSpec(Spec):
    """config/config.yaml: the run, where replies are kept, and where data sets lie.

    A data set lies in its own folder below `data_root`, or where `data` says by module.

    `environments` names the folders of the environments that external commands run in, where they
    are not in `.envs/`.

    Without a `budget` nothing paid is sent. `endpoints` names another road to a provider (a
    gateway), or to one model of its; keys come from the environment or from `keys_file`, which only
    its owner may read.

    What stays `unresolved`, a question without an answer, fails its job, unless it is kept: then
    tables count it and are not final, and the next run asks it again.
    """

    run: RunSpec
    ledger: str = "ledger"
    data_root: str = "data"
    data: dict[Name, str] = Field(default_factory=dict)
    budget: BudgetSpec | None = None
    hosted: HostedSpec = HostedSpec()
    unresolved: Literal["fail", "keep"] = "fail"
    endpoints: dict[Name, str] = Field(default_factory=dict)
    environments: dict[Name, str] = Field(default_factory=dict)
    keys_file: str | None = None
