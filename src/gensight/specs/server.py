"""The server of a served model: the command that starts it, and how it says that it is ready."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from gensight.specs.base import Name, Spec
from gensight.specs.placeholders import pieces

PLACEHOLDERS = ("port", "model")

Address = Annotated[str, Field(pattern=r"^(/\S*)?$")]


def filled(word: str, values: dict[str, str]) -> str:
    """Return a word of a command with its placeholders filled and doubled braces undone.

    >>> filled('{{"image": {port}}}', {"port": "8000"})
    '{"image": 8000}'

    Raises:
        ValueError: a brace without its partner, or anything but a known placeholder in braces.
    """
    return "".join(
        text + ("" if name is None else values[name]) for text, name in pieces(word, PLACEHOLDERS)
    )


class ServerSpec(Spec):
    """A server that is started inside the job which asks, and ended with it.

    `command` is a program and its words, run without a shell; `{port}` and `{model}` are filled in.
    It is ready once `health`, a path, answers 200, for which it has `timeout_s` seconds; it is then
    asked below `api`. At its end it is told to stop and has `stop_timeout_s` seconds for it.
    `environment` names the environment that the program is looked for in (the config's
    `environments`, else a folder of `.envs/`); null: where the job runs.

    The server must listen on 127.0.0.1 (or everywhere) from one of the command's own processes: an
    answer on its port from any other is taken for a stranger's.
    """

    command: list[str] = Field(min_length=1)
    port: Literal["auto"] | Annotated[int, Field(ge=1, le=65535)] = "auto"
    health: Annotated[str, Field(pattern=r"^/\S*$")] = "/health"
    api: Address = "/v1"
    timeout_s: float = Field(default=1800.0, gt=0)
    stop_timeout_s: float = Field(default=30.0, gt=0)
    environment: Name | None = None

    @field_validator("command")
    @classmethod
    def _has_known_placeholders(cls, command: list[str]) -> list[str]:
        for word in command:
            pieces(word, PLACEHOLDERS)
        if not command[0].strip():
            raise ValueError("the first word is the program to run, and it is empty")
        return command

    @model_validator(mode="after")
    def _is_told_its_port(self) -> ServerSpec:
        named = {name for word in self.command for _, name in pieces(word, PLACEHOLDERS)}
        if self.port == "auto" and "port" not in named:
            raise ValueError("the port is chosen at the start, and the command has no {port}")
        return self

    def words(self, port: int, model: str) -> list[str]:
        """Return the command for a port and the name of a model."""
        return [filled(word, {"port": str(port), "model": model}) for word in self.command]
