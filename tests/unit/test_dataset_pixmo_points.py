"""PixMo-Points from files in their true form: rows, truths, the draw, pictures that are gone."""

import hashlib
import io
import random
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pixmo_files import (
    parameters,
    picture,
    row,
    sha_of,
    write_json_lines,
    write_parquet,
    write_pictures,
)

from gensight.datasets import pixmo_points
from gensight.datasets._pixmo_draw import truth_bin
from gensight.errors import MissingDataError, SpecError

SHARED = Path(__file__).resolve().parents[3] / "shared/samples"


def id_of(one):
    """The id of a row, as the module's docstring defines it."""
    points = b"".join(struct.pack("<dd", point["x"], point["y"]) for point in one["points"])
    head = f"{one['image_sha256']}\n{one['label']}\n{one['collection_method']}\n"
    own = hashlib.sha256(head.encode() + points).hexdigest()
    return f"{one['image_sha256'][:12]}_{own[:12]}"


def in_order(rows, seed=0):
    """The rows in the order that the data sets on disk share."""
    return sorted(rows, key=lambda r: hashlib.sha256(f"{seed}/{id_of(r)}".encode()).hexdigest())


def drawn(root, ranks, **given):
    return list(pixmo_points.iter_samples(parameters(root, **given), ranks))


def ids(items):
    return [item.id for item in items]


@pytest.fixture
def root(tmp_path):
    """A folder of twelve rows with a picture each, counts 0 to 11."""
    write_parquet(tmp_path / "rows.parquet", [row(number, number) for number in range(12)], 5)
    write_pictures(tmp_path, range(12))
    return tmp_path


ROWS = [row(number, number) for number in range(12)]


def picture_of(root, one):
    return root / "images" / f"{one['image_sha256']}.png"


def test_rows_are_drawn_in_the_order_of_the_seed(root):
    for seed in (0, 7):
        samples = drawn(root, range(12), seed=seed)
        assert [s.sample_id for s in samples] == [id_of(r) for r in in_order(ROWS, seed)]
        assert [s.rank for s in samples] == list(range(12))
    assert in_order(ROWS, 0) != in_order(ROWS, 7)


def test_a_sample_is_its_row_and_its_picture(root):
    (sample,) = drawn(root, [3])
    one = in_order(ROWS)[3]
    assert sample.image["bytes"] == picture_of(root, one).read_bytes()
    assert sample.image["path"] == f"{id_of(one)}.png"
    assert (sample.width, sample.height) == (64, 48)
    assert (sample.query, sample.query_kind) == ("thing", "referring")
    assert (sample.cluster_id, sample.licence) == (one["image_sha256"], "pixmo")
    assert sample.population_n == 12
    assert sample.target_count == len(one["points"])
    expected = [{"x": p["x"] * 64 / 100, "y": p["y"] * 48 / 100} for p in one["points"]]
    assert sample.target_points == expected


def test_ranks_come_in_the_order_asked_and_do_not_depend_on_each_other(root):
    whole = drawn(root, range(12))
    assert drawn(root, [5, 0, 11, 5]) == [whole[5], whole[0], whole[11], whole[5]]
    assert drawn(root, []) == []


def test_an_item_is_read_alone_as_it_is_drawn(root):
    items = pixmo_points.list_items(parameters(root))
    (sample,) = drawn(root, [4])
    alone = pixmo_points.read_item(parameters(root), items[4])
    assert (alone.sample_id, alone.image) == (sample.sample_id, sample.image)
    assert alone.target_points == sample.target_points
    assert ids(items[2:4]) == [items[2].id, items[3].id]


def test_formats_row_order_and_row_groups_change_nothing(root, tmp_path_factory):
    expected = drawn(root, range(12))
    shuffled = random.Random(1).sample(ROWS, 12)
    other = tmp_path_factory.mktemp("json")
    write_json_lines(other / "data/rows.jsonl", shuffled)
    shutil.copytree(root / "images", other / "images")
    assert drawn(other, range(12)) == expected
    parts = tmp_path_factory.mktemp("parts")
    write_parquet(parts / "data/train-00000-of-00002.parquet", shuffled[:5])
    write_parquet(parts / "data/train-00001-of-00002.parquet", shuffled[5:], 2)
    shutil.copytree(root / "images", parts / "images")
    assert drawn(parts, range(12)) == expected


