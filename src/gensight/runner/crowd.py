"""Many conversations at once: a hosted model is asked while it still answers others."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from gensight.errors import InterruptedAskingError

ItemT = TypeVar("ItemT")
#: How often the waiting main thread looks for a signal.
LOOK_EVERY_S = 0.2


def work_through(
    items: Sequence[ItemT],
    work: Callable[[ItemT], None],
    workers: int,
    close: Callable[[InterruptedAskingError], None],
) -> None:
    """Do `work` with every item, in order, `workers` of them at a time; raise the first error.

    After an error no further item is begun; those begun are waited for, because they may have been
    paid for. So it is after Ctrl-C or SIGTERM, when `close` is called first; a second one leaves at
    once.
    """
    crowd = _Crowd(items, work, min(workers, len(items)))
    with _heard() as signals:
        crowd.start()
        while not crowd.has_ended.wait(LOOK_EVERY_S):
            if signals.has_come and not signals.is_passed_on:
                signals.is_passed_on = True
                reason = InterruptedAskingError(
                    "interrupted: nothing more is sent, what was sent is kept; run the same again "
                    "to go on"
                )
                crowd.stop(reason)
                close(reason)
    if crowd.errors:
        raise crowd.errors[0]


class _Crowd:
    def __init__(self, items: Sequence[ItemT], work: Callable[[ItemT], None], workers: int) -> None:
        self.errors: list[BaseException] = []
        #: An event of our own: a `join` that a signal breaks off may take a thread for ended.
        self.has_ended = threading.Event()
        self._items: Iterator[ItemT] = iter(items)
        self._work, self._workers = work, workers
        self._guard = threading.Lock()
        self._left = workers

    def start(self) -> None:
        if self._workers == 0:
            self.has_ended.set()
        for _ in range(self._workers):
            threading.Thread(target=self._run, daemon=True).start()

    def stop(self, error: BaseException) -> None:
        with self._guard:
            self.errors.append(error)

    def _run(self) -> None:
        try:
            self._work_on()
        finally:
            with self._guard:
                self._left -= 1
                if self._left == 0:
                    self.has_ended.set()

    def _work_on(self) -> None:
        while True:
            with self._guard:
                if self.errors:
                    return
                try:
                    item = next(self._items)
                except StopIteration:
                    return
            try:
                self._work(item)
            except BaseException as error:
                self.stop(error)


class _Signals:
    """Whether somebody wants the process to end; the second time it is told by KeyboardInterrupt.

    The first one is only noted: an exception could break off the main thread at any place, also
    where it holds what others wait for.
    """

    def __init__(self) -> None:
        self.has_come = self.is_passed_on = False

    def note(self, number: int, frame: object) -> None:
        if self.has_come:
            raise KeyboardInterrupt
        self.has_come = True


@contextmanager
def _heard() -> Iterator[_Signals]:
    """Note Ctrl-C, and SIGTERM, which clusters send some seconds before they kill.

    A signal that is ignored (Ctrl-C in a job of the background) stays so.
    """
    signals, previous = _Signals(), {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                previous[number] = signal.signal(number, signals.note)
    try:
        yield signals
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
