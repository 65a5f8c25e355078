"""Manga109: MangaSegmentation's JSON in every coding, COO's XML, pages and classes."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from images_by_hand import HTML, photograph, saved
from pycocotools import mask as coco

from gensight.datasets import manga109, scenes
from gensight.errors import ImageError, MissingDataError, SpecError
from gensight.images import decode_mask
from gensight.twins import manga109 as twin

SHARED = Path(__file__).resolve().parents[3] / "shared" / "samples" / "manga109"
WIDTH, HEIGHT = 96, 64
CATEGORIES = ["frame", "text", "face", "body", "balloon", "onomatopoeia"]


def decoded(code):
    """Decode with pycocotools, whose conversion NumPy 2 has deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return coco.decode(code).astype(bool)


def box_mask(left, top, right, bottom):
    mask = np.zeros((HEIGHT, WIDTH), bool)
    mask[top:bottom, left:right] = True
    return mask


def packed(mask):
    """Return the code with packed characters as text, as JSON holds it."""
    code = coco.encode(np.asfortranarray(mask.astype(np.uint8)))
    return {"size": list(code["size"]), "counts": code["counts"].decode()}


def runs(mask):
    """Return the code with a list of runs down the columns, zeros first."""
    counts, current = [0], False
    for pixel in mask.T.ravel():
        if pixel != current:
            counts.append(0)
            current = pixel
        counts[-1] += 1
    return {"size": [HEIGHT, WIDTH], "counts": counts}


def polygons(left, top, right, bottom):
    return [[left, top, right, top, right, bottom, left, bottom]]


FRAME, BALLOON, OTHER = box_mask(0, 0, 90, 60), box_mask(5, 5, 25, 20), box_mask(50, 30, 70, 50)


def annotation(number, page, category, segmentation):
    fields = {"iscrowd": 0, "bbox": [0, 0, 1, 1], "area": 1}
    return {
        "id": number,
        "image_id": page,
        "category_id": 1 + CATEGORIES.index(category),
        "segmentation": segmentation,
        **fields,
    }


def document(images, annotations):
    return {
        "images": [
            {"id": number, "file_name": name, "width": WIDTH, "height": HEIGHT}
            for number, name in images.items()
        ],
        "annotations": annotations,
        "categories": [{"id": 1 + place, "name": name} for place, name in enumerate(CATEGORIES)],
    }


def write_json(root, name, content):
    (root / "jsons").mkdir(exist_ok=True)
    (root / "jsons" / f"{name}.json").write_text(json.dumps(content))


@pytest.fixture
def root(tmp_path):
    """Write two volumes, of which the second lists the pages of the first as well."""
    first = {1: "ARMS/000.jpg", 2: "ARMS/001.jpg", 3: "ARMS/002.jpg"}
    both = {**first, 4: "BokuHa/000.jpg"}
    write_json(
        tmp_path,
        "ARMS",
        document(
            first,
            [
                annotation(10, 1, "frame", packed(FRAME)),
                annotation(11, 1, "balloon", packed(BALLOON)),
                annotation(12, 1, "balloon", runs(OTHER)),
                annotation(13, 2, "balloon", polygons(50, 30, 70, 50)),
            ],
        ),
    )
    write_json(tmp_path, "BokuHa", document(both, [annotation(20, 4, "face", packed(OTHER))]))
    for name in both.values():
        path = tmp_path / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(saved(photograph(HEIGHT, WIDTH), "JPEG"))
    return tmp_path


def parameters(root, **given):
    return {**manga109.DEFAULTS, "root": str(root), "source": manga109.SOURCE, **given}


def samples(root, **given):
    chosen = parameters(root, **given)
    found = manga109.iter_samples(chosen, range(manga109.population(chosen)))
    return {sample.sample_id: sample for sample in found}


