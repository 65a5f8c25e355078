"""What every file of a run says about itself: in Parquet metadata, or as a mark in its text.

Tables and figures carry `gensight-digest:<hex>` and `gensight-inputs:<hex>` as a comment or as
document metadata, found by a plain search of the bytes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gensight.digests import digest_of
from gensight.errors import RecordError

COMMAND = "snakemake --cores 2"
MARK = re.compile(rb"gensight-digest:([0-9a-f]{64})(?:\s+gensight-inputs:([0-9a-f]{64}))?")


@dataclass(frozen=True)
class Footer:
    """A file's stage, the digest of what determined it, the digest of its rows, its inputs'.

    `inputs` maps the path of each input to the content digest it had. Of generations, `gaps` counts
    the rows of questions that got no answer, by outcome, and `answered` lists the ids under which a
    hosted model answered.
    """

    stage: str
    digest: str
    content: str
    rows: int = 0
    inputs: dict[str, str] = field(default_factory=dict)
    determinants: dict[str, Any] = field(default_factory=dict)
    gaps: dict[str, int] = field(default_factory=dict)
    answered: list[str] = field(default_factory=list)


def read_footer(path: str | Path) -> Footer:
    """Return what a file says about itself.

    Raises:
        RecordError: missing, damaged, or not written by gensight; names the rebuilding command.
    """
    path = Path(path)
    if not path.exists():
        target = _target(path)
        command = f"; run: {COMMAND} {target}" if target else ""
        raise RecordError(f"{path}: is missing{command}")
    return _parquet_footer(path) if path.suffix == ".parquet" else _marked_footer(path)


def _parquet_footer(path: Path) -> Footer:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path).metadata or {}
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split(".")[0].split())
        raise RecordError(f"{path}: cannot be read ({reason}); {rebuild_command(path)}") from None
    if b"gensight" not in metadata:
        raise RecordError(f"{path}: was not written by gensight; {rebuild_command(path)}")
    try:
        return footer_from(json.loads(metadata[b"gensight"]))
    except ValueError:
        raise RecordError(
            f"{path}: was not written by this version of gensight; {rebuild_command(path)}"
        ) from None


def footer_from(value: Any) -> Footer:
    """Return the footer that was kept as a mapping of JSON.

    Raises:
        ValueError: it has other keys or types than this version writes.
    """
    try:
        footer = Footer(**value)
    except TypeError:
        raise ValueError("not a footer") from None
    texts = (footer.stage, footer.digest, footer.content)
    trees = (footer.inputs, footer.determinants, footer.gaps)
    if not (
        all(isinstance(text, str) for text in texts)
        and all(type(count) is int for count in (footer.rows, *footer.gaps.values()))
        and isinstance(footer.answered, list)
        and all(isinstance(tree, dict) for tree in trees)
        and all(isinstance(content, str) for content in footer.inputs.values())
    ):
        raise ValueError("not a footer")
    return footer


def _marked_footer(path: Path) -> Footer:
    try:
        found = MARK.search(path.read_bytes())
    except OSError as error:
        raise RecordError(f"{path}: cannot be read ({error.strerror})") from None
    if not found:
        raise RecordError(f"{path}: carries no digest; {rebuild_command(path)}")
    digest, inputs = (group.decode() if group else "" for group in found.groups())
    content = digest_of([digest, inputs])
    return Footer(stage=path.parts[-2], digest=digest, content=content, inputs={"": inputs})


def mark(digest: str, inputs: dict[str, str]) -> str:
    """Return the mark that tables and figures carry; `inputs` maps paths to content digests."""
    return f"gensight-digest:{digest} gensight-inputs:{digest_of(inputs)}"


def rebuild_command(path: str | Path) -> str:
    """Return the advice that ends every error about a file that is there and cannot be used.

    Only what lies below a results/ is ever to be removed: a run makes it again.
    """
    target = _target(path)
    return f"remove it and run: {COMMAND} {target}" if target else "give a file of results/"


def _target(path: str | Path) -> str | None:
    """Return a file as its own checkout calls it: results/...; None outside of every results/."""
    parts = Path(path).parts
    if "results" not in parts[:-1]:
        return None
    last = len(parts) - 1 - parts[::-1].index("results")
    return "/".join(parts[last:])
