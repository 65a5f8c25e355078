"""All of PixelBench, run and measured: real encoder code on tiny copies, hosted models and judge.

Weights are random, so no number here says anything of anyone: what is shown is that every number
of the tables follows from the files, by arithmetic that is written out again below.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from fakes.server import Fake
from PIL import Image
from pixelbench_arithmetic import (
    I2P,
    READERS,
    SOURCES,
    T2P,
    half_up,
    i2p_agg,
    i2p_agg_fix,
    i2p_averages,
    judged,
    mean,
    overall,
    own_names,
    paired,
    ranks,
    right,
    rows,
    source_names,
    t2p_agg,
    top1,
    vocabulary_names,
)
from pixelbench_artist import JUDGE as JUDGE_ID
from pixelbench_artist import SKILLS
from pixelbench_checkout import BASELINES, CUT, FIGURE, HOSTED, SIZES, TABLES, N, hosted, make
from workflow.conftest import Checkout

from gensight.cli import main
from gensight.records import Feature, Generation, Judgement, Prediction, RowFile, Summary
from gensight.vocabulary import vocabulary_hash

pytestmark = pytest.mark.workflow


@dataclass(frozen=True)
class Whole:
    """The checkout that we stand in, its fakes, what was planned before, and what was made."""

    checkout: Checkout
    fakes: dict[str, Fake]
    planned: dict[str, Any]
    judging: dict[str, Any]
    made: list[str]


@pytest.fixture(scope="module")
def whole(tiny, tmp_path_factory):
    """Return a checkout in which everything has run."""
    folder = tmp_path_factory.mktemp("pixelbench") / "checkout"
    with hosted(folder, {name: tiny[name] for name in ("siglip", "dinov2")}) as (checkout, fakes):
        planned = plan()
        made = make("samples", "requests", "generations", "predictions")
        judging = plan()
        yield Whole(checkout, fakes, planned, judging, [*made, *make()])


def plan() -> dict[str, Any]:
    """Return what `gensight plan` says of the checkout we stand in."""
    found = CliRunner().invoke(main, ["plan", "--json"], catch_exceptions=False)
    assert found.exit_code == 0, found.stderr
    return json.loads(found.stdout)


# The tables --------------------------------------------------------------------------------------


def cells(number: str) -> list[dict[str, str]]:
    path = Path(f"results/tables/pixelbench_table_{number}.csv")
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def shown(number: str, model: str, column: str, group: str = "") -> float:
    """Return what a cell shows, unrounded."""
    (cell,) = [
        cell
        for cell in cells(number)
        if (cell["model"], cell["column"]) == (model, column)
        and cell["column_group"].startswith(group)
    ]
    assert cell["status"] == "number", cell
    decimals, scale = int(cell["decimals"]), float(cell["scale"])
    assert abs(float(cell["printed"]) - scale * float(cell["number"])) <= 0.5001 * 10**-decimals
    return float(cell["number"])


def about(value: float) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-6)


def test_every_cell_that_should_be_a_number_is_one(whole):
    """Nothing is missing but what a model is not asked for, and floors of what has none."""
    for table in TABLES:
        found = cells(table.removeprefix("pixelbench_table_"))
        measured = [cell for cell in found if cell["model"] in (*HOSTED, *BASELINES)]
        assert measured or table == "pixelbench_table_4"
        assert {cell["status"] for cell in measured} <= {"number"}, table
    drawn = {cell["model"] for cell in cells("1")} & {*HOSTED, *BASELINES}
    reduced = {cell["model"] for cell in cells("2")} & {*HOSTED, *BASELINES}
    assert drawn == {*HOSTED}
    assert reduced == {*READERS, *BASELINES}
    assert {cell["model"] for cell in cells("3")} >= {*HOSTED, "oracle_text", "first_option"}
    assert {cell["status"] for cell in cells("4")} == {"number"}


@pytest.mark.parametrize("model", ["gpt_6_astra", "gemini_3_6_flash", "deepseek_v4_pro"])
def test_text_to_pixel(whole, model):
    every, own = vocabulary_names(), own_names()
    assert len(every) == 500 and len(own) == 100 and set(own) < set(every)
    for size in SIZES:
        block = f"{size} × {size}"
        assert shown("1", model, str(size), "500-way") == about(top1(model, T2P, size, every))
        assert shown("1", model, str(size), "Judge") == about(judged(model, size))
        assert shown("22", model, "100-way", block) == about(top1(model, T2P, size, own))
        assert shown("22", model, "500-way", block) == about(top1(model, T2P, size, every))
        for way, names in (("100-way", own), ("500-way", every)):
            found = [1 / rank for rank in ranks(model, T2P, size, names) if rank is not None]
            assert shown("23", model, way, block) == about(mean(found))
        assert shown("24", model, "Total (100)", block) == about(judged(model, size))
        parts = judged(model, size, "defining_attributes")
        assert shown("24", model, "Parts (25)", block) == about(parts)
    assert shown("1", model, "Agg.", "All six") == about(t2p_agg(model))


@pytest.mark.parametrize("model", ["gpt_6_astra", "claude_opus_5", "box", "pia_reduced"])
def test_image_to_pixel(whole, model):
    for size in SIZES:
        told = {
            "100-way": top1(model, I2P, size, source_names()),
            "SigLIP": paired(model, size, "siglip_so400m"),
            "DINOv2": paired(model, size, "dinov2_large"),
        }
        for group, value in told.items():
            assert shown("2", model, str(size), group) == about(value)
            if model in BASELINES:
                assert shown("25", model, str(size), group) == about(value)
    for group, key in (("100-way", "top1"), ("SigLIP", "siglip"), ("DINOv2", "dino")):
        assert shown("2", model, "Avg.", group) == about(i2p_averages(model)[key])
    if model != "box":  # it is none of the rows between which Agg. is set
        assert shown("2", model, "Agg.") == about(i2p_agg(model))
    assert shown("2", model, "Agg. fixed") == pytest.approx(i2p_agg_fix(model), rel=1e-6)


@pytest.mark.parametrize("model", [*HOSTED, "oracle_text", "first_option"])
def test_understanding(whole, model):
    by_source = {
        source: [right(model, source, f"letter_{size}") for size in SIZES] for source in SOURCES
    }
    for source, group in (("pia", "Source: PIA"), ("astra", "Source: GPT-6 Astra")):
        assert shown("3", model, "Avg.", group) == about(mean(by_source[source]))
        for size, value in zip(SIZES, by_source[source], strict=True):
            assert shown("3", model, str(size), group) == about(value)
    assert shown("3", model, "Overall") == about(overall(model))
    gain = mean(by_source["astra"]) - mean(by_source["pia"])
    assert shown("3", model, "Astra − PIA") == about(gain)
    assert shown("3", model, "Options only") == about(right(model, "pia", "options_only"))
    strewn = mean(right(model, source, "shuffled_16") for source in SOURCES)
    assert shown("3", model, "− shuffled") == about(overall(model) - strewn)


@pytest.mark.parametrize(
    ("name", "models", "agg"),
    [
        ("Understanding and T2P", HOSTED, t2p_agg),
        ("Understanding and I2P", READERS, i2p_agg),
    ],
)
def test_correlations_are_never_bare(whole, name, models, agg):
    from scipy import stats

    one = [half_up(overall(model), 1) for model in models]
    two = [half_up(agg(model), 2) for model in models]
    found = {cell["metric"]: cell for cell in cells("4") if cell["label"] == name}
    assert int(float(found["models"]["number"])) == len(models)
    drawn = json.loads(Path(f"results/figures/{FIGURE}.json").read_text())
    (panel,) = [one for one in drawn if len(one["points"]) == len(models)]
    assert [point["model"] for point in panel["points"]] == sorted(models)
    for point in panel["points"]:
        wanted = (overall(point["model"]), agg(point["model"]))
        assert (point["x"]["value"], point["y"]["value"]) == about(wanted)
    assert panel["told"][0].startswith(f"r = {float(found['pearson']['number']):.2f} [")
    coefficients = {
        "pearson": lambda a, b: stats.pearsonr(a, b).statistic,
        "spearman": lambda a, b: stats.spearmanr(a, b).statistic,
        "kendall": lambda a, b: stats.kendalltau(a, b).statistic,
    }
    for key, coefficient in coefficients.items():
        value = coefficient(one, two)
        orders = [coefficient(one, order) for order in itertools.permutations(two)]
        extreme = mean(abs(order) >= abs(value) - 1e-9 for order in orders)
        assert float(found[key]["number"]) == about(value)
        assert float(found[f"{key}_p"]["number"]) == about(extreme)
    half = 1.959963984540054 / math.sqrt(len(models) - 3)
    ends = [math.tanh(math.atanh(float(found["pearson"]["number"])) + s * half) for s in (-1, 1)]
    told = [float(found["pearson"][f"interval_{end}"]) for end in ("low", "high")]
    assert told == [about(end) for end in ends]


# What stands beside the numbers ----------------------------------------------------------------


def test_judge_encoders_and_vocabulary_stand_in_print(whole):
    document = Path("results/tables/all.tex").read_text(encoding="utf-8")
    for words in (
        r"by gemini\_3\_5\_flash\_judge",
        "(answered as gemini-3.6-flash)",
        "encoder SigLIP-SO400M (module siglip version",
        "encoder DINOv2-Large (module dinov2 version",
        f"sha256 {vocabulary_hash()[:12]}",
        "judge Gemini 3.5 Flash (models",
    ):
        assert words in document
    for number in ("1", "24"):
        header = next(line for line in page(number) if line.startswith("| Model"))
        assert r"gemini\_3\_5\_flash\_judge (answered as gemini-3.6-flash)" in header
    assert not any("judge" in line for line in page("22"))


def page(number: str) -> list[str]:
    path = Path(f"results/tables/pixelbench_table_{number}.md")
    return path.read_text(encoding="utf-8").splitlines()


def test_what_goes_wrong_is_counted_as_it_went(whole):
    """One grid a size of a model goes wrong by the script: each is a miss of its own kind."""
    ids = {name: spec_id(name) for name in HOSTED}
    for model in HOSTED:
        for size in SIZES:
            slip = SKILLS[ids[model]].slips.get(size)
            read = rows(Prediction, f"predictions/{model}/{T2P}/grid_{size}/grid")
            valid = {
                variant: sum(r.status == "ok" for r in read if r.variant == variant)
                for variant in ("strict", "lenient")
            }
            lost = {"prose": (1, 1), "short": (1, 1), "fence": (1, 0)}.get(slip, (0, 0))
            assert (valid["strict"], valid["lenient"]) == (N - lost[0], N - lost[1])
    flat = shown("1", "gemini_3_6_flash", "Flat")
    assert flat == about(100 * 2 / (3 * N))
    # The grid that its source has not is asked about by nobody.
    asked = rows(Generation, f"generations/gpt_5_6_sol/{SOURCES['astra']}/letter_32/all")
    assert [row.outcome for row in asked].count("no_source") == 1


def spec_id(model: str) -> str:
    import yaml

    return yaml.safe_load(Path(f"config/models/{model}.yaml").read_text())["generation"]["model"]


def test_stored_vectors_are_those_of_the_pictures_that_were_answered(whole, tiny):
    """From the reply's own JSON, enlarged and squashed here, through the bare models."""
    import torch
    import transformers

    reply = next(
        row for row in rows(Generation, f"generations/gpt_5_6_sol/{I2P}/grid_16/all") if row.final
    )
    said = json.loads(reply.text)
    palette = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in said["palette"]])
    cells_ = np.array([[int(digit) for digit in row] for row in said["pixels"]])
    picture = palette[cells_].astype(np.uint8).repeat(32, axis=0).repeat(32, axis=1)
    assert picture.shape == (512, 512, 3)
    seen = {
        "siglip_so400m": ("siglip", "SiglipModel", 32, [0.5] * 3, [0.5] * 3),
        "dinov2_large": (
            "dinov2", "Dinov2Model", 56, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225],
        ),
    }  # fmt: skip
    for encoder, (name, kind, side, middle, spread) in seen.items():
        small = Image.fromarray(picture).resize((side, side), Image.Resampling.BICUBIC)
        levels = (np.asarray(small, np.float32) / 255 - middle) / spread
        given = torch.from_numpy(levels.astype(np.float32)).permute(2, 0, 1)[None]
        model = getattr(transformers, kind).from_pretrained(tiny[name]).eval()
        with torch.inference_mode():
            if name == "siglip":
                made = model.get_image_features(pixel_values=given).pooler_output
            else:
                made = model(pixel_values=given).pooler_output
        vector = made[0].numpy() / np.linalg.norm(made[0].numpy())
        (stored,) = [
            np.array(row.vector)
            for row in rows(Feature, f"features/gpt_5_6_sol/{I2P}/grid_16/{encoder}")
            if (row.sample_id, row.variant) == (reply.sample_ids[0], "strict")
        ]
        assert np.linalg.norm(stored) == pytest.approx(1, abs=1e-5)
        assert vector @ stored > 0.9999


