"""Encoder specs: one YAML is one encoder with its settings, under a name of its own."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from gensight.errors import SpecError
from gensight.specs import declared
from gensight.specs.base import Name, Settings, Spec, load_spec


class EncoderDisplaySpec(Spec):
    """How tables and notes name an encoder."""

    label: str = Field(min_length=1)


class EncoderLimitsSpec(Spec):
    """What a job that embeds needs; none of it determines a vector."""

    gpu: int = Field(default=0, ge=0)
    memory_mb: int = Field(default=2000, ge=1)
    runtime_minutes: int = Field(default=60, ge=1)


class EncoderSpec(Spec):
    """One encoder: a module of `gensight.encoders` and its settings, which determine its vectors.

    `stand_in` says that it only stands in where there are no weights: its numbers are never shown
    beside those of another encoder.
    """

    module: Name
    settings: Settings = Field(default_factory=dict)
    stand_in: bool = False
    display: EncoderDisplaySpec
    limits: EncoderLimitsSpec = EncoderLimitsSpec()


def load_encoder(path: Path) -> EncoderSpec:
    """Read an encoder's YAML and check it against what its module declares, without importing it.

    Raises:
        SpecError: one line naming file, key and what to do.
    """
    spec = load_spec(path, EncoderSpec)
    declared.merged(str(path), "settings", "encoders", spec.module, spec.settings)
    stands_in = declared.constants("encoders", spec.module)["STAND_IN"]
    if spec.stand_in != stands_in:
        raise SpecError(
            f"{path}: stand_in: the module '{spec.module}' "
            f"{'only stands in' if stands_in else 'is no stand-in'}; say {str(stands_in).lower()}"
        )
    return spec
