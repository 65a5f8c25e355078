"""Asking a model that runs in this process: one question at a time, each answer kept at once.

A question that the model fails at costs that question, not the job: it ends as `error`, is kept
nowhere, and the next run asks it again. Too little memory ends the job, so that it is tried again
with more; so do several failures in a row of a model that has never answered, for then it is not
the question.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable

from gensight import doorway
from gensight.errors import AnswerError, GensightError, ModelMemoryError
from gensight.models import Adapter, Reply
from gensight.outcomes import Outcome
from gensight.runner.clock import Clock, SystemClock
from gensight.runner.ledger import Entry, Ledger, has_replies
from gensight.runner.place import place_of_this_job
from gensight.runner.questions import Answer, Question

#: The first answers of a model that was opened, or started again, take longer, and their times are
#: left out (assumed: ProbeGen Appendix B warms up and does not say how long).
ASSUMED_WARM_UP_ANSWERS = 3
#: After so many failures in a row of a model that never answered, it is at fault, or the machine.
HOPELESS = 5


class HereAsker:
    """Asks a model that runs in this process, opened at the first question.

    Weights load when there is something to ask, and not before. `keeps_place` says whether where it
    ran is kept: it may matter, except for models that are exact.
    """

    def __init__(
        self,
        ledger: Ledger,
        open_adapter: Callable[[], Adapter],
        clock: Clock | None = None,
        *,
        keeps_place: bool = True,
    ) -> None:
        self._ledger, self._open_adapter = ledger, open_adapter
        self._clock = clock or SystemClock()
        self._place = place_of_this_job() if keeps_place else None
        self._adapter: Adapter | None = None
        self._failed_in_a_row = 0
        self._restarts = self._answered_since_start = 0
        self.asked = 0

    def ask(self, question: Question) -> Answer:
        """Ask, unless another process has asked meanwhile.

        Raises:
            ModelMemoryError: there is too little memory.
            GensightError: the model cannot be opened, or fails at everything.
        """
        with self._ledger.claim(question.key):
            return self._ledger.find(question.key) or self._send(question)

    def close(self) -> None:
        """Close the model, if it was opened, and let go of its weights."""
        adapter, self._adapter = self._adapter, None
        close = getattr(adapter, "close", None)
        if close is not None:
            close()

    def _send(self, question: Question) -> Answer:
        # Opened before the clock starts: loading weights is no part of an answer's time.
        if self._adapter is None:
            self._adapter = self._opened()
            self._restarts = self._answered_since_start = 0
        if self._place is not None:  # whatever ends the job, its log says what it was at
            print(f"asking {question.sample_id}", flush=True)
        self._notice_restart(self._adapter)
        started = self._clock.monotonic()
        try:
            reply = self._adapter.answer(question.turn)
        except Exception as error:
            return self._failed(question, error)
        latency_s = self._clock.monotonic() - started
        complete = getattr(self._adapter, "completed", None)
        return self._kept(question, complete(reply) if complete else reply, latency_s)

    def _opened(self) -> Adapter:
        try:
            return self._open_adapter()
        except Exception as error:
            if _is_out_of_memory(error):
                raise _too_little_memory(error) from None
            raise

    def _notice_restart(self, adapter: Adapter) -> None:
        restarts = getattr(adapter, "restarts", 0)
        if restarts != self._restarts:
            self._restarts, self._answered_since_start = restarts, 0

    def _kept(self, question: Question, reply: Reply, latency_s: float) -> Answer:
        entry = self._ledger.record(
            question.key,
            reply,
            question.asked,
            latency_s,
            warm_up=self._answered_since_start < ASSUMED_WARM_UP_ANSWERS,
            place=self._place,
        )
        self.asked += 1
        self._answered_since_start += 1
        self._failed_in_a_row = 0
        return entry, list(reply.images)

    def _failed(self, question: Question, error: Exception) -> Answer:
        told = _told(error)
        if _is_out_of_memory(error):
            raise _too_little_memory(error) from None
        if isinstance(error, GensightError) and not isinstance(error, AnswerError):
            raise error
        if not isinstance(error, GensightError):
            traceback.print_exception(error)
        doorway.say(f"no answer: {question.sample_id}: {told}")
        self._failed_in_a_row += 1
        # What a model fails at that has answered before is the questions' fault.
        hopeless = self._failed_in_a_row >= HOPELESS
        if hopeless and not has_replies(self._ledger.root, self._ledger.model):
            raise GensightError(
                f"{self._failed_in_a_row} questions in a row failed (the last one: {told}); what "
                f"was answered before is kept"
            ) from None
        return Entry(question.key, str(Outcome.ERROR), detail=told, place=self._place), []


def _told(error: Exception) -> str:
    message = " ".join(str(error).split())
    return message if isinstance(error, GensightError) else f"{type(error).__name__}: {message}"


def _too_little_memory(error: Exception) -> ModelMemoryError:
    return ModelMemoryError(
        f"out of memory ({_told(error)}); what was answered is kept: the job is tried again with "
        f"more memory where the profile has retries, else raise limits.memory_mb in the model's "
        f"YAML, or take a larger GPU"
    )


def _is_out_of_memory(error: Exception) -> bool:
    """Say whether memory is what lacks; torch's error is told by its name, without torch."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return isinstance(error, MemoryError) or "OutOfMemoryError" in names
