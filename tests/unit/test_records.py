"""The stages' Parquet files: round trips, equal bytes, atomic writes, refusals, row groups."""

import json
import os
import subprocess
import sys
from dataclasses import fields, replace
from itertools import count, islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spine_rows import (
    ROWS,
    STAGES,
    bare_row,
    full_row,
    prediction,
    request,
    sample,
    score,
)

from gensight.errors import RecordError
from gensight.records import Prediction, RowFile, Sample, SampleStore, Score, schema_of, write_rows
from gensight.records.rows import PICTURE

DETERMINANTS = {"stage": "samples", "n": 2}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results" / "x.parquet"


def write(path, stage, rows, determinants=DETERMINANTS):
    write_rows(path, stage, rows, determinants)
    return RowFile(path, stage)


@pytest.mark.parametrize("stage", STAGES)
def test_rows_come_back_as_they_were(path, stage):
    rows = [full_row(stage), bare_row(stage), full_row(stage)]
    assert list(write(path, stage, rows)) == rows


@pytest.mark.parametrize("stage", STAGES)
def test_every_column_may_be_missing_or_is_required(path, stage):
    optional = [c.name for c in fields(stage) if c.default is None]
    row = replace(full_row(stage), **dict.fromkeys(optional))
    assert list(write(path, stage, [row])) == [row]


def test_whole_numbers_with_gaps_stay_whole(path):
    counts = [3, None, 0, None, 2**53 + 1]
    file = write(path, Prediction, [prediction(i, count=c) for i, c in enumerate(counts)])
    found = [row.count for row in file]
    assert found == counts
    assert [type(c) for c in found] == [int, type(None), int, type(None), int]
    assert file.column("count") == counts
    assert str(pq.read_schema(path).field("count").type) == "int64"


def test_not_a_number_is_not_missing(path):
    raw = [row.raw for row in write(path, Score, [score(0, float("nan")), score(1, None)])]
    assert raw[0] != raw[0] and raw[1] is None


def test_named_numbers_do_not_depend_on_the_order_they_were_added(path, tmp_path):
    turned = tmp_path / "turned.parquet"
    write(path, Prediction, [prediction(0, facts={"a": 1.0, "b": 2.0})])
    write(turned, Prediction, [prediction(0, facts={"b": 2.0, "a": 1.0})])
    assert path.read_bytes() == turned.read_bytes()


@pytest.mark.parametrize("stage", STAGES)
def test_two_writes_have_equal_bytes_wherever_and_whenever(tmp_path, stage):
    first, second = tmp_path / "one/x.parquet", tmp_path / "two/other.parquet"
    for path in (first, second):
        write(path, stage, [full_row(stage), bare_row(stage)])
        os.utime(path, (0, 0))
    assert first.read_bytes() == second.read_bytes()


def test_another_process_writes_equal_bytes(tmp_path, path):
    write(path, Sample, [full_row(Sample)])
    other = tmp_path / "other.parquet"
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_records import *\n"
        "write(sys.argv[2], Sample, [full_row(Sample)])"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent), str(other)],
        env={"PYTHONHASHSEED": "3", "OMP_NUM_THREADS": "1"},
        check=True,
    )
    assert other.read_bytes() == path.read_bytes()


def test_a_file_without_rows_is_a_file(path):
    file = write(path, Sample, [])
    assert len(file) == 0 and list(file) == [] and file.column("rank") == []


# Atomic: complete or not there


def failing(rows, error):
    yield from rows
    raise error


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), SystemExit(3)])
@pytest.mark.parametrize("before", [0, 3, 40])
def test_an_error_among_the_rows_leaves_nothing(path, error, before):
    with pytest.raises(type(error)):
        write_rows(path, Sample, failing(map(sample, range(before)), error), DETERMINANTS)
    assert list(path.parent.iterdir()) == []


def test_an_error_among_the_rows_leaves_the_old_file(path):
    write(path, Sample, [sample(0)])
    old = path.read_bytes()
    with pytest.raises(ValueError, match="x"):
        write_rows(path, Sample, failing([sample(1)], ValueError("x")), DETERMINANTS)
    assert path.read_bytes() == old and list(path.parent.iterdir()) == [path]


