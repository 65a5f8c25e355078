"""Grids read from replies: the rules one by one, both verdicts, and whatever else a model sends."""

from __future__ import annotations

import json
import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gensight.pixels import BrokenRuleError, PaletteGrid, checked_grid, grid_text, read_grid

RULES = set(re.findall(r"`([a-z_]+)`", grid_text.__doc__.partition("The rules, in order:")[2]))
RULES -= {"images"}
THREE = '["#FFFFFF", "#d62828", "#0012fF"]'
ROWS = '["0121", "0000", "2222", "1000"]'
PLAIN = f'{{"palette": {THREE}, "pixels": {ROWS}}}'
GRID = PaletteGrid(
    ((255, 255, 255), (214, 40, 40), (0, 18, 255)),
    np.array([[0, 1, 2, 1], [0, 0, 0, 0], [2, 2, 2, 2], [1, 0, 0, 0]], np.uint8),
)


def reply(palette=THREE, pixels=ROWS):
    return f'{{"palette": {palette}, "pixels": {pixels}}}'


def verdicts(text, size=4, **question):
    """Return the broken rule of the strict and the lenient verdict; None is valid."""
    found = read_grid(text, size, **question)
    for verdict in (found.strict, found.lenient):
        assert (verdict.grid is None) == (verdict.broken_rule is not None)
        assert (verdict.grid is None) == (verdict.detail is not None)
        assert verdict.broken_rule is None or verdict.broken_rule in RULES
        assert verdict.detail is None or verdict.detail.isascii()
        assert verdict.grid is None or verdict.grid.size == size
    return found.strict.broken_rule, found.lenient.broken_rule


# Fences and prose: (text, strict, lenient)
FENCED = {
    "plain": (PLAIN, None, None),
    "blanks around": (f" \r\n\t{PLAIN}\n", None, None),
    "fenced, json": (f"```json\n{PLAIN}\n```", "fenced", None),
    "fenced, bare": (f"```\n{PLAIN}\n```\n", "fenced", None),
    "fenced, carriage returns": (f"```json\r\n{PLAIN}\r\n```", "fenced", None),
    "fenced and invalid": ("```json\n{}\n```", "fenced", "no_palette"),
    "fenced and empty": ("```json\n```", "fenced", "empty"),
    "fence, sentence behind": (f"```json\n{PLAIN}\n```\nHere it is.", "not_json", "not_json"),
    "sentence, fence behind": (f"Here:\n```json\n{PLAIN}\n```", "not_json", "not_json"),
    "sentence, JSON": (f"Here it is: {PLAIN}", "not_json", "not_json"),
    "JSON, sentence": (f"{PLAIN} Here it is.", "text_after", "text_after"),
    "two values": (f"{PLAIN}\n{PLAIN}", "text_after", "text_after"),
    "no closing line": (f"```json\n{PLAIN}", "not_json", "not_json"),
    "no opening line": (f"{PLAIN}\n```", "text_after", "text_after"),
    "fence of one line": (f"```json {PLAIN}```", "not_json", "not_json"),
    "fence of another word": (f"```python\n{PLAIN}\n```", "not_json", "not_json"),
    "two fences, one in the other": (
        f"```\n```json\n{PLAIN}\n```\n```",
        "fenced",
        "not_json",
    ),
    "two fences": (f"```\n{PLAIN}\n```\n```\n{PLAIN}\n```", "fenced", "text_after"),
}


@pytest.mark.parametrize("case", FENCED)
def test_one_fence_is_forgiven_and_nothing_else(case):
    text, strict, lenient = FENCED[case]
    assert verdicts(text) == (strict, lenient)
    found = read_grid(text, 4)
    assert found.fence_stripped == (strict == "fenced")
    assert found.lenient.grid == (GRID if lenient is None else None)


