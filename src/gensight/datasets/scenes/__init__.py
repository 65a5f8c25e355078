"""Synthetic scenes with exact truth, for seven tasks (PROTOCOLS 4.1).

Our own ray caster draws closed rooms with spheres, boxes and cylinders on the floor or hanging
from the ceiling. Everything follows from `seed`. Depth, normals, segmentation, keypoints and
reading ask about the same rooms, segmentation with two queries of each (ranks 2k and 2k + 1, one
cluster); counting and detection about the same crowded floors. The split `ood` alone holds cones,
capsules and spotted surfaces.

    depth      z-depth in metres, exact at pixel centres, valid everywhere
    normals    in camera axes (x right, y up, z to the viewer)
    counting   the things of a named kind, with their points and visible masks
    detection  the tight boxes of the same things' visible parts
    keypoints  places of one named thing: middle, left, right, top, bottom (`places`)
    reading    one word: the colour, shape or support of a named thing (`reading`)

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