# What was asked and paid -----------------------------------------------------------------------


def answers() -> list[Generation]:
    """Return everything that hosted models answered."""
    return [
        row
        for model in HOSTED
        for path in Path(f"results/generations/{model}").rglob("*.parquet")
        for row in RowFile(path, Generation)
    ]


def judgements() -> list[Judgement]:
    """Return everything that was said of grids."""
    found = Path("results/judgements").rglob("*.parquet")
    return [row for path in found for row in RowFile(path, Judgement)]


def asked_rows() -> list[Any]:
    """Return everything that a provider was asked for: answers and judgements."""
    found: dict[str, Any] = {row.request_key: row for row in answers()}
    found |= {row.request_key: row for row in judgements()}
    return [row for row in found.values() if row.cost_usd is not None]


def test_everything_was_paid_for_once(whole):
    charged = sum(fake.charged for fake in whole.fakes.values())
    keys = {row.request_key for row in asked_rows()}
    # The reply that was cut stands before the longer one, with a key and a price of its own.
    assert charged == len(keys)
    bill = math.fsum(fake.charged_usd for fake in whole.fakes.values())
    assert math.fsum(row.cost_usd for row in asked_rows()) == pytest.approx(bill)
    # The same body comes twice only from the judge: of a reply that it could not read, and of
    # the tenth that is judged again.
    for name, fake in whole.fakes.items():
        again = [entry.model for entry in fake.journal if entry.key in fake.journal.paid_twice]
        assert set(again) <= {"gemini-3.5-flash"}, name


