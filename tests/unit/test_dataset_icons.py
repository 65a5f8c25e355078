"""The data set `icons`: three tasks over the same ranks, and the optional emoji."""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from gensight.datasets import icons
from gensight.datasets._options import LETTERS
from gensight.datasets.icons import parameters
from gensight.datasets.icons.concepts import concepts
from gensight.datasets.icons.drawings import Frame, draw, paint
from gensight.datasets.icons.emoji import find_font, paint_emoji
from gensight.datasets.icons.scenery import MARGIN, SIDES, draw_scenery
from gensight.errors import AbsentDataError, MissingDataError, SpecError
from gensight.images import decode_rgb
from gensight.licences import may_show
from gensight.specs import declared

TASKS = ("text_to_pixel", "image_to_pixel", "pixel_understanding")
SMALL = {"assumed_crop_px": 64}
PUBLISHED = Path(__file__).resolve().parents[3] / "shared/published/pixelbench_concepts.csv"


def samples(task, ranks=range(40), **others):
    return list(icons.iter_samples({**icons.DEFAULTS, **SMALL, "task": task, **others}, ranks))


def picture(stored):
    return decode_rgb(stored["bytes"], matte=(255, 255, 255))


@pytest.fixture(scope="module")
def by_task():
    return {task: samples(task) for task in TASKS}


def test_what_planning_reads():
    found = declared.constants("datasets", "icons")
    assert found["DEFAULTS"] == icons.DEFAULTS
    assert found["VERSION"] == icons.VERSION
    assert tuple(found["CHOICES"]["task"]) == parameters.TASKS == TASKS
    assert tuple(found["CHOICES"]["drawings"]) == parameters.DRAWINGS
    assert set(found["FACTS"]) == set(TASKS)
    assert declared.has_function("datasets", "icons", "population")
    assert icons.population(icons.DEFAULTS) == 40


def test_ranks_are_the_same_things_in_all_tasks(by_task):
    for rank, (drawn, seen, asked) in enumerate(zip(*by_task.values(), strict=True)):
        assert drawn.rank == seen.rank == asked.rank == rank
        assert drawn.sample_id == seen.sample_id == asked.sample_id
        assert drawn.cluster_id == seen.cluster_id == asked.cluster_id == asked.sample_id
        assert drawn.stratum == seen.stratum == asked.stratum
        label = drawn.target_text
        assert label == seen.target_text == asked.options[LETTERS.index(asked.target_text)]
    assert {one.target_text for one in by_task["text_to_pixel"]} == set(icons.LABELS)
    assert len({one.sample_id for one in by_task["text_to_pixel"]}) == 40


def test_text_to_pixel_has_a_drawing_and_no_picture_to_show(by_task):
    for one in by_task["text_to_pixel"]:
        assert (one.image, one.width, one.height, one.options) == (None, None, None, None)
        assert one.query == one.target_text
        expected = draw(one.target_text, "first", 64, (255, 255, 255))
        np.testing.assert_array_equal(picture(one.target_image), expected)


def test_image_to_pixel_withholds_the_label(by_task):
    for one in by_task["image_to_pixel"]:
        assert (one.query, one.query_kind, one.target_image, one.options) == (None,) * 4
        shown = picture(one.image)
        assert shown.shape == (one.height, one.width, 3) == (64, 64, 3)
        frame = Frame(*(int(one.knobs[name]) for name in ("left", "top", "side")))
        told = [one.sample_id, one.image["path"], *one.knobs.values()]
        assert not any(one.target_text in text for text in told)
        # Two drawings in that place on two grounds: where they agree, the source shows them too.
        grounds = [np.full((64, 64, 3), level, np.uint8) for level in (0, 255)]
        black, white = (paint(one.target_text, "first", ground, frame) for ground in grounds)
        solid = (black == white).all(axis=-1)
        assert solid.sum() > 100
        np.testing.assert_array_equal(shown[solid], black[solid])