def test_a_value_of_another_type_leaves_nothing(path):
    with pytest.raises((pa.ArrowException, TypeError)):
        write_rows(path, Prediction, [prediction(0, count="three")], DETERMINANTS)
    assert list(path.parent.iterdir()) == []


def test_a_missing_input_leaves_nothing(path):
    with pytest.raises(RecordError, match=r"is missing; run: .* results/a\.parquet$"):
        write_rows(path, Sample, [sample(0)], DETERMINANTS, [path.with_name("a.parquet")])
    assert list(path.parent.iterdir()) == []


# Refusals


def refusal(path, stage=Sample, digest=None):
    with pytest.raises(RecordError) as caught:
        RowFile(path, stage, digest)
    message = str(caught.value)
    assert message.startswith(f"{path}: ") and "\n" not in message
    assert message.endswith("; remove it and run: snakemake --cores 2 results/x.parquet")
    return message


def test_a_file_of_another_stage_is_refused(path):
    write(path, Score, [score(0)])
    assert "columns are not this version's" in refusal(path)


def rewrite(path, change):
    """Write a file again with a changed table, keeping its metadata."""
    metadata = pq.read_metadata(path).metadata
    table = pq.read_table(path)
    pq.write_table(change(table).replace_schema_metadata(metadata), path)


CHANGED_COLUMNS = [
    (lambda t: t.drop_columns(["licence"]), "licence"),
    (lambda t: t.append_column("extra", pa.array([1, 2])), "extra"),
    (lambda t: t.set_column(1, "rank", t["rank"].cast(pa.int64())), "types"),
    (lambda t: t.select([*t.column_names[1:], t.column_names[0]]), "types"),
]


@pytest.mark.parametrize(("change", "named"), CHANGED_COLUMNS)
def test_other_columns_are_refused_by_name(path, change, named):
    write(path, Sample, [sample(0), sample(1)])
    rewrite(path, change)
    assert f"({named})" in refusal(path)


def test_another_number_of_rows_is_refused(path):
    write(path, Sample, [sample(0), sample(1)])
    rewrite(path, lambda table: table.slice(0, 1))
    assert "holds 1 rows, 2 were written" in refusal(path)


def test_another_digest_is_refused_and_the_right_one_is_not(path):
    digest = write(path, Sample, [sample(0)]).footer.digest
    assert len(RowFile(path, Sample, digest)) == 1
    assert "made from other settings" in refusal(path, digest="0" * 64)


def test_a_table_of_someone_else_is_refused(path):
    path.parent.mkdir()
    pq.write_table(pa.table({"a": [1]}), path)
    assert "not written by gensight" in refusal(path)


@pytest.mark.parametrize("kept", [0, 4, 100, -1, -8])
def test_a_truncated_file_is_refused(path, kept):
    write(path, Sample, [sample(i) for i in range(40)])
    path.write_bytes(path.read_bytes()[:kept])
    assert "cannot be read" in refusal(path)


def test_a_missing_file_is_refused(path):
    with pytest.raises(RecordError, match=r"x\.parquet: is missing; run: snakemake"):
        RowFile(path, Sample)


# Layout


def row_groups(path):
    metadata = pq.read_metadata(path)
    return [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]


BIG, SMALL = 4 * 2**20 + 1, 10


# (bytes of each row's picture, rows of each group)
GROUPS = [
    ([SMALL] * 40, [16, 16, 8]),
    ([SMALL] * 16, [16]),
    ([SMALL], [1]),
    ([4 * 2**20] * 17, [16, 1]),
    ([BIG] * 9, [4, 4, 1]),
    ([SMALL, BIG, SMALL, SMALL, SMALL, SMALL], [4, 2]),
]


@pytest.mark.parametrize(("sizes", "expected"), GROUPS)
def test_rows_with_pictures_come_in_groups_of_16_or_4(path, sizes, expected):
    write(path, Sample, (sample(i, picture=bytes(size)) for i, size in enumerate(sizes)))
    assert row_groups(path) == expected
    assert [row.rank for row in RowFile(path, Sample)] == list(range(len(sizes)))