def test_a_sample_is_a_page_and_the_union_of_a_class(root):
    found = samples(root)
    expected = {
        "ARMS/000/frame": FRAME,
        "ARMS/000/balloon": BALLOON | OTHER,
        "ARMS/001/balloon": OTHER,
        "BokuHa/000/face": OTHER,
    }
    assert set(found) == set(expected)
    for name, mask in expected.items():
        sample = found[name]
        volume, page, class_name = name.split("/")
        assert (decode_mask(sample.target_mask) == mask).all()
        assert sample.cluster_id == volume
        assert sample.stratum == class_name
        assert sample.query == manga109.DEFAULTS["assumed_phrases"][class_name]
        assert sample.image["bytes"] == (root / "images" / volume / f"{page}.jpg").read_bytes()
        assert sample.ignore_mask is None
        assert sample.licence == "manga109"


def test_classes_and_phrases(root):
    found = samples(root, classes=["balloon"])
    assert set(found) == {"ARMS/000/balloon", "ARMS/001/balloon"}
    phrases = {**manga109.DEFAULTS["assumed_phrases"], "balloon": "every bubble"}
    found = samples(root, classes=["balloon"], assumed_phrases=phrases)
    assert {sample.query for sample in found.values()} == {"every bubble"}
    with pytest.raises(SpecError, match="'face' has no phrase"):
        samples(root, classes=["face"], assumed_phrases={"balloon": "x"})
    with pytest.raises(SpecError, match="'balloon' has no phrase"):
        samples(root, classes=["balloon"], assumed_phrases={"balloon": 3})
    with pytest.raises(SpecError, match=r"\['ARMS'\] is no name of a volume"):
        samples(root, assumed_left_out_volumes=[["ARMS"]])
    with pytest.raises(MissingDataError, match="no page has an annotation of body"):
        samples(root, classes=["body"])


def test_the_names_of_the_paper_are_known(root):
    content = document({1: "ARMS/000.jpg"}, [annotation(1, 1, "face", packed(OTHER))])
    content["categories"][2]["name"] = "Character Face"
    write_json(root, "ARMS", content)
    assert "ARMS/000/face" in samples(root)


def test_volumes_can_be_left_out(root):
    found = samples(root, assumed_left_out_volumes=["ARMS"])
    assert set(found) == {"BokuHa/000/face"}
    shutil.move(root / "images" / "BokuHa", root / "images" / "PrayerHaNemurenai")
    images = {4: "PrayerHaNemurenai/000.jpg"}
    write_json(root, "BokuHa", document(images, [annotation(20, 4, "face", packed(OTHER))]))
    assert not any(name.startswith("Prayer") for name in samples(root))
    assert len(samples(root, assumed_left_out_volumes=[])) == 4


def test_a_page_without_a_folder_belongs_to_the_volume_of_its_file(root):
    content = document({4: "000.jpg"}, [annotation(20, 4, "face", packed(OTHER))])
    write_json(root, "BokuHa", content)
    assert "BokuHa/000/face" in samples(root)


def test_one_file_for_all_volumes(root):
    images = {1: "ARMS/000.jpg", 4: "BokuHa/000.jpg"}
    entries = [annotation(1, 1, "frame", packed(FRAME)), annotation(2, 4, "face", packed(OTHER))]
    (root / "all.json").write_text(json.dumps(document(images, entries)))
    assert set(samples(root, annotations="all.json")) == {"ARMS/000/frame", "BokuHa/000/face"}