def test_sources_have_something_to_decide(by_task):
    """Backgrounds are neither flat nor the same, and leave more than eight colours."""
    corners = set()
    for one in by_task["image_to_pixel"]:
        shown = picture(one.image)
        assert len(np.unique(shown.reshape(-1, 3), axis=0)) > 300
        corners.add(tuple(shown[0, 0]))
    assert len(corners) > 30


def test_understanding_is_balanced(by_task):
    asked = by_task["pixel_understanding"]
    assert all((one.image, one.query, one.target_image) == (None, None, None) for one in asked)
    assert all(len(set(one.options)) == len(one.options) == 10 for one in asked)
    assert Counter(one.target_text for one in asked) == dict.fromkeys("ABCDEFGHIJ", 4)
    shown = Counter(label for one in asked for label in one.options)
    assert shown == dict.fromkeys(icons.LABELS, 10)


def test_options_belong_to_the_concept(by_task):
    """Not to the seed, the size, the rank or the ranks that are asked for."""
    by_label = {
        one.options[LETTERS.index(one.target_text)]: one.options
        for one in by_task["pixel_understanding"]
    }
    others = samples("pixel_understanding", [3, 1], seed=5, assumed_crop_px=128)
    for one in others:
        assert by_label[one.options[LETTERS.index(one.target_text)]] == one.options
    (four,) = samples("pixel_understanding", [0], options=4)
    assert len(four.options) == 4


@pytest.mark.parametrize("task", TASKS)
def test_a_sample_depends_on_its_rank_alone(task, by_task):
    found = samples(task, [17, 4])
    assert [asdict(one) for one in found] == [asdict(by_task[task][rank]) for rank in (17, 4)]


def test_the_seed_decides_order_and_scenery(by_task):
    others = samples("image_to_pixel", range(40), seed=1)
    labels = [one.target_text for one in others]
    before = by_task["image_to_pixel"]
    assert sorted(labels) == sorted(icons.LABELS)
    assert labels != [one.target_text for one in before]
    frames = {one.target_text: one.knobs for one in before}
    assert sum(one.knobs == frames[one.target_text] for one in others) < 3
    assert not {one.sample_id for one in others} & {one.sample_id for one in before}


def test_the_size_of_sources():
    (one,) = samples("image_to_pixel", [0], assumed_crop_px=256)
    assert (one.width, one.height) == (256, 256)
    assert picture(one.image).shape == (256, 256, 3)
    assert icons.DEFAULTS["assumed_crop_px"] == 256


def test_scenery_stays_inside_and_varies():
    drawn = [draw_scenery(seed, 64) for seed in range(200)]
    sides = [one.frame.side for one in drawn]
    assert SIDES[0] <= min(sides) < 600 < 820 < max(sides) <= SIDES[1]
    for one in drawn:
        for start in (one.frame.left, one.frame.top):
            assert MARGIN <= start <= 1000 - MARGIN - one.frame.side
        assert one.background.std(axis=(0, 1)).max() > 2
    again = draw_scenery(7, 64)
    np.testing.assert_array_equal(again.background, drawn[7].background)


def test_licence_and_population(by_task):
    for one in by_task["image_to_pixel"]:
        assert one.licence == "gensight"
        assert may_show(one.licence)
        assert one.population_n == 40


@pytest.mark.parametrize(
    ("given", "ranks", "word"),
    [
        ({"task": "depth"}, [0], "task: 'depth' is not allowed; use text_to_pixel"),
        ({"drawings": "mine"}, [0], "use own, emoji"),
        ({"seed": -1}, [0], "seed: -1"),
        ({"seed": True}, [0], "seed: True"),
        ({"assumed_crop_px": 32}, [0], "whole number 64..1024"),
        ({"options": 41, "task": "pixel_understanding"}, [0], "options: 41"),
        ({"font": 3}, [0], "font: 3 is no path"),
        ({"font_sha256": "ab"}, [0], "font_sha256: 'ab' is not 64 digits"),
        ({"colour": "red"}, [0], "'colour' is not allowed; use task"),
        ({}, [40], "rank 40 does not exist; the last is 39"),
        ({}, [-1], "rank -1"),
    ],
)
def test_what_is_refused(given, ranks, word):
    with pytest.raises(SpecError, match=word):
        list(icons.iter_samples(given, ranks))


