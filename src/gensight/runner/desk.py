"""The desk of a hosted model: where its questions wait for their turn, are paid for and sent.

For every question, in this order: the most that it may cost is reserved and an attempt is written
and committed (`gensight.runner.book`); it is sent, once; the reply's bytes are kept; they are read;
the answer is kept in the ledger; the attempt is closed with what it cost. Whenever the process
ends, the next desk knows how far each question had come: a reply that was kept is read and not
asked for again, and a request without one is in doubt.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NoReturn

from gensight.errors import BudgetError, GensightError
from gensight.models import HostedAdapter
from gensight.outcomes import MODEL_OUTCOMES, Outcome
from gensight.providers import Exchange, Fault, FaultKind, secrets
from gensight.providers.usage import Usage
from gensight.runner import retries
from gensight.runner.book import Attempt, Book, Intent, Stop
from gensight.runner.clerk import Clerk, open_end
from gensight.runner.clock import Clock, SystemClock
from gensight.runner.ledger import Entry, Ledger
from gensight.runner.pace import Pace
from gensight.runner.parking import parked
from gensight.runner.progress import Progress
from gensight.runner.purse import Purse
from gensight.runner.questions import Answer, Question
from gensight.runner.server import Server
from gensight.runner.terms import Terms
from gensight.runner.wire import FollowLaterError, NothingSentError

#: How often a question that waits for its turn looks whether it is still wanted.
LOOK_EVERY_S = 0.5
#: A longer wait for the next request is told.
TOLD_WAIT_S = 30.0


class Desk:
    """Asks one hosted model; `ask` may be called by many threads at once.

    `unresolved` holds how questions ended for now that got no answer, by key. `server` is the one
    that is asked, where this job started it: it is looked after when a question got no reply.
    """

    def __init__(
        self,
        ledger: Ledger,
        terms: Terms,
        book: Book,
        adapter: HostedAdapter,
        progress: Progress,
        clock: Clock | None = None,
        server: Server | None = None,
    ) -> None:
        self.unresolved: dict[str, Entry] = {}
        self.asked = 0
        self._ledger, self._terms, self._book = ledger, terms, book
        self._progress, self._clock = progress, clock or SystemClock()
        self._server = server
        self._clerk = Clerk(ledger, terms, book, adapter, self._clock, server)
        longest_wait_s = terms.hosted.longest_wait_s
        self._pace = Pace(terms.per_minute, book.next_at(terms.api_model), longest_wait_s)
        self._purse = Purse(ledger.root, terms.run, terms.budget, book)
        #: One question at a time passes: what is paced, reserved and written belongs together.
        self._gate = threading.Lock()
        #: Guards the pace and the counters, and wakes whoever waits for money.
        self._changed = threading.Condition()
        self._in_flight = 0
        self._failed_in_a_row = 0
        self._resent = book.resent(terms.run)
        #: How many times what was reserved for it a reply has used: so much more is reserved.
        self._stretch = 1.0
        self._closed: GensightError | None = None
        self._clerk.settle_left_behind()

    def close(self, reason: GensightError) -> None:
        """Send nothing more; what is in flight is still waited for and kept."""
        with self._changed:
            self._closed = self._closed or reason
            self._changed.notify_all()

    def ask(self, question: Question) -> Answer:
        """Return the answer to a question, or how it ended for now, which is kept nowhere.

        Raises:
            ParkedError: the provider or the model takes no requests for now.
            BudgetError: the money is spent.
            GensightError: nothing more is sent, for another reason.
        """
        # Two samples may ask the same thing: whoever comes second finds how the first one ended.
        with self._ledger.claim(question.key):
            answer = self._ledger.find(question.key) or self._ended(question.key)
            answer = answer or self._clerk.find(question) or self._ask(question)
            if answer[0].outcome not in MODEL_OUTCOMES:
                self.unresolved[question.key] = answer[0]
        self._progress.ended(answer[0])
        return answer

    def _ended(self, key: str) -> Answer | None:
        entry = self.unresolved.get(key)
        return None if entry is None else (entry, [])

    def _ask(self, question: Question) -> Answer:
        earlier = self._book.attempts_of(question.key)
        in_doubt = [a for a in earlier if a.ended is None or a.end == FaultKind.IN_DOUBT]
        if in_doubt and not self._may_resend():
            return open_end(question, Outcome.IN_DOUBT, in_doubt[-1].detail)
        for tried in range(self._terms.hosted.attempts):
            try:
                end = self._try(question, len(earlier) + tried)
            except FollowLaterError as error:
                # The attempt stays open with what was kept of it: fetched later, never sent again.
                self._count_failure(f"pending, {error}")
                return open_end(question, Outcome.PENDING, str(error))
            if not isinstance(end, Fault):
                return end
            if not self._goes_on(end, tried):
                break
        outcome = retries.UNRESOLVED[end.kind]
        if outcome != Outcome.BAD_REQUEST or not self._is_known_to_answer(earlier):
            self._count_failure(f"{outcome}, {end.detail}")
        return open_end(question, outcome, end.detail)

    def _is_known_to_answer(self, earlier: Sequence[Attempt]) -> bool:
        """Say whether a wrong request is that request's own fault, and not the config's.

        It is if the model has answered others, or if this one was refused in an earlier run too:
        what comes after it is still worth asking.
        """
        if any(attempt.end == FaultKind.BAD_REQUEST for attempt in earlier):
            return True
        return self._book.has_answered(self._terms.model, self._terms.api_model)

    def _try(self, question: Question, ordinal: int) -> Answer | Fault:
        """Send a question once; return its answer, or what went wrong."""
        most = self._terms.most(question.turn)
        with self._passed(question, ordinal, most) as attempt:
            started = self._clock.monotonic()
            exchanges, refused = self._sent(question, attempt)
            if refused is not None:
                return refused
            latency_s = self._clock.monotonic() - started
            fault = self._clerk.fault_of(exchanges[-1])
            if fault is None or fault.kind in retries.ANSWERS:
                return self._keep(question, attempt, exchanges, fault, latency_s, ordinal)
            self._clerk.close(attempt, fault)
            if self._server is not None and exchanges[-1].status is None:
                self._server.check()
            return fault

    def _sent(self, question: Question, attempt: int) -> tuple[list[Exchange], Fault | None]:
        """Send a turn; one that the adapter cannot put into a request is nobody else's fault."""
        try:
            return self._clerk.wire.send(question.turn, attempt, self._clerk.fault_of), None
        except NothingSentError as error:
            cause = error.__cause__
            if not isinstance(cause, GensightError):
                self._clerk.close(attempt, Fault(FaultKind.NOT_SENT, "an error in the adapter"))
                raise cause or error from None
            fault = Fault(FaultKind.BAD_REQUEST, " ".join(str(cause).split()))
            self._clerk.close(attempt, fault)
            return [], fault

    # -- before sending

    @contextmanager
    def _passed(self, question: Question, ordinal: int, most: Usage) -> Iterator[int]:
        """Wait for pace and money; yield the id of the attempt, which is committed by then."""
        usd = self._terms.price.cost_usd(most) * self._stretch
        amounts = {"requests": 1, "tokens": most.tokens, "images": most.images}
        with self._gate:
            self._wait_for_pace(amounts)
            attempt = self._open_attempt(question, ordinal, usd)
            with self._changed:
                self.asked += 1
                self._in_flight += 1
                self._keep_pace(self._pace.take(self._clock.time(), amounts))
        try:
            yield attempt
        finally:
            with self._changed:
                self._in_flight -= 1
                self._changed.notify_all()

    def _wait_for_pace(self, amounts: Mapping[str, float]) -> None:
        is_told = False
        while True:
            self._refuse_if_closed()
            with self._changed:
                wait_s = self._pace.wait_s(self._clock.time(), amounts)
            if wait_s <= 0:
                return
            if wait_s > TOLD_WAIT_S and not is_told:
                self._progress.say(
                    f"{self._terms.model}: the next request leaves in {wait_s:.0f} s"
                )
                is_told = True
            self._clock.sleep(min(wait_s, LOOK_EVERY_S))

    def _refuse_if_closed(self) -> None:
        if self._closed is not None:
            # Many threads raise it, and each adds where it was.
            raise copy.copy(self._closed)

    def _open_attempt(self, question: Question, ordinal: int, usd: float) -> int:
        terms = self._terms
        intent = Intent(
            key=question.key,
            ordinal=ordinal,
            run=terms.run,
            model=terms.model,
            api_model=terms.api_model,
            benchmark=question.benchmark,
            prompt=question.prompt,
            reserved_usd=usd,
        )
        while True:
            # Looked at before the money: what a request gives back as it ends is then seen.
            under_way = self._in_flight > 0
            with self._purse.reserving(terms.model, usd) as there_is_money:
                if there_is_money:
                    return self._book.open_attempt(intent, self._clock.time())
            self._wait_for_money(usd, under_way)
            self._refuse_if_closed()

    def _wait_for_money(self, usd: float, under_way: bool) -> None:
        """Wait until a request in flight gives back what it did not cost; give up if none was."""
        if under_way:
            with self._changed:
                if self._in_flight > 0:
                    self._changed.wait(LOOK_EVERY_S)
            return
        model, left = self._terms.model, max(self._purse.left_usd(self._terms.model), 0.0)
        raise BudgetError(
            f"the budget is spent: a request to {model} may cost {usd:.4f} USD and {left:.4f} are "
            f"left; raise budget.usd (or budget.models.{model}) in the config and run the same "
            f"again: what was bought is kept"
        )

    # -- after sending

    def _keep(
        self,
        question: Question,
        attempt: int,
        exchanges: Sequence[Exchange],
        fault: Fault | None,
        latency_s: float,
        ordinal: int,
    ) -> Answer:
        """Keep an answer, and give back what it did not use."""
        answer, usage = self._clerk.keep(question, attempt, exchanges, fault, latency_s, ordinal)
        if usage is not None:
            self._settle(self._terms.most(question.turn), usage)
        with self._changed:
            self._failed_in_a_row = 0
        return answer

    def _settle(self, most: Usage, used: Usage) -> None:
        """Give back the tokens that a reply did not use; take and reserve what it used more."""
        now, left = self._clock.time(), most.tokens - used.tokens
        with self._changed:
            if left >= 0:
                self._keep_pace(self._pace.give_back(now, {"tokens": left}))
            else:
                self._keep_pace(self._pace.take(now, {"tokens": -left}))
        reserved_usd, usd = map(self._terms.price.cost_usd, (most, used))
        if usd > reserved_usd * self._stretch > 0:
            self._stretch = usd / reserved_usd
            self._progress.say(
                f"{self._terms.model}: a reply cost {usd:.4f} USD, and {reserved_usd:.4f} was "
                f"taken for the most; from now on {self._stretch:.2f} times as much is reserved"
            )

    def _goes_on(self, fault: Fault, tried: int) -> bool:
        """Say whether the same question is sent again; hold back or stop what must be."""
        if fault.kind in retries.STOPS_PROVIDER | retries.STOPS_MODEL:
            self._stop(fault, fault.until_s)
        if fault.kind not in retries.SAFE:
            return False
        if (fault.wait_s or 0.0) > self._terms.hosted.longest_wait_s:
            self._stop(fault, fault.wait_s)
        if tried + 1 == self._terms.hosted.attempts:
            return False
        pause_s = retries.delay_s(tried, fault.wait_s)
        with self._changed:
            self._keep_pace(self._pace.hold(self._clock.time() + pause_s))
        self._progress.held(fault, pause_s)
        return True

    def _stop(self, fault: Fault, until_s: float | None) -> NoReturn:
        """Stop the provider, or the model, for this process and for those that follow.

        Raises:
            ParkedError, ModelGoneError, GensightError: what stopped, see `parked`.
        """
        now = self._clock.time()
        of_model = fault.kind in retries.STOPS_MODEL
        found = Stop(
            scope=f"model:{self._terms.api_model}" if of_model else "provider",
            kind=str(fault.kind),
            detail=secrets.scrub(fault.detail),
            since=now,
            until=now + (retries.PROBE_AFTER_S if until_s is None else until_s),
        )
        if fault.kind != FaultKind.AUTH:  # another key may be given at once, and asking is free
            self._book.stop(found)
        reason = parked(self._terms, found)
        self.close(reason)
        raise copy.copy(reason)

    def _count_failure(self, told: str) -> None:
        """Count a request that got no answer; after too many in a row nothing more is sent."""
        with self._changed:
            self._failed_in_a_row += 1
            failed = self._failed_in_a_row
        if failed >= retries.HOPELESS:
            self.close(
                GensightError(
                    f"{self._terms.model}: {failed} requests in a row got no answer (the last one: "
                    f"{told}); nothing more was sent"
                )
            )

    def _may_resend(self) -> bool:
        hosted = self._terms.hosted
        if self._terms.price.free:  # nothing was billed
            return True
        with self._changed:
            if hosted.in_doubt == "hold" or self._resent >= hosted.resend_at_most:
                return False
            self._resent += 1
        return True

    def _keep_pace(self, next_at: dict[str, float]) -> None:
        self._book.set_next_at(self._terms.api_model, next_at)
