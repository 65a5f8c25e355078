"""Synthetic scenes with exact truth: segmentation, depth, counting and normals (PROTOCOLS 4.1).

Our own ray caster draws closed rooms with spheres, boxes and cylinders on the floor or hanging
from the ceiling. Everything follows from `seed`; depth, normals and segmentation share their
scenes, and segmentation asks two queries of each (ranks 2k and 2k + 1, one cluster). The split
`ood` alone holds cones, capsules and spotted surfaces. Depth is z-depth in metres, exact at pixel
centres, valid everywhere; normals are in camera axes (x right, y up, z to the viewer).

`knobs` fixes factors of the scenes, or crosses them where a list of levels is given: objects,
occlusion, contrast, texture, light, blur, palette, style, depth_ratio, and count for counting
(`parameters.LEVELS` and `parameters.RANGES` hold the levels). Scenes of different knobs share all
other random numbers. `seed` is a whole number here: for `seed: fresh` of a benchmark the plan
draws one (`gensight.plan.seeds`).
"""

from __future__ import annotations

from gensight.datasets.scenes.samples import iter_samples

VERSION = 1
DEFAULTS = {
    "task": "segmentation",
    "seed": 0,
    "split": "main",
    "width": 512,
    "height": 384,
    "knobs": {},
}
# What tables print beside the numbers of a task.
FACTS = {
    "depth": "truth in metres (scale 1), valid from 0.1 to 50 m, no crop; clipped after alignment",
    "counting": "dots count inside the visible masks of the counted things",
}

__all__ = ["DEFAULTS", "VERSION", "iter_samples"]