def test_the_table_of_code_points():
    table = concepts()
    assert len(table) == 100
    assert set(icons.LABELS) < set(table)
    assert [label for label in table if label in icons.LABELS] == list(icons.LABELS)
    drawn = [one.character for one in table.values() if one.character]
    assert len(drawn) == len(set(drawn)) == 96 == icons.population({"drawings": "emoji"})
    assert all(len(character) == 1 and ord(character) >= 0x2600 for character in drawn)
    assert table["snail"].character == "\N{SNAIL}"
    assert table["ice cream"].character == "\N{ICE CREAM}"
    assert [label for label, one in table.items() if one.character is None] == [
        "stool",
        "table",
        "submarine",
        "shovel",
    ]


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published list is not there")
def test_the_table_has_the_papers_concepts():
    with PUBLISHED.open(encoding="utf-8") as file:
        published = [(row["label"], row["category"]) for row in csv.DictReader(file)]
    assert [(one.label, one.category) for one in concepts().values()] == published


def test_without_the_font(tmp_path):
    asked = {"drawings": "emoji", "font": str(tmp_path / "absent.ttf")}
    with pytest.raises(AbsentDataError, match=r"absent\.ttf; install it .*fonts-noto-color-emoji"):
        list(icons.iter_samples(asked, [0]))
    assert "fonts-noto-color-emoji" in icons.missing_data(asked)
    assert icons.missing_data({**asked, "drawings": "own"}) is None


def test_another_version_of_the_font_is_refused(tmp_path):
    font = tmp_path / "font.ttf"
    font.write_bytes(b"one version")
    digest = hashlib.sha256(b"one version").hexdigest()
    asked = {"drawings": "emoji", "font": str(font), "font_sha256": digest}
    assert icons.missing_data(asked) is None
    font.with_name("other.ttf").write_bytes(b"another version")
    other = {**asked, "font": str(font.with_name("other.ttf"))}
    assert "not the font_sha256 of the benchmark" in icons.missing_data(other)
    with pytest.raises(MissingDataError, match="install that version, or change font_sha256"):
        samples("text_to_pixel", [0], **other)


def test_a_file_that_is_no_colour_font(tmp_path):
    import matplotlib

    text_font = Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf"
    noise = tmp_path / "noise.ttf"
    noise.write_bytes(b"no font at all")
    with pytest.raises(MissingDataError, match="no colour emoji of"):
        samples("text_to_pixel", [0], drawings="emoji", font=str(text_font))
    with pytest.raises(MissingDataError, match="cannot be used"):
        samples("text_to_pixel", [0], drawings="emoji", font=str(noise))


def installed_font():
    try:
        return find_font(None)
    except AbsentDataError:
        return None


@pytest.mark.skipif(installed_font() is None, reason="Noto Color Emoji is not installed")
class TestEmoji:
    def test_samples_carry_the_fonts_digest(self):
        font = installed_font()
        found = samples("image_to_pixel", range(96), drawings="emoji")
        assert {one.target_text for one in found} == {
            label for label, one in concepts().items() if one.character
        }
        digest = hashlib.sha256(font.read_bytes()).hexdigest()
        assert {one.knobs["font_sha256"] for one in found} == {digest}
        assert all(may_show(one.licence) for one in found)
        assert found[0].sample_id == "icons_emoji_0_000000"

    def test_an_emoji_is_laid_on_as_pillow_draws_it(self):
        from PIL import Image, ImageDraw, ImageFont

        font = installed_font()
        face = ImageFont.truetype(str(font), 109)
        canvas = Image.new("RGB", (136, 136), (200, 100, 50))
        ImageDraw.Draw(canvas).text((0, 4), "\N{CAT}", font=face, embedded_color=True)
        ground = np.full((136, 136, 3), (200, 100, 50), np.uint8)
        found = paint_emoji("cat", font, ground, Frame())
        assert np.abs(found.astype(int) - np.asarray(canvas)).max() <= 1
