"""What files say about themselves: Parquet metadata, and marks in tables and figures."""

import json
from dataclasses import asdict

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spine_rows import sample

from gensight.digests import digest_of
from gensight.errors import RecordError
from gensight.footers import Footer, footer_from, mark, read_footer, rebuild_command
from gensight.records import Sample, write_rows

DIGEST, INPUTS = "a" * 64, {"results/summaries/x.parquet": "b" * 64}
COMMAND = "remove it and run: snakemake --cores 2 "


def test_a_parquet_footer_says_what_determined_the_file(tmp_path):
    upstream, path = tmp_path / "samples.parquet", tmp_path / "again.parquet"
    write_rows(upstream, Sample, [sample(0)], {"stage": "samples", "n": 1})
    write_rows(path, Sample, [sample(0), sample(1)], {"stage": "samples", "n": 2}, [upstream])
    first, second = read_footer(upstream), read_footer(path)
    assert (second.stage, second.rows, second.determinants["n"]) == ("samples", 2, 2)
    assert second.digest == digest_of({"stage": "samples", "n": 2})
    assert second.inputs == {str(upstream): first.content}
    assert first.content != second.content


def test_content_depends_on_rows_alone_and_digest_on_determinants_alone(tmp_path):
    def footer(rows, **determinants):
        write_rows(tmp_path / "x.parquet", Sample, rows, determinants)
        return read_footer(tmp_path / "x.parquet")

    one, other = footer([sample(0)], n=1), footer([sample(0)], n=2)
    assert one.content == other.content and one.digest != other.digest
    swapped = [footer([sample(a), sample(b)], n=1) for a, b in ((0, 1), (1, 0))]
    assert swapped[0].content != swapped[1].content
    assert swapped[0].digest == swapped[1].digest == one.digest


@pytest.mark.parametrize("suffix", [".tex", ".csv", ".png"])
def test_a_mark_is_found_among_other_bytes(tmp_path, suffix):
    path = tmp_path / "tables" / f"x{suffix}"
    path.parent.mkdir()
    path.write_bytes(b"\x89PNG\0% " + mark(DIGEST, INPUTS).encode() + b"\n\xff more")
    footer = read_footer(path)
    assert footer.stage == "tables"
    assert footer.digest == DIGEST
    assert footer.inputs == {"": digest_of(INPUTS)}


def test_the_content_of_a_marked_file_follows_from_digest_and_inputs(tmp_path):
    def content(digest, inputs):
        path = tmp_path / "x.tex"
        path.write_text(mark(digest, inputs))
        return read_footer(path).content

    assert content(DIGEST, INPUTS) == content(DIGEST, dict(INPUTS))
    assert content(DIGEST, INPUTS) != content("c" * 64, INPUTS)
    assert content(DIGEST, INPUTS) != content(DIGEST, {})


def test_the_first_mark_of_a_document_is_its_own(tmp_path):
    path = tmp_path / "all.tex"
    path.write_text(f"% {mark(DIGEST, INPUTS)}\n% {mark('d' * 64, {})}\n")
    assert read_footer(path).digest == DIGEST


def write_foreign(path, metadata=None):
    pq.write_table(pa.table({"a": [1]}).replace_schema_metadata(metadata), path)


def with_footer(**changes):
    """Return a writer of a file whose footer has other keys or types than it should."""
    footer = asdict(Footer("samples", DIGEST, "", 1)) | changes
    return lambda path: write_foreign(path, {"gensight": json.dumps(footer)})