@pytest.mark.parametrize(
    "segmentation",
    [
        {"size": [HEIGHT, WIDTH], "counts": {"a": 1}},
        {"size": [HEIGHT, WIDTH]},
        {"size": [WIDTH, HEIGHT], "counts": [HEIGHT * WIDTH]},
        {"size": [HEIGHT, WIDTH], "counts": [3]},
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "path/to/mask.png",
        None,
        7,
    ],
)
def test_any_other_coding_fails_loudly(root, segmentation):
    content = document({4: "BokuHa/000.jpg"}, [annotation(20, 4, "face", segmentation)])
    write_json(root, "BokuHa", content)
    chosen = parameters(root)
    items = {item.id: item for item in manga109.list_items(chosen)}
    assert manga109.read_item(chosen, items["ARMS/000/frame"]).target_mask
    with pytest.raises(MissingDataError, match="sample BokuHa/000/face: ") as error:
        manga109.read_item(chosen, items["BokuHa/000/face"])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry.pop("segmentation"),
        lambda entry: entry.update(image_id=99),
        lambda entry: entry.update(category_id=99),
        lambda entry: entry.update(image_id="x"),
    ],
)
def test_a_damaged_annotation_is_named(root, change):
    entry = annotation(20, 4, "face", packed(OTHER))
    change(entry)
    write_json(root, "BokuHa", document({4: "BokuHa/000.jpg"}, [entry]))
    with pytest.raises(MissingDataError, match=r"BokuHa\.json: annotation 0 is not") as error:
        samples(root)
    assert "\n" not in str(error.value)


def test_a_changed_file_is_read_again(root):
    assert len(samples(root)) == 4
    write_json(root, "BokuHa", document({}, []))
    assert len(samples(root)) == 3


def test_a_page_of_another_size_is_refused_by_name(root):
    path = root / "images" / "BokuHa" / "000.jpg"
    path.write_bytes(saved(photograph(HEIGHT * 2, WIDTH * 2), "JPEG"))
    chosen = parameters(root)
    (item,) = (item for item in manga109.list_items(chosen) if item.cluster_id == "BokuHa")
    with pytest.raises(MissingDataError, match=r"sample BokuHa/000/face: .*192x128.*96x64"):
        manga109.read_item(chosen, item)


@pytest.mark.parametrize("data", [b"", HTML, saved(photograph(), "JPEG")[:300], None])
def test_an_unreadable_page_stops_its_own_samples_only(root, data):
    path = root / "images" / "ARMS" / "000.jpg"
    path.unlink() if data is None else path.write_bytes(data)
    chosen = parameters(root)
    items = {item.id: item for item in manga109.list_items(chosen)}
    assert len(items) == 4
    assert manga109.read_item(chosen, items["ARMS/001/balloon"]).target_mask
    with pytest.raises((ImageError, MissingDataError), match=r"sample ARMS/000/frame: .*000\.jpg"):
        manga109.read_item(chosen, items["ARMS/000/frame"])


def test_missing_data(root):
    assert manga109.missing_data(parameters(root)) is None
    assert manga109.expected_count(parameters(root)) is None
    (root / "images" / "ARMS" / "000.jpg").unlink()
    assert "1 of 3 pictures are not there" in manga109.missing_data(parameters(root))
    message = manga109.missing_data(parameters(root, layout="coo_xml"))
    assert "coo is not there" in message
    assert "manga109.org" in message
    (root / "coo").mkdir()
    message = manga109.missing_data(parameters(root, layout="coo_xml"))
    assert "coo holds no *.xml" in message


# COO


def sound(number, *corners, text="ドン"):
    places = {
        f"{axis}{i}": str(xy[k]) for i, xy in enumerate(corners) for k, axis in enumerate("xy")
    }
    element = ElementTree.Element("onomatopoeia", {"id": f"{number:08x}", **places})
    element.text = text
    return element


def write_xml(root, pages, title="ARMS"):
    book = ElementTree.Element("book", {"title": title})
    holder = ElementTree.SubElement(book, "pages")
    for index, sounds in enumerate(pages):
        fields = {"height": str(HEIGHT), "index": str(index), "width": str(WIDTH)}
        ElementTree.SubElement(holder, "page", fields).extend(sounds)
    (root / "coo").mkdir(exist_ok=True)
    ElementTree.ElementTree(book).write(
        root / "coo" / f"{title}.xml", encoding="utf-8", xml_declaration=True
    )


