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
    crowd = _Crowd(items, work)
    threads = [threading.Thread(target=crowd.run, daemon=True) for _ in range(workers)]
    with _signals_interrupt():
        try:
            for thread in threads[: len(items)]:
                thread.start()
            _wait(threads[: len(items)])
        except KeyboardInterrupt:
            reason = InterruptedAskingError(
                "interrupted: nothing more is sent, what was sent is kept; run the same again to "
                "go on"
            )
            crowd.stop(reason)
            close(reason)
            _wait(threads[: len(items)])
    if crowd.errors:
        raise crowd.errors[0]


class _Crowd:
    def __init__(self, items: Sequence[ItemT], work: Callable[[ItemT], None]) -> None:
        self.errors: list[BaseException] = []
        self._items: Iterator[ItemT] = iter(items)
        self._work = work
        self._guard = threading.Lock()

    def run(self) -> None:
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

    def stop(self, error: BaseException) -> None:
        with self._guard:
            self.errors.append(error)


def _wait(threads: Sequence[threading.Thread]) -> None:
    for thread in threads:
        while thread.is_alive():
            # A join without a time limit would keep signals waiting, too.
            thread.join(LOOK_EVERY_S)


@contextmanager
def _signals_interrupt() -> Iterator[None]:
    """Let SIGTERM, which clusters send some seconds before they kill, do what Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def _interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