# Palettes and rows: (palette, rows, first broken rule)
EIGHT = json.dumps([f"#00000{place}" for place in range(8)])
GRIDS = {
    "lower case": ('["#ff00aa", "#000000"]', '["0101", "0000", "0000", "0000"]', None),
    "eight colours": (EIGHT, '["0123", "4567", "7654", "3210"]', None),
    "colours twice": ('["#000000", "#000000"]', '["0101", "0000", "0000", "0000"]', None),
    "escaped digits": (THREE, '["\\u0030121", "0000", "2222", "1000"]', None),
    "short colour": ('["#fff", "#000000"]', ROWS, "colour"),
    "transparent colour": ('["#FF00AA80", "#000000"]', ROWS, "colour"),
    "named colour": ('["red", "#000000"]', ROWS, "colour"),
    "no hash": ('["FF00AA", "#000000"]', ROWS, "colour"),
    "hexadecimal number": ('["0xFF00AA", "#000000"]', ROWS, "colour"),
    "blank behind": ('["#FF00AA ", "#000000"]', ROWS, "colour"),
    "line end behind": ('["#FF00AA\\n", "#000000"]', ROWS, "colour"),
    "fullwidth hexadecimal": (
        '["#\uff11\uff11\uff11\uff11\uff11\uff11", "#000000"]',
        ROWS,
        "colour",
    ),
    "colour as a list": ("[[255, 0, 0], [0, 0, 0]]", ROWS, "colour"),
    "colour as a number": ("[0, 1]", ROWS, "colour"),
    "no colours": ("[]", ROWS, "palette_length"),
    "one colour": ('["#000000"]', ROWS, "palette_length"),
    "nine colours": (json.dumps(["#000000"] * 9), ROWS, "palette_length"),
    "palette as an object": ('{"0": "#000000", "1": "#ffffff"}', ROWS, "palette_not_list"),
    "palette as a string": ('"#000000"', ROWS, "palette_not_list"),
    "palette of nothing": ("null", ROWS, "palette_not_list"),
    "rows as a string": (THREE, '"0121\\n0000\\n2222\\n1000"', "pixels_not_list"),
    "a row too few": (THREE, '["0121", "0000", "2222"]', "row_count"),
    "a row too many": (THREE, '["0121", "0000", "2222", "1000", "0000"]', "row_count"),
    "no rows": (THREE, "[]", "row_count"),
    "rows of numbers": (
        THREE,
        "[[0, 1, 2, 1], [0, 0, 0, 0], [2, 2, 2, 2], [1, 0, 0, 0]]",
        "row_not_text",
    ),
    "a row that is a number": (THREE, '["0121", 1000, "2222", "1000"]', "row_not_text"),
    "a digit too many": (THREE, '["0121", "00000", "2222", "1000"]', "row_length"),
    "a digit too few": (THREE, '["0121", "000", "2222", "1000"]', "row_length"),
    "an empty row": (THREE, '["0121", "", "2222", "1000"]', "row_length"),
    "a number no colour has": (THREE, '["0121", "0300", "2222", "1000"]', "palette_index"),
    "blanks between": (THREE, '["0 1 2 1", "0000", "2222", "1000"]', "digit"),
    "commas between": (THREE, '["0,1,2,1", "0000", "2222", "1000"]', "digit"),
    "a letter": (THREE, '["012A", "0000", "2222", "1000"]', "digit"),
    "a point": (THREE, '["012.", "0000", "2222", "1000"]', "digit"),
    "Arabic digits": (THREE, '["0121", "\u0660\u0660\u0660\u0660", "2222", "1000"]', "digit"),
    "fullwidth digits": (THREE, '["0121", "\uff10000", "2222", "1000"]', "digit"),
    "raised digits": (THREE, '["0121", "000\u00b2", "2222", "1000"]', "digit"),
    "a surrogate": (THREE, '["0121", "000\\ud800", "2222", "1000"]', "digit"),
}


@pytest.mark.parametrize("case", GRIDS)
def test_palettes_and_rows(case):
    palette, pixels, rule = GRIDS[case]
    assert verdicts(reply(palette, pixels)) == (rule, rule)


