"""The chat protocol of OpenAI, as OpenAI and others speak it: texts and pictures, a text back.

`service` says who answers, and so whose key, limits and habits apply (`SERVICES`). A server of
one's own (vLLM) is reached at `base_url` or by the config's `endpoints`; its weights and version
are no settings that are sent, but they are part of what a reply is kept under. Sources: OpenAI API
reference, chat completions; the API pages of Volcengine Ark, DeepSeek and Moonshot; vLLM,
OpenAI-compatible server.

Which setting a service takes cannot be said where plans are checked, so a setting that it does not
take is an error when the model is connected, before anything is sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gensight import providers
from gensight.errors import SpecError
from gensight.models import Outcome, Part, Reply, Turn
from gensight.models._openai import (
    OpenAIAdapter,
    body_of,
    count,
    given,
    made,
    open_sdk,
    pictures_of,
    send_once,
    sent_seed,
    settings_of,
    typed,
    verdict,
)
from gensight.models._pictures import data_uri
from gensight.providers.faults import dig
from gensight.providers.usage import Usage

if TYPE_CHECKING:
    from gensight.models import HostedAdapter
    from gensight.providers import Connection, Exchange

VERSION = 1
READS_TRUTH = False
ANSWERS = ["text"]
SPENDS = {"max_tokens": "max_tokens", "size": None, "quality": None}

# null: not sent. `max_tokens` bounds what is thought and said together, whatever its name there.
DEFAULTS = {
    "service": None,
    "model": None,
    # null: the service's official address.
    "base_url": None,
    "weights_revision": None,
    "server_version": None,
    "max_tokens": None,
    # Higher limits that a reply cut at its limit is asked again with, one after the other.
    "length_ladder": [],
    "temperature": None,
    "top_p": None,
    "top_k": None,
    "min_p": None,
    "frequency_penalty": None,
    "presence_penalty": None,
    "repetition_penalty": None,
    "seed": None,
    "stop": None,
    "reasoning_effort": None,
    # `thinking_budget` bounds what is thought, in tokens.
    "thinking": None,
    "thinking_budget": None,
    "verbosity": None,
    "image_detail": None,
    "chat_template_kwargs": None,
    "mm_processor_kwargs": None,
}
REQUIRED = ["service", "model"]
CHOICES = {
    "service": [None, "ark", "deepseek", "moonshot", "openai", "vllm"],
    "thinking": [None, "enabled", "disabled", "auto"],
    "verbosity": [None, "low", "medium", "high"],
    "image_detail": [None, "auto", "low", "high", "original"],
}
#: By service: what it calls the limit of tokens, where it puts its thoughts in a reply, whether it
#: sees pictures, and which settings it takes beside those that all take.
SERVICES: dict[str, dict[str, Any]] = {
    "ark": {
        # Its `max_tokens` would leave the thoughts out, which are paid too.
        "limit": "max_completion_tokens",
        "thoughts": ["reasoning_content"],
        "sees": True,
        # The name of the budget is assumed: the vendor's pages name efforts only.
        "takes": ["reasoning_effort", "thinking", "thinking_budget", "image_detail"],
    },
    "deepseek": {
        "limit": "max_tokens",
        "thoughts": ["reasoning_content"],
        "sees": False,
        "takes": ["reasoning_effort", "thinking"],
    },
    "moonshot": {
        "limit": "max_completion_tokens",
        "thoughts": ["reasoning_content"],
        "sees": True,
        "takes": ["reasoning_effort", "thinking"],
    },
    "openai": {
        "limit": "max_completion_tokens",
        "thoughts": [],
        "sees": True,
        "takes": ["reasoning_effort", "seed", "verbosity", "image_detail"],
    },
    "vllm": {
        "limit": "max_tokens",
        "thoughts": ["reasoning", "reasoning_content"],
        "sees": True,
        "takes": [
            "weights_revision",
            "server_version",
            "reasoning_effort",
            "seed",
            "top_k",
            "min_p",
            "repetition_penalty",
            "chat_template_kwargs",
            "mm_processor_kwargs",
        ],
    },
}
TAKEN_BY_ALL = (
    "service",
    "model",
    "base_url",
    "max_tokens",
    "temperature",
    "top_p",
    "frequency_penalty",
    "presence_penalty",
    "stop",
)
STANDARD = (
    "model",
    "temperature",
    "top_p",
    "frequency_penalty",
    "presence_penalty",
    "stop",
    "reasoning_effort",
    "verbosity",
)
LEAST = {
    "max_tokens": 1,
    "temperature": 0.0,
    "top_p": 0.0,
    "top_k": -1,
    "min_p": 0.0,
    "frequency_penalty": -2.0,
    "presence_penalty": -2.0,
    "repetition_penalty": 0.0,
    "seed": 0,
    "thinking_budget": 0,
}
#: What OpenAI does not have: vLLM takes it at the top of the body.
BEYOND_OPENAI = (
    "top_k",
    "min_p",
    "repetition_penalty",
    "chat_template_kwargs",
    "mm_processor_kwargs",
)
ENDS = {
    "length": Outcome.TRUNCATED,
    "content_filter": Outcome.REFUSED_OUTPUT,
}
VERDICTS = (("content_filter", Outcome.REFUSED_INPUT),)
# A request's body, not its pictures, has a limit; this is the smallest of the services' (assumed).
MOST_PICTURES = 250
MOST_BYTES = 20_000_000


def connect(generation: Mapping[str, Any], connection: Connection) -> HostedAdapter:
    """Connect to the chat model that a generation block describes.

    An address that is not the service's official one is taken from the connection; where that one
    names none, `base_url` of the generation counts.

    Raises:
        SpecError: unknown key or value, a setting that the service does not take, no address.
        GensightError: OpenAI's SDK is not installed.
    """
    settings = settings_of("openai_chat", generation, LEAST)
    service = settings["service"]
    _check_taken(settings, SERVICES[service]["takes"])
    reached = replace(connection, base_url=_address(settings, connection.base_url))
    client = open_sdk("openai_chat", reached, own_account=service == "openai")
    return ChatAdapter(settings, client, SERVICES[service])


def _check_taken(settings: Mapping[str, Any], takes: Sequence[str]) -> None:
    allowed = sorted((*TAKEN_BY_ALL, *takes))
    for name, value in settings.items():
        if value is not None and name not in allowed:
            raise SpecError(
                f"generation: {name}: the service '{settings['service']}' does not take it; "
                f"it takes: {', '.join(allowed)}"
            )


def _address(settings: Mapping[str, Any], given_address: str | None) -> str:
    official = providers.load(settings["service"]).BASE_URL
    is_another_road = given_address and given_address != official
    address = given_address if is_another_road else settings["base_url"] or official
    if not address:
        raise SpecError(
            f"generation: base_url: the service '{settings['service']}' has no address of its own; "
            f"set base_url, or name the server in the config key 'endpoints'"
        )
    return str(address).rstrip("/")


@dataclass(frozen=True)
class ChatAdapter(OpenAIAdapter):
    """A chat model, with the habits of the service that it answers from."""

    habits: Mapping[str, Any]

    def send(self, turn: Turn) -> None:
        """Ask one turn, once.

        Raises:
            SpecError: the service sees no pictures, and the turn has some.
            ImageError: the pictures cannot be sent.
        """
        if pictures_of(turn, MOST_PICTURES, MOST_BYTES) and not self.habits["sees"]:
            raise SpecError(
                f"generation: service: '{self.settings['service']}' reads text only, and the "
                f"prompt has pictures; leave the model out of this task"
            )
        limit = self.settings["max_tokens"] if turn.max_tokens is None else turn.max_tokens
        content = [_content(part, self.settings["image_detail"]) for part in turn.parts]
        arguments = {
            "messages": [{"role": "user", "content": content}],
            **given(self.settings, STANDARD),
            **sent_seed(self.settings, turn),
            **({} if limit is None else {self.habits["limit"]: limit}),
        }
        if beyond := self._beyond():
            arguments["extra_body"] = beyond
        send_once(self.client.chat.completions.create, arguments)

    def _beyond(self) -> dict[str, Any]:
        beyond = given(self.settings, BEYOND_OPENAI)
        thinking = given(self.settings, ["thinking", "thinking_budget"])
        if thinking:
            names = {"thinking": "type", "thinking_budget": "budget_tokens"}
            beyond["thinking"] = {names[name]: value for name, value in thinking.items()}
        return beyond

    def read(self, exchanges: Sequence[Exchange]) -> Reply:
        """Return the reply that a recorded round trip holds."""
        from openai.types.chat import ChatCompletionMessage

        body = body_of(exchanges[-1])
        usage = _usage(body)
        choices = body.get("choices")
        if not isinstance(choices, list) or not choices:
            told = dig(body, "error", "code")
            outcome = verdict(told, VERDICTS, Outcome.MALFORMED)
            return made(body, outcome, told or "no_choices", usage=usage)
        message = dig(choices[0], "message")
        said = typed(ChatCompletionMessage, message, "role", "content", "refusal")
        if said is None:
            return made(body, Outcome.MALFORMED, "no_message", usage=usage)
        text, end = said.content or None, dig(choices[0], "finish_reason")
        if said.refusal:
            shown = text or said.refusal
            return made(body, Outcome.REFUSED_OUTPUT, "refusal", text=shown, usage=usage)
        if end != "stop":
            outcome = ENDS.get(end, Outcome.MALFORMED) if isinstance(end, str) else None
            told = end if outcome else "no_finish_reason"
            return made(body, outcome or Outcome.MALFORMED, told, text=text, usage=usage)
        if text is None:
            thought = any(dig(message, name) for name in self.habits["thoughts"])
            detail = "only_thoughts" if thought else "empty"
            return made(body, Outcome.MALFORMED, detail, usage=usage)
        return made(body, Outcome.OK, text=text, usage=usage)


def _content(part: Part, detail: str | None) -> dict[str, Any]:
    if part.image is None:
        return {"type": "text", "text": part.text or ""}
    image = {"url": data_uri(part.image)}
    return {
        "type": "image_url",
        "image_url": image if detail is None else {**image, "detail": detail},
    }


def _usage(body: Mapping[str, Any]) -> Usage | None:
    """Return the tokens, thoughts being part of those that are said; None where none are told."""
    told = body.get("usage")
    shown, said = count(told, "prompt_tokens"), count(told, "completion_tokens")
    if shown is None or said is None:
        return None
    pictures = min(shown, count(told, "prompt_tokens_details", "image_tokens") or 0)
    return Usage(shown - pictures, pictures, said)
