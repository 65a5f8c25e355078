"""Replies of judges that came with an archive: files of judgements answer for their keys.

A file of judgements has the replies of all models of a judge, each as often as readings are alike.
What of it answers is kept as every adopted reply is, in one file for each model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gensight.digests import canonical_json, digest_of
from gensight.errors import RecordError
from gensight.footers import read_footer
from gensight.runner.adoption import adopted_folder

if TYPE_CHECKING:
    from gensight.records import Generation

#: The columns of a judgement that its reply has, too; and those before it that were cut.
SHARED = ("request_key", "text", "answered_model", "latency_s", "cost_usd", "usage")


def told_cut(replies: Sequence[Generation]) -> str | None:
    """Return replies that were cut as a judgement keeps them: JSON, None where there are none."""
    if not replies:
        return None
    return canonical_json([{name: getattr(row, name) for name in SHARED} for row in replies])


def cut_keys(told: str | None) -> list[str]:
    """Return the keys of the replies that a judgement says were cut."""
    return [] if told is None else [reply["request_key"] for reply in json.loads(told)]


def answered_by_judges(judgements: Path) -> dict[str, set[str]]:
    """Return the keys that a file of judgements has answers to, by judging model."""
    from gensight.outcomes import MODEL_OUTCOMES

    names = ("judge_model", "request_key", "judge_outcome", "cut_replies")
    found: dict[str, set[str]] = {}
    for model, key, outcome, cut in zip(*_columns(judgements, names), strict=True):
        known = found.setdefault(model, set())
        known.update(cut_keys(cut), [key] if outcome in MODEL_OUTCOMES else [])
    return {model: keys for model, keys in found.items() if keys}


def lacks_replies(ledger: Path, model: str, judgements: Path) -> bool:
    """Say whether a file of judgements has a reply of a model that the ledger lacks."""
    from gensight.runner.ledger import Ledger

    if _adopted_path(ledger, model, judgements).exists():
        return False
    kept = Ledger(ledger, model)
    keys = answered_by_judges(judgements).get(model, ())
    return any(not kept.entry_path(key).exists() for key in keys)


def adopt_judgements(ledger: Path, judgements: Path) -> None:
    """Keep the replies of a file of judgements in the ledger; nothing there is replaced.

    Raises:
        RecordError: the file is damaged.
    """
    from gensight.records import Generation, write_rows

    told = read_footer(judgements).determinants
    requests = told["predictions"]["generations"]["requests"]
    for model, keys in answered_by_judges(judgements).items():
        target = _adopted_path(ledger, model, judgements)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            says = {"stage": "generations", "model": model, "requests": requests}
            write_rows(target, Generation, _replies(judgements, model, keys), says)


def _replies(judgements: Path, model: str, keys: set[str]) -> Iterator[Generation]:
    """Yield the replies of a model, each once."""
    names = ("sample_id", "judge_model", "judge_outcome", "cut_replies", *SHARED)
    left = set(keys)
    for values in zip(*_columns(judgements, names), strict=True):
        row = dict(zip(names, values, strict=True))
        if row["judge_model"] == model:
            for reply in _replies_of(row):
                if reply.request_key in left:
                    left.remove(reply.request_key)
                    yield reply


def _columns(judgements: Path, names: Sequence[str]) -> list[list[Any]]:
    """Return columns of a file of judgements, also of an older version: what was paid for counts.

    A column that it does not have yet is None in all of its rows.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from gensight.footers import rebuild_command

    footer = read_footer(judgements)
    try:
        file = pq.ParquetFile(judgements, page_checksum_verification=True)
        there = [name for name in names if name in file.schema_arrow.names]
        read = file.read(columns=there).to_pydict()
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split(".")[0].split())
        raise RecordError(
            f"{judgements}: cannot be read ({reason}); {rebuild_command(judgements)}"
        ) from None
    return [read.get(name, [None] * footer.rows) for name in names]


def _replies_of(row: Mapping[str, Any]) -> Iterator[Generation]:
    """Yield what the runner keeps of a judgement: its replies, and nothing of what it is about."""
    from gensight.outcomes import Outcome
    from gensight.records import Generation

    last = {name: row[name] for name in SHARED}
    cut = [] if row["cut_replies"] is None else json.loads(row["cut_replies"])
    ends = [*((one, str(Outcome.TRUNCATED)) for one in cut), (last, row["judge_outcome"])]
    for reply, outcome in ends:
        yield Generation(
            request_id="",
            sample_ids=[row["sample_id"]],
            rank=0,
            turn=0,
            final=True,
            outcome=outcome,
            **reply,
        )


def _adopted_path(ledger: Path, model: str, judgements: Path) -> Path:
    # By its rows: a file that was copied is the same file.
    name = digest_of(["judgements", str(judgements), read_footer(judgements).content])[:32]
    return adopted_folder(ledger, model) / f"{name}.parquet"