def test_the_truth_is_the_number_of_listed_points(tmp_path):
    point = {"x": 50.0, "y": 50.0}
    rows = [
        row(0, **{"points": [point, point, point], "count": 2}),
        row(1, **{"points": [], "count": 5}),
        {**row(2, points=[point]), "count": None},
    ]
    write_parquet(tmp_path / "rows.parquet", rows)
    write_pictures(tmp_path, range(3))
    truths = {s.cluster_id: s.target_count for s in drawn(tmp_path, range(3))}
    assert [truths[one["image_sha256"]] for one in rows] == [3, 0, 1]


def test_points_are_per_cent_of_the_picture():
    (point,) = pixmo_points.pixels_of([{"x": 52.9, "y": 43.9}], 640, 480)
    assert (point["x"], point["y"]) == pytest.approx((338.56, 210.72))
    (corner,) = pixmo_points.pixels_of([{"x": 100.0, "y": 0.0}], 640, 480)
    assert (corner["x"], corner["y"]) == (640, 0)


@pytest.mark.parametrize("value", [100.001, 529.0, -0.1, float("nan"), float("inf")])
def test_a_point_outside_the_picture_is_refused(tmp_path, value):
    with pytest.raises(MissingDataError, match="outside 0 to 100"):
        pixmo_points.pixels_of([{"x": 1.0, "y": value}], 640, 480)
    write_parquet(tmp_path / "rows.parquet", [row(0), row(1, points=[{"x": value, "y": 1.0}])])
    write_pictures(tmp_path, range(2))
    with pytest.raises(MissingDataError, match="1 of 2 rows have a point outside"):
        drawn(tmp_path, [0])


def test_a_few_rows_at_fault_are_passed_over_and_named(tmp_path):
    rows = [row(number) for number in range(220)]
    bad = {3: {"label": " "}, 4: {"label": None}, 5: {"points": None}, 6: {"image_sha256": "ab"}}
    bad |= {7: {"points": [{"x": 101.0, "y": 1.0}]}, 8: {"points": [{"x": None, "y": 1.0}]}}
    for number, columns in bad.items():
        rows[number] = row(number, **columns)
    write_parquet(tmp_path / "rows.parquet", rows)
    write_pictures(tmp_path, range(220))
    samples = drawn(tmp_path, range(214))
    fine = [one for number, one in enumerate(rows) if number not in bad]
    assert [s.sample_id for s in samples] == [id_of(one) for one in in_order(fine)]
    assert {s.population_n for s in samples} == {220}
    told = (tmp_path / "unavailable.tsv").read_text()
    for reason, number in (("no label", 2), ("no list", 1), ("no sha256", 1), ("outside 0", 2)):
        assert told.count(reason) == number
    with pytest.raises(MissingDataError, match="214 can be drawn"):
        drawn(tmp_path, [214])


def test_equal_rows_are_told_apart(tmp_path):
    twice = row(0, 2)
    other = {**twice, "image_url": "https://elsewhere.invalid/0.png"}
    write_parquet(tmp_path / "rows.parquet", [twice, row(1), other, twice])
    write_pictures(tmp_path, range(2))
    name = id_of(twice)
    assert {s.sample_id for s in drawn(tmp_path, range(4))} == {
        *(name, f"{name}_2", f"{name}_3"),
        id_of(row(1)),
    }


def test_a_picture_that_is_gone_is_replaced_by_rank(root):
    order = in_order(ROWS)
    picture_of(root, order[2]).unlink()
    picture_of(root, order[5]).write_bytes(b"")
    picture_of(root, order[6]).write_bytes(picture(999))
    samples = drawn(root, range(9))
    left = [one for place, one in enumerate(order) if place not in (2, 5, 6)]
    assert [s.sample_id for s in samples] == [id_of(one) for one in left]
    assert pixmo_points.population(parameters(root)) == 9
    lines = (root / "unavailable.tsv").read_text().splitlines()
    assert lines[0] == "place\timage_sha256\timage_url\treason"
    for line, place, word in zip(lines[1:], (2, 5, 6), ("not in", "dead", "changed"), strict=True):
        fields = line.split("\t")
        gone = order[place]
        assert fields[:3] == [str(place), gone["image_sha256"], gone["image_url"]]
        assert word in fields[3]


