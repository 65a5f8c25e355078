"""Archives of results: everything a stranger needs to rebuild tables without generating anything.

`results/ARCHIVE.json` lists each file with its size, time, sha256 and what it says about itself. An
archive is a plain tar of `results/` with that list first. Restoring checks every byte, gives the
files their recorded times and lets the restored generations answer in the ledger, so that a later
growth of a benchmark buys only what is new.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from gensight.errors import GensightError, RecordError
from gensight.footers import Footer, read_footer
from gensight.freshness import MANIFEST, mark_built
from gensight.plan import STAGES
from gensight.runner.adoption import adopt as adopt_generations

FORMAT_VERSION = 1
RESULTS = Path("results")
CHUNK_BYTES = 1 << 20


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
    temporary = destination.with_name(f".{destination.name}.{os.getpid()}")
    destination.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(temporary, "w", format=tarfile.PAX_FORMAT) as tar:
            manifest = json.dumps(_manifest(entries), indent=1, sort_keys=True).encode()
            tar.addfile(_member(str(MANIFEST), len(manifest), 0), io.BytesIO(manifest))
            for name, entry in entries.items():
                with Path(name).open("rb") as stream:
                    tar.addfile(_member(name, entry["size"], entry["mtime_ns"]), stream)
        os.replace(temporary, destination)
    finally:
        temporary.unlink(missing_ok=True)
    return report


def restore(source: Path, ledger: Path) -> Report:
    """Lay an archive's files into results/; a file that is there with other bytes is an error.

    Raises:
        GensightError: not an archive of gensight, a damaged file, or one in the way.
    """
    report = Report()
    try:
        with tarfile.open(source, "r") as tar:
            entries = _read_manifest(source, tar)
            for member in tar:
                if member.name in entries:
                    report.bytes += _restore_member(tar, member, entries[member.name])
                    report.files += 1
                elif member.name != str(MANIFEST):
                    report.messages.append(f"{member.name}: not in the list, left out")
    except (OSError, tarfile.TarError) as error:
        raise GensightError(f"{source}: not an archive that can be read ({error})") from None
    if report.files != len(entries):
        raise GensightError(f"{source}: cut short: {report.files} of {len(entries)} files restored")
    _write_manifest({**_known_entries(), **entries})
    report.messages.append(f"{_fill_ledger(map(Path, entries), ledger)} cells put into the ledger")
    return report


def adopt(ledger: Path) -> Report:
    """Take over a results/ tree that was laid in by hand: list it, and fill the ledger."""
    entries, report = {}, Report()
    for path in _result_files(None):
        try:
            entries[str(path)] = _entry(path)
            mark_built(str(path), Footer(**entries[str(path)]["footer"]).content)
        except RecordError as error:
            report.problems.append(str(error))
    report.files, report.bytes = len(entries), sum(e["size"] for e in entries.values())
    _write_manifest(entries)
    report.messages.append(f"{_fill_ledger(map(Path, entries), ledger)} cells put into the ledger")
    return report


def verify() -> Report:
    """Compare every listed file with its sha256, and every other result with its own footer."""
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
        try:
            if str(path) not in entries and path.suffix == ".parquet":
                read_footer(path)
        except RecordError as error:
            report.problems.append(str(error))
    return report


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
    return json.loads(MANIFEST.read_text(encoding="utf-8"))["files"]


def _write_manifest(entries: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    temporary = MANIFEST.with_name(f".{MANIFEST.name}.{os.getpid()}")
    temporary.write_text(json.dumps(_manifest(entries), indent=1, sort_keys=True))
    os.replace(temporary, MANIFEST)


def _member(name: str, size: int, mtime_ns: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = size, mtime_ns / 1e9, 0o644
    return member


def _read_manifest(source: Path, tar: tarfile.TarFile) -> dict[str, Any]:
    first = tar.next()
    if first is None or first.name != str(MANIFEST):
        raise GensightError(
            f"{source}: not an archive of gensight (its first file must be "
            f"{MANIFEST}); make one with: gensight archive create FILE.tar"
        )
    content = json.load(tar.extractfile(first))  # type: ignore[arg-type]
    if content.get("format_version") != FORMAT_VERSION:
        raise GensightError(
            f"{source}: format {content.get('format_version')} is not known here; "
            f"this version reads format {FORMAT_VERSION}"
        )
    for name in content["files"]:
        parts = PurePosixPath(name).parts
        if parts[:1] != ("results",) or ".." in parts:
            raise GensightError(f"{source}: lists {name}, which lies outside results/")
    return content["files"]


def _restore_member(tar: tarfile.TarFile, member: tarfile.TarInfo, entry: dict[str, Any]) -> int:
    path = Path(member.name)
    if path.exists():
        if _sha256(path) != entry["sha256"]:
            raise GensightError(f"{path}: is here with other content; move it away, then restore")
    else:
        _unpack(tar, member, path, entry["sha256"])
    os.utime(path, ns=(entry["mtime_ns"], entry["mtime_ns"]))
    return member.size


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path, sha256: str) -> None:
    stream = tar.extractfile(member)
    if stream is None:
        raise GensightError(f"{member.name}: not a plain file in the archive")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    seen = hashlib.sha256()
    try:
        with temporary.open("wb") as target:
            while chunk := stream.read(CHUNK_BYTES):
                seen.update(chunk)
                target.write(chunk)
        if seen.hexdigest() != sha256:
            raise GensightError(f"{member.name}: damaged in the archive (its sha256 differs)")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _fill_ledger(paths: Iterable[Path], ledger: Path) -> int:
    cells = [path for path in paths if path.parts[1] == "generations"]
    for path in cells:
        adopt_generations(ledger, path.parts[2], path)
    return len(cells)
