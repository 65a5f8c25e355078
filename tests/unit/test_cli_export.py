import hashlib
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_files import HTML, answer, call, error, halves, save
from PIL import Image

from gensight import images
from gensight.pixels.palette_grid import PaletteGrid
from gensight.records import Generation, Prediction, Sample, Score, write_rows

MASK = images.encode_mask(halves() > 0)


def encoded(kind, level=7):
    """Return a small picture in one of the three kinds."""
    stream = io.BytesIO()
    Image.fromarray(np.full((4, 6, 3), level, np.uint8)).save(stream, kind)
    return stream.getvalue()


def picture(data):
    return {"bytes": data, "path": None}


def sample(rank, **columns):
    row = {
        "sample_id": f"scene_{rank:04d}",
        "rank": rank,
        "cluster_id": "c",
        "licence": "gensight",
        "image": picture(encoded("PNG", rank)),
        "width": 6,
        "height": 4,
        "knobs": {"light": "low"},
    }
    return Sample(**{**row, **columns})


def generation(rank, data, **columns):
    row = {
        "request_key": "k",
        "request_id": "q",
        "sample_ids": [f"scene_{rank:04d}"],
        "rank": rank,
        "turn": 0,
        "final": True,
        "outcome": "ok",
        "image": None if data is None else picture(data),
    }
    return Generation(**{**row, **columns})


def stored(tmp_path, row, rows):
    path = tmp_path / "rows.parquet"
    write_rows(path, row, rows, {"stage": "test"})
    return path


def answered(tmp_path, row, rows, samples=()):
    """Write rows where their stage does, beside the samples they answer; return their path."""
    stage = f"{row.__name__.lower()}s"
    path = tmp_path / f"results/{stage}/oracle/rooms/mid/all.parquet"
    write_rows(path, row, rows, {"stage": stage})
    samples = samples or [sample(rank) for rank in sorted({row.rank for row in rows})]
    write_rows(tmp_path / "results/samples/rooms.parquet", Sample, samples, {"stage": "samples"})
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def metadata(folder):
    return pq.read_table(folder / "metadata.parquet")


def test_samples_with_their_masks(tmp_path):
    rows = [sample(0, target_mask=MASK), sample(1)]
    out = tmp_path / "out"
    found = answer("export", stored(tmp_path, Sample, rows), out)
    assert (found["rows"], found["files"], found["without_picture"]) == (2, 3, 0)
    assert names(out) == [
        "metadata.parquet",
        "scene_0000.png",
        "scene_0000_target_mask.png",
        "scene_0001.png",
    ]
    assert (out / "scene_0001.png").read_bytes() == rows[1].image["bytes"]
    mask = images.decode_grey((out / "scene_0000_target_mask.png").read_bytes(), matte=(9, 9, 9))
    assert (mask == halves()).all()


def test_metadata_has_a_row_for_each_and_every_column_but_pictures(tmp_path):
    rows = [sample(0, target_mask=MASK), sample(1)]
    out = tmp_path / "out"
    answer("export", stored(tmp_path, Sample, rows), out)
    table = metadata(out)
    expected = {f for f in Sample.__dataclass_fields__ if f not in ("image", "target_image")}
    assert set(table.column_names) == expected | {"file_name", "target_mask_file_name"}
    assert table.column("file_name").to_pylist() == ["scene_0000.png", "scene_0001.png"]
    assert table.column("target_mask_file_name").to_pylist() == ["scene_0000_target_mask.png", None]
    assert table.column("licence").to_pylist() == ["gensight"] * 2
    assert table.column("target_mask").to_pylist() == [MASK, None]
    assert table.column("knobs").to_pylist()[0] == [{"name": "light", "value": "low"}]


def test_generations_keep_their_bytes_and_get_the_right_extension(tmp_path):
    contents = [encoded("PNG"), encoded("JPEG"), encoded("WEBP"), HTML]
    rows = [generation(i, data) for i, data in enumerate(contents)]
    rows.append(generation(4, None, outcome="refused_output"))
    out = tmp_path / "out"
    found = answer("export", answered(tmp_path, Generation, rows), out)
    assert (found["files"], found["without_picture"], found["unreadable"]) == (4, 1, 1)
    written = metadata(out).column("file_name").to_pylist()
    assert written == [
        f"scene_000{i}_t0_r0.{extension}"
        for i, extension in enumerate(("png", "jpg", "webp", "bin"))
    ]
    assert [(out / name).read_bytes() for name in written] == contents


def test_rows_of_one_sample_have_names_of_their_own(tmp_path):
    steps = [{"severity": 0.5}, {"severity": 2.0}, {"severity": 0.5, "repeat": 1}, {"turn": 1}]
    rows = [generation(0, encoded("PNG", i), **step) for i, step in enumerate(steps)]
    rows += [generation(0, encoded("PNG", 9), turn=1)]
    out = tmp_path / "out"
    answer("export", answered(tmp_path, Generation, rows), out)
    assert metadata(out).column("file_name").to_pylist() == [
        "scene_0000_t0_r0_s0.5.png",
        "scene_0000_t0_r0_s2.png",
        "scene_0000_t0_r1_s0.5.png",
        "scene_0000_t1_r0.png",
        "scene_0000_t1_r0_2.png",
    ]