# Texts that are no JSON, or JSON that is no grid.
TEXTS = {
    "nothing": ("", "empty"),
    "blanks": (" \r\n\t ", "empty"),
    "a word": ("icon", "not_json"),
    "a trailing comma": (reply(pixels='["0121", "0000", "2222", "1000",]'), "not_json"),
    "a comment": (PLAIN.replace("{", "{ // white first\n", 1), "not_json"),
    "single quotes": (PLAIN.replace('"', "'"), "not_json"),
    "cut behind row 2": (PLAIN[: PLAIN.index("2222")], "not_json"),
    "a line end in a string": (PLAIN.replace("0000", "00\n00"), "not_json"),
    "a byte order mark": (f"\ufeff{PLAIN}", "not_json"),
    "a no-break blank behind": (f"{PLAIN}\u00a0", "text_after"),
    "NaN": (reply().replace("{", '{"score": NaN, ', 1), "not_json"),
    "Infinity": (reply().replace("{", '{"score": -Infinity, ', 1), "not_json"),
    "a surrogate": ("\ud800", "not_json"),
    "a number": ("7", "not_object"),
    "a string": ('"0121"', "not_object"),
    "a list": (f"[{PLAIN}]", "not_object"),
    "null": ("null", "not_object"),
    "an empty object": ("{}", "no_palette"),
    "another case": (PLAIN.replace("palette", "Palette"), "no_palette"),
    "no pixels": (f'{{"palette": {THREE}}}', "no_pixels"),
    "the shape of images": (f'{{"images": [{PLAIN}]}}', "no_palette"),
    "a palette twice": (PLAIN[:-1] + f', "palette": {THREE}}}', "repeated_key"),
    "the same key, escaped": (PLAIN[:-1] + ', "p\\u0061lette": []}', "repeated_key"),
    "a key twice within": (PLAIN[:-1] + ', "note": [{"a": 1, "a": 1}]}', "repeated_key"),
    "a key twice, then no JSON": ('{"a": 1, "a": 2, }', "not_json"),
    "brackets": ("[" * 100_000, "too_deep"),
    "brackets of both kinds": ('[{"a":' * 50_000, "too_deep"),
    "brackets that close": ("[" * 500 + "]" * 500, "too_deep"),
    "brackets in a key": (PLAIN[:-1] + ', "a": ' + "[" * 32 + "]" * 32 + "}", "too_deep"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_texts_that_hold_no_grid(case):
    text, rule = TEXTS[case]
    assert verdicts(text) == (rule, rule)


HARMLESS = {
    "other keys": '"sample_id": "n01440764", "size": 4',
    "a huge whole number": '"n": ' + "9" * 100_000,
    "a huge negative number": '"n": -1' + "0" * 100_000,
    "a number beyond floats": '"n": [1e999999999, -1E+999999999, 1e-999999999]',
    "brackets in a string": '"note": "' + "[" * 100_000 + '"',
    "brackets behind a quoted quote": '"note": "\\"' + "[" * 100_000 + '\\\\"',
    "many brackets, none deep": '"note": [' + "[], " * 50_000 + "{}]",
    "brackets as deep as they may": '"note": ' + "[" * 31 + "]" * 31,
    "half a surrogate": '"note": "\\ud800"',
    "keys of one letter": '"a": 1, "A": 2',
}


@pytest.mark.parametrize("case", HARMLESS)
def test_what_else_stands_in_the_object_is_no_mistake(case):
    text = f"{PLAIN[:-1]}, {HARMLESS[case]}}}"
    assert verdicts(text) == (None, None)
    assert read_grid(text, 4).strict.grid == GRID


OTHER = reply('["#000000", "#ffffff"]', '["1111", "1111", "1111", "1111"]')


def labelled(label, grid=PLAIN):
    return f'{{"label": {json.dumps(label)}, {grid[1:]}'


# (text, label asked for, first broken rule)
IMAGES = {
    "one": (f'{{"images": [{labelled("cat")}]}}', None, None),
    "one of another label": (f'{{"images": [{labelled("dog")}]}}', None, None),
    "one without a label": (f'{{"images": [{PLAIN}]}}', None, None),
    "none": ('{"images": []}', None, "image_count"),
    "two": (f'{{"images": [{PLAIN}, {PLAIN}]}}', None, "image_count"),
    "a bare grid": (PLAIN, None, "no_images"),
    "a bare list": (f"[{PLAIN}]", None, "not_object"),
    "an object": (f'{{"images": {PLAIN}}}', None, "images_not_list"),
    "an image that is none": ('{"images": ["0121"]}', None, "not_object"),
    "a broken image": ('{"images": [{"palette": []}]}', None, "palette_length"),
    "by label": (f'{{"images": [{labelled("dog", OTHER)}, {labelled("cat")}]}}', "cat", None),
    "beside a broken one": (
        f'{{"images": [{{"label": "dog"}}, 7, {labelled("cat")}]}}',
        "cat",
        None,
    ),
    "in another case": (f'{{"images": [{labelled("Cat")}]}}', "cat", "no_label"),
    "label that is a number": ('{"images": [{"label": 1}]}', "1", "no_label"),
    "label twice": (
        f'{{"images": [{labelled("cat")}, {labelled("cat", OTHER)}]}}',
        "cat",
        "repeated_label",
    ),
}


@pytest.mark.parametrize("case", IMAGES)
def test_icons_in_a_list(case):
    text, label, rule = IMAGES[case]
    assert verdicts(text, shape="images", label=label) == (rule, rule)
    assert read_grid(text, 4, shape="images", label=label).strict.grid == (
        GRID if rule is None else None
    )


def test_the_rules_are_those_documented():
    tables = (FENCED, GRIDS, TEXTS, IMAGES)
    met = {rule for table in tables for row in table.values() for rule in row[1:]}
    assert met & RULES == RULES


def test_every_row_is_asked_one_rule_before_the_next():
    pixels = '["0129", "000x", "222", "1000"]'
    found = read_grid(reply(pixels=pixels), 4).strict
    assert (found.broken_rule, found.detail) == ("digit", "row 2 holds 'x', no ASCII digit")
    assert verdicts(reply(pixels=pixels.replace("x", "0")))[0] == "row_length"
    assert verdicts(reply("[]", "[]"))[0] == "palette_length"


def test_one_value_is_checked_alone():
    assert checked_grid(json.loads(PLAIN), 4) == GRID
    with pytest.raises(BrokenRuleError, match="row_count: 4 rows, not 5") as broken:
        checked_grid(json.loads(PLAIN), 5)
    assert broken.value.rule == "row_count"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"size": 0}, "1 or more"),
        ({"size": 4, "shape": "image"}, "grid or images"),
        ({"size": 4, "label": "cat"}, "by its label"),
    ],
)
def test_questions_that_make_no_sense(question, said):
    with pytest.raises(ValueError, match=said):
        read_grid(PLAIN, **question)


