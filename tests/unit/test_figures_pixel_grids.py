"""Panels of grids, from files as the stages write them to the pixels of the PNG."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from PIL import Image

from gensight import images
from gensight.errors import GensightError
from gensight.figures import PixelSource, draw_pixel_grids, figure_png
from gensight.figures.fitted_text import fitting_points, lines_of, width_in
from gensight.figures.pixel_layout import PanelLayout, tile_side, whole_pixels
from gensight.figures.pixel_panels import enlargement, grid_tile
from gensight.pixels.palette_grid import PaletteGrid
from gensight.records import Prediction, Sample, Score, write_rows
from gensight.specs.figures import parse_figure
from gensight.stages.plot import plot

N, SIZES = 6, (4, 8)
MODELS = ("alpha", "beta")
LABELS = ("axe", "bed", "cat", "dog", "elk", "fox")
PALETTE = ((250, 10, 20), (10, 250, 30), (20, 30, 250), (240, 240, 10))
PACK = np.array([1, 1000, 10**6])
PANEL = {
    "title": "P",
    "task": "image_to_pixel",
    "benchmark": "things",
    "sizes": list(SIZES),
    "models": [{"model": name} for name in (*MODELS, "absent")],
    "samples": {"first": 3},
    "rows": ["models", "sizes"],
    "columns": ["samples"],
}


def grid_of(rank, model, size):
    seed = 100 * rank + 10 * MODELS.index(model) + size
    cells = np.random.default_rng(seed).integers(0, 4, (size, size), dtype=np.uint8)
    return PaletteGrid(PALETTE, cells)


def head(rank):
    return {"sample_id": f"s{rank}", "rank": rank, "cluster_id": f"c{rank}"}


def prediction(rank, model, size, **changes):
    row = {"status": "ok", "outcome": "ok", "text": grid_of(rank, model, size).text()}
    return Prediction(**head(rank), variant="lenient", **row | changes)


def score(rank, value):
    kinds = {"status": "ok", "outcome": "ok", "format_valid": True, "kind": "metric"}
    names = {"name": "valid_grid_share", "raw": value, "value": value, "variant": "lenient"}
    return Score(**head(rank), **kinds, **names)


@pytest.fixture
def lay(tmp_path, monkeypatch):
    """Write the files of a run below the working folder; return their paths."""
    monkeypatch.chdir(tmp_path)

    def lay(licences=(), broken=(), pictures=True):
        files = ["results/samples/things.parquet"]
        blue = np.full((16, 16, 3), (0, 0, 200), np.uint8)
        shown = {"bytes": images.encode_png(blue), "path": None} if pictures else None
        rows = [
            Sample(
                **head(rank),
                licence=dict(licences).get(rank, "gensight"),
                image=shown,
                target_text=LABELS[rank],
            )
            for rank in range(N)
        ]
        write_rows(files[0], Sample, rows, {"stage": "samples"})
        for model in MODELS:
            for size in SIZES:
                cell = f"{model}/things/grid_{size}"
                found = [
                    prediction(rank, model, size, **dict(broken).get((rank, model, size), {}))
                    for rank in range(N - 1)  # nobody was asked about the last
                ]
                files.append(f"results/predictions/{cell}/grid.parquet")
                write_rows(files[-1], Prediction, found, {"stage": "predictions"})
                files.append(f"results/scores/{cell}/grid.parquet")
                scored = [score(rank, float(rank)) for rank in range(N - 1)]
                write_rows(files[-1], Score, scored, {"stage": "scores", "settings": {}})
        return files

    return lay


def determinants(spec):
    return {
        "figure": "figure",
        "spec": spec,
        "models": {n: {"display": {"label": n.title()}, "severity_unit": ""} for n in MODELS},
        "exif": {"things": "apply"},
        "readings": {"things": {"grid": "grid"}},
        "native": dict.fromkeys(MODELS, "depth"),
    }


def spec_of(**changes):
    content = {"kind": "pixel_grids", "title": "T", "caption": "C", "panels": [PANEL | changes]}
    return parse_figure("f.yaml", content)


def shown(files, **changes):
    spec = spec_of(**changes)
    panel, log = PixelSource(spec.panels[0], files, determinants({})).shown()
    return panel, json.loads(f"[{log}]")


def ids(panel):
    return [sample.sample_id for sample in panel.samples]


@pytest.mark.parametrize(("size", "factor"), [(8, 64), (12, 43), (80, 7), (128, 4), (512, 1)])
def test_the_enlargement_is_the_least_whole_factor_that_reaches_512(size, factor):
    assert enlargement(size) == factor
    assert factor * size >= 512 > (factor - 1) * size


def test_a_tile_is_the_grid_each_cell_a_flat_square():
    grid = grid_of(0, "alpha", 8)
    tile = grid_tile(prediction(0, "alpha", 8))
    assert tile.picture.shape == (512, 512, 3) and tile.palette == grid.palette
    for row in range(8):
        for column in range(8):
            cell = tile.picture[64 * row : 64 * row + 64, 64 * column : 64 * column + 64]
            assert (cell == PALETTE[grid.cells[row, column]]).all()


def test_an_answer_without_a_grid_says_why():
    told = {
        ("invalid", "row_length", "ok"): ("row length", True),
        ("no_output", "no_text", "refused_output"): ("refused output", True),
        ("no_output", "no_text", "ok"): ("no text", True),
        # One that never arrived is no invalid answer.
        ("no_output", "no_text", "throttled_exhausted"): ("throttled exhausted", False),
    }
    for (status, reason, outcome), (words, crossed) in told.items():
        row = {"status": status, "reason": reason, "outcome": outcome, "text": None}
        tile = grid_tile(prediction(0, "alpha", 8, **row))
        assert (tile.picture, tile.words, tile.crossed) == (None, words, crossed)
    assert (grid_tile(None).words, grid_tile(None).crossed) == ("not asked", False)


def test_the_first_by_rank_that_may_be_shown(lay):
    files = lay({1: "imagenet"})
    panel, log = shown(files)
    assert ids(panel) == ["s0", "s2", "s3"] and [row["passed_over"] for row in log] == [1] * 3
    assert panel.notes[0].endswith(": 1.") and "ImageNet" in panel.notes[0]
    assert ids(shown(files, samples={"first": 2, "skip": 2})[0]) == ["s3", "s4"]
    panel, _ = shown(files, show_restricted=True)
    assert ids(panel) == ["s0", "s1", "s2"] and panel.notes[0].startswith("For your own eyes only")


def test_nothing_that_may_not_be_shown_is_drawn(lay):
    panel, log = shown(lay(dict.fromkeys(range(N), "imagenet")))
    assert (panel.samples, panel.tiles, log) == ([], {}, [])
    assert panel.gaps == ["none of 6 samples may be shown"]


def test_labels_keep_their_order_and_one_that_is_not_there_is_told(lay):
    panel, _ = shown(lay({3: "imagenet"}), samples={"labels": ["elk", "dog", "gnu", "axe"]})
    assert ids(panel) == ["s4", "s0"]
    assert panel.gaps == ["gnu: not among the samples of this run"] and "ImageNet" in panel.notes[0]


def test_a_rule_chooses_on_one_model_at_one_size(lay):
    samples = {"rules": ["best", "worst"], "chosen_on": "beta", "chosen_at": 8}
    panel, log = shown(lay(), samples=samples)
    assert ids(panel) == ["s4", "s0"]
    assert log[0]["chosen"].endswith("chosen on Beta at grid_8")


def test_models_and_sizes_that_the_run_does_not_have_are_left_out(lay):
    files = [path for path in lay() if "beta/things/grid_8" not in path]
    panel, _ = shown(files, sizes=[4, 8, 16])
    assert [model.label for model in panel.models] == ["Alpha", "Beta"]
    assert list(panel.sizes) == [4, 8]
    alpha, beta = panel.models
    assert panel.tile(alpha, 8, panel.samples[0]).picture is not None
    assert panel.tile(beta, 8, panel.samples[0]).words == "not asked"
    # A cell whose readings were left out of an archive is not one that was not asked.
    files.remove("results/predictions/alpha/things/grid_8/grid.parquet")
    panel, _ = shown(files)
    assert panel.tile(panel.models[0], 8, panel.samples[0]).words == "reading not in this archive"


def test_a_sample_that_was_not_asked_about_says_so(lay):
    panel, log = shown(lay(), samples={"labels": ["fox"]})
    assert log[0]["answers"][0] == {
        "model": "alpha",
        "severity": None,
        "size": 4,
        "shown": False,
        "why_not": "not asked",
    }
    assert panel.tile(panel.models[0], 4, panel.samples[0]).words == "not asked"


def drawn(files, **changes):
    spec = spec_of(**changes)
    panel, _ = PixelSource(spec.panels[0], files, determinants({})).shown()
    figure = draw_pixel_grids(spec, [panel])
    tile_in = tile_side([[PanelLayout(panel)]])
    return np.array(Image.open(io.BytesIO(figure_png(figure, "mark"))).convert("RGB")), round(
        tile_in * figure.dpi
    )


def places_of(png, grid, side_px):
    """Return where a picture holds a grid at this many pixels a side, to the pixel."""
    k = side_px // grid.size
    wanted = grid.picture()
    # The edge of a tile is drawn over its outermost pixels: the middle of each cell is compared.
    middles = [k * n + k // 2 for n in range(grid.size)]
    packed = png.astype(np.int64) @ PACK
    tops, lefts = np.indices((png.shape[0] - side_px, png.shape[1] - side_px)).reshape(2, -1)
    for row, y in enumerate(middles):
        for column, x in enumerate(middles):
            fits = packed[tops + y, lefts + x] == wanted[row, column] @ PACK
            tops, lefts = tops[fits], lefts[fits]
    return np.stack([tops, lefts], axis=1), k


def test_each_cell_of_the_png_is_the_same_whole_number_of_pixels(lay):
    changes = {"samples": {"first": 6}, "models": [{"model": "alpha"}], "source": False}
    png, side_px = drawn(lay(), **changes)
    assert side_px % 8 == 0
    for size in SIZES:
        grid = grid_of(2, "alpha", size)
        found, k = places_of(png, grid, side_px)
        # Middles fit wherever a shift stays inside all cells, but for the thin frame of a tile.
        (top, left), fits = found.min(axis=0), k - np.ptp(found, axis=0) - 1
        assert len(found) == np.prod(k - fits) and fits.max() <= 4
        top, left = top + k // 2 - fits[0] // 2, left + k // 2 - fits[1] // 2
        inside = png[top : top + side_px, left : left + side_px]
        assert (inside == grid.enlarged(k))[4:-4, 4:-4].all()


def test_ten_sizes_are_drawn_without_a_colour_of_their_own(lay):
    """Sizes without a small common multiple: no cell is smoothed all the same."""
    files = lay()
    spec = spec_of(samples={"first": 1}, source=False, models=[{"model": "alpha"}])
    panel, _ = PixelSource(spec.panels[0], files, determinants({})).shown()
    figure = draw_pixel_grids(spec, [panel])
    figure.set_dpi(figure.dpi * 1.37)  # no whole pixels any more
    png = np.array(Image.open(io.BytesIO(figure_png(figure, "m"))).convert("RGB"))
    vivid = png[(png.max(axis=2).astype(int) - png.min(axis=2)) > 150]
    # Only the frame, half a point of translucent grey on the rim, blends.
    exact = np.isin(vivid @ PACK, np.array(PALETTE) @ PACK)
    assert exact.mean() > 0.97


def test_whole_pixels_follow_the_sizes_where_they_can():
    for sizes in ([16, 32, 64], [8], [12, 16]):
        side = 0.53 * whole_pixels(0.53, sizes)
        assert all(abs(side / size - round(side / size)) < 1e-9 for size in sizes)
        assert side >= 0.53 * 400 - 1e-9
    ten = [8, 12, 16, 24, 32, 48, 64, 80, 96, 128]
    side = 0.47 * whole_pixels(0.47, ten)
    assert abs(side - round(side)) < 1e-9 and side < 200


@pytest.mark.parametrize(
    "changes",
    [
        {"rows": ["samples", "sizes"], "columns": ["models"]},
        {"rows": ["models"], "columns": ["samples", "sizes"], "palette": True},
        {"rows": ["models"], "columns": ["sizes"], "source_tiles": 2},
        {"rows": ["sizes"], "columns": ["models"], "samples_per_row": 2},
        {"rows": ["models", "sizes"], "columns": ["samples"], "samples_per_row": 2},
        {"rows": ["sizes"], "columns": ["samples"], "models": [], "samples_per_row": 2},
    ],
)
def test_every_layout_shows_every_answer_once(lay, changes):
    panel, _ = shown(lay(), **changes)
    layout = PanelLayout(panel)
    keys = [{**row, **key} for block in layout.blocks for key in block for row in layout.rows]
    found = [(k["models"].model, k["sizes"], k["samples"].sample_id) for k in keys]
    wanted = {(m, s, f"s{r}") for m in MODELS for s in SIZES for r in range(3)}
    assert sorted(found) == sorted(wanted if panel.models else ())
    draw_pixel_grids(spec_of(**changes), [panel])


def test_too_many_columns_are_refused(lay):
    changes = {"rows": ["models"], "columns": ["sizes"], "samples_per_row": 6, "source_tiles": 6}
    panel, _ = shown(lay(), **changes | {"samples": {"first": 6}})
    with pytest.raises(GensightError, match="too small to see anything; name fewer"):
        draw_pixel_grids(spec_of(**changes), [panel])


def test_the_stage_writes_the_same_bytes_again_and_a_log(lay, tmp_path):
    files = lay({}, {(1, "beta", 8): {"status": "invalid", "reason": "not_json", "text": None}})
    spec = spec_of(sizes=[8], rows=["models"]).model_dump(exclude_none=True)
    written = []
    for name in ("one", "two"):
        plot(files, str(tmp_path / f"{name}.png"), determinants(spec))
        written.append(
            [(tmp_path / f"{name}.{end}").read_bytes() for end in ("png", "pdf", "json")]
        )
    assert written[0] == written[1]
    log = json.loads(written[0][2])
    assert [row["label"] for row in log] == ["axe", "bed", "cat"]
    failed = [(r["sample_id"], a["why_not"]) for r in log for a in r["answers"] if not a["shown"]]
    assert failed == [("s1", "not json")]


def test_names_keep_their_words_whole_and_inside_their_room():
    name = "Greater Swiss Mountain dog, half-timbered"
    points = fitting_points([name], 0.4, 6.0)
    lines = lines_of(name, 0.4, points)
    assert "".join(lines).replace(" ", "") == name.replace(" ", "")
    assert all(width_in(line, points) <= 0.4 for line in lines)
    assert fitting_points(["half-timbered"], 0.3, 6.0) < 6.0 == fitting_points(["dog"], 0.3, 6.0)
    assert lines_of("", 0.4, 6.0) == [""]
