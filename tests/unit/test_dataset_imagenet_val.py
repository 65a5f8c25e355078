"""ImageNet validation: three layouts of one truth, the order of the wnids, and what is drawn."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from images_by_hand import HTML, saved
from PIL import Image
from scipy.io import savemat

from gensight.datasets import imagenet_val
from gensight.datasets._options import LETTERS
from gensight.errors import GensightError, ImageError, MissingDataError, SpecError
from gensight.images import decode_rgb

# A thousand ids that hold the twelve of the paper and the three that are never drawn.
NAMED = {
    "n01530575": "brambling, Fringilla montifringilla",
    "n02963159": "cardigan",
    "n03126707": "crane",
    "n03481172": "hammer",
    "n03710721": "maillot, tank suit",
}
KEPT = sorted({*imagenet_val.PAPER_CLASSES, *imagenet_val.SECOND_OF_A_NAME})
WNIDS = sorted([*KEPT, *(f"n{5_000_000 + 13 * k:08d}" for k in range(1000 - len(KEPT)))])
WORDS = {wnid: NAMED.get(wnid, f"thing {wnid}, other name") for wnid in WNIDS}
# The kit's numbers follow another order than the sorted wnids; 7 has no factor of 1000.
KIT_ID = {wnid: (7 * place + 411) % 1000 + 1 for place, wnid in enumerate(WNIDS)}
FEW = {"classes": 14}


def shown_in(number):
    """Return the class of picture `number` (1 to 50,000): each of them fifty times."""
    return WNIDS[(number * 377) % 1000]


def file_name(number):
    return f"ILSVRC2012_val_{number:08d}.JPEG"


def write_meta(path, ids=None):
    ids = KIT_ID if ids is None else ids
    rows = [(number, wnid, WORDS[wnid], 0) for wnid, number in ids.items()]
    # As in the true file, synsets of a higher level stand behind the thousand classes.
    rows += [(1001, "n00001740", "entity", 3), (1002, "n00001930", "physical entity", 2)]
    fields = [("ILSVRC2012_ID", "O"), ("WNID", "O"), ("words", "O"), ("num_children", "O")]
    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, {"synsets": np.array(rows, dtype=fields).reshape(-1, 1)})


def write_truth(root, below="ILSVRC2012_devkit_t12/data"):
    lines = [str(KIT_ID[shown_in(number)]) for number in range(1, 50_001)]
    path = root / below / "ILSVRC2012_validation_ground_truth.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


def write_mapping(root):
    lines = [f"{wnid} {words}\n" for wnid, words in WORDS.items()]
    (root / "LOC_synset_mapping.txt").write_text("".join(lines))


def write_solution(root):
    lines = [
        f"ILSVRC2012_val_{number:08d},{shown_in(number)} 11 2 333 44 \n"
        for number in range(50_000, 0, -1)
    ]
    (root / "LOC_val_solution.csv").write_text("ImageId,PredictionString\n" + "".join(lines))


def write_folders(root, wnids):
    """Sort empty pictures into a folder for each class; only those of `wnids` have any."""
    for wnid in WNIDS:
        (root / "val" / wnid).mkdir(parents=True)
    for number in range(1, 50_001):
        wnid = shown_in(number)
        if wnid in wnids:
            (root / "val" / wnid / file_name(number)).touch()


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    """The development kit beside a folder of pictures, none of which is there yet."""
    root = tmp_path_factory.mktemp("kit")
    write_meta(root / "ILSVRC2012_devkit_t12/data/meta.mat")
    write_truth(root)
    return root


def parameters(root, **given):
    return {**imagenet_val.DEFAULTS, "root": str(root), "source": imagenet_val.SOURCE, **given}


def items(root, **given):
    return imagenet_val.list_items(parameters(root, **given))


def drawn_files(root, **given):
    found = items(root, **given)
    return {item.place.knobs["wnid"]: item.place.path.name for item in found}


def test_a_picture_shows_the_class_that_the_kit_says(kit):
    found = items(kit)
    assert len(found) == 100 == imagenet_val.expected_count(parameters(kit))
    for item in found:
        knobs = item.place.knobs
        number = int(item.place.path.stem.rsplit("_", 1)[1])
        assert knobs["wnid"] == shown_in(number)
        assert knobs["imagenet_index"] == str(WNIDS.index(knobs["wnid"]))
        assert item.place.label == WORDS[knobs["wnid"]].split(",")[0]
        assert item.place.path == kit / "val" / file_name(number)
    # The trap: read as places in the order of the wnids, the kit's numbers give other classes.
    assert all(KIT_ID[wnid] != WNIDS.index(wnid) + 1 for wnid in imagenet_val.PAPER_CLASSES)


def test_three_layouts_give_the_same_pictures(kit, tmp_path):
    expected = drawn_files(kit, **FEW)
    kaggle, folders = tmp_path / "kaggle", tmp_path / "folders"
    kaggle.mkdir()
    write_mapping(kaggle)
    write_solution(kaggle)
    assert drawn_files(kaggle, **FEW) == expected
    write_folders(folders, expected)
    assert drawn_files(folders, **FEW) == expected
    labels = {item.place.knobs["wnid"]: item.place.label for item in items(folders, **FEW)}
    assert labels == {wnid: wnid for wnid in expected}
    write_mapping(folders)
    labels = {item.place.knobs["wnid"]: item.place.label for item in items(folders, **FEW)}
    assert labels == {wnid: WORDS[wnid].split(",")[0] for wnid in expected}


def test_the_classes_of_the_paper_are_kept_and_no_name_comes_twice(kit):
    for seed in range(3):
        classes = set(drawn_files(kit, seed=seed))
        assert classes.issuperset(imagenet_val.PAPER_CLASSES)
        assert classes.isdisjoint(imagenet_val.SECOND_OF_A_NAME)
        found = items(kit, seed=seed)
        tagged = {i.place.knobs["wnid"] for i in found if i.place.tags == ("paper_class",)}
        assert tagged == set(imagenet_val.PAPER_CLASSES)
    others = [set(drawn_files(kit, seed=seed)) for seed in range(3)]
    assert len(others[0] & others[1] & others[2]) < 30
    assert set(drawn_files(kit, classes=3)) == set(imagenet_val.PAPER_CLASSES[:3])
    assert len(items(kit, classes=997)) == 997


def test_the_draw_by_hand(kit):
    def digest(wnid):
        return hashlib.sha256(f"4/{wnid}".encode()).hexdigest()

    allowed = [wnid for wnid in WNIDS if wnid not in imagenet_val.SECOND_OF_A_NAME]
    expected = sorted(allowed, key=digest)[:20]
    found = drawn_files(kit, seed=4, classes=20, paper_classes=False)
    assert set(found) == set(expected)
    for wnid, name in found.items():
        numbers = [number for number in range(1, 50_001) if shown_in(number) == wnid]
        place = int(digest(wnid), 16) % 50
        assert name == file_name(numbers[place])


def test_more_classes_keep_those_that_were_there(kit):
    few, many = drawn_files(kit, classes=40), drawn_files(kit, classes=100)
    assert few.items() <= many.items()


def test_ids_say_nothing_of_the_class(kit):
    for item in items(kit):
        knobs = item.place.knobs
        assert item.id == item.cluster_id
        assert item.id.startswith("imagenet_")
        for told in (knobs["wnid"], f"_{knobs['imagenet_index']}_", knobs["file"][-13:-5]):
            assert told not in item.id
    assert len({item.id for item in items(kit)}) == 100


def ask(root, **given):
    chosen = parameters(root, **{**FEW, **given})
    return list(imagenet_val.iter_samples(chosen, range(imagenet_val.population(chosen))))


@pytest.fixture
def whole(kit, tmp_path):
    """The kit's lists with the drawn pictures: red grows with the class's place."""
    (tmp_path / "ILSVRC2012_devkit_t12").symlink_to(kit / "ILSVRC2012_devkit_t12")
    for place, item in enumerate(items(tmp_path, **FEW)):
        item.place.path.parent.mkdir(exist_ok=True)
        picture = np.full((40, 60, 3), (place, 100, 200), np.uint8)
        picture[:, :10] = picture[:, 50:] = 255
        item.place.path.write_bytes(saved(picture, "PNG"))
    return tmp_path


def test_image_to_pixel_shows_the_centre_square(whole):
    places = {item.id: place for place, item in enumerate(items(whole, **FEW))}
    found = ask(whole)
    assert {sample.sample_id for sample in found} == set(places)
    for rank, sample in enumerate(found):
        picture = decode_rgb(sample.image["bytes"], matte=(0, 0, 0))
        # The white margins lie outside of the square; PNG inside .JPEG is no matter.
        assert picture.shape == (256, 256, 3)
        assert (picture == (places[sample.sample_id], 100, 200)).all()
        assert (sample.width, sample.height) == (256, 256)
        assert (sample.rank, sample.population_n) == (rank, 14)
        assert sample.query is None
        assert sample.options is None
        assert sample.target_text == sample.knobs["label"]
        assert sample.licence == "imagenet"


def test_understanding_asks_about_the_same_samples_in_the_same_ranks(whole):
    shown, asked = ask(whole), ask(whole, task="pixel_understanding")
    for one, other in zip(shown, asked, strict=True):
        assert (one.sample_id, one.cluster_id) == (other.sample_id, other.cluster_id)
        assert one.rank == other.rank
        assert one.knobs == other.knobs
        assert other.image is None
        assert other.query is None
        assert len(set(other.options)) == 10
        assert other.options[LETTERS.index(other.target_text)] == one.target_text
    labels = [sample.target_text for sample in shown]
    others = [one for sample in asked for one in sample.options if one != sample.knobs["label"]]
    assert {label: others.count(label) for label in labels} == dict.fromkeys(labels, 9)


def test_a_picture_that_cannot_be_read_is_left_out_of_both_tasks(whole):
    broken = items(whole, **FEW)[5]
    broken.place.path.write_bytes(HTML)
    told = []
    ranks = []
    for task in ("image_to_pixel", "pixel_understanding"):
        found = ask(whole, task=task, left_out=told.append)
        ranks.append([(sample.rank, sample.sample_id) for sample in found])
    assert len(ranks[0]) == 13
    assert ranks[0] == ranks[1]
    assert len(told) == 2
    assert all(broken.place.path.name in line for line in told)
    with pytest.raises(ImageError, match=rf"sample {broken.id}: .*{broken.place.path.name}"):
        ask(whole)


def test_missing_data(kit, whole):
    assert imagenet_val.missing_data(parameters(whole, **FEW)) is None
    message = imagenet_val.missing_data(parameters(kit, **FEW))
    assert "14 of 14 pictures are not there" in message
    assert message.endswith(imagenet_val.SOURCE)


# what is refused


def refused(root, match, kind=MissingDataError, **given):
    chosen = parameters(root, **given)
    with pytest.raises(kind, match=match) as error:
        imagenet_val.population(chosen)
    assert "\n" not in str(error.value)
    told = imagenet_val.missing_data(chosen)
    assert told == str(error.value)


def test_the_kits_numbers_mean_nothing_without_its_table(tmp_path):
    write_truth(tmp_path)
    write_mapping(tmp_path)
    refused(tmp_path, r"ILSVRC2012_ID, which is not the order.*only meta\.mat .* it is not there")


def test_pictures_alone_are_not_enough(tmp_path):
    (tmp_path / "val").mkdir()
    (tmp_path / "val" / file_name(1)).touch()
    refused(tmp_path, "nothing says which picture shows what: .*LOC_val_solution.csv")


def test_names_are_needed_for_options_alone(tmp_path, kit):
    write_folders(tmp_path, drawn_files(kit, **FEW))
    assert len(items(tmp_path, **FEW)) == 14
    given = {**FEW, "task": "pixel_understanding"}
    refused(tmp_path, r"options need class names.*LOC_synset_mapping\.txt.*meta\.mat", **given)


@pytest.mark.parametrize("change", [-1, 1])
def test_a_class_has_fifty_pictures(tmp_path, kit, change):
    wnids = drawn_files(kit, **FEW)
    write_folders(tmp_path, wnids)
    folder = tmp_path / "val" / sorted(wnids)[2]
    if change > 0:
        (folder / file_name(50_001)).touch()
    else:
        next(folder.iterdir()).unlink()
    refused(tmp_path, f"{50 + change} pictures of {folder.name} where the data set ships 50", **FEW)


def test_a_folder_that_is_missing_is_a_partial_download(tmp_path):
    write_folders(tmp_path, ())
    (tmp_path / "val" / WNIDS[3]).rmdir()
    refused(tmp_path, "999 classes are named and 999 have pictures where the data set ships 1000")
    write_mapping(tmp_path)
    (tmp_path / "val" / "n99999999").mkdir()
    refused(tmp_path, "n99999999 is none of them")


def test_a_truth_that_was_cut_is_refused(tmp_path):
    write_meta(tmp_path / "meta.mat")
    path = write_truth(tmp_path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:-1]))
    refused(tmp_path, "tells 49999 pictures where the data set ships 50000")
    path.write_text("\n".join([*lines[:-1], "1001"]))
    refused(tmp_path, "1001 is no ILSVRC2012_ID of meta.mat")
    path.write_text("\n".join([*lines[:-1], "tench"]))
    refused(tmp_path, "is no ILSVRC2012_ID of meta.mat")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("meta.mat", b"not a mat file", r"meta\.mat: is no meta\.mat"),
        ("meta.mat", b"", r"meta\.mat: is no meta\.mat"),
        ("LOC_synset_mapping.txt", b"n01440764\n", "'n01440764' is no line of a wnid and"),
        ("LOC_synset_mapping.txt", b"tench n01440764\n", "is no line of a wnid and its words"),
        ("LOC_synset_mapping.txt", b"\xff\xfe\x00", "the list is no text"),
        ("LOC_val_solution.csv", b"name,box\na,b\n", "has no ImageId and PredictionString"),
        ("LOC_val_solution.csv", b"ImageId,PredictionString\na,\n", "has no ImageId and"),
        ("LOC_val_solution.csv", b"ImageId,PredictionString\na,1 2\n", "'1' is no wnid"),
    ],
)
def test_a_list_that_is_not_what_its_name_says(tmp_path, name, content, told):
    write_meta(tmp_path / "meta.mat")
    write_truth(tmp_path)
    (tmp_path / name).write_bytes(content)
    refused(tmp_path, told)


@pytest.mark.parametrize("classes", [0, -1, 998])
def test_classes_that_cannot_be_drawn(kit, classes):
    refused(
        kit,
        rf"classes: {classes} classes cannot be drawn; give 1 to 997",
        SpecError,
        classes=classes,
    )


def test_options_need_as_many_classes(kit):
    given = {"classes": 9, "task": "pixel_understanding"}
    refused(kit, "10 options need as many concepts; there are 9", SpecError, **given)


def test_a_size_that_is_none(whole):
    with pytest.raises(GensightError, match="assumed_crop_px: 0 is no size"):
        ask(whole, assumed_crop_px=0)


# the true lists


def true_lists():
    """Return wnids in order and the words of each, as timm's wheel holds them."""
    package = find_spec("timm")
    if package is None:
        pytest.skip("timm is not installed")
    folder = Path(package.origin).parent / "data/_info"
    lines = (folder / "imagenet_synset_to_lemma.txt").read_text().splitlines()
    words = dict(line.split("\t", 1) for line in lines)
    wnids = (folder / "imagenet_synsets.txt").read_text().split()
    return wnids, {wnid: words[wnid] for wnid in wnids}


