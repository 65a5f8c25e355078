"""A folder of pictures of one's own: labels from folders and names, and what is shown of them."""

from __future__ import annotations

import numpy as np
import pytest
from images_by_hand import HTML, saved

from gensight.datasets import picture_folder
from gensight.datasets._options import LETTERS
from gensight.datasets._pixel_items import centre_square
from gensight.errors import ImageError, MissingDataError, SpecError
from gensight.images import decode_rgb

LABELS = ["big dog", "cat", "cow", "crab", "duck", "goose", "hen", "horse", "pig", "sheep", "snail"]


def flat(colour, height=20, width=20):
    return saved(np.full((height, width, 3), colour, np.uint8), "PNG")


def write(root, files):
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@pytest.fixture
def sorted_root(tmp_path):
    """Eleven folders of two pictures each, a note, and what hidden files leave behind."""
    files = {}
    for place, label in enumerate(LABELS):
        folder = label.replace(" ", "_")
        files |= {f"{folder}/{n}.png": flat((10 * place, 100 * n, 7)) for n in (1, 2)}
    files |= {"notes.txt": b"mine", ".cache/x.png": flat(0), "cat/.thumb.png": flat(0)}
    write(tmp_path, files)
    return tmp_path


def parameters(root, **given):
    return {**picture_folder.DEFAULTS, "root": str(root), "source": picture_folder.SOURCE, **given}


def ask(root, **given):
    chosen = parameters(root, **given)
    return list(picture_folder.iter_samples(chosen, range(picture_folder.population(chosen))))


def test_a_label_is_the_name_of_the_folder(sorted_root):
    found = {sample.knobs["file"]: sample for sample in ask(sorted_root)}
    assert len(found) == 22
    for place, label in enumerate(LABELS):
        for n in (1, 2):
            sample = found[f"{label.replace(' ', '_')}/{n}.png"]
            assert sample.target_text == sample.knobs["label"] == label
            picture = decode_rgb(sample.image["bytes"], matte=(0, 0, 0))
            assert picture.shape == (256, 256, 3)
            assert (picture == (10 * place, 100 * n, 7)).all()
            assert sample.query is None
            assert sample.licence == "own_pictures"
            assert label.split()[0] not in sample.sample_id + sample.image["path"]
            assert sample.cluster_id == sample.sample_id


def test_a_label_is_the_stem_of_a_picture_without_a_folder(tmp_path):
    write(tmp_path, {"red_barn.PNG": flat(1), "deep/er/old_mill.jpeg": flat(2), "b.webp": flat(3)})
    found = {sample.knobs["file"]: sample.target_text for sample in ask(tmp_path)}
    assert found == {"red_barn.PNG": "red barn", "deep/er/old_mill.jpeg": "er", "b.webp": "b"}


def test_the_order_follows_from_the_names_alone(sorted_root, tmp_path):
    before = [sample.sample_id for sample in ask(sorted_root)]
    other = tmp_path / "elsewhere"
    for path in sorted(sorted_root.rglob("*.png"), reverse=True):
        if not any(part.startswith(".") for part in path.relative_to(sorted_root).parts):
            write(other, {str(path.relative_to(sorted_root)): flat(0)})
    assert [sample.sample_id for sample in ask(other)] == before
    assert [sample.sample_id for sample in ask(other, seed=1)] != before
    first = picture_folder.iter_samples(parameters(other), [0, 1, 2])
    assert [sample.sample_id for sample in first] == before[:3]


def test_understanding_asks_for_the_label_among_others(sorted_root):
    shown, asked = ask(sorted_root), ask(sorted_root, task="pixel_understanding")
    by_label = {}
    for one, other in zip(shown, asked, strict=True):
        assert (one.sample_id, one.rank) == (other.sample_id, other.rank)
        assert other.image is None
        assert other.options[LETTERS.index(other.target_text)] == one.target_text
        by_label.setdefault(one.target_text, []).append(other.options)
    assert sorted(by_label) == LABELS
    for options in by_label.values():
        assert options[0] == options[1]
        assert set(options[0]) < set(LABELS)
        assert len(set(options[0])) == 10
    others = [one for label, some in by_label.items() for one in some[0] if one != label]
    assert {label: others.count(label) for label in LABELS} == dict.fromkeys(LABELS, 9)


def test_too_few_labels_for_the_options(tmp_path):
    write(tmp_path, {f"{name}.png": flat(1) for name in "abcd"})
    assert len(ask(tmp_path)) == 4
    with pytest.raises(SpecError, match="10 options need as many concepts; there are 4"):
        ask(tmp_path, task="pixel_understanding")
    (first, *_) = ask(tmp_path, task="pixel_understanding", options=4)
    assert sorted(first.options) == list("abcd")


def test_transparency_lies_over_white(tmp_path):
    picture = np.zeros((8, 8, 4), np.uint8)
    picture[:, 4:] = (0, 0, 255, 255)
    write(tmp_path, {"x.png": saved(picture, "PNG")})
    (sample,) = ask(tmp_path, assumed_crop_px=8)
    shown = decode_rgb(sample.image["bytes"], matte=(9, 9, 9))
    assert (shown[:, :4] == 255).all()
    assert (shown[:, 4:] == (0, 0, 255)).all()


@pytest.mark.parametrize(
    ("height", "width", "rows", "columns"),
    [
        (6, 10, slice(0, 6), slice(2, 8)),
        (10, 6, slice(2, 8), slice(0, 6)),
        (6, 9, slice(0, 6), slice(1, 7)),
        (9, 6, slice(1, 7), slice(0, 6)),
        (6, 6, slice(0, 6), slice(0, 6)),
        (1, 5, slice(0, 1), slice(2, 3)),
    ],
)
def test_the_square_lies_in_the_middle(height, width, rows, columns):
    picture = np.random.default_rng(5).integers(0, 256, (height, width, 3)).astype(np.uint8)
    square = picture[rows, columns]
    side = min(height, width)
    np.testing.assert_array_equal(centre_square(picture, side), square)
    # To a half the size each pixel is the average of four, and nothing outside has a part in it.
    if side % 2 == 0:
        halved = square.reshape(side // 2, 2, side // 2, 2, 3).mean((1, 3))
        assert abs(centre_square(picture, side // 2) - halved).max() <= 0.5


def test_what_is_refused(tmp_path):
    with pytest.raises(MissingDataError, match="holds no picture; put pictures there"):
        ask(tmp_path)
    write(tmp_path, {"a.png": flat(1), "b.png": HTML})
    with pytest.raises(ImageError, match=r"sample picture_\w+: .*b\.png") as error:
        ask(tmp_path)
    assert "\n" not in str(error.value)
    told = []
    assert [sample.target_text for sample in ask(tmp_path, left_out=told.append)] == ["a"]
    assert len(told) == 1
    with pytest.raises(MissingDataError, match="rank 2 is asked for, but the data set holds 2"):
        list(picture_folder.iter_samples(parameters(tmp_path), [2]))
    assert picture_folder.missing_data(parameters(tmp_path)) is None
    assert picture_folder.expected_count(parameters(tmp_path)) is None
