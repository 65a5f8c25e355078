"""Archives of results: everything a stranger needs to rebuild tables without generating anything.

`results/ARCHIVE.json` lists each file with its size, time, sha256 and what it says about itself. An
archive is a plain tar of `results/` with that list first. Restoring checks every byte before it
lays anything in, gives the files their recorded times and lets the restored generations answer in
the ledger, so that a later growth of a benchmark buys only what is new.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from gensight.atomic import replacing, write_text
from gensight.errors import GensightError, RecordError
from gensight.footers import Footer, footer_from, read_footer, rebuild_command
from gensight.freshness import MANIFEST
from gensight.plan import STAGES
from gensight.runner.adopted_judgements import adopt_judgements
from gensight.runner.adoption import adopt as adopt_generations
from gensight.stamps import mark_built

FORMAT_VERSION = 1
RESULTS = Path("results")
CHUNK_BYTES = 1 << 20
ENTRY_TYPES = {"size": int, "mtime_ns": int, "sha256": str, "footer": dict}
CREATE_COMMAND = "make one with: gensight archive create FILE.tar"
ADOPT_COMMAND = "list the files again with: gensight archive adopt"


@dataclass
class Report:
    """What was done: number of files and bytes, remarks, and problems that were found."""

    files: int = 0
    bytes: int = 0
    messages: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def create(destination: Path, stages: Sequence[str] | None = None) -> Report:
    """Write a tar of results/, or of some of its stages, with the list of files first.

    The tar holds no owner, no host and no time of writing: equal results give equal bytes.
    """
    _check_stages(stages)
    entries = {str(path): _entry(path) for path in _result_files(stages)}
    if not entries:
        raise GensightError("results/: nothing to archive; run snakemake first")
    report = Report(len(entries), sum(entry["size"] for entry in entries.values()))
    try:
        with replacing(destination) as temporary:
            _write_tar(temporary, entries)
    except OSError as error:
        raise GensightError(f"{destination}: cannot be written ({error})") from None
    return report


def restore(source: Path, ledger: Path) -> Report:
    """Lay an archive's files into results/: all of them or, after an error, none.

    Raises:
        GensightError: not an archive of gensight, damaged or cut short, or a file is in the way.
    """
    known = _known_entries()
    try:
        with tarfile.open(source, "r:") as tar:
            entries = _read_list(source, tar)
            left_out = _lay_in(source, tar, entries, _already_there(entries))
    except OSError as error:
        raise GensightError(f"{source}: cannot be restored ({error})") from None
    except (tarfile.TarError, ValueError) as error:
        raise GensightError(f"{source}: cannot be read ({error}); {CREATE_COMMAND}") from None
    report = Report(len(entries), sum(entry["size"] for entry in entries.values()))
    report.messages += [f"{name}: not in the list, left out" for name in left_out]
    _write_manifest({**known, **entries})
    report.messages.append(f"{_fill_ledger(map(Path, entries), ledger)} cells put into the ledger")
    return report


def adopt(ledger: Path) -> Report:
    """Take over a results/ tree that was laid in by hand: list it, and fill the ledger."""
    entries, report = {}, Report()
    for path in _result_files(None):
        try:
            entries[str(path)] = _entry(path)
            mark_built(str(path), entries[str(path)]["footer"]["content"])
        except RecordError as error:
            report.problems.append(str(error))
    report.files, report.bytes = len(entries), sum(e["size"] for e in entries.values())
    _write_manifest(entries)
    report.messages.append(f"{_fill_ledger(map(Path, entries), ledger)} cells put into the ledger")
    return report


def verify() -> Report:
    """Compare every listed file with its sha256, and the rows of every other with its footer."""
    entries, report = _known_entries(), Report()
    for name, entry in entries.items():
        path = Path(name)
        if not path.exists():
            report.problems.append(f"{name}: listed in {MANIFEST}, missing here")
        elif _sha256(path) != entry["sha256"]:
            report.problems.append(f"{name}: its bytes are not the archived ones")
    for path in _result_files(None):
        report.files += 1
        report.bytes += path.stat().st_size
        if str(path) not in entries and path.suffix == ".parquet":
            report.problems += _problems_with_rows(path)
    return report


def _problems_with_rows(path: Path) -> list[str]:
    from gensight.records.storage import content_of

    try:
        if read_footer(path).content == content_of(path):
            return []
        return [f"{path}: its rows are not those that were written; {rebuild_command(path)}"]
    except RecordError as error:
        return [str(error)]


def _check_stages(stages: Sequence[str] | None) -> None:
    for stage in stages or ():
        if stage not in STAGES:
            raise GensightError(f"stage '{stage}' is not known; allowed: {', '.join(STAGES)}")


def _result_files(stages: Sequence[str] | None) -> Iterator[Path]:
    """Yield the files of results/ upstream first, so that a plain untar lays inputs in first."""
    for stage in stages or STAGES:
        for path in sorted((RESULTS / stage).rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                yield path


def _entry(path: Path) -> dict[str, Any]:
    stat = path.stat()
    try:
        footer = read_footer(path)
    except RecordError:
        if path.suffix == ".parquet":
            raise
        footer = Footer(stage=path.parts[1], digest="", content="")
    return {
        "size": stat.st_size,
        "mtime_ns": stat.st_mtime_ns,
        "sha256": _sha256(path),
        "footer": asdict(replace(footer, determinants={})),
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _manifest(entries: dict[str, Any]) -> dict[str, Any]:
    return {"format_version": FORMAT_VERSION, "files": entries}


def _known_entries() -> dict[str, Any]:
    if not MANIFEST.exists():
        return {}
    return _parse_list(MANIFEST, MANIFEST.read_bytes(), ADOPT_COMMAND)


def _write_manifest(entries: dict[str, Any]) -> None:
    write_text(MANIFEST, json.dumps(_manifest(entries), indent=1, sort_keys=True))


def _write_tar(path: Path, entries: dict[str, Any]) -> None:
    manifest = json.dumps(_manifest(entries), indent=1, sort_keys=True).encode()
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(_member(str(MANIFEST), len(manifest), 0), io.BytesIO(manifest))
        for name, entry in entries.items():
            with Path(name).open("rb") as stream:
                tar.addfile(_member(name, entry["size"], entry["mtime_ns"]), stream)


def _member(name: str, size: int, mtime_ns: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = size, mtime_ns / 1e9, 0o644
    return member


def _read_list(source: Path, tar: tarfile.TarFile) -> dict[str, Any]:
    first = tar.next()
    if first is None or first.name != str(MANIFEST) or not first.isreg():
        raise GensightError(
            f"{source}: not an archive of gensight (its first file must be {MANIFEST}); "
            f"{CREATE_COMMAND}"
        )
    return _parse_list(source, tar.extractfile(first).read(), CREATE_COMMAND)  # type: ignore[union-attr]


def _parse_list(source: Path, data: bytes, advice: str) -> dict[str, Any]:
    """Return the checked entries of a list of files: it may come from a stranger."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or "format_version" not in content:
        raise GensightError(f"{source}: its list of files cannot be read; {advice}")
    if content["format_version"] != FORMAT_VERSION:
        raise GensightError(
            f"{source}: format {content['format_version']!a} is not known here; "
            f"this version reads format {FORMAT_VERSION}"
        )
    files = content.get("files")
    if not isinstance(files, dict):
        raise GensightError(f"{source}: its list of files cannot be read; {advice}")
    for name, entry in files.items():
        if not _is_result(name):
            raise GensightError(f"{source}: lists {name!a}, which is no file of results/STAGE/")
        if not _is_entry(entry):
            raise GensightError(f"{source}: lists {name} in a form not known here; {advice}")
    return files