@pytest.mark.parametrize("bad", ["../../etc/x", "a/b", "ünï", ".hidden", "a b", "x" * 300])
def test_names_are_safe_on_any_file_system(tmp_path, bad):
    out = tmp_path / "out"
    rows = [sample(0, sample_id=bad), sample(1, sample_id=bad + "!")]
    answer("export", stored(tmp_path, Sample, rows), out)
    written = [name for name in names(out) if name != "metadata.parquet"]
    assert len(written) == 2
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-_") for name in written)
    assert all(not name.startswith(".") and len(name) < 150 for name in written)
    assert names(tmp_path) == ["out", "rows.parquet"]


def test_predictions_are_their_masks(tmp_path):
    row = {"sample_id": "s", "cluster_id": "c", "variant": "otsu", "outcome": "ok"}
    rows = [
        Prediction(**row, rank=0, status="ok", mask=MASK),
        Prediction(**row, rank=1, status="invalid", reason="unreadable"),
    ]
    out = tmp_path / "out"
    path = answered(tmp_path, Prediction, rows, [sample(0, sample_id="s")])
    found = answer("export", path, out)
    assert (found["files"], found["without_picture"]) == (1, 1)
    assert names(out) == ["metadata.parquet", "s_otsu_r0.png"]
    table = metadata(out)
    assert table.num_rows == 1
    assert not {"grey", "normals"} & set(table.column_names)


def test_many_row_groups_are_written_in_order(tmp_path):
    rows = [generation(i, encoded("PNG", i)) for i in range(40)]
    path, out = answered(tmp_path, Generation, rows), tmp_path / "out"
    assert pq.ParquetFile(path).num_row_groups == 3
    answer("export", path, out)
    assert metadata(out).column("rank").to_pylist() == list(range(40))
    assert len(names(out)) == 41


def test_twice_the_same_bytes(tmp_path):
    path = stored(tmp_path, Sample, [sample(0, target_mask=MASK), sample(1)])
    digests = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        answer("export", path, folder)
        files = {n: hashlib.sha256((folder / n).read_bytes()).digest() for n in names(folder)}
        digests.append(files)
    assert digests[0] == digests[1]


def test_a_folder_that_is_not_empty_is_refused(tmp_path):
    path, out = stored(tmp_path, Sample, [sample(0)]), tmp_path / "out"
    out.mkdir()
    answer("export", path, out)
    assert "--overwrite" in error("export", path, out)
    save(out / "scene_0000.png", b"old")
    save(out / "mine.txt", b"kept")
    answer("export", path, out, "--overwrite")
    assert (out / "scene_0000.png").read_bytes() == sample(0).image["bytes"]
    assert (out / "mine.txt").read_bytes() == b"kept"


def scores(tmp_path):
    row = {"sample_id": "s", "rank": 0, "cluster_id": "c", "variant": "otsu", "status": "ok"}
    row |= {"outcome": "ok", "format_valid": True, "kind": "metric", "name": "giou"}
    return stored(tmp_path, Score, [Score(**row)])


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda folder: folder / "nowhere.parquet", "no such file"),
        (lambda folder: save(folder / "page.parquet", HTML), "not a Parquet file"),
        (lambda folder: save(folder / "empty.parquet", b""), "not a Parquet file"),
        (scores, "no pictures"),
        (lambda folder: folder, "not a Parquet file"),
    ],
)
def test_files_that_cannot_be_exported_are_one_line(tmp_path, make, reason):
    out = tmp_path / "out"
    assert reason in error("export", make(tmp_path), out)
    assert not out.exists()


def test_a_file_in_the_place_of_the_folder_is_one_line(tmp_path):
    path = stored(tmp_path, Sample, [sample(0)])
    assert "not a folder" in error("export", path, save(tmp_path / "out", b"x"))


def test_a_foreign_parquet_with_pictures_is_exported(tmp_path):
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    table = pa.table({"label": [3], "image": pa.array([picture(encoded("JPEG"))], kind)})
    pq.write_table(table, tmp_path / "foreign.parquet")
    out = tmp_path / "out"
    answer("export", tmp_path / "foreign.parquet", out)
    assert metadata(out).to_pylist() == [{"file_name": "0.jpg", "label": 3}]


def restricted(rank, **columns):
    return sample(rank, licence="scannet", target_mask=MASK, **columns)


def test_samples_that_may_not_be_shown_are_left_out_and_counted(tmp_path):
    rows = [sample(0), restricted(1), sample(2, licence="made up"), sample(3, licence=None)]
    path, out = stored(tmp_path, Sample, rows), tmp_path / "out"
    found = answer("export", path, out)
    assert (found["rows"], found["files"], found["restricted"]) == (4, 1, 3)
    assert found["restricted_licences"] == ["made up", "scannet", "unknown"]
    assert names(out) == ["metadata.parquet", "scene_0000.png"]
    assert metadata(out).column("sample_id").to_pylist() == ["scene_0000"]
    # No shown row has a mask, so the metadata has no column of mask files either.
    assert "target_mask_file_name" not in metadata(out).column_names


