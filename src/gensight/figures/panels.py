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
from gensight.figures.rules import rule_text
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
    passed over, or what must not be shared. `leader` is the label of the model that all samples
    were chosen on, None where each model has its own.
    """

    items: Sequence[GalleryItem]
    gaps: Sequence[tuple[str, str]] = field(default_factory=tuple)
    notes: Sequence[str] = field(default_factory=tuple)
    leader: str | None = None


def draw_gallery(spec: GallerySpec, shown: Shown) -> Figure:
    """Draw one gallery of any kind.

    Raises:
        GensightError: it does not fit on a page.
    """
    return stacked(spec.title, _lines(spec, shown), _strips(spec, shown))


def draw_panels(spec: PanelsSpec, shown: Sequence[Shown]) -> Figure:
    """Draw several galleries below each other, lettered; `shown` is theirs in their order.

    What rules mean is told once, in the heading; so are the names of columns, where a panel has
    those of the panel above it.

    Raises:
        GensightError: they do not fit on a page.
    """
    strips, names = [], None
    for letter, panel, one in zip(ascii_lowercase, spec.panels, shown, strict=False):
        lines = style.heading_lines(" ".join(_panel_sentences(panel, one)))
        strips.append(panel_strip(f"({letter}) {panel.title}", lines))
        for strip in _strips(panel, one):
            if not strip.names or strip.names != names:
                strips.append(strip)
            names = strip.names or names
    meanings = _rule_lines([item for one in shown for item in one.items], "number")
    lines = [part for line in (spec.caption, *meanings) for part in style.heading_lines(line)]
    return stacked(spec.title, lines, strips)


def _strips(spec: GallerySpec, shown: Shown) -> list[Strip]:
    found = KINDS[spec.kind](spec, shown.items)
    words = _gap_lines(shown)
    if not shown.items and not words:
        words = ["No model of this figure is in the run."]
    return [*found, *([words_strip(words)] if words else [])]


def _gap_lines(shown: Shown) -> list[str]:
    """Return what cannot be shown, one line per reason with the models that it is true of."""
    labels: dict[str, list[str]] = {}
    for label, why in shown.gaps:
        labels.setdefault(why, []).append(label)
    return [f"Not shown: {'; '.join(dict.fromkeys(told))}: {why}." for why, told in labels.items()]


def _lines(spec: GallerySpec, shown: Shown) -> list[str]:
    """Return the heading of a gallery that is a figure of its own."""
    first = " ".join(part for part in (spec.caption, _number_words(spec)) if part)
    meanings = _rule_lines(shown.items, spec.metric, shown.leader)
    return [part for line in (first, *meanings, *shown.notes) for part in style.heading_lines(line)]


def _panel_sentences(spec: GallerySpec, shown: Shown) -> list[str]:
    """Return the heading of a panel, without what its rules mean."""
    rules = [rule for rule in dict.fromkeys(item.rule for item in shown.items) if rule != "failed"]
    chosen = f"Examples by {spec.metric}{_leader_words(shown.leader)}: {', '.join(rules)}."
    found = (spec.caption, _number_words(spec), chosen if rules else "", *shown.notes)
    return [sentence for sentence in found if sentence]


def _number_words(spec: GallerySpec) -> str:
    return f"Below each answer: {spec.metric_label}." if spec.kind in _BARE_NUMBERS else ""


def _leader_words(leader: str | None) -> str:
    return "" if leader is None else f", chosen on {leader}"


def _rule_lines(items: Sequence[GalleryItem], metric: str, leader: str | None = None) -> list[str]:
    """Return what the rules in use mean, one line per text with the rules that share it."""
    rules: dict[str, list[str]] = {}
    for rule in dict.fromkeys(item.rule for item in items):
        rules.setdefault(rule_text(rule, metric), []).append(rule)
    told = _leader_words(leader)
    return [f"Examples, {', '.join(names)}: {text}{told}." for text, names in rules.items()]
