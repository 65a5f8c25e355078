"""A served VLM as the eyes of an agent: asked by pictures and a text, answering with a text.

It is a server of one's own, so nothing that it does is billed: what may have been lost is simply
asked again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gensight.errors import AnswerError, GensightError
from gensight.models import Outcome, Part, Reply, Turn, openai_chat
from gensight.models._settings import stated
from gensight.providers import Connection, Exchange, FaultKind, vllm

if TYPE_CHECKING:
    import httpx2

SERVICE = "vllm"
ATTEMPTS = 4
#: The pause after the first attempt; each is twice as long as the one before.
PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
PASSING = (FaultKind.NOT_SENT, FaultKind.WAIT, FaultKind.OVERLOADED, FaultKind.IN_DOUBT)
REFUSALS = {
    FaultKind.REFUSED_INPUT: Outcome.REFUSED_INPUT,
    FaultKind.REFUSED_OUTPUT: Outcome.REFUSED_OUTPUT,
}


class ServedViewer:
    """A model behind the chat protocol of OpenAI, at an address of one's own."""

    def __init__(self, settings: Mapping[str, Any], address: str, client: httpx2.Client) -> None:
        """Connect; errors as `openai_chat.connect`."""
        self._model, self._address = settings["agent"], address
        generation = {
            "service": SERVICE,
            "model": settings["agent"],
            "max_tokens": stated(settings, "max_tokens"),
            "temperature": stated(settings, "temperature"),
        }
        self._adapter = openai_chat.connect(generation, Connection("", address, client))

    def __call__(self, parts: tuple[Part, ...]) -> Reply:
        """Ask once, and again where the server could not.

        Raises:
            AnswerError: it could not, several times in a row, or does not take this request
                (which may be too long, say).
            GensightError: it takes no request, or serves another model.
        """
        turn = Turn(parts, {"kind": "text"}, seed=None)
        pause_s = PAUSE_S
        for attempt in range(ATTEMPTS):
            exchange = self._send(turn)
            fault = vllm.fault_of(exchange)
            if fault is None:
                return self._read(exchange)
            if fault.kind in REFUSALS:
                return Reply(str(REFUSALS[fault.kind]), detail=fault.detail)
            if fault.kind not in PASSING:
                # A picture that is too large says nothing of the next one.
                kind = AnswerError if fault.kind == FaultKind.BAD_REQUEST else GensightError
                raise kind(
                    f"the server at {self._address} does not take a request for {self._model}: "
                    f"{fault.detail}; look into its log, and at generation.agent"
                )
            if attempt < ATTEMPTS - 1:
                time.sleep(min(fault.wait_s or pause_s, LONGEST_PAUSE_S))
                pause_s *= 2
        raise AnswerError(
            f"the server at {self._address} gave no answer in {ATTEMPTS} attempts: {fault.detail}"
        )

    def _send(self, turn: Turn) -> Exchange:
        from gensight.providers import transport

        told: list[Exchange] = []
        with transport.recording(told.append):
            self._adapter.send(turn)
        return told[-1]

    def _read(self, exchange: Exchange) -> Reply:
        reply = self._adapter.read([exchange])
        if reply.answered_model not in (None, self._model):
            raise GensightError(
                f"the server at {self._address} answers as {reply.answered_model}, not as "
                f"{self._model}; correct generation.agent, or start it for that model"
            )
        return reply
