"""DRAM: lists of names, labels of Pascal VOC's ids, pairs of painting and class."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest
from images_by_hand import HTML, PALETTE, chunk, photograph, png, saved

from gensight.datasets import dram, scenes
from gensight.datasets._disk import TWIN_MARK
from gensight.errors import ImageError, MissingDataError
from gensight.images import decode_mask
from gensight.twins import dram as twin

SHARED = Path(__file__).resolve().parents[3] / "shared" / "samples"
WIDTH, HEIGHT = 64, 48
# name: the boxes (rows, columns) of each id; the rest is background.
LABELS = {
    "realism/a painter/one": {15: (slice(0, 10), slice(0, 20)), 255: (slice(10, 12), slice(0, 20))},
    "realism/two": {16: (slice(20, 30), slice(5, 25)), 3: (slice(0, 5), slice(40, 50))},
    "expressionism/three": {1: (slice(0, 10), slice(0, 10)), 20: (slice(20, 30), slice(0, 5))},
    "unseen/cubism/artist/four": {8: (slice(1, 9), slice(1, 9)), 5: (slice(20, 30), slice(1, 9))},
}
# The class names of Pascal VOC's twelve kept ids, written down here once more.
NAMES = {3: "bird", 5: "bottle", 8: "cat", 15: "person", 16: "potted plant"}


def label_of(name):
    label = np.zeros((HEIGHT, WIDTH), np.uint8)
    for number, (rows, columns) in LABELS[name].items():
        label[rows, columns] = number
    return label


def write_label(root, name, data):
    path = root / "labels" / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


@pytest.fixture
def root(tmp_path):
    for name in LABELS:
        path = tmp_path / "test" / f"{name}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(saved(photograph(HEIGHT, WIDTH), "JPEG"))
        write_label(tmp_path, name, saved(label_of(name), "PNG"))
    seen = [name for name in LABELS if not name.startswith("unseen")]
    lists = {"dram": seen, "realism": seen[:2], "dram_with_unseen": list(LABELS)}
    for name, names in lists.items():
        # As shipped: no newline at the end.
        (tmp_path / "test" / f"{name}.txt").write_text("\n".join(names))
    return tmp_path


def parameters(root, **given):
    return {**dram.DEFAULTS, "root": str(root), "source": dram.SOURCE, **given}


def samples(root, **given):
    chosen = parameters(root, **given)
    found = dram.iter_samples(chosen, range(dram.population(chosen)))
    return {sample.sample_id: sample for sample in found}


def test_a_sample_is_a_painting_and_a_class_that_is_present(root):
    found = samples(root)
    assert set(found) == {
        "realism/a painter/one/person",
        "realism/two/potted plant",
        "realism/two/bird",
    }
    for name, sample in found.items():
        painting, class_name = name.rsplit("/", 1)
        (number,) = (key for key, value in NAMES.items() if value == class_name)
        assert (decode_mask(sample.target_mask) == (label_of(painting) == number)).all()
        assert sample.query == sample.stratum == class_name
        assert sample.query_kind == "class"
        assert sample.cluster_id == painting
        assert sample.image["bytes"] == (root / "test" / f"{painting}.jpg").read_bytes()
        assert sample.licence == "dram"


def test_every_other_id_is_ignored_and_background_is_not(root):
    found = samples(root)
    ignored = decode_mask(found["realism/a painter/one/person"].ignore_mask)
    assert (ignored == (label_of("realism/a painter/one") == 255)).all()
    assert found["realism/two/bird"].ignore_mask is None
    # VOC's aeroplane and tv monitor are no classes of DRAM, so they give no sample, ...
    assert not any(name.startswith("expressionism/three") for name in found)
    # ... and no background either where a class stands beside them.
    label = label_of("expressionism/three")
    label[40:44, 40:44] = 17
    write_label(root, "expressionism/three", saved(label, "PNG"))
    sample = samples(root)["expressionism/three/sheep"]
    assert decode_mask(sample.ignore_mask).sum() == 100 + 50
    assert decode_mask(sample.target_mask).sum() == 16


def test_each_of_the_256_ids_is_target_background_or_ignored(root):
    label = np.zeros((HEIGHT, WIDTH), np.uint8)
    label[:4] = np.arange(256).reshape(4, 64)
    write_label(root, "realism/two", saved(label, "PNG"))
    found = samples(root)
    kept = {"bird": 3, "boat": 4, "bottle": 5, "cat": 8, "chair": 9, "cow": 10, "dog": 12}
    kept |= {"horse": 13, "person": 15, "potted plant": 16, "sheep": 17}
    names = {name.rsplit("/", 1)[1] for name in found if name.startswith("realism/two/")}
    assert names == set(kept)
    for class_name, number in kept.items():
        sample = found[f"realism/two/{class_name}"]
        assert (decode_mask(sample.target_mask) == (label == number)).all()
        ignored = ~np.isin(label, [0, *kept.values()])
        assert (decode_mask(sample.ignore_mask) == ignored).all()


def test_the_twin_mask_is_another_class_of_the_painting(root):
    found = samples(root)
    label = label_of("realism/two")
    assert (decode_mask(found["realism/two/bird"].twin_mask) == (label == 16)).all()
    assert (decode_mask(found["realism/two/potted plant"].twin_mask) == (label == 3)).all()
    assert found["realism/a painter/one/person"].twin_mask is None
    (drawn,) = (
        sample
        for name, sample in samples(root, assumed_unit="one_class_per_image").items()
        if name.startswith("realism/two")
    )
    assert drawn.twin_mask is not None


def test_other_masks_are_all_other_classes_of_the_painting(root):
    label = label_of("realism/two")
    label[40:44, 40:44] = 17
    # No class of the data set, so no other object either.
    label[:2, :2] = 20
    write_label(root, "realism/two", saved(label, "PNG"))
    found = samples(root)
    for class_name, others in (
        ("bird", (16, 17)),
        ("potted plant", (3, 17)),
        ("sheep", (3, 16)),
    ):
        masks = [decode_mask(one) for one in found[f"realism/two/{class_name}"].other_masks]
        np.testing.assert_array_equal(masks, [label == number for number in others])
    assert found["realism/a painter/one/person"].other_masks == []
    drawn = samples(root, assumed_unit="one_class_per_image")
    assert sorted(len(one.other_masks) for one in drawn.values()) == [0, 2]


def test_lists(root):
    assert len(samples(root, movement="realism")) == 3
    found = samples(root, movement="dram_with_unseen")
    assert {"unseen/cubism/artist/four/cat", "unseen/cubism/artist/four/bottle"} <= set(found)
    assert len(found) == 5


def test_one_class_of_each_painting(root):
    for seed in range(6):
        found = samples(root, assumed_unit="one_class_per_image", seed=seed)
        assert len(found) == 2
        place = int(hashlib.sha256(f"{seed}/realism/two".encode()).hexdigest(), 16) % 2
        # The ids in rising order: 3 bird, 16 potted plant.
        assert f"realism/two/{('bird', 'potted plant')[place]}" in found


def test_a_name_that_comes_twice_counts_once(root):
    path = root / "test" / "dram.txt"
    before = samples(root)
    path.write_text(f"{path.read_text()}\n\nrealism/two \n")
    assert samples(root) == before


def test_labels_with_a_palette_are_read_as_indices(root):
    """A palette turned into grey would give 38 for an index whose colour is (128, 0, 0)."""
    before = samples(root)
    colours = bytes(value for index in range(256) for value in (index * 37 % 256, index, 7))
    for name in LABELS:
        data = png((WIDTH, HEIGHT), 8, PALETTE, label_of(name), chunk(b"PLTE", colours))
        write_label(root, name, data)
    assert samples(root) == before


def test_sizes_must_agree(root):
    path = root / "test" / "realism" / "two.jpg"
    path.write_bytes(saved(photograph(HEIGHT * 2, WIDTH * 2), "JPEG"))
    chosen = parameters(root)
    item = next(item for item in dram.list_items(chosen) if item.cluster_id == "realism/two")
    with pytest.raises(MissingDataError, match=r"sample realism/two/.*128x96.*64x48") as error:
        dram.read_item(chosen, item)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "data",
    [b"", HTML, saved(photograph(HEIGHT, WIDTH), "PNG"), None],
    ids=["empty", "web page", "colours", "absent"],
)
def test_an_unreadable_label_stops_its_own_sample_only(root, data):
    path = root / "labels" / "realism" / "two.png"
    path.unlink() if data is None else path.write_bytes(data)
    chosen = parameters(root)
    items = {item.id: item for item in dram.list_items(chosen)}
    assert set(items) == {"realism/a painter/one/person", "realism/two/unreadable"}
    assert dram.read_item(chosen, items["realism/a painter/one/person"]).target_mask
    with pytest.raises((ImageError, MissingDataError), match=r"sample realism/two/.*two\.png") as e:
        dram.read_item(chosen, items["realism/two/unreadable"])
    assert "\n" not in str(e.value)


@pytest.mark.parametrize("data", [b"", HTML, saved(photograph(), "JPEG")[:300], None])
def test_an_unreadable_painting_stops_its_own_samples_only(root, data):
    path = root / "test" / "realism" / "two.jpg"
    path.unlink() if data is None else path.write_bytes(data)
    chosen = parameters(root)
    items = {item.id: item for item in dram.list_items(chosen)}
    assert len(items) == 3
    assert dram.read_item(chosen, items["realism/a painter/one/person"]).target_mask
    with pytest.raises(
        (ImageError, MissingDataError), match=r"sample realism/two/bird: .*two\.jpg"
    ):
        dram.read_item(chosen, items["realism/two/bird"])


def test_missing_data(root):
    assert dram.missing_data(parameters(root)) is None
    assert dram.expected_count(parameters(root)) is None
    message = dram.missing_data(parameters(root, movement="unseen"))
    assert "unseen.txt is not there" in message
    assert "SemanticSegmentationInArtPaintings" in message
    (root / "test" / "realism" / "two.jpg").unlink()
    assert "1 of 2 pictures are not there" in dram.missing_data(parameters(root))
    (root / "test" / "dram.txt").write_bytes(b"\xff\xfe\x00")
    assert dram.missing_data(parameters(root)).endswith("the list is no text; download it again")


@pytest.mark.skipif(not SHARED.exists(), reason="the sample files are not here")
def test_sample_file(tmp_path):
    (tmp_path / "test" / "test_movement").mkdir(parents=True)
    shutil.copytree(SHARED / "dram" / "labels", tmp_path / "labels")
    photo = SHARED / "coco" / "val2017" / "000000000785.jpg"
    shutil.copy(photo, tmp_path / "test" / "test_movement" / "785.jpg")
    (tmp_path / "test" / "dram.txt").write_text("test_movement/785")
    (sample,) = samples(tmp_path).values()
    assert sample.sample_id == "test_movement/785/person"
    target, ignored = decode_mask(sample.target_mask), decode_mask(sample.ignore_mask)
    assert target.shape == (sample.height, sample.width) == (425, 640)
    assert 0 < ignored.sum() < target.sum()
    assert not (target & ignored).any()


def test_the_twin_holds_the_scenes(tmp_path):
    drawn = list(scenes.iter_samples({**scenes.DEFAULTS, "width": 192, "height": 144}, range(4)))
    twin.write(tmp_path, drawn)
    masks = [decode_mask(sample.target_mask) for sample in drawn]
    for asked, count in (({}, 4), ({"movement": "unseen"}, 2), ({"movement": "realism"}, 2)):
        found = samples(tmp_path, twin=True, **asked)
        assert len(found) == count
        for sample in found.values():
            assert any((decode_mask(sample.target_mask) == mask).all() for mask in masks)
            assert sample.ignore_mask is not None
    with pytest.raises(MissingDataError, match="synthetic twin"):
        samples(tmp_path)
    assert (tmp_path / TWIN_MARK).exists()