def test_a_picture_that_comes_back_is_seen_at_once(root):
    before = drawn(root, range(12))
    path = picture_of(root, in_order(ROWS)[0])
    data = path.read_bytes()
    path.write_bytes(b"")
    assert drawn(root, [0])[0].sample_id == before[1].sample_id
    path.write_bytes(data)
    assert drawn(root, range(12)) == before
    assert (root / "unavailable.tsv").read_text().count("\n") == 1


@pytest.mark.parametrize("data", [b"<!DOCTYPE html>gone", picture(0)[:-30]])
def test_a_file_of_the_right_hash_that_is_no_picture_is_passed_over(tmp_path, data):
    rows = [row(1), row(2), row(3, image_sha256=sha_of(data))]
    write_parquet(tmp_path / "rows.parquet", rows)
    write_pictures(tmp_path, (1, 2))
    (tmp_path / "images" / sha_of(data)).write_bytes(data)
    assert len(drawn(tmp_path, range(2))) == 2
    with pytest.raises(MissingDataError, match="2 can be drawn"):
        drawn(tmp_path, [2])
    assert "unreadable" in (tmp_path / "unavailable.tsv").read_text()


@pytest.mark.parametrize("name", ["{}", "{}.jpeg", "{}.image.png", "UPPER"])
def test_pictures_are_found_with_and_without_an_extension(tmp_path, name):
    write_parquet(tmp_path / "rows.parquet", [row(0)])
    sha = sha_of(picture(0))
    path = tmp_path / "images" / (sha.upper() if name == "UPPER" else name.format(sha))
    path.parent.mkdir()
    path.write_bytes(picture(0))
    (tmp_path / "images/readme.txt").write_text("not a picture")
    assert drawn(tmp_path, [0])[0].image["bytes"] == picture(0)


def test_points_refer_to_the_upright_picture(tmp_path):
    stream, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(np.zeros((30, 80, 3), np.uint8)).save(stream, "JPEG", exif=exif)
    data = stream.getvalue()
    one = row(0, image_sha256=sha_of(data), points=[{"x": 50.0, "y": 10.0}])
    write_parquet(tmp_path / "rows.parquet", [one])
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / sha_of(data)).write_bytes(data)
    (sample,) = drawn(tmp_path, [0])
    assert (sample.width, sample.height) == (30, 80)
    assert sample.target_points == [{"x": 15.0, "y": 8.0}]
    assert sample.image["path"].endswith(".jpg")


def test_the_draw_ends_before_it_lives_on_a_few_pictures(tmp_path):
    """Forty rows of pictures that are not here, and forty rows of one that is."""
    rows = [row(number) for number in range(1, 61)]
    rows += [row(0, label=f"thing {number}") for number in range(20)]
    write_parquet(tmp_path / "rows.parquet", rows)
    write_pictures(tmp_path, [0])
    order = [one["image_sha256"] == sha_of(picture(0)) for one in in_order(rows)]
    skipped = np.cumsum(~np.array(order))
    limit = np.flatnonzero(skipped > np.maximum(20, 0.5 * np.arange(1, 81)))[0]
    expected = sum(order[: limit + 1])
    assert 0 < expected < 20
    assert pixmo_points.population(parameters(tmp_path)) == expected
    with pytest.raises(MissingDataError, match=f"{expected} can be drawn"):
        drawn(tmp_path, [expected])
    assert len(drawn(tmp_path, range(20), assumed_max_skipped_share=1.0)) == 20


def test_a_large_folder_is_counted_without_opening_all_of_it(root, monkeypatch):
    order = in_order(ROWS)
    picture_of(root, order[1]).write_bytes(b"")
    picture_of(root, order[8]).write_bytes(b"")
    picture_of(root, order[9]).unlink()
    assert pixmo_points.population(parameters(root)) == 9
    monkeypatch.setattr(pixmo_points, "OPENED_RANKS", 3)
    assert pixmo_points.population(parameters(root)) == 10


def test_a_rank_beyond_the_rows_is_one_line(root):
    with pytest.raises(MissingDataError, match=r"rank 12 is asked for, but .* holds 12 samples"):
        drawn(root, [12])


def test_a_manifest_decides(root):
    order = in_order(ROWS)
    names = [id_of(order[place]) for place in (8, 1, 4)]
    samples = drawn(root, range(3), manifest=names, seed=99)
    assert [s.sample_id for s in samples] == names
    assert [s.rank for s in samples] == [0, 1, 2]
    assert {s.population_n for s in samples} == {12}
    assert pixmo_points.population(parameters(root, manifest=names)) == 3
    with pytest.raises(MissingDataError, match="the manifest ends"):
        drawn(root, [3], manifest=names)


