"""Icons of everyday things, drawn by us: the built-in data of the three pixel tasks.

Forty of the PixelBench concepts are drawn twice, independently (`drawings`): the first drawings are
the samples, the second ones the gallery against which answers are looked up offline.

    text_to_pixel        the label is asked; `target_image` is its drawing on white
    image_to_pixel       the drawing somewhere on a soft background; the label is withheld
    pixel_understanding  lettered options for a grid that another benchmark made of the same sample

A rank has the same concept, sample id and cluster in all three tasks, for the same seed and set of
drawings. The set `emoji` takes the concepts that have an emoji from an installed colour font
(`font`: null looks where distributions put Noto Color Emoji). Another version of it draws others:
`font_sha256` names the one that is meant, and any other is refused.
"""

from __future__ import annotations

from gensight.datasets.icons import samples
from gensight.datasets.icons.drawings import LABELS, draw
from gensight.datasets.icons.samples import iter_samples, missing_data

VERSION = 1
DEFAULTS = {
    "task": "image_to_pixel",
    "drawings": "own",
    "seed": 0,
    "options": 10,
    "assumed_crop_px": 256,
    "font": None,
    "font_sha256": None,
}
#: Keys that came later: at their default they stand in no digest, so that old files still fit.
CAME_LATER = ["font_sha256"]
CHOICES = {
    "task": ["text_to_pixel", "image_to_pixel", "pixel_understanding"],
    "drawings": ["own", "emoji"],
}
# What tables print beside the numbers of a task.
FACTS = {
    "text_to_pixel": "concepts that gensight has drawings of, not the paper's hundred",
    "image_to_pixel": "gensight's own drawings on made backgrounds, no photographs",
    "pixel_understanding": "options among the concepts that gensight has drawings of",
}
# Planning looks for this name in this file without importing it.
population = samples.population

__all__ = ["DEFAULTS", "LABELS", "VERSION", "draw", "iter_samples", "missing_data", "population"]
