"""Reference models: built in, on the CPU, part of the science (PROTOCOLS 1.7).

    oracle        paints the truth in the form the prompt declares: the ceiling of the interface;
                  with `disturbance` one named fault is added at the severity of the turn
    planner       the two-turn oracle: names a box first, then paints only the box it is shown
    teller        one scripted text model: knows the truth, and miscounts and rambles by a rule
    examiner      a scripted judge: points for likeness to the sample's drawing; no VLM
    drawer        pixelates the sample's drawing; with `grid_disturbance` spoilt
    flat_grid     a grid of one grey `level`;  noise_grid  cells dealt by chance
    first_option  the first letter of every choice
    echo          returns the input, byte for byte;  echo_grey  returns it in grey
    constant      a uniform picture of one grey `level`
    salient       the part of the picture that differs most from its border: sees, understands not
    prior_ramp    nearer towards the bottom; nothing fitted
    prior_centre  a centred ellipse, prior_mean / prior_median the average answer; all three are
                  fitted on held-out samples only, without those of the asked sample's cluster

They answer through the same prompts and extractors as every model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gensight.errors import SpecError
from gensight.specs import declared

if TYPE_CHECKING:
    from gensight.models import Adapter, Site
    from gensight.records import Sample

VERSION = 2
READS_TRUTH = True

# Literals, so that a plan can check a generation block without importing anything.
DEFAULTS = {
    "method": None,
    "disturbance": None,
    "severities": [],
    "depth_code": "depth",
    "bit_depth": 8,
    "level": 255,
    "grid_disturbance": None,
}
METHODS = {
    "oracle": ["disturbance", "severities", "depth_code", "bit_depth"],
    "planner": [],
    "teller": [],
    "examiner": [],
    "drawer": ["grid_disturbance", "severities"],
    "flat_grid": ["level"],
    "noise_grid": [],
    "first_option": [],
    "echo": [],
    "echo_grey": [],
    "constant": ["level"],
    "salient": [],
    "prior_centre": [],
    "prior_ramp": ["bit_depth"],
    "prior_mean": ["depth_code", "bit_depth"],
    "prior_median": [],
}
CHOICES = {
    "disturbance": [None, "shift", "scale", "blur", "jpeg", "noise", "hue"],
    "depth_code": ["depth", "disparity", "log"],
    "bit_depth": [8, 16],
    "grid_disturbance": [None, "collapse", "turn", "fade"],
}


def open_model(
    generation: Mapping[str, Any], held_out: Sequence[Sample], site: Site | None = None
) -> Adapter:
    """Open the reference model that a generation block describes.

    `held_out` feeds the `prior_*` methods only; the site is no matter. Opening is cheap: fits wait
    for the first answer.

    Raises:
        SpecError: unknown method, key or value, or no held-out sample for a fitted method.
    """
    settings = complete(generation)
    return _constructors()[settings["method"]](settings, held_out)


def complete(generation: Mapping[str, Any]) -> dict[str, Any]:
    """Return a generation block with every default filled in.

    A key that belongs to another method may be present with its default only.

    Raises:
        SpecError: unknown method, key or value; the message names the key and what is allowed.
    """
    given = dict(generation)
    settings = declared.merged("adapter reference", "generation", "models", "reference", given)
    if not 0 <= settings["level"] <= 255:
        raise SpecError(f"generation: level: {settings['level']} is not from 0 to 255")
    _check_disturbance(settings)
    return settings


def _check_disturbance(settings: Mapping[str, Any]) -> None:
    """Severities need a disturbance to be severities of, and JPEG has no 16-bit pictures."""
    spoilt = settings["disturbance"] or settings["grid_disturbance"]
    if settings["severities"] and spoilt is None:
        raise SpecError("generation: severities: name the disturbance they belong to, or drop them")
    for severity in settings["severities"]:
        if isinstance(severity, bool) or not isinstance(severity, int | float) or severity < 0:
            raise SpecError(f"generation: severities: {severity!r} is not a number of at least 0")
    if settings["disturbance"] == "jpeg" and settings["bit_depth"] == 16:
        raise SpecError("generation: bit_depth: 16 cannot be written as JPEG; set it to 8")


def _constructors() -> dict[str, Callable[..., Adapter]]:
    from gensight.models.reference import (
        drawers,
        examiner,
        floors,
        oracle,
        planner,
        priors,
        saliency,
        teller,
    )

    return {
        "oracle": oracle.Oracle,
        "planner": planner.Planner,
        "teller": teller.Teller,
        "examiner": examiner.Examiner,
        "drawer": drawers.Drawer,
        "flat_grid": drawers.FlatGrid,
        "noise_grid": drawers.NoiseGrid,
        "first_option": drawers.FirstOption,
        "echo": floors.Echo,
        "echo_grey": floors.EchoGrey,
        "constant": floors.Constant,
        "salient": saliency.Salient,
        "prior_centre": priors.CentrePrior,
        "prior_ramp": floors.Ramp,
        "prior_mean": priors.MeanPrior,
        "prior_median": priors.MedianPrior,
    }