def test_a_reply_that_was_cut_is_asked_for_again_and_longer(whole):
    (cut,) = [entry for entry in whole.fakes[CUT].journal if entry.fault == "truncated"]
    limits = {
        entry.body["max_tokens"]
        for entry in whole.fakes[CUT].journal
        if {**entry.body, "max_tokens": 0} == {**cut.body, "max_tokens": 0}
    }
    assert limits == {32768, 65536}


def test_the_plan_is_what_was_asked(whole):
    """But for what nobody can know: which grids will be none, and which replies cut or unread."""
    final = [row for row in answers() if row.final]
    unasked = sum(row.outcome == "no_source" for row in final)
    assert unasked == len(HOSTED)  # the one grid that the source did not draw
    cut = 1
    judged_now = sum(entry.model == JUDGE_ID for entry in whole.fakes["google"].journal)
    asked = sum(fake.charged for fake in whole.fakes.values()) - judged_now
    planned = sum(row["to_ask"] for row in whole.planned["rows"] if row["judge"] is None)
    assert planned == len(final) == asked + unasked - cut
    # Once there are grids it is known what there is to judge.
    told = sum(row["to_ask"] for row in whole.judging["rows"])
    again = {row.request_key for row in judgements() if row.reask}
    assert again and judged_now == told + len(again)
    assert plan()["total"]["to_ask"] == 0