def test_what_was_left_out_is_told_in_one_line(tmp_path):
    path = stored(tmp_path, Sample, [sample(0), restricted(1), restricted(2)])
    lines = call("export", path, tmp_path / "out").stdout.splitlines()
    told = [line for line in lines if "2 rows may not be shown" in line]
    assert len(told) == 1
    assert "ScanNet Terms of Use" in told[0]
    assert "--include-restricted" in told[0]


def test_nothing_is_left_out_for_the_users_own_eyes(tmp_path):
    path, out = stored(tmp_path, Sample, [sample(0), restricted(1)]), tmp_path / "out"
    found = answer("export", path, out, "--include-restricted")
    assert (found["files"], found["restricted"]) == (3, 0)
    assert (out / "scene_0001_target_mask.png").exists()


def test_where_nothing_may_be_shown_no_folder_is_left(tmp_path):
    path, out = stored(tmp_path, Sample, [restricted(0)]), tmp_path / "out"
    assert "ScanNet" in error("export", path, out)
    assert not out.exists()


def test_answers_share_the_licence_of_their_sample(tmp_path):
    rows = [generation(rank, encoded("PNG", rank)) for rank in range(4)]
    both = generation(4, encoded("PNG", 4), sample_ids=["scene_0000", "scene_0001"])
    samples = [sample(0), restricted(1), sample(2)]
    path = answered(tmp_path, Generation, [*rows, both], samples)
    out = tmp_path / "out"
    found = answer("export", path, out)
    # scene_0003 is not among the samples: nobody knows its licence.
    assert (found["files"], found["restricted"]) == (2, 3)
    assert found["restricted_licences"] == ["scannet", "unknown"]
    assert metadata(out).column("rank").to_pylist() == [0, 2]


def test_readings_share_the_licence_of_their_sample(tmp_path):
    row = {"cluster_id": "c", "variant": "otsu", "status": "ok", "outcome": "ok", "mask": MASK}
    rows = [Prediction(**row, rank=rank, sample_id=f"scene_{rank:04d}") for rank in range(2)]
    path = answered(tmp_path, Prediction, rows, [sample(0), restricted(1)])
    found = answer("export", path, tmp_path / "out")
    assert (found["files"], found["restricted"]) == (1, 1)


def test_answers_without_their_samples_are_refused(tmp_path):
    path = answered(tmp_path, Generation, [generation(0, encoded("PNG"))])
    (tmp_path / "results/samples/rooms.parquet").unlink()
    out = tmp_path / "out"
    told = error("export", path, out)
    assert "snakemake --cores 2 results/samples/rooms.parquet" in told
    assert "--include-restricted" in told
    assert not out.exists()
    assert answer("export", path, out, "--include-restricted")["files"] == 1


def test_answers_outside_a_results_tree_are_refused(tmp_path):
    path = stored(tmp_path, Generation, [generation(0, encoded("PNG"))])
    assert "not in a results tree" in error("export", path, tmp_path / "out")
    assert answer("export", path, tmp_path / "out", "--include-restricted")["files"] == 1


def test_a_damaged_samples_file_is_one_line(tmp_path):
    path = answered(tmp_path, Generation, [generation(0, encoded("PNG"))])
    save(tmp_path / "results/samples/rooms.parquet", HTML)
    assert "cannot be read for licences" in error("export", path, tmp_path / "out")


def test_answers_of_which_no_picture_came_leave_no_folder(tmp_path):
    path = answered(tmp_path, Generation, [generation(0, None, outcome="refused_output")])
    out = tmp_path / "out"
    assert "no pictures" in error("export", path, out)
    assert not out.exists()


def test_grids_become_pictures_of_whole_cells(tmp_path):
    grid = PaletteGrid(((255, 0, 0), (0, 0, 255)), np.array([[0, 1, 0]] * 3, np.uint8))
    rows = [
        Prediction(
            sample_id=name, rank=0, cluster_id=name, variant="strict", outcome="ok",
            status="ok" if text else "invalid", text=text,
        )
        for name, text in (("good", grid.text()), ("bad", None))
    ]  # fmt: skip
    path = tmp_path / "grid.parquet"
    write_rows(path, Prediction, rows, {"stage": "predictions", "extractor": "palette_grid"})
    found = answer("export", str(path), tmp_path / "out", "--include-restricted")
    assert (found["files"], found["without_picture"]) == (1, 1)
    shown = images.decode_rgb((tmp_path / "out/good_strict_r0.png").read_bytes(), matte=(0, 0, 0))
    assert shown.shape == (513, 513, 3)
    assert np.array_equal(shown[::171, ::171], grid.picture())