def test_a_manifest_replaces_nothing(root):
    order = in_order(ROWS)
    names = [id_of(one) for one in order[:3]]
    picture_of(root, order[1]).unlink()
    assert drawn(root, [0], manifest=names)[0].sample_id == names[0]
    with pytest.raises(MissingDataError, match=f"{order[1]['image_sha256']}: not in the folder"):
        drawn(root, [1], manifest=names)
    assert pixmo_points.available(parameters(root, manifest=names)) == 2
    (missing,) = pixmo_points.missing_urls(parameters(root, manifest=names), None)
    assert missing["image_url"] == order[1]["image_url"]


def test_a_manifest_of_other_rows_is_refused(root):
    with pytest.raises(SpecError, match="'nobody' is not among the rows"):
        drawn(root, [0], manifest=["nobody"])
    name = id_of(ROWS[9])
    with pytest.raises(SpecError, match="another choice"):
        drawn(root, [0], manifest=[name], assumed_max_count=3)


def test_items_of_the_first_ranks(root):
    everything = pixmo_points.items_in_rank_order(parameters(root), None)
    assert ids(everything) == [id_of(one) for one in in_order(ROWS)]
    assert pixmo_points.items_in_rank_order(parameters(root), 4) == everything[:4]
    assert pixmo_points.items_in_rank_order(parameters(root), 40, least=12) == everything
    with pytest.raises(MissingDataError, match="rank 12 is asked for"):
        pixmo_points.items_in_rank_order(parameters(root), 13)


def test_addresses_of_the_pictures_to_get(root):
    order = in_order(ROWS)
    for place in (0, 2, 3, 7):
        picture_of(root, order[place]).unlink()
    picture_of(root, order[1]).write_bytes(b"")  # dead: the next rank takes its place
    found = list(pixmo_points.missing_urls(parameters(root), 4))
    assert [one["place"] for one in found] == [0, 2, 3]
    assert [one["image_url"] for one in found] == [order[p]["image_url"] for p in (0, 2, 3)]
    assert found[0]["image_sha256"] == order[0]["image_sha256"]
    assert list(pixmo_points.missing_urls(parameters(root), 7))[-1]["place"] == 7
    for place in (0, 2, 3):
        data = picture(ROWS.index(order[place]))
        picture_of(root, order[place]).write_bytes(data)
    assert list(pixmo_points.missing_urls(parameters(root), 4)) == []
    assert len(drawn(root, range(4))) == 4


def test_a_picture_of_several_rows_is_asked_for_once(tmp_path):
    write_parquet(tmp_path / "rows.parquet", [row(0, label=f"thing {n}") for n in range(5)])
    assert len(list(pixmo_points.missing_urls(parameters(tmp_path), None))) == 1


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        ({"collection_method": "all"}, range(12)),
        ({"collection_method": "counting"}, (0, 3, 6, 9)),
        ({"collection_method": "pointing"}, (1, 2, 4, 5, 7, 8, 10, 11)),
        ({"assumed_max_count": 4}, range(5)),
        ({"assumed_max_count": 0}, [0]),
    ],
)
def test_choices_of_rows(tmp_path, given, numbers):
    methods = ("counting", "pointing", "pointing")
    rows = [row(n, n, collection_method=methods[n % 3]) for n in range(12)]
    write_parquet(tmp_path / "rows.parquet", rows)
    write_pictures(tmp_path, range(12))
    assert len(pixmo_points.list_items(parameters(tmp_path, **given))) == len(numbers)
    samples = drawn(tmp_path, range(len(numbers)), **given)
    expected = in_order([rows[number] for number in numbers])
    assert [s.sample_id for s in samples] == [id_of(one) for one in expected]
    assert {s.population_n for s in samples} == {len(numbers)}


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"assumed_max_count": -1}, "assumed_max_count"),
        ({"assumed_max_count": True}, "assumed_max_count"),
        ({"assumed_max_skipped_share": 1.5}, "assumed_max_skipped_share"),
    ],
)
def test_parameters_are_checked(root, given, word):
    with pytest.raises(SpecError, match=word):
        drawn(root, [0], **given)


