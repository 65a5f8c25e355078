"""What an encoder can tell at most: real emoji, drawn by the drawer, through the real road.

The encoder is a tiny copy with random weights, so its ceiling is chance; that the numbers are those
of these emoji and of this encoder is what is shown.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import yaml
from pixelbench_checkout import make
from workflow.conftest import Checkout

from gensight.datasets.icons.emoji import find_font, font_digest
from gensight.errors import AbsentDataError
from gensight.images import decode_rgb
from gensight.pixels.grid_text import stored_grid
from gensight.pixels.resampling import box_reduced
from gensight.records import Candidate, Feature, Prediction, RowFile, Sample

N, SIZES = 8, (16, 64)
CELL = "drawer/emoji_t2p/grid_%d"


def installed_font():
    try:
        return find_font(None)
    except AbsentDataError:
        return None


pytestmark = pytest.mark.skipif(installed_font() is None, reason="no Noto Color Emoji here")


@pytest.fixture(scope="module")
def run(tiny, tmp_path_factory):
    """The shipped run at two sizes, over a few emoji, in the working folder."""
    made = Checkout(tmp_path_factory.mktemp("emoji") / "checkout")
    config = yaml.safe_load((made.folder / "config/runs/pixelbench_ceilings.yaml").read_text())
    config["run"] |= {
        "models": ["drawer"], "prompts": [f"grid_{size}" for size in SIZES],
        "n": {"emoji_t2p": N}, "tables": ["pixelbench_ceilings"],
    }  # fmt: skip
    made.write_yaml("config/config.yaml", config)
    settings = {
        "model": str(tiny["siglip"]), "assumed_revision": None, "assumed_dtype": "float32"
    }  # fmt: skip
    made.edit("config/encoders/siglip_so400m.yaml", settings=settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made.folder)
        make()
        yield made


def rows(stage, file, kind):
    return list(RowFile(f"results/{stage}/{file}.parquet", kind))


def test_what_is_looked_up_is_the_emoji_of_the_installed_font(run):
    samples = rows("samples", "emoji_t2p", Sample)
    assert len(samples) == N
    assert {row.knobs["font_sha256"] for row in samples} == {font_digest(installed_font())}
    for size in SIZES:
        drawn = {
            row.sample_id: stored_grid(row.text).picture()
            for row in rows("predictions", f"{CELL % size}/grid", Prediction)
            if row.variant == "strict"
        }
        for row in samples:
            truth = box_reduced(decode_rgb(row.target_image["bytes"], matte=(255, 255, 255)), size)
            # Eight colours of many: not the truth, and nearer to it than to any other emoji.
            near = min(drawn, key=lambda name: np.abs(drawn[name].astype(float) - truth).mean())
            assert near == row.sample_id
    assert len({row.target_image["bytes"] for row in samples}) == N


def test_the_table_prints_how_many_the_encoder_finds(run):
    with Path("results/tables/pixelbench_ceilings.csv").open(newline="") as file:
        printed = list(csv.DictReader(file))
    labels = {row.sample_id: row.target_text for row in rows("samples", "emoji_t2p", Sample)}
    candidates = rows("galleries", "emoji_t2p/siglip_so400m", Candidate)
    for group, found in (("500-way", candidates), ("100-way", [c for c in candidates if c.narrow])):
        assert len(found) == int(group[:3])
        texts = np.array([one.vector for one in found])
        for size in SIZES:
            features = [
                row
                for row in rows("features", f"{CELL % size}/siglip_so400m", Feature)
                if row.variant == "strict"
            ]
            likeness = np.array([row.vector for row in features]) @ texts.T
            own = [[one.name for one in found].index(labels[row.sample_id]) for row in features]
            ranks = [(line >= line[place]).sum() for line, place in zip(likeness, own, strict=True)]
            (cell,) = [
                cell
                for cell in printed
                if (cell["model"], cell["column"]) == ("drawer", str(size))
                and cell["column_group"].startswith(group)
            ]
            assert float(cell["number"]) == pytest.approx(100 * np.mean([r == 1 for r in ranks]))
