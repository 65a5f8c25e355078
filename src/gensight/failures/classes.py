"""The closed lists of failure classes, and the verdict that names one.

A class may carry a detail, written `class:detail`. Blind classes (PROTOCOLS 3.3) say what a picture
looks like beside its input; truth classes say how a mask differs from its target. The two lists
belong to different tables and are never mixed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

#: What the blind classifier can say of a picture, in the order of a failure table.
CLASSES = (
    "ok",
    "inverted",
    "drift",
    "copy",
    "unmarked_copy",
    "filter",
    "wrong_format",
    "stylised",
    "rerender",
    "unrelated",
    "degenerate",
    "unreadable",
    "ambiguous",
)
#: What a class may add; classes that are not here add nothing.
DETAILS = {
    # Found by registration; a warp that no affine map undoes; suspected only (masks and depth).
    "drift": ("global", "local", "possible"),
    "wrong_format": (
        "overlay",
        "cutout",
        "colour_mask",
        "outline",
        "grey",
        "colormap",
        "mask",
        "flat_regions",
        "other",
    ),
    # The input, bent out of shape, where a mask or a depth map was asked for.
    "rerender": ("warped",),
}
#: An answer that never came: no picture, so no verdict.
NO_OUTPUT = "no_output"
#: Classes whose pictures have the asked format, whatever they show (PROTOCOLS, "Valid").
VALID_CLASSES = ("ok", "drift", "inverted")

#: What the truth-aware classifier can say of a mask.
TRUTH_CLASSES = (
    "ok",
    "inverted",
    "drift",
    "wrong_object",
    "imprecise",
    "missed",
    "spurious",
)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The class of one answer, its detail where it has one, and the features that decided.

    `features` holds what was looked at: rules are taken in order, so a picture that the first rule
    recognises has few.
    """

    failure_class: str
    detail: str | None = None
    features: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The class, with `:detail` where it has one."""
        return self.failure_class if self.detail is None else f"{self.failure_class}:{self.detail}"


def blind_names() -> tuple[str, ...]:
    """Return every blind class, each followed by its details as `class:detail`."""
    return tuple(
        name
        for failure_class in CLASSES
        for name in (
            failure_class,
            *(f"{failure_class}:{detail}" for detail in DETAILS.get(failure_class, ())),
        )
    )


def class_of(name: str) -> str:
    """Return the class of a name, without its detail.

    >>> class_of("drift:local")
    'drift'
    """
    return name.partition(":")[0]
