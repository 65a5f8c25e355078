"""Whole cells of a model that runs here, made by the stages themselves in the current folder."""

import numpy as np
from written_specs import write_spec

from gensight.images import encode_png
from gensight.models import Part, Turn
from gensight.prompts import render
from gensight.records import Generation, Request, RowFile, Sample, write_rows
from gensight.specs import declared
from gensight.stages.generate import generate

#: Sizes of pictures: two of data sets, one of a wide road, one of a room, and a strip of 10 to 1.
SIZES = [(640, 480), (1242, 375), (1296, 968), (640, 427), (1000, 100)]
FORM = {"kind": "depth", "near": "bright"}
TURNS = [{"parts": [{"image": "input"}, {"text": "Draw the depth."}], "answer_form": FORM}]
SAMPLES = {"benchmark": "tiny"}
REQUESTS = {"prompt": "mid", "samples": SAMPLES}


def picture(width, height, seed=0):
    """Return a PNG of soft colours, another for each seed."""
    rows, columns = np.mgrid[0:height, 0:width]
    waves = [np.sin(rows / (9 + seed)), np.cos(columns / (7 + seed)), np.sin(columns * rows / 9e3)]
    return encode_png((np.stack(waves, axis=-1) * 99 + 128).astype(np.uint8))


def turn(image, text="Draw the depth.", seed=5):
    """Return a turn that shows a picture (or none) and says a text."""
    parts = [] if image is None else [Part("image", image=image)]
    return Turn((*parts, Part("text", text=text)), FORM, seed=seed)


def sample(rank, size):
    width, height = size
    return Sample(
        sample_id=f"s{rank}",
        rank=rank,
        role="evaluated",
        cluster_id=f"c{rank}",
        image={"bytes": picture(width, height, rank), "path": None},
        width=width,
        height=height,
        query="the ball",
    )


class WholeCell:
    """A cell of one sample per size, in the current folder."""

    def __init__(self, adapter, generation, sizes=SIZES, turns=TURNS):
        self.adapter = adapter
        defaults = declared.constants("models", adapter)["DEFAULTS"]
        self.generation = {**defaults, **generation}
        rows = [sample(rank, size) for rank, size in enumerate(sizes)]
        write_rows("samples.parquet", Sample, rows, SAMPLES)
        asked = render("mid", turns, rows)
        write_rows("requests.parquet", Request, asked, REQUESTS, ["samples.parquet"])

    def run(self, ranks=(0, None), ledger="ledger", **config):
        """Make the shard of some ranks; return its rows and how many answers were asked for."""
        plan = {
            "model": "m",
            "adapter": self.adapter,
            "adapter_version": 1,
            "ranks": list(ranks),
            "generation": self.generation,
            "repeats": 1,
            "exif": "apply",
            "requests": REQUESTS,
        }
        write_spec("m", {"adapter": self.adapter})
        counts = generate("samples.parquet", "requests.parquet", "g.parquet", ledger, plan, config)
        return list(RowFile("g.parquet", Generation)), counts.asked
