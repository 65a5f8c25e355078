"""PixelBench's averages, Agg and correlations, from answers that give the printed numbers."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from aggregate_files import EXACT, IOU, Cells, digest_at, made, number

from gensight import published

ROOT = Path(__file__).resolve().parents[2]
SIZES = ("16x16", "32x32", "64x64")
N = 100


def printed(table: int, model: str, metric: str, **setting: str) -> float:
    cells = published.load("pixelbench", table, ROOT)
    found = [
        cell
        for cell in cells
        if (cell.model, cell.metric) == (model, metric) and setting.items() <= cell.setting.items()
    ]
    assert len(found) == 1
    return float(found[0].value)


def models(table: int) -> list[str]:
    return list(dict.fromkeys(c.model for c in published.load("pixelbench", table, ROOT)))


def key(model: str) -> str:
    return "".join(char if char.isalnum() else "_" for char in model.lower())


def right(percent: float) -> list[float]:
    """Answers of 100 of which so many are right."""
    assert percent == int(percent)
    return [1.0] * int(percent) + [0.0] * (N - int(percent))


def level(value: float) -> list[float]:
    """100 answers of which `giou` makes this value."""
    return [value / 100] * N


def sizes(name: str, benchmark: str, metric: str) -> dict[str, dict]:
    return {f"{name}_{s[:2]}": number(f"{benchmark}/grid_{s[:2]}", metric) for s in SIZES}


def mean(name: str, *keys: str) -> dict:
    return {"name": name, "mean_of": [f"{k}_{s[:2]}" for k in keys for s in SIZES]}


TEXT = {
    "numbers": {**sizes("top1", "t2p", "exact_match"), **sizes("judge", "t2p", "giou")},
    "rows": [mean("top1", "top1"), mean("judge", "judge"), mean("agg", "top1", "judge")],
}
IMAGE = {
    "numbers": {
        **sizes("top1", "i2p", "exact_match"),
        **sizes("siglip", "i2p", "giou"),
        **sizes("dino", "dino", "giou"),
    },
    "rows": [
        *(mean(name, name) for name in ("top1", "siglip", "dino")),
        {
            "name": "agg",
            "mean_of": ["top1", "siglip", "dino"],
            "normalised": {"rounding": "paper", "decimals": {"top1": 1, "siglip": 3, "dino": 3}},
        },
        {"name": "unrounded", "mean_of": ["top1", "siglip", "dino"], "normalised": {}},
    ],
}
UNDERSTANDING = {
    "numbers": {**sizes("pia", "pia", "exact_match"), **sizes("astra", "astra", "exact_match")},
    "rows": [
        mean("pia", "pia"),
        mean("astra", "astra"),
        mean("overall", "pia", "astra"),
        {"name": "source_gain", "difference": ["astra", "pia"], "ranked": False},
    ],
}
OVERALL = {"aggregate": "understanding", "row": "overall", "decimals": 1}
CORRELATIONS = {
    "correlations": [
        {"name": name, "x": OVERALL, "y": {"aggregate": name, "row": "agg", "decimals": 2}}
        for name in ("text", "image")
    ]
}


def text_cells() -> Cells:
    cells = Cells()
    for model in models(1):
        for size in SIZES:
            top1 = printed(1, model, "top1_500way", resolution=size)
            judge = printed(24, model, "judge_total", resolution=size)
            parts = {EXACT: right(top1), IOU: level(judge)}
            cells.add(key(model), f"t2p/grid_{size[:2]}", parts)
    return cells


def image_cells() -> Cells:
    cells = Cells()
    for model in models(2):
        siglip, dino = (cosines(model, f"{name}_cosine") for name in ("siglip", "dino"))
        for size in SIZES:
            top1 = printed(2, model, "top1_100way", resolution=size)
            place = f"grid_{size[:2]}"
            cells.add(key(model), f"i2p/{place}", {EXACT: right(top1), IOU: level(siglip[size])})
            cells.add(key(model), f"dino/{place}", {IOU: level(dino[size])})
    return cells


def cosines(model: str, metric: str) -> dict[str, float]:
    """Unrounded cosines that print as they do at every size, and so does their average."""
    found = {size: printed(2, model, metric, resolution=size) for size in SIZES}
    missing = printed(2, model, metric, resolution="avg") - sum(found.values()) / len(SIZES)
    shift = math.copysign(max(0.0, abs(missing) - 0.00049), missing)
    assert abs(shift) < 0.0005
    return {size: value + shift for size, value in found.items()}


def understanding_cells() -> Cells:
    cells = Cells()
    for model in models(3):
        for source, name in (("PIA", "pia"), ("Astra-I2P", "astra")):
            for size in SIZES:
                share = printed(3, model, "accuracy_10way", source=source, resolution=size)
                cells.add(key(model), f"{name}/grid_{size[:2]}", {EXACT: right(share)})
    return cells


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The rows of all four aggregates, by file, then by model and metric."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("published"))
        found = {
            "text": made(TEXT, text_cells().scores, "text"),
            "image": made(IMAGE, image_cells().scores, "image"),
            "understanding": made(UNDERSTANDING, understanding_cells().scores, "understanding"),
        }
        digests = {name: digest_at(name) for name in found}
        found["correlations"] = made(CORRELATIONS, {}, "correlations", aggregates=digests)
    return found


@pytest.mark.parametrize("model", models(1))
def test_text_to_pixel(files, model):
    """To half a unit of the printed number, and of the totals with two decimals that it is of."""
    rows = files["text"]
    for name, metric, place in (
        ("top1", "top1_500way", "avg"),
        ("judge", "vlm_judge_total", "avg"),
        ("agg", "agg", "all"),
    ):
        expected = printed(1, model, metric, resolution=place)
        assert rows[key(model), name].value == pytest.approx(expected, abs=0.05 + 0.005)


@pytest.mark.parametrize("model", models(2))
def test_image_to_pixel_agg_over_the_nine_rows_as_printed(files, model):
    rows, expected = files["image"], printed(2, model, "agg", resolution="all")
    assert rows[key(model), "agg"].value == pytest.approx(expected, abs=0.0051)
    # From unrounded averages it is another number, by up to 0.2.
    assert rows[key(model), "unrounded"].value == pytest.approx(expected, abs=0.21)


def test_unrounded_averages_do_miss_the_printed_agg(files):
    misses = [
        abs(files["image"][key(m), "unrounded"].value - printed(2, m, "agg", resolution="all"))
        for m in models(2)
    ]
    assert max(misses) > 0.1


@pytest.mark.parametrize("model", models(3))
def test_understanding(files, model):
    rows = files["understanding"]
    sources = {"pia": "PIA", "astra": "Astra-I2P"}
    for name, source in sources.items():
        expected = printed(3, model, "accuracy_10way", source=source, resolution="avg")
        assert rows[key(model), name].value == pytest.approx(expected, abs=0.051)
    expected = printed(3, model, "accuracy_10way", source="all")
    assert rows[key(model), "overall"].value == pytest.approx(expected, abs=0.051)


@pytest.mark.parametrize(("model", "gain"), [("Claude Opus 5", 22.7), ("GPT-6 Astra", 20.4)])
def test_source_gain_of_the_text(files, model, gain):
    row = files["understanding"][key(model), "source_gain"]
    assert row.value == pytest.approx(gain, abs=0.11)
    assert row.rank_low is None


@pytest.mark.parametrize(
    ("name", "models_of", "pearson", "spearman", "kendall"),
    [("text", 7, 0.871, 1.000, 1.000), ("image", 6, 0.930, 0.829, 0.733)],
)
def test_correlations_of_table_4(files, name, models_of, pearson, spearman, kendall):
    rows = files["correlations"]
    assert rows[name, "models"].value == models_of
    assert rows[name, "pearson"].value == pytest.approx(pearson, abs=0.0005)
    assert rows[name, "spearman"].value == pytest.approx(spearman, abs=0.0005)
    assert rows[name, "kendall"].value == pytest.approx(kendall, abs=0.0005)


def test_what_table_4_leaves_out(files):
    """Fisher's interval (PROTOCOLS 2.6) and exact p: seven models say little."""
    rows = files["correlations"]
    ends = [
        (rows[n, "pearson"].interval_low, rows[n, "pearson"].interval_high)
        for n in ("text", "image")
    ]
    assert [tuple(round(end, 2) for end in pair) for pair in ends] == [(0.34, 0.98), (0.48, 0.99)]
    assert rows["text", "spearman_p"].value == pytest.approx(2 / 5040)
    assert rows["image", "spearman_p"].value == pytest.approx(0.058, abs=0.0005)
    assert rows["image", "kendall_p"].value == pytest.approx(0.056, abs=0.0005)
    assert rows["image", "pearson_p"].interval_method == "all orders: 720"
