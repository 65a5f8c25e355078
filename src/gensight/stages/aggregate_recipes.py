"""How each row of an aggregate is made from numbers: linear forms, anchors and sets of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gensight import metrics
from gensight.errors import RecordError
from gensight.rounding import rounded
from gensight.specs.aggregates import (
    AggregateRowSpec,
    AggregateSpec,
    Anchor,
    AnchorsSpec,
    ModelNumberSpec,
    NormalisedSpec,
)
from gensight.stages.aggregate_numbers import Subject
from gensight.statistics.aggregates import Anchors, LinearForm, anchors_of

Subjects = Mapping[str, Subject]
#: What makes a number or row of the numbers; None where its anchors are not known.
Forms = Mapping[str, LinearForm | None]


@dataclass(frozen=True)
class Recipe:
    """One row: the numbers behind it (`keys`) and the form that makes it of them.

    `form` is None where its anchors are not known, or where all rows of a set are equal in a
    component. `row_set` holds the components of every model of the set, rounded as they were used.
    """

    row: AggregateRowSpec
    keys: tuple[str, ...]
    form: LinearForm | None
    components: Mapping[str, LinearForm]
    higher_is_better: bool
    anchors: Anchors = field(default_factory=dict)
    row_set: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """Return how its interval by resampling is called."""
        scaled = self.row.anchored is not None or self.row.normalised is not None
        return "joint percentile, anchors frozen" if scaled else "joint percentile"

    def value(self, subject: Subject) -> float | None:
        """Return the row of a model, from components as they are printed where that is asked."""
        if self.form is None or not self._rounds:
            return subject.value(self.form)
        printed = components_of(subject, self.row, self.components)
        if printed is None:
            return None
        of_own = {name: LinearForm({name: 1.0}) for name in self.components}
        scaled = [of_own[name].between(*self.anchors[name]) for name in self.components]
        return LinearForm.mean(scaled).of(printed)

    @property
    def _rounds(self) -> bool:
        return self.row.normalised is not None and self.row.normalised.rounding == "paper"


def recipes(spec: AggregateSpec, subjects: Subjects, roles: Mapping[str, str]) -> Iterator[Recipe]:
    """Yield the recipe of every row of a spec, in its order."""
    forms: dict[str, LinearForm | None] = {n: LinearForm({n: 1.0}) for n in spec.numbers}
    keys: dict[str, tuple[str, ...]] = {name: (name,) for name in spec.numbers}
    higher = {n: metrics.load(one.metric).HIGHER_IS_BETTER for n, one in spec.numbers.items()}
    for row in spec.rows:
        behind = tuple(dict.fromkeys(key for name in row.components for key in keys[name]))
        components = {name: form for name in row.components if (form := forms[name]) is not None}
        recipe = Recipe(row, behind, None, components, _direction(row, higher))
        if len(components) == len(row.components):
            recipe = _with_form(recipe, forms, higher, subjects, roles)
        forms[row.name], keys[row.name] = recipe.form, behind
        higher[row.name] = recipe.higher_is_better
        yield recipe


def _with_form(
    recipe: Recipe,
    forms: Forms,
    higher: Mapping[str, bool],
    subjects: Subjects,
    roles: Mapping[str, str],
) -> Recipe:
    row, components = recipe.row, recipe.components
    if row.difference is not None:
        after, before = (components[name] for name in row.difference)
        return replace(recipe, form=LinearForm.total([after, before.times(-1.0)]))
    if row.anchored is not None:
        anchors = _anchors(row.anchored, forms, subjects)
        return replace(recipe, form=_between(components, anchors), anchors=anchors)
    if row.normalised is not None:
        members = _row_set(recipe, row.normalised, subjects, roles)
        extremes = anchors_of(members)
        anchors = {n: ends if higher[n] else ends[::-1] for n, ends in extremes.items()}
        form = _between(components, anchors)
        return replace(recipe, form=form, anchors=anchors, row_set=members)
    return replace(recipe, form=LinearForm.mean([*components.values()]))


def components_of(
    subject: Subject, row: AggregateRowSpec, components: Mapping[str, LinearForm]
) -> dict[str, float] | None:
    """Return a model's components, rounded where the row asks for it; None where one is missing."""
    decimals = row.normalised.decimals if row.normalised is not None else {}
    found = {}
    for name, form in components.items():
        value = subject.value(form)
        if value is None:
            return None
        found[name] = float(rounded(value, decimals[name])) if name in decimals else value
    return found


def _anchors(
    pairs: Mapping[str, AnchorsSpec], forms: Forms, subjects: Subjects
) -> dict[str, tuple[float, float]]:
    """Return low and high of every component whose anchors are known."""
    anchors = {}
    for name, pair in pairs.items():
        low, high = (_anchor(end, forms, subjects) for end in (pair.low, pair.high))
        if low is not None and high is not None:
            anchors[name] = (low, high)
    return anchors


def _anchor(anchor: Anchor, forms: Forms, subjects: Subjects) -> float | None:
    if not isinstance(anchor, ModelNumberSpec):
        return float(anchor)
    subject = subjects.get(anchor.model)
    return subject.value(forms[anchor.of]) if subject else None


def _row_set(
    recipe: Recipe, spec: NormalisedSpec, subjects: Subjects, roles: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """Return the components of every model of the set that has them all, by name."""
    listed = spec.row_set
    names = [m for m in subjects if roles[m] == "measured"] if listed == "run" else listed
    members = {}
    for model in sorted(set(names) & set(subjects)):
        found = components_of(subjects[model], recipe.row, recipe.components)
        if found is not None:
            members[model] = found
    return members


def _between(components: Mapping[str, LinearForm], anchors: Anchors) -> LinearForm | None:
    """Return the mean of the rescaled components, None where one has no range."""
    if any(name not in anchors or anchors[name][0] == anchors[name][1] for name in components):
        return None
    return LinearForm.mean([form.between(*anchors[name]) for name, form in components.items()])


def _direction(row: AggregateRowSpec, higher: Mapping[str, bool]) -> bool:
    """Whether a greater value of a row is better: of a difference, as of what it starts from.

    Raises:
        RecordError: the components of a mean do not agree: some are better when they are lower.
    """
    if row.anchored is not None or row.normalised is not None:
        return True
    told = [higher[name] for name in row.components]
    if row.mean_of is not None and len(set(told)) > 1:
        raise RecordError(
            f"row '{row.name}': of {', '.join(row.components)} some are better when higher, others "
            f"when lower; give them anchors, or average them apart"
        )
    return told[0]


def unit_of(spec: AggregateSpec, recipe: Recipe) -> str:
    """Return the unit of a row: that of its numbers where they share one, per cent of a range."""
    if recipe.row.anchored is not None or recipe.row.normalised is not None:
        return "percent"
    units = {metrics.load(spec.numbers[key].metric).UNIT for key in recipe.keys}
    return units.pop() if len(units) == 1 else ""


def kinds_of(spec: AggregateSpec, keys: Sequence[str]) -> set[str]:
    """Return the kinds of interval that the metrics of some numbers have."""
    return {getattr(metrics.load(spec.numbers[k].metric), "INTERVAL", "mean") for k in keys}
