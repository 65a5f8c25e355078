"""Pace: how soon the next request may leave, so that no minute holds more than is allowed.

Every limit is an axis (requests, tokens, images per minute). Sending pushes an axis's next time by
what the request takes of it: requests leave evenly, without a burst at the start, and one number an
axis is all that has to be kept from one job to the next (the generic cell rate algorithm).
"""

from __future__ import annotations

from collections.abc import Mapping

MINUTE_S = 60.0
#: A server counts arrivals, and requests take different times to arrive: a minute here is a little
#: longer than the server's, so that its own never holds one too many. Uses 96 % of what is allowed.
STRETCH = 1.04
#: How much of a request's delay the next one may make up for: half of what the stretch leaves, so
#: that a minute stays below its limit however few requests that is.
MADE_UP_S = MINUTE_S * (STRETCH - 1) / 2
#: The axis that a server's "not now" pushes; it has no rate.
HOLD = "hold"


class Pace:
    """The pace of one model at one provider; times are seconds since 1970.

    `per_minute` maps an axis to its limit; `next_at` is what an earlier pace left behind. A server
    is given at most `longest_wait_s`.
    """

    def __init__(
        self,
        per_minute: Mapping[str, float],
        next_at: Mapping[str, float],
        longest_wait_s: float = 300.0,
    ) -> None:
        self._per_minute = dict(per_minute)
        self.next_at = {axis: at for axis, at in next_at.items() if axis in (*per_minute, HOLD)}
        #: The longest that each axis can ask for: as much as it did, and at least a minute.
        self._longest_s = dict.fromkeys(per_minute, MINUTE_S * STRETCH)
        self._longest_s[HOLD] = max(longest_wait_s, MINUTE_S)

    def wait_s(self, now: float, amounts: Mapping[str, float] | None = None) -> float:
        """Return how long nothing may be sent; 0 if a request may leave now.

        `amounts` are what the next request takes: its like may have been sent by an earlier job.
        """
        for axis, amount in (amounts or {}).items():
            if axis in self._per_minute:
                share_s = _share_s(amount, self._per_minute[axis])
                self._longest_s[axis] = max(self._longest_s[axis], share_s)
        self._forget_what_is_too_far_ahead(now)
        return max(0.0, *(at - now for at in self.next_at.values()), 0.0)

    def take(self, now: float, amounts: Mapping[str, float]) -> Mapping[str, float]:
        """Push every axis by what a request takes, which leaves now; return the new times.

        A request that leaves a little late, for a timer is never exact, gives the time that it lost
        to the next one; silence earns nothing.
        """
        self._forget_what_is_too_far_ahead(now)
        for axis, limit in self._per_minute.items():
            share_s = _share_s(amounts.get(axis, 0.0), limit)
            due = self.next_at.get(axis, 0.0)
            began = now if due < now - share_s else max(due, now - MADE_UP_S)
            self.next_at[axis] = began + share_s
            self._longest_s[axis] = max(self._longest_s[axis], self.next_at[axis] - now)
        return self.next_at

    def give_back(self, now: float, amounts: Mapping[str, float]) -> Mapping[str, float]:
        """Return what a request was given and did not use; return the new times."""
        for axis, amount in amounts.items():
            if axis in self._per_minute:
                share_s = amount * MINUTE_S * STRETCH / self._per_minute[axis]
                self.next_at[axis] = max(now, self.next_at.get(axis, now) - share_s)
        return self.next_at

    def hold(self, until: float) -> Mapping[str, float]:
        """Send nothing before a time that a server asked for; return the new times."""
        self.next_at[HOLD] = max(until, self.next_at.get(HOLD, 0.0))
        return self.next_at

    def _forget_what_is_too_far_ahead(self, now: float) -> None:
        """Let no axis ask for more than it can: its time was written by a clock that went ahead."""
        for axis, at in self.next_at.items():
            self.next_at[axis] = min(at, now + self._longest_s[axis])


def _share_s(amount: float, limit: float) -> float:
    """Return how much of the time a request takes: the part of a minute that its like would share.

    Two requests of 40 % fit into a minute, and not two and a half.
    """
    if amount <= 0:
        return 0.0
    fits = limit // amount
    return MINUTE_S * STRETCH / (fits if fits >= 1 else limit / amount)
