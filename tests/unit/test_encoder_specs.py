"""The room of encoders: specs, enlarged grids, forms of texts, batches and unit vectors."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gensight import encoders
from gensight.encoders._texts import in_form, refuse_long
from gensight.encoders._vectors import in_batches, unit
from gensight.errors import GensightError, SpecError
from gensight.specs import declared
from gensight.specs.encoder import load_encoder

SHIPPED = sorted((Path(__file__).parents[2] / "config/encoders").glob("*.yaml"))
NEAREST = {"assumed_upscaler": "nearest", "assumed_least_px": 512}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_specs_are_ones_that_their_modules_take(path):
    spec = load_encoder(path)
    settings = encoders.complete(spec.module, spec.settings)
    assert settings["assumed_upscaler"] == "nearest" and settings["assumed_least_px"] == 512
    assert spec.display.label


def test_only_the_descriptor_stands_in():
    stand_ins = {path.stem for path in SHIPPED if load_encoder(path).stand_in}
    assert stand_ins == {"descriptor"} and len(SHIPPED) == 4


@pytest.mark.parametrize("name", encoders.names())
def test_every_encoder_declares_what_it_holds(name):
    found, module = declared.constants("encoders", name), encoders.load(name)
    for constant in ("VERSION", "DEFAULTS", "CHOICES", "READS_TEXT", "STAND_IN"):
        assert found[constant] == getattr(module, constant)
    assert set(found["DEFAULTS"]) >= set(NEAREST)
    assert declared.has_function("encoders", name, "open_encoder")


def test_names_are_the_modules_of_the_room():
    assert encoders.names() == ("descriptor", "dinov2", "open_clip_pair", "siglip")


def test_no_encoder_needs_torch_to_be_imported():
    """Planning, and runs of the descriptor alone, work where torch is not installed."""
    lines = [f"import gensight.encoders.{name}" for name in encoders.names()]
    lines.append("import sys; assert not {'torch', 'transformers', 'open_clip'} & {*sys.modules}")
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)


GOOD = "module: descriptor\nstand_in: true\ndisplay: {label: d}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            GOOD.replace("true", "false"),
            "stand_in: the module 'descriptor' only stands in; say true",
        ),
        (
            "module: dinov2\nstand_in: true\ndisplay: {label: d}\nsettings: {model: a}\n",
            "say false",
        ),
        ("module: dinov2\ndisplay: {label: d}\n", r"key 'settings\.model' is missing"),
        (GOOD.replace("descriptor", "sigclip"), r"'sigclip' is not known \(did you mean 'siglip'"),
        (GOOD + "setings: {}\n", "unknown key 'setings'"),
        (GOOD + "settings: {assumed_bin: 3}\n", r"did you mean 'assumed_bins'"),
        (GOOD + "settings: {assumed_bins: many}\n", r"settings\.assumed_bins: expected int"),
        (GOOD.replace("label: d", "label: ''"), "at least 1 character"),
    ],
)
def test_a_wrong_spec_is_told_in_one_line(tmp_path, text, message):
    path = tmp_path / "made_here.yaml"
    path.write_text(text)
    with pytest.raises(SpecError, match=rf"^[^\n]*{message}[^\n]*$"):
        load_encoder(path)


def test_an_unknown_encoder_lists_those_there_are():
    with pytest.raises(SpecError, match=r"'dino' is not known \(did you mean 'dinov2'"):
        encoders.open_encoder("dino", {}, Path())


@given(st.integers(1, 140), st.integers(1, 140), st.integers(1, 300))
def test_a_grid_is_enlarged_by_the_least_whole_factor(height, width, least):
    grid = np.random.default_rng(height).integers(0, 256, (height, width, 3), np.uint8)
    settings = {"assumed_upscaler": "nearest", "assumed_least_px": least}
    shown = encoders.enlarged(grid, settings)
    factor = 1
    while factor * max(height, width) < least:
        factor += 1
    np.testing.assert_array_equal(shown, np.kron(grid, np.ones((factor, factor, 1), np.uint8)))


@pytest.mark.parametrize(
    ("size", "side"), [(16, 512), (24, 528), (64, 512), (96, 576), (512, 512), (600, 600)]
)
def test_sizes_after_the_enlargement(size, side):
    grid = np.zeros((size, size, 3), np.uint8)
    for upscaler in ("nearest", "bicubic"):
        settings = {**NEAREST, "assumed_upscaler": upscaler}
        assert encoders.enlarged(grid, settings).shape == (side, side, 3)


def test_another_upscaler_makes_another_picture():
    grid = np.zeros((16, 16, 3), np.uint8)
    grid[8:] = 255
    smooth = encoders.enlarged(grid, {**NEAREST, "assumed_upscaler": "bicubic"})
    assert set(np.unique(encoders.enlarged(grid, NEAREST))) == {0, 255}
    assert len(np.unique(smooth)) > 10
    # Its centre stays where it was.
    np.testing.assert_array_equal(smooth, 255 - smooth[::-1])


@pytest.mark.parametrize(
    ("text", "form", "wanted"),
    [
        ("A pixel art icon depicting {Dog}.", "canonical", "a pixel art icon depicting dog"),
        ("T-shirt_or  \n jack-o'-lantern!", "canonical", "tshirt or jackolantern"),
        ("Crème Brûlée, 2 ×", "canonical", "crème brûlée 2 ×"),
        ("...", "canonical", ""),
        ("A  Dog.", "lower", "a  dog."),
        ("A  Dog.", "as_given", "A  Dog."),
    ],
)
def test_forms_of_texts(text, form, wanted):
    assert in_form(text, form) == wanted


@given(st.text())
def test_the_canonical_form_is_its_own(text):
    once = in_form(text, "canonical")
    assert in_form(once, "canonical") == once


def test_a_long_text_is_shown_short():
    refuse_long("here", ["a", "b"], [4, 5], 5)
    with pytest.raises(
        GensightError, match=r"^here: the text 'x{57}\.\.\.' has 6 tokens .* reads 5;"
    ):
        refuse_long("here", ["a", "x" * 90], [5, 6], 5)


@given(st.integers(0, 40), st.integers(1, 9))
def test_batches_are_all_of_one_size_and_keep_the_order(number, size):
    seen = []

    def embed(batch):
        seen.append(len(batch))
        return np.array([[item, -item, 1] for item in batch], np.float32)

    made = in_batches(list(range(number)), size, embed, 3)
    assert made.tolist() == [[n, -n, 1] for n in range(number)]
    assert set(seen) <= {size} and len(seen) == -(-number // size)


def test_rows_are_divided_by_their_lengths():
    rows = np.array([[3.0, 4.0], [0.0, -2.0], [1e-30, 0.0], [3e38, 3e38]], np.float32)
    made = unit(rows, "here")
    root = np.sqrt(0.5)
    np.testing.assert_allclose(made, [[0.6, 0.8], [0, -1], [1, 0], [root, root]], atol=1e-7)
    assert made.dtype == np.float32


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.nan, "1 of 3 vectors hold NaN or infinity"),
        (np.inf, "1 of 3 vectors hold NaN or infinity"),
        (0.0, "1 of 3 vectors are zero"),
    ],
)
def test_a_vector_without_a_direction_is_refused(bad, message):
    rows = np.array([[1.0, 0.0], [0.0, bad], [0.0, 1.0]])
    with pytest.raises(GensightError, match=rf"^here: {message}; [^\n]*$"):
        unit(rows, "here")