@st.composite
def grids(draw):
    size, colours = draw(st.integers(1, 9)), draw(st.integers(2, 8))
    level = st.integers(0, 255)
    palette = draw(st.tuples(*[st.tuples(level, level, level)] * colours))
    cells = draw(st.lists(st.integers(0, colours - 1), min_size=size**2, max_size=size**2))
    return PaletteGrid(palette, np.array(cells, np.uint8).reshape(size, size))


@given(grids())
@settings(deadline=None, max_examples=100)
def test_a_grid_is_read_from_its_own_text(grid):
    for text in (grid.text(), json.dumps(json.loads(grid.text()), indent=2), grid.text().lower()):
        found = read_grid(text, grid.size).strict.grid
        assert found == grid
        assert found.text() == grid.text()
    assert verdicts(grid.text(), grid.size + 1) == ("row_count", "row_count")


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda some: (
        st.lists(some, max_size=5)
        | st.dictionaries(st.sampled_from(["palette", "pixels", "images", "label"]), some)
    ),
    max_leaves=20,
)


@given(st.text(max_size=60) | VALUES.map(json.dumps), st.sampled_from(["grid", "images"]))
@settings(deadline=None, max_examples=300)
def test_any_text_and_any_value_have_verdicts(text, shape):
    strict, _ = verdicts(text, shape=shape)
    assert strict is not None


@given(VALUES | st.dictionaries(st.sampled_from(["palette", "pixels"]), VALUES))
@settings(deadline=None, max_examples=200)
def test_any_value_is_a_grid_or_breaks_a_rule(value):
    with pytest.raises(BrokenRuleError) as broken:
        checked_grid(value, 2)
    assert broken.value.rule in RULES


