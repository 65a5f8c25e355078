"""Whole figures: one gallery, or several set below each other as lettered panels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any

from matplotlib.figure import Figure

from gensight.figures import comparison, decoder_steps, failures, gallery, style
from gensight.figures.items import GalleryItem
from gensight.figures.layout import Strip, panel_strip, stacked, words_strip
from gensight.specs.figures import GallerySpec, PanelsSpec

Strips = Callable[[Any, Sequence[GalleryItem]], list[Strip]]
KINDS: dict[str, Strips] = {
    "gallery": gallery.strips,
    "comparison": comparison.strips,
    "failures": failures.strips,
    "decoder_steps": decoder_steps.strips,
}
# In these the number stands alone below an answer.
_BARE_NUMBERS = ("comparison", "failures")


@dataclass(frozen=True)
class Shown:
    """What a gallery draws: its answers, and in words what it cannot draw.

    `gaps` are pairs of a model's label and a reason. `notes` are lines for the heading: what was
    passed over, or what must not be shared.
    """

    items: Sequence[GalleryItem]
    gaps: Sequence[tuple[str, str]] = field(default_factory=tuple)
    notes: Sequence[str] = field(default_factory=tuple)


def draw_gallery(spec: GallerySpec, shown: Shown) -> Figure:
    """Draw one gallery of any kind.

    Raises:
        GensightError: it does not fit on a page.
    """
    return stacked(spec.title, _lines(spec, shown), _strips(spec, shown))


def draw_panels(spec: PanelsSpec, shown: Sequence[Shown]) -> Figure:
    """Draw several galleries below each other, lettered; `shown` is theirs in their order.

    Raises:
        GensightError: they do not fit on a page.
    """
    strips = []
    for letter, panel, one in zip(ascii_lowercase, spec.panels, shown, strict=False):
        strips.append(panel_strip(f"({letter}) {panel.title}", _lines(panel, one)))
        strips += _strips(panel, one)
    return stacked(spec.title, style.heading_lines(spec.caption), strips)


def _strips(spec: GallerySpec, shown: Shown) -> list[Strip]:
    found = KINDS[spec.kind](spec, shown.items)
    words = _gap_lines(shown)
    if not shown.items and not words:
        words = ["no model of this figure is in the run"]
    return [*found, *([words_strip(words)] if words else [])]


def _gap_lines(shown: Shown) -> list[str]:
    """Return what cannot be shown, one line per reason with the models that it is true of."""
    labels: dict[str, list[str]] = {}
    for label, why in shown.gaps:
        labels.setdefault(why, []).append(label)
    return [f"Not shown: {', '.join(dict.fromkeys(told))}: {why}." for why, told in labels.items()]


def _lines(spec: GallerySpec, shown: Shown) -> list[str]:
    number = f"Below each answer: {spec.metric_label}." if spec.kind in _BARE_NUMBERS else ""
    caption = " ".join(part for part in (spec.caption, number) if part)
    lines = [caption, *_rule_lines(shown.items), *shown.notes]
    return [part for line in lines for part in style.heading_lines(line)]


def _rule_lines(items: Sequence[GalleryItem]) -> list[str]:
    """Return the texts of the rules in use, one line per text with the rules that share it."""
    rules: dict[str, list[str]] = {}
    for item in items:
        if item.rule_text:
            rules.setdefault(item.rule_text, []).append(item.rule)
    return [f"Examples, {', '.join(dict.fromkeys(r))}: {text}." for text, r in rules.items()]