def test_the_papers_classes_have_the_printed_indices():
    wnids, words = true_lists()
    assert wnids == sorted(wnids)
    assert len(wnids) == 1000
    printed = {
        10: "brambling",
        161: "basset",
        176: "Saluki",
        238: "Greater Swiss Mountain dog",
        403: "aircraft carrier",
        413: "assault rifle",
        587: "hammer",
        611: "jigsaw puzzle",
        703: "park bench",
        744: "projectile",
        764: "rifle",
        906: "Windsor tie",
    }
    assert [wnids.index(wnid) for wnid in imagenet_val.PAPER_CLASSES] == list(printed)
    firsts = [words[wnid].split(",")[0] for wnid in imagenet_val.PAPER_CLASSES]
    assert firsts == list(printed.values())


def test_without_the_second_of_a_name_all_first_names_differ():
    wnids, words = true_lists()
    firsts = [words[wnid].split(",")[0].lower() for wnid in wnids]
    doubled = {w for w, name in zip(wnids, firsts, strict=True) if firsts.count(name) > 1}
    assert len(doubled) == 6
    kept = doubled - set(imagenet_val.SECOND_OF_A_NAME)
    assert len(kept) == 3
    assert {words[wnid].split(",")[0].lower() for wnid in kept} == {"crane", "cardigan", "maillot"}


def test_cmyk_inside_a_jpeg(whole):
    path = items(whole, **FEW)[0].place.path
    cmyk = Image.new("CMYK", (30, 30), (0, 255, 255, 0))
    cmyk.save(path, "JPEG", quality=95)
    sample = next(s for s in ask(whole) if s.knobs["file"] == path.name)
    picture = decode_rgb(sample.image["bytes"], matte=(0, 0, 0)).astype(int)
    assert abs(picture - (255, 0, 0)).max() < 12
