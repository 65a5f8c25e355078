"""The step before torchvision's first import: two operators that a mixed build lacks.

A torchvision wheel that was built for CUDA cannot load its compiled part beside a CPU build of
torch. Its import then fails over the operator `torchvision::nms`, and libraries that find it
installed fail with it, also where they need no torchvision. Declaring the operators' signatures is
enough: all that is used here is written in Python. On other installations nothing happens.
Measured with torch 2.13.0+cpu and torchvision 0.28.0.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from typing import Any

OPERATORS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)
#: A declaration lasts as long as its library object.
_declared: list[Any] = []


@cache
def make_importable() -> bool:
    """Import torchvision, declaring what it lacks if it must; return whether it is there.

    Takes torch to be importable. An installed torchvision that fails for another reason is left to
    whoever needs it.
    """
    try:
        importlib.import_module("torchvision")
    except ImportError:
        return False
    except RuntimeError:
        return _declare_and_import()
    return True


def _declare_and_import() -> bool:
    from torch.library import Library

    _forget()
    library = Library("torchvision", "FRAGMENT")
    for operator in OPERATORS:
        library.define(operator)
    _declared.append(library)
    try:
        importlib.import_module("torchvision")
    except (ImportError, RuntimeError):
        _forget()
        return False
    return True


def _forget() -> None:
    """Drop the modules that a failed import left half loaded."""
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        del sys.modules[name]
