"""Rubrics and judges: what ships, what is refused in one line, and whose words they are."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest

from gensight import metrics
from gensight.errors import SpecError
from gensight.judges.attempts import is_rescored
from gensight.specs.base import load_spec, parse
from gensight.specs.judge import JudgeSpec
from gensight.specs.model import ModelSpec
from gensight.specs.rubric import RubricSpec

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT.parent / "shared" / "papers"
RUBRICS = {
    path.stem: load_spec(path, RubricSpec) for path in (ROOT / "resources/rubrics").glob("*.yaml")
}
JUDGES = {path.stem: load_spec(path, JudgeSpec) for path in (ROOT / "config/judges").glob("*.yaml")}
ICON = RUBRICS["pixel_icon"]
ICON_TEXT = " ".join(" ".join(part.text or "" for part in ICON.parts).split())
RUN = 8


def runs_of_words(text):
    words = re.findall(r"[a-z0-9]+", text.lower())
    return {tuple(words[place : place + RUN]) for place in range(len(words) - RUN + 1)}


@pytest.mark.skipif(not PAPERS.exists(), reason="the papers' texts are not here")
@pytest.mark.parametrize("name", RUBRICS)
def test_rubrics_share_no_run_of_words_with_the_papers(name):
    text = "\n".join(part.text or "" for part in RUBRICS[name].parts)
    assert len(runs_of_words(text)) > 100
    for paper in sorted(PAPERS.glob("*.txt")):
        assert not runs_of_words(text) & runs_of_words(paper.read_text()), paper.name


def test_the_icon_rubric_has_the_dimensions_and_points_of_the_paper():
    assert ICON.ranges == {
        "subject_identity": [0, 20],
        "defining_attributes": [0, 25],
        "structure_proportion": [0, 20],
        "detail_quality": [0, 20],
        "pixel_art_execution": [0, 10],
        "palette_contrast": [0, 5],
    }
    assert (ICON.least, ICON.most, ICON.shown, ICON.per) == (0, 100, ["answer"], "answer")
    assert ICON.notes == ["observed_subject", "confidence", "failure_flags"]


# What the paper's rubric (Appendix G.2) asks for, and the words in which ours asks for it.
REQUIREMENTS = {
    "strict": "you mark strictly",
    "the target concept": '"{label}"',
    "the native size": "{size} by {size} cells",
    "an enlargement without smoothing": "blown up without any smoothing",
    "large squares are meant": "take no points off for them",
    "all six dimensions, each by itself": "Treat every category by itself",
    "no reward for complexity": "An elaborate picture earns no more than a plain one",
    "no guess at the generator": "may have drawn it is not your concern",
    "an attractive wrong subject stays wrong": "A good-looking icon of something else",
    "an unrecognisable subject too": "or of nothing one can name, stays a failure",
    "identity: clearly the target": "can one see at once that this is the thing asked for",
    "identity: not related, unclear, wrong": "a neighbour of it, something undecided, or something",
    "attributes: parts and shapes": "the parts and shapes by which one knows such a thing",
    "attributes: present, right, related": "drawn rightly and standing rightly to the others",
    "structure: silhouette, proportion": "does the outline hold together, with sound proportions",
    "structure: framing": "a sensible place in the frame",
    "structure: not cropped or merged": "nothing cut off, run together or built wrongly",
    "detail: coherent, informative, fitting": "make sense, tell one something and suit the subject",
    "detail: at the native size": "as far as {size} cells a side allow",
    "execution: deliberate clusters, edges": "groups of pixels and their borders look placed on",
    "execution: right for the grid": "right for this grid",
    "execution: no noise, no texture": "free of stray specks and of broken-up false texture",
    "palette: few, coherent": "do its few colours go together",
    "palette: contrast keeps the parts": "keep the subject, and the parts of it that matter, apart",
    "JSON only, no Markdown": "Answer with a single JSON object and no Markdown around it",
    "confidence in three steps": "one of low, medium, high",
    "what is literally seen": "in a few plain words, what can be seen",
    "flags may be empty": "empty if nothing did",
}


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_the_icon_rubric_asks_for_everything_that_the_paper_asks_for(requirement):
    assert REQUIREMENTS[requirement] in ICON_TEXT


def test_the_text_names_every_dimension_its_points_and_its_form():
    for name in ICON.ranges:
        assert f"{name}, {{{name}}} points:" in ICON_TEXT
        assert f'"{name}": {{{{"score": 0, "reason":' in ICON_TEXT
    for note in ICON.notes:
        assert f'"{note}":' in ICON_TEXT


def test_metrics_of_the_icon_rubric_have_its_ranges():
    for name, (least, most) in ICON.ranges.items():
        assert (least, most) == metrics.load(f"judge_{name}").BOUNDS
    for name in ("judge_total", "judge_total_least", "judge_total_most"):
        assert (ICON.least, ICON.most) == metrics.load(name).BOUNDS


@pytest.mark.parametrize("name", JUDGES)
def test_a_shipped_judge_names_rubrics_and_models_that_answer_in_words(name):
    judge = JUDGES[name]
    assert set(judge.rubrics) <= set(RUBRICS)
    for model in judge.models:
        spec = load_spec(ROOT / f"config/models/{model}.yaml", ModelSpec)
        assert (spec.answers, spec.tasks) == ("text", [])


def test_a_tenth_of_the_concepts_is_judged_twice():
    judge = load_spec(ROOT / "config/judges/pixel_icon_gemini.yaml", JudgeSpec)
    ids = [f"concept_{number:03}" for number in range(1, 101)]
    again = judge.rescored
    assert sum(is_rescored(name, again.share, again.assumed_seed) for name in ids) == 10


def test_the_paper_s_judge_is_asked_as_the_paper_says():
    judge = JUDGES["pixel_icon_gemini"]
    assert (judge.repeats, judge.reasks, judge.rescored.share) == (1, 2, 0.1)
    spec = load_spec(ROOT / f"config/models/{judge.models[0]}.yaml", ModelSpec)
    asked = spec.generation
    assert (asked["temperature"], asked["thinking"], asked["max_output_tokens"]) == (0, 0, 1536)


BASE = {
    "task": "text_to_pixel",
    "reply": "json",
    "dimensions": [{"name": "subject", "most": 20}],
    "parts": [{"text": "{label}: {subject}"}, {"picture": "answer"}],
}


def changed(**changes):
    return {**copy.deepcopy(BASE), **changes}


LINE = {"reply": "score_line", "dimensions": [{"name": "a", "most": 2, "line": "A b"}]}
REFUSED = [
    (changed(reply="yaml"), "key 'reply'"),
    (changed(dimensions=[]), "key 'dimensions'"),
    (changed(dimensions=[{"name": "Subject", "most": 20}]), "a name of a-z, 0-9 and _"),
    (changed(dimensions=[{"name": "a", "most": 2, "least": 2}]), "most must be above it"),
    (changed(dimensions=[{"name": "a", "most": 2}] * 2, parts=BASE["parts"][1:]), "listed twice"),
    (changed(notes=["subject"]), "'subject' is listed twice"),
    (changed(ignored=["total", "total"]), "'total' is listed twice"),
    (changed(dimensions=[{"name": "label", "most": 2}]), "'label' is a placeholder"),
    (
        changed(parts=[{"text": "{subjekt}"}, {"picture": "answer"}]),
        "'{subjekt}' is no placeholder",
    ),
    (changed(parts=[{"text": "{"}, {"picture": "answer"}]), "a brace without its partner"),
    (changed(parts=[{"text": "a"}]), "nothing would be judged"),
    (changed(parts=[{"picture": "answer"}] * 2), "'answer' is listed twice"),
    (changed(parts=[{"picture": "output"}]), "key 'parts.0.picture'"),
    (changed(parts=[{"picture": "answer", "text": "a"}]), "exactly one of text and picture"),
    (changed(per="reference"), "go together"),
    (changed(parts=[*BASE["parts"], {"picture": "reference"}]), "go together"),
    (changed(parts=[{"text": "{hint}"}, {"picture": "answer"}]), "{hint} belongs to a reference"),
    (changed(reply="score_line"), "whose `line` names it"),
    (changed(**LINE, notes=["x"], parts=BASE["parts"][1:]), "belong to reply: json"),
    (changed(pictures={"assumed_enlarged_to_px": 0}), "assumed_enlarged_to_px"),
    (changed(clamp=True), "unknown key 'clamp'"),
]


@pytest.mark.parametrize(("content", "told"), REFUSED)
def test_a_wrong_rubric_is_refused_in_one_line(content, told):
    with pytest.raises(SpecError, match=re.escape(told)) as caught:
        parse("resources/rubrics/x.yaml", RubricSpec, content)
    assert "resources/rubrics/x.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_rubrics_of_other_suites_can_be_said():
    rubric = parse(
        "x.yaml",
        RubricSpec,
        {
            "task": "segmentation",
            "reply": "score_line",
            "dimensions": [{"name": "consistency", "most": 2, "line": "Visual Consistency"}],
            "per": "reference",
            "parts": [
                {"picture": "reference"},
                {"text": "Keep {hint}. Say 'Visual Consistency: X'."},
                {"picture": "answer"},
            ],
        },
    )
    assert rubric.shown == ["reference", "answer"]
    assert rubric.placeholders == {"hint"}


JUDGE = {"rubrics": ["pixel_icon"], "models": ["examiner"], "display": {"label": "x"}}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"rubrics": []}, "rubrics"),
        ({"models": ["a", "a"]}, "models"),
        ({"repeats": 0}, "repeats"),
        ({"reasks": -1}, "reasks"),
        ({"rescored": {"share": 0}}, "rescored.share"),
        ({"rescored": {"share": 1.1}}, "rescored.share"),
        ({"reading": "loose"}, "reading"),
        ({"aggregation": "mean"}, "aggregation"),
    ],
)
def test_a_wrong_judge_is_refused_in_one_line(changes, key):
    with pytest.raises(SpecError, match=re.escape(f"'{key}'")):
        parse("config/judges/x.yaml", JudgeSpec, {**JUDGE, **changes})