CORNERS = [(10, 10), (30, 12), (28, 40), (9, 33), (5, 20)]


def test_drawn_sounds_of_coo(root):
    second = [(50, 30), (70, 30), (70, 50), (50, 50)]
    link = ElementTree.Element("link", {"id1": "1", "id2": "2"})
    write_xml(root, [[sound(1, *CORNERS), sound(2, *second), link], []])
    (sample,) = samples(root, layout="coo_xml").values()
    assert sample.sample_id == "ARMS/000/onomatopoeia"
    parts = [[number for corner in corners for number in corner] for corners in (CORNERS, second)]
    expected = decoded(coco.merge(coco.frPyObjects(parts, HEIGHT, WIDTH)))
    assert (decode_mask(sample.target_mask) == expected).all()
    assert sample.query == manga109.DEFAULTS["assumed_phrases"]["onomatopoeia"]
    with pytest.raises(SpecError, match="onomatopoeia only"):
        samples(root, layout="coo_xml", classes=["balloon"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a whole XML"),
        ("<book><pages>", "not a whole XML"),
        ('<book><page width="9" height="9"/></book>', "page None is not as shipped"),
        ('<book><page index="x" width="9" height="9"/></book>', "page x is not as shipped"),
        (
            '<book><page index="3" width="9" height="9"><onomatopoeia x0="1" y0="2" x2="1" y2="3"/>'
            "</page></book>",
            "page 3 is not as shipped",
        ),
    ],
)
def test_damaged_xml_is_named(root, text, words):
    (root / "coo").mkdir()
    (root / "coo" / "ARMS.xml").write_text(text)
    with pytest.raises(MissingDataError, match=rf"ARMS\.xml: {words}") as error:
        samples(root, layout="coo_xml")
    assert "\n" not in str(error.value)


@pytest.mark.skipif(not SHARED.exists(), reason="the sample files are not here")
def test_sample_file(tmp_path):
    (tmp_path / "coo").mkdir()
    shutil.copy(SHARED / "COO_MagicianLoad.xml", tmp_path / "coo" / "MagicianLoad.xml")
    pages = tmp_path / "images" / "MagicianLoad"
    pages.mkdir(parents=True)
    (pages / "002.jpg").write_bytes(saved(np.zeros((1170, 1654, 3), np.uint8), "JPEG"))
    chosen = parameters(tmp_path, layout="coo_xml")
    items = {item.id: item for item in manga109.list_items(chosen)}
    tree = ElementTree.parse(tmp_path / "coo" / "MagicianLoad.xml")
    drawn = [page for page in tree.iter("page") if page.find("onomatopoeia") is not None]
    assert len(items) == len(drawn) > 5
    sample = manga109.read_item(chosen, items["MagicianLoad/002/onomatopoeia"])
    # x0="338" y0="506" x1="375" y1="483" ... of the file's first sound.
    polygon = [338, 506, 375, 483, 393, 512, 407, 573, 399, 618, 380, 618, 344, 575]
    expected = decoded(coco.merge(coco.frPyObjects([polygon], 1170, 1654)))
    assert (decode_mask(sample.target_mask) == expected).all()


def test_the_twin_holds_the_scenes(tmp_path):
    drawn = list(scenes.iter_samples({**scenes.DEFAULTS, "width": 192, "height": 144}, range(10)))
    twin.write(tmp_path, drawn)
    found = samples(tmp_path, twin=True)
    assert len(found) == len(drawn)
    assert {sample.cluster_id for sample in found.values()} == {"TwinVolume00", "TwinVolume01"}
    masks = [decode_mask(sample.target_mask) for sample in drawn]
    for sample in found.values():
        assert any((decode_mask(sample.target_mask) == mask).all() for mask in masks)
    with pytest.raises(MissingDataError, match="synthetic twin"):
        samples(tmp_path)