def test_strata_are_truth_bins(root):
    edges = {0: "0", 1: "1-5", 5: "1-5", 6: "6-10", 10: "6-10", 11: "11-20", 20: "11-20"}
    edges |= {21: "21-50", 50: "21-50", 51: ">50", 400: ">50"}
    assert {count: truth_bin(count) for count in edges} == edges
    assert all(s.stratum == truth_bin(s.target_count) for s in drawn(root, range(12)))


def test_the_number_of_rows_is_known_of_the_whole_only(root):
    assert pixmo_points.expected_count(parameters(root)) == 2_376_222
    for part in ({"collection_method": "counting"}, {"assumed_max_count": 9}, {"twin": True}):
        assert pixmo_points.expected_count(parameters(root, **part)) is None


def test_a_part_that_was_not_downloaded_is_named(tmp_path):
    write_parquet(tmp_path / "data/train-00001-of-00002.parquet", ROWS)
    with pytest.raises(MissingDataError, match=r"train-00000-of-00002\.parquet is not there"):
        pixmo_points.list_items(parameters(tmp_path))


def without(column):
    return lambda path: write_json_lines(
        path, [{key: value for key, value in row(0).items() if key != column}]
    )


@pytest.mark.parametrize(
    ("name", "make", "word"),
    [
        ("rows.parquet", lambda path: path.write_bytes(b"<html>"), "cannot be read"),
        ("rows.parquet", lambda path: write_parquet(path, []), "without any row"),
        ("rows.jsonl", lambda path: path.write_text('{"points": [}\n'), "line 1 is not JSON"),
        ("rows.jsonl", lambda path: path.write_text("[]\n"), "line 1 lacks a column"),
        ("rows.jsonl", without("label"), "line 1 lacks a column"),
        ("rows.jsonl", lambda path: write_json_lines(path, [row(0, points="x")]), "cannot be read"),
        ("rows.jsonl", lambda path: path.write_bytes(b"\xff\xfe"), "cannot be read"),
        ("rows.txt", lambda path: path.write_text(""), "no .parquet and no .jsonl"),
    ],
)
def test_other_files_are_one_line(tmp_path, name, make, word):
    make(tmp_path / name)
    with pytest.raises(MissingDataError, match=word) as caught:
        pixmo_points.list_items(parameters(tmp_path))
    assert "\n" not in str(caught.value)


def test_other_columns_are_named(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"label": ["cat"]}), tmp_path / "other.parquet")
    with pytest.raises(MissingDataError, match="has no column 'image_url'"):
        pixmo_points.list_items(parameters(tmp_path))


def test_missing_data_say_what_to_get(tmp_path, root):
    nowhere = tmp_path / "nowhere"
    told = pixmo_points.missing_data(parameters(nowhere))
    assert str(nowhere) in told
    assert "allenai/pixmo-points" in told
    nowhere.mkdir()
    (nowhere / "images").mkdir()
    assert "no .parquet" in pixmo_points.missing_data(parameters(nowhere))
    write_parquet(nowhere / "rows.parquet", ROWS)
    assert "holds no picture" in pixmo_points.missing_data(parameters(nowhere))
    assert pixmo_points.missing_data(parameters(root)) is None


def test_a_log_that_cannot_be_written_is_printed(root, capsys):
    order = in_order(ROWS)
    picture_of(root, order[0]).unlink()
    (root / "unavailable.tsv").mkdir()
    assert len(drawn(root, range(11))) == 11
    assert order[0]["image_url"] in capsys.readouterr().err


@pytest.mark.skipif(not SHARED.is_dir(), reason="the sample files are not here")
def test_rows_in_the_published_schema(tmp_path):
    shutil.copy(SHARED / "pixmo/pixmo_points_format.jsonl", tmp_path)
    (tmp_path / "images").mkdir()
    for path in (SHARED / "coco/val2017").glob("*.jpg"):
        shutil.copy(path, tmp_path / "images" / f"{sha_of(path.read_bytes())}.jpg")
    samples = {s.query + str(s.target_count): s for s in drawn(tmp_path, range(4))}
    assert set(samples) == {"people3", "people5", "skier1", "giraffe0"}
    skier = samples["skier1"]
    assert skier.target_points == [
        {"x": 60.9594 * skier.width / 100, "y": 51.3106 * skier.height / 100}
    ]
    assert samples["giraffe0"].target_points == []
    assert samples["giraffe0"].stratum == "0"