OTHER_VERSION = "was not written by this version of gensight"
# (name, how it is written, what the line says)
UNUSABLE = [
    ("x.parquet", lambda path: path.write_bytes(b""), "cannot be read"),
    ("x.parquet", lambda path: path.write_bytes(b"<html>not found</html>"), "cannot be read"),
    ("x.parquet", lambda path: path.write_bytes(b"PAR1\0\0\0\0PAR1"), "cannot be read"),
    ("x.parquet", write_foreign, "was not written by gensight"),
    ("x.parquet", lambda path: write_foreign(path, {"gensight": "{"}), OTHER_VERSION),
    ("x.parquet", lambda path: write_foreign(path, {"gensight": b"\xff"}), OTHER_VERSION),
    ("x.parquet", lambda path: write_foreign(path, {"gensight": "{}"}), OTHER_VERSION),
    ("x.parquet", lambda path: write_foreign(path, {"gensight": "[1]"}), OTHER_VERSION),
    ("x.parquet", lambda path: write_foreign(path, {"gensight": "null"}), OTHER_VERSION),
    ("x.parquet", with_footer(new=1), OTHER_VERSION),
    ("x.parquet", with_footer(digest=None), OTHER_VERSION),
    ("x.parquet", with_footer(content=1), OTHER_VERSION),
    ("x.parquet", with_footer(rows="1"), OTHER_VERSION),
    ("x.parquet", with_footer(rows=True), OTHER_VERSION),
    ("x.parquet", with_footer(inputs=[]), OTHER_VERSION),
    ("x.parquet", with_footer(inputs={"a": 1}), OTHER_VERSION),
    ("x.parquet", with_footer(determinants=[]), OTHER_VERSION),
    ("x.tex", lambda path: path.write_text(""), "carries no digest"),
    ("x.tex", lambda path: path.write_text("gensight-digest:abc"), "carries no digest"),
]


@pytest.mark.parametrize(("name", "write", "reason"), UNUSABLE)
def test_an_unusable_file_is_one_line_with_the_rebuilding_command(tmp_path, name, write, reason):
    path = tmp_path / "results" / name
    path.parent.mkdir()
    write(path)
    message = refusal(path)
    assert reason in message
    assert message.endswith(f"{COMMAND}results/{name}")


def refusal(path):
    with pytest.raises(RecordError) as caught:
        read_footer(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ") and "\n" not in message
    return message


@pytest.mark.parametrize("name", ["x.parquet", "x.tex"])
def test_nothing_is_to_be_removed_where_a_file_is_missing(tmp_path, name):
    path = tmp_path / "results/samples" / name
    told = f"{path}: is missing; run: snakemake --cores 2 results/samples/{name}"
    assert refusal(path) == told
    assert refusal(tmp_path / name) == f"{tmp_path / name}: is missing"


def test_only_files_below_results_are_to_be_removed(tmp_path):
    write_foreign(tmp_path / "mine.parquet")
    told = f"{tmp_path / 'mine.parquet'}: was not written by gensight; give a file of results/"
    assert refusal(tmp_path / "mine.parquet") == told


@pytest.mark.parametrize("name", ["x.parquet", "x"])
def test_a_folder_cannot_be_read(tmp_path, name):
    (tmp_path / name).mkdir()
    assert "cannot be read (" in refusal(tmp_path / name)


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("results/x.parquet", "results/x.parquet"),
        ("/other/checkout/results/scores/x.parquet", "results/scores/x.parquet"),
        ("/results/checkout/results/x.parquet", "results/x.parquet"),
    ],
)
def test_the_rebuilding_command_names_the_file_as_its_checkout_does(path, target):
    assert rebuild_command(path) == COMMAND + target


def test_a_footer_has_no_rows_and_inputs_unless_told():
    footer = Footer(stage="samples", digest=DIGEST, content="")
    assert (footer.rows, footer.inputs, footer.determinants) == (0, {}, {})


def test_a_footer_comes_back_from_its_json():
    footer = Footer(
        "scores", DIGEST, "c" * 64, 3, dict(INPUTS), {"stage": "scores", "n": [1, None]}
    )
    assert footer_from(json.loads(json.dumps(asdict(footer)))) == footer


def test_the_footer_test_above_writes_footers_that_are_read(tmp_path):
    with_footer()(tmp_path / "x.parquet")
    assert read_footer(tmp_path / "x.parquet").digest == DIGEST
