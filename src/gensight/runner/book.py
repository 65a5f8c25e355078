"""The book of one provider: every request that was sent to it, before it was sent.

One SQLite file, `ledger/{provider}.sqlite`, with a rollback journal, so that it also works on
shared file systems. An attempt is written and committed before its request leaves, with the most
that it may cost, and is closed after the reply is kept: one that is still open when its runner is
gone is in doubt. Pace and stops are kept beside it, and so survive jobs and kills.

Only the holder of the provider's lock (`gensight.runner.desk`) writes; anyone may read.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gensight.errors import RecordError
from gensight.outcomes import MODEL_OUTCOMES
from gensight.providers.exchange import NOT_SENT_ERRORS, Exchange

SCHEMA_VERSION = 1
#: How long a reader waits for a writer, and the other way round.
BUSY_TIMEOUT_S = 60.0
SCHEMA = """
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    run TEXT NOT NULL,
    model TEXT NOT NULL,
    api_model TEXT NOT NULL,
    benchmark TEXT NOT NULL,
    prompt TEXT NOT NULL,
    started REAL NOT NULL,
    ended REAL,
    end TEXT,
    detail TEXT,
    reserved_usd REAL NOT NULL,
    cost_usd REAL,
    price_date TEXT,
    usage TEXT
);
CREATE INDEX attempts_by_key ON attempts (key);
CREATE INDEX attempts_by_run ON attempts (run, model);
CREATE INDEX attempts_still_open ON attempts (id) WHERE ended IS NULL;
CREATE TABLE exchanges (
    attempt INTEGER NOT NULL REFERENCES attempts (id),
    ordinal INTEGER NOT NULL,
    received REAL NOT NULL,
    method TEXT NOT NULL,
    url TEXT NOT NULL,
    status INTEGER,
    headers TEXT NOT NULL,
    blob TEXT,
    error TEXT,
    PRIMARY KEY (attempt, ordinal)
);
CREATE TABLE pace (
    api_model TEXT NOT NULL,
    axis TEXT NOT NULL,
    next_at REAL NOT NULL,
    PRIMARY KEY (api_model, axis)
);
CREATE TABLE stops (
    scope TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    detail TEXT NOT NULL,
    since REAL NOT NULL,
    until REAL
);
"""
ATTEMPT_COLUMNS = (
    "id, key, ordinal, run, model, api_model, benchmark, prompt, started, ended, end, detail, "
    "reserved_usd, cost_usd, price_date, usage"
)


@dataclass(frozen=True)
class Intent:
    """A request that is about to leave; `reserved_usd` is the most that it may cost."""

    key: str
    ordinal: int
    run: str
    model: str
    api_model: str
    benchmark: str
    prompt: str
    reserved_usd: float


@dataclass(frozen=True)
class Attempt:
    """A request that was sent, or was about to be: times are seconds since 1970.

    `end` is how it ended: an outcome (`gensight.outcomes`), or a fault after which the same key was
    asked again (`gensight.providers.FaultKind`); None where it was never closed.
    """

    id: int
    key: str
    ordinal: int
    run: str
    model: str
    api_model: str
    benchmark: str
    prompt: str
    started: float
    ended: float | None = None
    end: str | None = None
    detail: str | None = None
    reserved_usd: float = 0.0
    cost_usd: float | None = None
    price_date: str | None = None
    usage: str | None = None


@dataclass(frozen=True)
class Stop:
    """Why nothing is sent: `scope` is `provider` or `model:{id}`; no `until` is "until lifted"."""

    scope: str
    kind: str
    detail: str
    since: float
    until: float | None = None


class Book:
    """One provider's book; safe for the threads of one process.

    Raises:
        RecordError: the file is damaged, of another version, or cannot be opened.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._guard = threading.RLock()
        if not read_only:
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            # A reader, too, must roll back what a killed writer left half-written; on a file system
            # that cannot be written to, `rw` opens for reading.
            self._connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={'rw' if read_only else 'rwc'}",
                uri=True,
                timeout=BUSY_TIMEOUT_S,
                check_same_thread=False,
                isolation_level=None,
            )
            only_reads = "PRAGMA query_only = ON"
            self._connection.execute(only_reads if read_only else "PRAGMA synchronous = FULL")
            self._make_or_check(read_only)
        except sqlite3.DatabaseError as error:
            raise self._damaged(error) from None

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def open_attempt(self, intent: Intent, now: float) -> int:
        """Write an attempt before its request leaves; return its id."""
        with self._transaction() as write:
            return int(
                write.execute(
                    "INSERT INTO attempts (key, ordinal, run, model, api_model, benchmark, prompt, "
                    "started, reserved_usd) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        intent.key,
                        intent.ordinal,
                        intent.run,
                        intent.model,
                        intent.api_model,
                        intent.benchmark,
                        intent.prompt,
                        now,
                        intent.reserved_usd,
                    ),
                ).lastrowid
                or 0
            )

    def keep_exchange(
        self, attempt: int, ordinal: int, exchange: Exchange, blob: str | None, now: float
    ) -> None:
        """Write a round trip whose body is kept as a blob, before anything reads it.

        One that was made again, since its body was lost, takes the place of the lost one.
        """
        with self._transaction() as write:
            write.execute(
                "INSERT OR REPLACE INTO exchanges VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    attempt,
                    ordinal,
                    now,
                    exchange.method,
                    exchange.url,
                    exchange.status,
                    json.dumps(dict(exchange.headers), sort_keys=True),
                    blob,
                    exchange.error,
                ),
            )

    def close_attempt(
        self,
        attempt: int,
        end: str,
        now: float,
        *,
        detail: str | None = None,
        cost_usd: float | None = None,
        price_date: str | None = None,
        usage: str | None = None,
    ) -> None:
        """Write how an attempt ended, and what it cost; None: what was reserved for it."""
        with self._transaction() as write:
            write.execute(
                "UPDATE attempts SET ended = ?, end = ?, detail = ?, price_date = ?, usage = ?, "
                "cost_usd = COALESCE(?, reserved_usd) WHERE id = ?",
                (now, end, detail, price_date, usage, cost_usd, attempt),
            )

    def attempts(self, where: str = "1", values: tuple[Any, ...] = ()) -> list[Attempt]:
        """Return attempts in the order in which they were made."""
        query = f"SELECT {ATTEMPT_COLUMNS} FROM attempts WHERE {where} ORDER BY id"
        return [Attempt(*row) for row in self._rows(query, values)]

    def attempts_of(self, key: str) -> list[Attempt]:
        """Return the attempts of one key."""
        return self.attempts("key = ?", (key,))

    def answered_keys(self) -> Iterator[tuple[str, str, str]]:
        """Yield the id of a model, a key that it answered, and the blob that came back first."""
        ends = ", ".join("?" * len(MODEL_OUTCOMES))
        query = (
            f"SELECT api_model, key, blob FROM attempts JOIN exchanges ON attempt = id "
            f"WHERE exchanges.ordinal = 0 AND blob IS NOT NULL AND end IN ({ends})"
        )
        yield from self._rows(query, sorted(MODEL_OUTCOMES))

    def has_answered(self, model: str, api_model: str) -> bool:
        """Say whether a model has ever answered under this name."""
        ends = ", ".join("?" * len(MODEL_OUTCOMES))
        query = f"SELECT 1 FROM attempts WHERE model = ? AND api_model = ? AND end IN ({ends})"
        return bool(self._rows(f"{query} LIMIT 1", (model, api_model, *sorted(MODEL_OUTCOMES))))

    def may_have_answer(self, key: str) -> bool:
        """Say whether a key was answered, or its request is still open: a reply may be kept."""
        ends = ", ".join("?" * len(MODEL_OUTCOMES))
        query = f"SELECT 1 FROM attempts WHERE key = ? AND (ended IS NULL OR end IN ({ends}))"
        return bool(self._rows(f"{query} LIMIT 1", (key, *sorted(MODEL_OUTCOMES))))

    def open_attempts(self) -> list[Attempt]:
        """Return the attempts that were never closed: under way, or in doubt if nobody runs."""
        return self.attempts("ended IS NULL")

    def exchanges(self, attempt: int) -> list[tuple[Exchange, str | None]]:
        """Return the round trips of an attempt, without their bodies, each with its blob."""
        query = (
            "SELECT method, url, status, headers, error, blob FROM exchanges WHERE attempt = ? "
            "ORDER BY ordinal"
        )
        rows = self._rows(query, (attempt,))
        return [
            (
                Exchange(
                    method,
                    url,
                    sent=error not in NOT_SENT_ERRORS,
                    status=status,
                    headers=json.loads(headers),
                    error=error,
                ),
                blob,
            )
            for method, url, status, headers, error, blob in rows
        ]

    def spent_usd(self, run: str) -> dict[str, float]:
        """Return what a run has spent by model; open attempts count what is reserved for them."""
        query = (
            "SELECT model, SUM(COALESCE(cost_usd, reserved_usd)) FROM attempts WHERE run = ? "
            "GROUP BY model"
        )
        return {model: float(usd) for model, usd in self._rows(query, (run,))}

    def resent(self, run: str) -> int:
        """Return how many requests of a run were sent again after one that is in doubt."""
        query = (
            "SELECT COUNT(*) FROM attempts AS later WHERE run = ? AND 'in_doubt' = (SELECT end "
            "FROM attempts WHERE key = later.key AND id < later.id ORDER BY id DESC LIMIT 1)"
        )
        return int(self._rows(query, (run,))[0][0])

    def next_at(self, api_model: str) -> dict[str, float]:
        """Return the time before which nothing may be sent, by axis."""
        query = "SELECT axis, next_at FROM pace WHERE api_model = ?"
        return dict(self._rows(query, (api_model,)))

    def set_next_at(self, api_model: str, times: Mapping[str, float]) -> None:
        """Write the time before which nothing may be sent, by axis."""
        with self._transaction() as write:
            write.executemany(
                "INSERT INTO pace VALUES (?, ?, ?) ON CONFLICT (api_model, axis) DO UPDATE SET "
                "next_at = excluded.next_at",
                [(api_model, axis, at) for axis, at in times.items()],
            )

    def stop(self, found: Stop) -> None:
        """Write that nothing more is sent in this scope."""
        with self._transaction() as write:
            write.execute(
                "INSERT OR REPLACE INTO stops VALUES (?, ?, ?, ?, ?)",
                (found.scope, found.kind, found.detail, found.since, found.until),
            )

    def stops(self) -> list[Stop]:
        """Return all stops."""
        query = "SELECT scope, kind, detail, since, until FROM stops ORDER BY scope"
        return [Stop(*row) for row in self._rows(query)]

    def lift(self, scope: str) -> None:
        """Remove a stop."""
        with self._transaction() as write:
            write.execute("DELETE FROM stops WHERE scope = ?", (scope,))

    def forget_pace(self) -> None:
        """Forget when requests left: the next one may leave at once."""
        with self._transaction() as write:
            write.execute("DELETE FROM pace")

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._guard:
            try:
                return self._connection.execute(query, tuple(values)).fetchall()
            except sqlite3.DatabaseError as error:
                raise self._damaged(error) from None

    def _damaged(self, error: sqlite3.DatabaseError) -> RecordError:
        return RecordError(
            f"{self.path}: cannot be read ({error}); restore it from a backup: without it, "
            f"requests that were paid for may be paid for again"
        )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._guard:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException as error:
                if self._connection.in_transaction:  # a full disk may have ended it
                    self._connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.OperationalError):
                    raise RecordError(
                        f"{self.path}: cannot be written ({error}); make room, or wait until "
                        f"nobody else writes, and run the same again"
                    ) from None
                if isinstance(error, sqlite3.DatabaseError):
                    raise self._damaged(error) from None
                raise

    def _version(self) -> int:
        return int(self._connection.execute("PRAGMA user_version").fetchone()[0])

    def _make_or_check(self, read_only: bool) -> None:
        if self._version() == 0 and not read_only:
            with self._transaction() as write:
                if self._version() == 0:  # nobody else has made it meanwhile
                    for statement in SCHEMA.split(";"):
                        write.execute(statement)
                    write.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        version = self._version()
        if version != SCHEMA_VERSION:
            raise RecordError(
                f"{self.path}: is of version {version}, this gensight reads {SCHEMA_VERSION}; use "
                f"the version that wrote it"
            )


def book_path(ledger: Path, provider: str) -> Path:
    """Return where a provider's book lies."""
    return ledger / f"{provider}.sqlite"


def books(ledger: Path) -> dict[str, Path]:
    """Return the books of a ledger by provider."""
    return {path.stem: path for path in sorted(ledger.glob("*.sqlite"))}
