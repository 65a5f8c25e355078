"""Archives: equal bytes, checked restores, nothing outside results/, and a filled ledger."""

import gzip
import io
import json
import os
import tarfile
from pathlib import Path

import pytest
from spine_rows import STAGES, bare_row, full_row, generation, prediction, sample

from gensight.archive import adopt, create, restore, verify
from gensight.errors import GensightError
from gensight.footers import mark, read_footer
from gensight.freshness import MANIFEST
from gensight.records import Generation, Prediction, RowFile, Sample, write_rows
from gensight.records.storage import content_of
from gensight.runner.ledger import Ledger

TAR = Path("../results.tar")
SAMPLES = "results/samples/b.parquet"
GENERATIONS = "results/generations/m/b/mid/all.parquet"
PREDICTIONS = "results/predictions/m/b/mid/mask.parquet"
TABLE = "results/tables/t.tex"
FILES = [SAMPLES, GENERATIONS, PREDICTIONS, TABLE, "results/tables/t.csv"]


@pytest.fixture(autouse=True)
def checkout(tmp_path, monkeypatch):
    enter(tmp_path, monkeypatch, "one")


def enter(tmp_path, monkeypatch, name):
    (tmp_path / name).mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / name)


def make_results(pictures=20):
    write_rows(SAMPLES, Sample, map(sample, range(pictures)), {"stage": "samples"})
    answers = [generation(i, os.urandom(3000)) for i in range(pictures)]
    write_rows(GENERATIONS, Generation, answers, {"stage": "generations"}, [SAMPLES])
    readings = map(prediction, range(pictures))
    write_rows(PREDICTIONS, Prediction, readings, {"stage": "predictions"}, [GENERATIONS])
    Path(TABLE).parent.mkdir()
    for path in FILES[3:]:
        Path(path).write_text(f"% {mark('a' * 64, {})}\nnumbers\n")
    for i, path in enumerate(FILES):
        os.utime(path, ns=(10**18 + i * 123_456_789,) * 2)


def contents():
    return {path: (Path(path).read_bytes(), Path(path).stat().st_mtime_ns) for path in FILES}


def refusal(source=TAR):
    with pytest.raises(GensightError) as caught:
        restore(source, Path("ledger"))
    message = str(caught.value)
    assert "\n" not in message
    left = [str(p) for p in Path().rglob("*") if p.is_file() and p.name.startswith(".")]
    assert left == []
    return message


def laid_in():
    return [str(path) for path in Path("results").rglob("*") if path.is_file()]


def test_equal_results_give_equal_bytes():
    make_results()
    first = create(TAR)
    second = create(Path("again/other.tar"))
    assert (first.files, first.bytes) == (5, sum(Path(path).stat().st_size for path in FILES))
    assert TAR.read_bytes() == Path("again/other.tar").read_bytes()
    assert second == first


def test_an_archive_holds_no_owner_and_the_list_first():
    make_results()
    create(TAR)
    with tarfile.open(TAR) as tar:
        members = tar.getmembers()
        listed = json.load(tar.extractfile(members[0]))["files"]
    assert members[0].name == str(MANIFEST)
    assert {m.name for m in members[1:]} == set(listed) == set(FILES)
    assert {(m.uid, m.gid, m.uname, m.gname) for m in members} == {(0, 0, "", "")}
    order = [m.name.split("/")[1] for m in members[1:]]
    assert order == ["samples", "generations", "predictions", "tables", "tables"]


def test_some_stages_alone():
    make_results()
    assert create(TAR, ["generations"]).files == 1
    with tarfile.open(TAR) as tar:
        assert tar.getnames() == [str(MANIFEST), GENERATIONS]


def test_an_unknown_stage_lists_those_there_are():
    make_results()
    with pytest.raises(GensightError, match="'generation' is not known; allowed: samples, "):
        create(TAR, ["generation"])


def test_nothing_to_archive_is_one_line():
    with pytest.raises(GensightError, match=r"^results/: nothing to archive; run snakemake first$"):
        create(TAR)
    assert not TAR.exists()


def test_a_foreign_file_among_the_results_is_named():
    make_results()
    Path("results/scores").mkdir()
    Path("results/scores/x.parquet").write_bytes(b"rubbish")
    with pytest.raises(GensightError, match=r"^results/scores/x.parquet: cannot be read"):
        create(TAR)
    assert not TAR.exists()


