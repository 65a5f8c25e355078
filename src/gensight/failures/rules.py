"""The rules of PROTOCOLS 3.3, in order; the first that holds names the class.

What the protocol leaves open is decided here:

- segmentation and depth: an overlay is looked for before a copy, since a thin one passes for both;
- a bent copy of the input is `rerender:warped` where a drawing was asked for: 3.3 calls it
  `drift:local`, but drift is a valid format (section "Decided") and a photograph is none;
- counting: red strokes that are no dots, and dots of other colours, are `wrong_format:other`
  however little they cover; drawings in place of the input are told as in segmentation;
- lines that keep their place are `stylised` whatever becomes of the lightness between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensight.failures import drawn_rules, marked_rules, shared_rules
from gensight.failures.conditions import Finding, Rule
from gensight.failures.evidence import Evidence

RULES: dict[str, tuple[Rule, ...]] = {
    "counting": (
        marked_rules.degenerate_marked,
        shared_rules.panelled,
        marked_rules.moved,
        shared_rules.cut_out,
        marked_rules.filtered,
        marked_rules.marked,
        marked_rules.drawn_instead,
        marked_rules.painted_over,
        shared_rules.redrawn,
    ),
    "segmentation": (
        shared_rules.degenerate,
        shared_rules.cut_out,
        drawn_rules.overlaid,
        drawn_rules.recoloured,
        drawn_rules.coloured_mask,
        drawn_rules.outlined,
        drawn_rules.mask,
        drawn_rules.grey_drawing,
        shared_rules.panelled,
        drawn_rules.bent_picture,
        shared_rules.redrawn,
    ),
    "depth": (
        shared_rules.degenerate,
        drawn_rules.overlaid,
        drawn_rules.recoloured,
        drawn_rules.not_shaded,
        drawn_rules.depth_map,
        shared_rules.panelled,
        drawn_rules.bent_picture,
        shared_rules.redrawn,
    ),
}


def first_finding(rules: tuple[Rule, ...], seen: Evidence, limits: Mapping[str, Any]) -> Finding:
    """Return what the first rule that holds says; `ambiguous` where none does."""
    for rule in rules:
        finding = rule(seen, limits)
        if finding is not None:
            return finding
    return "ambiguous", None