def test_the_same_again_makes_and_asks_nothing(whole):
    sent = {name: len(fake.journal) for name, fake in whole.fakes.items()}
    assert make() == []
    assert whole.checkout.planned() == {}
    # And Snakemake's own jobs make the same file where one is gone, and ask nobody.
    cell = f"gpt_6_astra/{I2P}/grid_16"
    feature = Path(f"results/features/{cell}/dinov2_large.parquet")
    score = Path(f"results/scores/{cell}/dino.parquet")
    before = rows(Feature, f"features/{cell}/dinov2_large"), score.read_bytes()
    feature.unlink()
    score.unlink()
    whole.checkout.run(str(score))
    assert rows(Feature, f"features/{cell}/dinov2_large") == before[0]
    assert score.read_bytes() == before[1]
    assert {name: len(fake.journal) for name, fake in whole.fakes.items()} == sent


def test_every_file_of_the_plan_was_made(whole):
    kinds = {path.split("/")[1] for path in whole.made}
    assert kinds == {
        *("samples", "requests", "generations", "predictions", "features", "galleries"),
        *("judgements", "scores", "summaries", "aggregates", "tables", "figures"),
    }
    for path in (f"results/summaries/{name}.parquet" for name in (T2P, I2P, *SOURCES.values())):
        assert list(RowFile(path, Summary))