def test_an_archive_that_cannot_be_written_is_one_line():
    make_results()
    Path("file").touch()
    with pytest.raises(GensightError, match=r"^file/x.tar: cannot be written \(.*\)$"):
        create(Path("file/x.tar"))


def test_an_empty_folder_gets_the_same_bytes_and_times(tmp_path, monkeypatch):
    make_results()
    before = contents()
    create(TAR)
    enter(tmp_path, monkeypatch, "two")
    report = restore(TAR, Path("ledger"))
    assert contents() == before
    assert (report.files, report.problems) == (5, [])
    assert verify().problems == []


def test_restoring_fills_the_ledger(tmp_path, monkeypatch):
    make_results()
    create(TAR)
    enter(tmp_path, monkeypatch, "two")
    assert "1 cells put into the ledger" in restore(TAR, Path("ledger")).messages
    ledger = Ledger(Path("ledger"), "m")
    assert ledger.find(generation(7).request_key) is not None
    assert ledger.find("0" * 64) is None


def test_restoring_over_the_same_files_changes_nothing_but_times():
    make_results()
    before = contents()
    create(TAR)
    for path in FILES:
        os.utime(path, ns=(1, 1))
    assert restore(TAR, Path("ledger")).files == 5
    assert contents() == before


@pytest.mark.parametrize("path", FILES)
def test_a_file_in_the_way_is_one_line_and_is_left(tmp_path, monkeypatch, path):
    make_results()
    create(TAR)
    enter(tmp_path, monkeypatch, "two")
    Path(path).parent.mkdir(parents=True)
    Path(path).write_bytes(b"mine")
    assert refusal() == f"{path}: is here with other content; move it away, then restore"
    assert Path(path).read_bytes() == b"mine"
    assert laid_in() == [path]


def test_a_folder_in_the_way_is_one_line(tmp_path, monkeypatch):
    make_results()
    create(TAR)
    enter(tmp_path, monkeypatch, "two")
    Path(TABLE).mkdir(parents=True)
    assert refusal() == f"{TABLE}: is here with other content; move it away, then restore"
    assert laid_in() == []


def test_a_file_where_a_folder_must_be_is_one_line(tmp_path, monkeypatch):
    make_results()
    create(TAR)
    enter(tmp_path, monkeypatch, "two")
    Path("results").mkdir()
    Path("results/tables").write_text("mine")
    assert refusal().startswith(f"{TAR}: cannot be restored (")
    assert laid_in() == ["results/tables"]


def test_files_that_are_there_keep_their_times_if_another_is_damaged():
    make_results()
    create(TAR)
    damage(TAR)
    Path(GENERATIONS).unlink()
    os.utime(SAMPLES, ns=(1, 1))
    refusal()
    assert Path(SAMPLES).stat().st_mtime_ns == 1


def test_two_archives_may_be_restored_one_after_the_other(tmp_path, monkeypatch):
    make_results()
    for stage in ("generations", "predictions"):
        create(Path(f"../{stage}.tar"), [stage])
    enter(tmp_path, monkeypatch, "two")
    for stage in ("generations", "predictions"):
        restore(Path(f"../{stage}.tar"), Path("ledger"))
    listed = json.loads(MANIFEST.read_text())["files"]
    assert sorted(listed) == [GENERATIONS, PREDICTIONS]


# Damage


def damage(tar):
    """Flip one bit of an archived picture."""
    picture = Path(GENERATIONS).read_bytes()[200:400]
    damaged = tar.read_bytes().replace(picture, picture[:-1] + bytes([picture[-1] ^ 1]))
    assert len(damaged) == tar.stat().st_size and damaged != tar.read_bytes()
    tar.write_bytes(damaged)


def test_a_damaged_member_is_named_and_nothing_is_laid_in(tmp_path, monkeypatch):
    make_results()
    create(TAR)
    damage(TAR)
    enter(tmp_path, monkeypatch, "two")
    assert refusal() == f"{GENERATIONS}: damaged in the archive (its sha256 differs)"
    assert laid_in() == []


@pytest.mark.parametrize("share", [0.001, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9])
def test_an_archive_cut_short_is_one_line_and_nothing_is_laid_in(tmp_path, monkeypatch, share):
    make_results()
    create(TAR)
    TAR.write_bytes(TAR.read_bytes()[: int(share * TAR.stat().st_size)])
    enter(tmp_path, monkeypatch, "two")
    assert refusal().startswith(f"{TAR}: ")
    assert laid_in() == []