PIECES = ['"', "\\", "[", "]", "{", "}", ",", ":", "0", "7", "8", "9", "#", " ", "\n", "\r\n"]
PIECES += ["```", "```json\n", "\n```", "NaN", "-Infinity", "1e999", "null", "true", "\\u0030"]
PIECES += ["\\ud800", "\ud800", "\udfff", "\ufeff", "\u0660", "\uff10", "\u00b2", "\x00", "\u2028"]
PIECES += ['"palette"', '"pixels"', '"images"', '"label": "cat", ', "9" * 5000, "[" * 40, "'", "."]
SEEDS = [PLAIN, f"```json\n{PLAIN}\n```", f'{{"images": [{labelled("cat")}]}}', GRID.text()]


def mutated(source):
    """Return a valid reply after one to four insertions, removals, doublings or exchanges.

    Half of them put one digit for another character, so that many replies stay JSON.
    """
    text = source.choice(SEEDS)
    for _ in range(source.randint(1, 4)):
        start = source.randrange(len(text) + 1)
        if source.random() < 0.5:
            text = text[:start] + source.choice("0123") + text[start + 1 :]
            continue
        end = min(len(text), start + source.choice([0, 1, 1, 2, 8, 30]))
        piece = source.choice([*PIECES, "", text[start:end] * 2])
        text = text[:start] + piece + text[end:]
    return text


def plain_reading(text):
    """Return the grid of a strict reply by the shortest code that says so, or None."""
    try:
        value = json.loads(text, object_pairs_hook=once)
        palette, pixels = value["palette"], value["pixels"]
        assert isinstance(palette, list) and isinstance(pixels, list)
        assert 2 <= len(palette) <= 8 and len(pixels) == 4
        assert all(re.fullmatch("#[0-9A-Fa-f]{6}", colour) for colour in palette)
        allowed = "01234567"[: len(palette)]
        assert all(re.fullmatch(f"[{allowed}]{{4}}", row) for row in pixels)
        return [colour.upper() for colour in palette], pixels
    except (ValueError, KeyError, TypeError, AssertionError, RecursionError):
        return None


def once(pairs):
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def test_twelve_thousand_mutated_replies():
    """No mutation raises, and the strict verdict is that of a plain second reading."""
    source = random.Random(20260612)
    valid = broken = 0
    for _ in range(12_000):
        text = mutated(source)
        found = read_grid(text, 4)
        verdicts(text)
        verdicts(text, shape="images")
        verdicts(text, shape="images", label="cat")
        grid = found.strict.grid
        again = None if grid is None else (grid.hex_colours(), grid.rows())
        # Whole numbers of 5,000 digits and NaN are where the plain reading differs.
        if not ("9" * 5000 in text or "NaN" in text or "Infinity" in text or "[" * 40 in text):
            assert again == plain_reading(text), text
        valid += found.lenient.grid is not None
        broken += found.lenient.grid is None
    assert valid > 200
    assert broken > 5_000


LONG = {
    "blanks": " " * 10_000_000,
    "quotes": '"' * 10_000_000,
    "escaped quotes": '"' + '\\"' * 5_000_000,
    "quotes and brackets": '"[' * 5_000_000,
    "brackets": "[" * 10_000_000,
    "digits": f'{{"palette": {"9" * 10_000_000}}}',
    "objects": "[" + "{}, " * 2_000_000 + "{}]",
    "fences": "```json\n" + "\n```" * 2_500_000,
    "a fence of blanks": "```" + " " * 10_000_000,
    "one row": reply(pixels=f'["{"0" * 10_000_000}"]'),
    "keys": "{" + '"a": 1, ' * 1_000_000 + '"a": 1}',
    "value, then brackets": PLAIN + "[" * 10_000_000,
    "lines": "\n" * 5_000_000 + PLAIN + "\n" * 5_000_000 + "x",
}


@pytest.mark.parametrize("name", LONG)
def test_ten_million_characters_are_read_once(name):
    """A search whose time grows with the square of the length would not come back."""
    assert None not in verdicts(LONG[name])
