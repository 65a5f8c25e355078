"""How often a judge is asked the same: its runs, the second look at some samples, and re-asks.

Every attempt is asked under a repeat of its own, and so under a key of its own: no reply is ever
counted twice. What repeat that is depends on nothing else, so that more runs or more re-asks, added
later, leave the replies that there are where they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gensight.judges.replies import Verdict
from gensight.specs.judge import JudgeSpec

#: Repeats from one re-ask to the next: more than a judge has runs.
REASK_STEP = 1_000
#: The first repeat of a second look: more than all runs with all their re-asks.
RESCORED_FROM = 1_000_000
DIGEST_BITS = 64


@dataclass(frozen=True)
class Attempt:
    """One time that a question is put: in which run, how often before in it, at a second look."""

    run: int = 0
    reask: int = 0
    rescored: bool = False

    @property
    def repeat(self) -> int:
        """Return the repeat under which the question is put.

        >>> Attempt(run=2, reask=1).repeat, Attempt(rescored=True).repeat
        (1002, 1000000)
        """
        return self.run + REASK_STEP * self.reask + RESCORED_FROM * self.rescored


def first_attempts(judge: JudgeSpec, sample_id: str) -> Iterator[Attempt]:
    """Yield the attempts that begin a run each, then that of the second look, if there is one."""
    yield from (Attempt(run=run) for run in range(judge.repeats))
    rescored = judge.rescored
    if rescored and is_rescored(sample_id, rescored.share, rescored.assumed_seed):
        yield Attempt(rescored=True)


def next_attempt(attempt: Attempt, verdict: Verdict, judge: JudgeSpec) -> Attempt | None:
    """Return the attempt that follows a reply: a re-ask where it could not be read, else None."""
    if not verdict.is_asked_again or attempt.reask >= judge.reasks:
        return None
    return replace(attempt, reask=attempt.reask + 1)


def is_rescored(sample_id: str, share: float, seed: int) -> bool:
    """Say whether a sample is among those judged twice: by the sha256 of seed and id alone.

    Of n samples they are about share x n, each drawn by itself; a larger share only adds some.
    """
    digest = hashlib.sha256(f"rescored {seed} {sample_id}".encode()).digest()
    return int.from_bytes(digest[: DIGEST_BITS // 8], "big") < share * 2**DIGEST_BITS