NO_ARCHIVES = [
    b"",
    b"<html>not found</html>",
    b"PK\3\4" * 500,
    b"\0" * 10240,
    gzip.compress(b"x", mtime=0),
]


@pytest.mark.parametrize("content", NO_ARCHIVES)
def test_what_is_no_archive_is_one_line(content):
    TAR.write_bytes(content)
    message = refusal()
    assert message.startswith(f"{TAR}: ")
    assert message.endswith("make one with: gensight archive create FILE.tar")


def test_a_missing_archive_is_one_line():
    assert "nothing.tar" in refusal(Path("nothing.tar"))


ENTRY = {
    "size": 1,
    "mtime_ns": 0,
    "sha256": "0" * 64,
    "footer": {"stage": "tables", "digest": "", "content": ""},
}


def tar_of(members, names=None):
    """Write a tar whose list names `names`, with one small file per member."""
    names = [name for name, _ in members] if names is None else names
    write_tar({"format_version": 1, "files": dict.fromkeys(names, ENTRY)}, members)


def write_tar(listed, members):
    manifest = listed if isinstance(listed, bytes) else json.dumps(listed).encode()
    with tarfile.open(TAR, "w") as tar:
        for name, content in [(str(MANIFEST), manifest), *members]:
            member = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(name)
            member.size = len(content) if isinstance(content, bytes) else 0
            tar.addfile(member, io.BytesIO(content) if member.size else None)


OUTSIDE = ["results/../x", "../x", "/tmp/x", "x", "results/a/../../x", "logs/x", ".snakemake/x"]
ODD = ["results/x", "results", "", "results//a/x", "results/./a/x", "results/a/x\n", "results/a/\0"]


@pytest.mark.parametrize("name", [*OUTSIDE, *ODD])
def test_a_list_that_leads_outside_results_is_refused(tmp_path, name):
    tar_of([], names=[name])
    before = sorted(tmp_path.rglob("*"))
    assert refusal() == f"{TAR}: lists {name!a}, which is no file of results/STAGE/"
    assert sorted(tmp_path.rglob("*")) == before


