"""Model specs: one YAML is one model, bound to an adapter protocol."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fnmatch import fnmatchcase
from typing import Literal

from pydantic import Field

from gensight.specs.base import Names, Settings, Spec
from gensight.specs.prompt import Task
from gensight.specs.protocols import CHAT_SERVICES, PROTOCOLS
from gensight.specs.server import ServerSpec

Paper = Literal["probegen", "genius", "pixelbench"]
Role = Literal["measured", "ceiling", "floor", "disturbed", "published"]


class DisplaySpec(Spec):
    """How tables and figures name and place a model.

    Measured models of one `group` are ranked together, so that a group is more than a heading.
    """

    label: str
    group: str = "models"
    order: int = 100
    note: str | None = None


class LimitsSpec(Spec):
    """Pace and place: what a provider allows, requests in flight, GPU and memory. Reruns nothing.

    `seconds_per_answer` is what one answer is expected to take: plans count time by it. A process
    that a model starts may take `start_timeout_s` to load, and `answer_timeout_s` for an answer.
    """

    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    images_per_minute: float | None = Field(default=None, gt=0)
    seconds_per_answer: float | None = Field(default=None, gt=0)
    in_flight: int = Field(default=1, ge=1)
    gpu: int = Field(default=0, ge=0)
    memory_mb: int = Field(default=2000, ge=1)
    runtime_minutes: int = Field(default=60, ge=1)
    start_timeout_s: float = Field(default=3600.0, gt=0)
    answer_timeout_s: float = Field(default=1800.0, gt=0)


class OutputSpaceSpec(Spec):
    """What the grey levels of a depth map are linear in, and who says so."""

    space: Literal["depth", "disparity", "unknown"]
    source: str = Field(min_length=1)


class RetiredSpec(Spec):
    """The day from which the provider does not know the model any more, and who says so."""

    date: date
    source: str = Field(min_length=1)


class ParametersSpec(Spec):
    """What the provider lets a model's generation say.

    `fixed` settings have one legal value, `forbidden` ones must not be set, and `default_only` ones
    must be left to the provider, whatever their value.
    """

    fixed: Settings = Field(default_factory=dict)
    forbidden: Names = Field(default_factory=list)
    default_only: Names = Field(default_factory=list)


class ModelSpec(Spec):
    """One model: what determines its answers (`generation`), where it runs, how it is shown.

    `answers` is what comes back: a model takes part in prompts that ask for that alone. `thinking`
    says whether a mode of thinking aloud is on, null where the model has none. `repeats` answers
    are asked of each request; above one, extraction adds what they agree on.

    A hosted model that answers under another id than the one that was asked for stops its run,
    unless `answered_as` lists it (`*` stands for anything); one that is `retired` is not asked.

    A `fitted` model learns from held-out samples: it answers only benchmarks that have them.
    `exposure` names tasks or benchmarks that the model is known to have been trained on, and the
    source; `output_space` the space of a depth specialist, for the fit that is native to it;
    `published` the name under which a paper prints the model's numbers.

    `server` is started in the job that asks a served model, unless the config's `endpoints` names
    one that runs already.

    `role` decides what the row is for: `floor` rows cannot see or cannot understand, `ceiling`
    rows paint the truth, `disturbed` rows spoil it on purpose; only `measured` rows compete.
    `severity_unit` names the unit of a disturbed row's severities.
    `failed_above` is the share of format-invalid answers beyond which a cell prints x.
    """

    adapter: str
    generation: Settings = Field(default_factory=dict)
    answers: Literal["image", "text"] = "image"
    thinking: bool | None = None
    repeats: int = Field(default=1, ge=1)
    parameters: ParametersSpec = ParametersSpec()
    answered_as: list[str] = Field(default_factory=list)
    retired: RetiredSpec | None = None
    fitted: bool = False
    exposure: dict[str, str] = Field(default_factory=dict)
    output_space: OutputSpaceSpec | None = None
    published: dict[Paper, str] = Field(default_factory=dict)
    tasks: list[Task] | None = None
    prompts: Names | None = None
    role: Role = "measured"
    severity_unit: str = ""
    failed_above: float | None = Field(default=0.5, gt=0, le=1)
    shard_size: int | None = Field(default=None, ge=1)
    server: ServerSpec | None = None
    limits: LimitsSpec = LimitsSpec()
    display: DisplaySpec

    @property
    def api_model(self) -> str:
        """Return the id under which a hosted model is asked for."""
        return str(self.generation.get("model"))

    def answers_under(self, answered: str) -> bool:
        """Say whether an id under which a hosted model answered is one that may be used."""
        return is_asked_for(answered, self.api_model, self.answered_as)

    @property
    def kind(self) -> str:
        """Return the kind of place the model runs at: reference, hosted, local, ..."""
        return "served" if self.server is not None else PROTOCOLS[self.adapter].kind

    @property
    def provider(self) -> str | None:
        """Return the vendor whose limits pace the model, or None for one that runs here."""
        service = self.generation.get("service")
        if self.adapter == "openai_chat" and service in CHAT_SERVICES:
            return str(service)
        return PROTOCOLS[self.adapter].provider


def is_asked_for(answered: str, requested: str, answered_as: Sequence[str]) -> bool:
    """Say whether a model that answered is the one that was asked, or one that stands for it.

    In `answered_as`, `*` stands for anything.
    """
    return any(fnmatchcase(answered, pattern) for pattern in (requested, *answered_as))