def _is_result(name: str) -> bool:
    path = PurePosixPath(name)
    inside = path.parts[:1] == ("results",) and len(path.parts) > 2 and ".." not in path.parts
    return inside and str(path) == name and name.isprintable()


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return False
    try:
        footer_from(entry.get("footer"))
    except ValueError:
        return False
    typed = all(isinstance(entry.get(key), kind) for key, kind in ENTRY_TYPES.items())
    return typed and 0 <= entry["mtime_ns"] < 1 << 63


def _already_there(entries: dict[str, Any]) -> set[str]:
    """Return the names of the files that need no laying in; another file in the way is an error."""
    there = {name for name in entries if Path(name).exists()}
    for name in sorted(there):
        if not Path(name).is_file() or _sha256(Path(name)) != entries[name]["sha256"]:
            raise GensightError(f"{name}: is here with other content; move it away, then restore")
    return there


def _lay_in(
    source: Path, tar: tarfile.TarFile, entries: dict[str, Any], there: set[str]
) -> list[str]:
    """Unpack what is listed and not there; return the names of members that are not listed."""
    missing, left_out = set(entries), []
    # The files take their places when the stack is left, and only if nothing was wrong with any.
    with ExitStack() as stack:
        for member in tar:
            if member.name in entries:
                missing.discard(member.name)
                if member.name not in there:
                    target = stack.enter_context(replacing(member.name))
                    _unpack(tar, member, entries[member.name], target)
            elif member.name != str(MANIFEST):
                left_out.append(member.name)
        if missing:
            raise GensightError(
                f"{source}: cut short: {len(missing)} of {len(entries)} files are not in it"
            )
        for name in there:
            _set_time(Path(name), entries[name])
    return left_out


def _unpack(
    tar: tarfile.TarFile, member: tarfile.TarInfo, entry: dict[str, Any], target: Path
) -> None:
    if not member.isreg():
        raise GensightError(f"{member.name}: not a plain file in the archive")
    seen = hashlib.sha256()
    stream = tar.extractfile(member)
    with target.open("xb") as file:
        while chunk := stream.read(CHUNK_BYTES):  # type: ignore[union-attr]
            seen.update(chunk)
            file.write(chunk)
    if seen.hexdigest() != entry["sha256"] or member.size != entry["size"]:
        raise GensightError(f"{member.name}: damaged in the archive (its sha256 differs)")
    _set_time(target, entry)


def _set_time(path: Path, entry: dict[str, Any]) -> None:
    os.utime(path, ns=(entry["mtime_ns"], entry["mtime_ns"]))


def _fill_ledger(paths: Iterable[Path], ledger: Path) -> int:
    listed = list(paths)
    cells = [path for path in listed if path.parts[1] == "generations"]
    for path in cells:
        adopt_generations(ledger, path.parts[2], path)
    judged = [path for path in listed if path.parts[1] == "judgements"]
    for path in judged:
        adopt_judgements(ledger, path)
    return len(cells) + len(judged)