NO_FILES = [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("target", ["/etc/passwd", TABLE, str(MANIFEST)])
def test_only_plain_files_are_laid_in(kind, target):
    member = tarfile.TarInfo(TABLE)
    member.type, member.linkname = kind, target
    tar_of([(TABLE, member)])
    assert refusal() == f"{TABLE}: not a plain file in the archive"
    assert laid_in() == []


def test_a_list_that_is_no_plain_file_is_refused():
    member = tarfile.TarInfo(str(MANIFEST))
    member.type, member.linkname = tarfile.SYMTYPE, str(MANIFEST)
    with tarfile.open(TAR, "w") as tar:
        tar.addfile(member)
    assert "not an archive of gensight" in refusal()


BROKEN_LISTS = [
    b"",
    b"{",
    b"\xff\xfe",
    b"[" * 100_000,
    [],
    None,
    {},
    {"format_version": 1},
    {"format_version": 2, "files": {}},
    {"format_version": "one\ntwo", "files": {}},
    {"format_version": 1, "files": [TABLE]},
    {"format_version": 1, "files": {TABLE: {}}},
    {"format_version": 1, "files": {TABLE: []}},
    {"format_version": 1, "files": {TABLE: {**ENTRY, "size": "1"}}},
    {"format_version": 1, "files": {TABLE: {**ENTRY, "mtime_ns": 0.5}}},
    {"format_version": 1, "files": {TABLE: {**ENTRY, "mtime_ns": -1}}},
    {"format_version": 1, "files": {TABLE: {**ENTRY, "mtime_ns": 2**63}}},
    {"format_version": 1, "files": {TABLE: {**ENTRY, "sha256": None}}},
    {"format_version": 1, "files": {TABLE: {**ENTRY, "footer": {}}}},
    {"format_version": 1, "files": {TABLE: {**ENTRY, "footer": {**ENTRY["footer"], "new": 1}}}},
]


@pytest.mark.parametrize("listed", BROKEN_LISTS)
def test_a_broken_list_in_an_archive_is_one_line(listed):
    write_tar(listed, [(TABLE, b"x")])
    assert refusal().startswith(f"{TAR}: ")
    assert laid_in() == []


@pytest.mark.parametrize("listed", BROKEN_LISTS)
def test_a_broken_list_among_the_results_is_one_line_and_can_be_made_again(listed):
    make_results()
    create(TAR)
    MANIFEST.write_bytes(listed if isinstance(listed, bytes) else json.dumps(listed).encode())
    with pytest.raises(GensightError, match=rf"^{MANIFEST}: .*$") as caught:
        verify()
    assert refusal() == str(caught.value) and "\n" not in str(caught.value)
    assert adopt(Path("ledger")).problems == [] and verify().problems == []


@pytest.mark.parametrize("name", OUTSIDE)
def test_members_that_are_not_listed_are_left_out(tmp_path, name):
    tar_of([(name, b"x")], names=[])
    assert f"{name}: not in the list, left out" in restore(TAR, Path("ledger")).messages
    assert not list(tmp_path.rglob("x"))


def test_a_listed_file_that_is_not_there_is_one_line():
    tar_of([], names=[SAMPLES])
    assert refusal() == f"{TAR}: cut short: 1 of 1 files are not in it"


def test_a_tar_without_a_list_is_not_an_archive():
    with tarfile.open(TAR, "w") as tar:
        tar.addfile(tarfile.TarInfo("results/x"))
    assert "make one with: gensight archive create FILE.tar" in refusal()


def test_a_list_of_another_format_is_refused(monkeypatch):
    make_results()
    with monkeypatch.context() as later:
        later.setattr("gensight.archive.FORMAT_VERSION", 2)
        create(TAR)
    assert "format 2 is not known here; this version reads format 1" in refusal()


# Adopting and verifying


def test_adopting_lists_every_file_and_fills_the_ledger():
    make_results()
    report = adopt(Path("ledger"))
    assert (report.files, report.problems) == (5, [])
    assert sorted(json.loads(MANIFEST.read_text())["files"]) == sorted(FILES)
    assert Ledger(Path("ledger"), "m").find(generation(3).request_key) is not None
    assert verify().problems == []


def test_adopting_names_what_it_cannot_use_and_takes_the_rest():
    make_results()
    Path(PREDICTIONS).write_bytes(b"rubbish")
    report = adopt(Path("ledger"))
    assert report.files == 4
    assert len(report.problems) == 1 and report.problems[0].startswith(f"{PREDICTIONS}: ")


@pytest.mark.parametrize("path", FILES)
def test_a_flipped_bit_is_found(path):
    make_results()
    adopt(Path("ledger"))
    content = bytearray(Path(path).read_bytes())
    content[len(content) // 3] ^= 1
    Path(path).write_bytes(bytes(content))
    assert verify().problems == [f"{path}: its bytes are not the archived ones"]


def test_a_missing_file_is_found():
    make_results()
    adopt(Path("ledger"))
    Path(SAMPLES).unlink()
    assert verify().problems == [f"{SAMPLES}: listed in {MANIFEST}, missing here"]


def test_an_unlisted_file_is_checked_by_its_own_footer():
    make_results()
    assert verify().problems == []
    Path(SAMPLES).write_bytes(Path(SAMPLES).read_bytes()[:-9])
    (problem,) = verify().problems
    assert problem.startswith(f"{SAMPLES}: cannot be read")


@pytest.mark.parametrize(("path", "row"), [(SAMPLES, Sample), (GENERATIONS, Generation)])
def test_a_flipped_bit_in_the_rows_of_an_unlisted_file_is_found(path, row):
    make_results()
    picture = RowFile(path, row).group(0)[2].image["bytes"]
    content = bytearray(Path(path).read_bytes())
    content[content.index(picture) + 5] ^= 1
    Path(path).write_bytes(bytes(content))
    (problem,) = verify().problems
    assert problem.startswith(f"{path}: its rows cannot be read (could not verify page integrity")
    assert problem.endswith(f"remove it and run: snakemake --cores 2 {path}")


@pytest.mark.parametrize("seed", range(40))
def test_a_flipped_bit_anywhere_in_an_unlisted_file_is_no_traceback(seed):
    make_results()
    content = bytearray(Path(PREDICTIONS).read_bytes())
    content[seed * len(content) // 40] ^= 1 << seed % 8
    Path(PREDICTIONS).write_bytes(bytes(content))
    assert not any("\n" in problem for problem in verify().problems)


@pytest.mark.parametrize("stage", STAGES)
def test_rows_that_are_read_back_have_the_digest_that_they_were_written_with(stage):
    rows = [full_row(stage), bare_row(stage)] * 20
    for count in (0, 1, 2, 40):
        write_rows("x.parquet", stage, rows[:count], {})
        assert content_of("x.parquet") == read_footer("x.parquet").content