def test_rows_without_pictures_come_in_large_groups(path):
    write(path, Score, (score(i) for i in range(1000)))
    assert row_groups(path) == [1000]


def test_pictures_are_stored_plainly_and_everything_else_is_compressed(path):
    noise = os.urandom(5000)
    write(path, Sample, [replace(full_row(Sample), image={"bytes": noise, "path": None})])
    assert noise in path.read_bytes()
    group = pq.read_metadata(path).row_group(0)
    compression = {
        c.path_in_schema: c.compression for c in map(group.column, range(group.num_columns))
    }
    plain = {name for name, kind in compression.items() if kind == "UNCOMPRESSED"}
    assert plain == {"image.bytes", "target_image.bytes"}
    assert compression["target_depth_m.bytes"] == "ZSTD"


def test_the_writer_holds_one_group_of_rows(path):
    alive, most = set(), 0

    def rows():
        nonlocal most
        for i in range(160):
            picture = Counted(i, alive)
            most = max(most, len(alive))
            yield sample(i, picture=picture)
            del picture

    write_rows(path, Sample, rows(), DETERMINANTS)
    assert most <= 2 * 16
    assert len(RowFile(path, Sample)) == 160


class Counted(bytes):
    """Bytes that know how many of their kind are alive."""

    def __new__(cls, index, alive):
        made = super().__new__(cls, 1000)
        made.index, made.alive = index, alive
        alive.add(index)
        return made

    def __del__(self):
        self.alive.discard(self.index)


def test_one_group_can_be_read_without_the_others(path):
    file = write(path, Sample, [sample(i) for i in range(40)])
    assert [row.rank for row in file.group(1)] == list(range(16, 32))
    assert [row.rank for row in islice(file, 3)] == [0, 1, 2]


# As `datasets` opens it


@pytest.mark.parametrize("stage", STAGES)
def test_features_cover_every_column(path, stage):
    write(path, stage, [bare_row(stage)])
    schema = pq.read_schema(path)
    features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
    assert list(features) == schema.names == [c.name for c in fields(stage)]
    for name, feature in features.items():
        is_picture = schema.field(name).type == PICTURE
        assert (feature == {"_type": "Image"}) == is_picture
        if is_picture:
            assert str(schema.field(name).type) == "struct<bytes: binary, path: string>"


# (stage, column, feature), by the documented forms of `datasets`
FEATURES = [
    ("samples", "rank", {"dtype": "int32", "_type": "Value"}),
    ("samples", "label_flag", {"dtype": "bool", "_type": "Value"}),
    ("samples", "min_depth_m", {"dtype": "float64", "_type": "Value"}),
    ("samples", "tags", {"feature": {"dtype": "string", "_type": "Value"}, "_type": "List"}),
    (
        "samples",
        "target_mask",
        {
            "size": {"feature": {"dtype": "int32", "_type": "Value"}, "_type": "List"},
            "counts": {"dtype": "string", "_type": "Value"},
        },
    ),
    (
        "predictions",
        "points",
        {
            "feature": {
                "x": {"dtype": "float64", "_type": "Value"},
                "y": {"dtype": "float64", "_type": "Value"},
            },
            "_type": "List",
        },
    ),
]


@pytest.mark.parametrize(("stage", "column", "feature"), FEATURES)
def test_features_by_hand(stage, column, feature):
    schema = schema_of(ROWS[stage][0])
    features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
    assert features[column] == feature


# Samples by id


def test_samples_are_found_in_any_order_with_few_groups_kept(path):
    store = SampleStore(write(path, Sample, [sample(i) for i in range(100)]))
    for rank in (0, 99, 3, 50, 17, 99, 0):
        assert store[f"s{rank}"].rank == rank
        assert len(store._groups) <= SampleStore.KEPT_GROUPS
    with pytest.raises(KeyError):
        store["s100"]


def test_requests_keep_their_turns(path):
    rows = list(islice(map(request, count()), 3))
    assert list(write(path, ROWS["requests"][0], rows)) == rows
