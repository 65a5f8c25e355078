"""The rounds of an agent that segments: a scripted viewer, a scripted tool, every way to end."""

import json
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from gensight.digests import digest_of_bytes
from gensight.errors import AnswerError
from gensight.images import decode_mask, decode_rgb, encode_png
from gensight.models import Part, Reply
from gensight.models._agent import ASSUMED_MOST_SHOWN, Game
from gensight.models._agent_words import ASSUMED_MOST_ASKED, ReplyError, read_reply
from gensight.models._outlines import COLOURS, outlined

HEIGHT, WIDTH = 60, 100
PICTURE = np.full((HEIGHT, WIDTH, 3), 128, np.uint8)
IMAGE = encode_png(PICTURE)


def square(left, top, side=10):
    mask = np.zeros((HEIGHT, WIDTH), bool)
    mask[top : top + side, left : left + side] = True
    return mask


LEFT, MIDDLE, RIGHT = square(5, 5), square(40, 20), square(80, 40)
EMPTY = np.zeros((HEIGHT, WIDTH), bool)


@dataclass
class Viewer:
    """Replies as written: texts, or what is no text as JSON; keeps what it was shown."""

    script: list
    seen: list = field(default_factory=list)

    def __call__(self, parts):
        self.seen.append(parts)
        said = self.script[len(self.seen) - 1]
        if isinstance(said, Reply):
            return said
        return Reply("ok", text=said if isinstance(said, str) else json.dumps(said))

    def text(self, call):
        (part,) = (part for part in self.seen[call] if part.kind == "text")
        return part.text

    def pictures(self, call):
        return [part.image for part in self.seen[call] if part.kind == "image"]


@dataclass
class Instances:
    masks: np.ndarray
    boxes: np.ndarray
    scores: np.ndarray


@dataclass
class Tool:
    """Finds the masks written for its first phrase, in the order of their scores 0.1, 0.2, ..."""

    finds: dict
    asked: list = field(default_factory=list)

    def __call__(self, phrases, boxes):
        self.asked.append((tuple(phrases), [tuple(box) for box in boxes]))
        masks = self.finds.get(phrases[0] if phrases else None, [])
        count = len(masks)
        return Instances(
            np.array(masks, bool).reshape(count, HEIGHT, WIDTH),
            np.arange(4.0 * count).reshape(count, 4),
            np.arange(1, count + 1) / 10,
        )


def propose(*phrases, **more):
    return {"action": "propose", "phrases": list(phrases), **more}


def retry(*phrases):
    return {"action": "retry", "phrases": list(phrases)}


def accept(*masks):
    return {"action": "accept", "masks": list(masks)}


GIVE_UP = {"action": "give_up"}
FINDS = {"cup": [LEFT, RIGHT], "mug": [MIDDLE], "hollow": [EMPTY], "mixed": [EMPTY, LEFT]}


def played(*script, rounds=None, finds=FINDS):
    """Play a script; it must be used up, and the transcript be JSON."""
    viewer, tool = Viewer(list(script)), Tool(finds)
    game = Game(tool, PICTURE, IMAGE, "the cup {left}", rounds or len(script))
    verdict = None
    while verdict is None:
        verdict = game.take(viewer(game.prompt()))
    assert len(viewer.seen) == len(script) == len(game.rounds)
    assert json.loads(json.dumps(game.rounds, allow_nan=False)) == game.rounds
    return SimpleNamespace(**vars(verdict), rounds=game.rounds), viewer, tool


def equal(mask, *masks):
    expected = np.logical_or.reduce([EMPTY, *masks])
    return mask.dtype == bool and np.array_equal(mask, expected)


def test_what_is_accepted_is_the_answer():
    verdict, viewer, tool = played(propose("cup"), accept(2), rounds=9)
    assert (verdict.outcome, verdict.status, verdict.detail) == ("ok", "accepted", None)
    # Numbers go by score, the best first: 2 is the first that the tool found.
    assert equal(verdict.mask, LEFT)
    assert tool.asked == [(("cup",), [])]
    assert viewer.pictures(0) == [IMAGE]
    original, overlay = viewer.pictures(1)
    shown = outlined(PICTURE, [RIGHT, LEFT])
    assert original == IMAGE
    np.testing.assert_array_equal(decode_rgb(overlay, matte=(0, 0, 0)), shown)
    assert "\nthe cup {left}\n" in viewer.text(0)
    assert "You have 9 replies left" in viewer.text(0)
    assert '"accept"' not in viewer.text(0)
    assert '1. "cup": 2 found' in viewer.text(1)
    assert '{"action": "accept", "masks": [1, 2]}' in viewer.text(1)
    both, *_ = played(propose("cup"), accept(2, 1, 2))
    assert equal(both.mask, LEFT, RIGHT)


def test_two_rejections_and_an_acceptance():
    verdict, viewer, tool = played(propose("cup"), retry("mug"), retry("cup", "mug"), accept(1))
    assert (verdict.outcome, verdict.status) == ("ok", "accepted")
    assert equal(verdict.mask, RIGHT)
    assert [phrases for phrases, _ in tool.asked] == [("cup",), ("mug",), ("cup", "mug")]
    assert '1. "cup": 2 found\n2. "mug": 1 found\n3. "cup", "mug": 2 found' in viewer.text(3)
    assert 'your last\ntry ("cup", "mug")' in viewer.text(3)
    assert "This is your last reply" in viewer.text(3)
    # What was accepted is what is shown, not what was shown before.
    assert [len(viewer.pictures(call)) for call in range(4)] == [1, 2, 2, 2]
    assert len({viewer.pictures(call)[1] for call in (1, 2)}) == 2


def test_without_acceptance_the_last_proposal_is_taken_and_flagged():
    verdict, _, _ = played(propose("cup"), retry("mug"))
    assert (verdict.outcome, verdict.status, verdict.detail) == (
        "ok",
        "not_accepted",
        "not_accepted",
    )
    assert equal(verdict.mask, MIDDLE)
    # One that finds nothing is none; one in the last round is looked at by nobody, and counts.
    assert equal(played(propose("cup"), retry("nothing"))[0].mask, LEFT, RIGHT)
    assert equal(played(propose("cup"), "?", "?")[0].mask, LEFT, RIGHT)
    assert equal(played(propose("mug"))[0].mask, MIDDLE)


def test_giving_up_is_an_empty_answer():
    for script in ([GIVE_UP], [propose("cup"), GIVE_UP]):
        verdict, _, _ = played(*script, rounds=5)
        assert (verdict.outcome, verdict.status) == ("ok", "gave_up")
        assert equal(verdict.mask)


@pytest.mark.parametrize("phrase", ["nothing", "hollow"])
def test_an_empty_mask_is_told(phrase):
    verdict, viewer, _ = played(propose(phrase), accept(1), retry(phrase))
    assert (verdict.outcome, verdict.status) == ("ok", "no_mask")
    assert equal(verdict.mask)
    assert f'1. "{phrase}": nothing was found' in viewer.text(1)
    assert viewer.pictures(1) == [IMAGE]
    # Nothing is shown, so that nothing can be accepted.
    assert '"accept" needs outlines to accept, and none are shown' in viewer.text(2)
    assert verdict.malformed == 1


def test_an_empty_mask_among_others_has_no_number():
    verdict, viewer, _ = played(propose("mixed"), accept(2), accept(1))
    assert "mask 2 is not one of 1 to 1" in viewer.text(2)
    assert equal(verdict.mask, LEFT)
    assert len(verdict.rounds[0]["found"]) == 1


def test_malformed_replies_use_up_rounds_and_are_told_why():
    verdict, viewer, tool = played(
        "I think it is the left cup.", propose("cup"), accept(9), accept(1)
    )
    assert (verdict.status, verdict.malformed) == ("accepted", 2)
    assert len(tool.asked) == 1
    assert "Your last reply could not be used: it is not one JSON object alone." in viewer.text(1)
    assert "could not be used" not in viewer.text(2)
    assert "could not be used: mask 9 is not one of 1 to 2." in viewer.text(3)
    # What was shown is shown again.
    assert viewer.pictures(3) == viewer.pictures(2)


def test_malformed_replies_alone_are_no_answer():
    verdict, _, tool = played("", "[]", accept(1), Reply("truncated", text='{"action": '))
    assert (verdict.outcome, verdict.status, verdict.mask) == ("malformed", "malformed", None)
    assert verdict.detail == "no action in 4 replies"
    assert tool.asked == []
    assert [told["problem"] is not None for told in verdict.rounds] == [True] * 4
    assert verdict.rounds[3]["problem"] == "it ended as truncated"


@pytest.mark.parametrize("outcome", ["refused_input", "refused_output"])
def test_a_viewer_that_always_refuses_refused(outcome):
    refusal = Reply(outcome, text="I cannot help with that.", detail="refusal")
    verdict, _, _ = played(refusal, refusal)
    assert (verdict.outcome, verdict.status, verdict.mask) == (outcome, "malformed", None)
    assert verdict.rounds[0]["reply_detail"] == "refusal"
    # One that refuses once has not.
    assert played(refusal, "?")[0].outcome == "malformed"
    assert played(refusal, propose("cup"), accept(1))[0].outcome == "ok"


def test_a_viewer_that_cannot_be_asked_costs_the_question():
    gone = Reply("overloaded_exhausted", detail="503")
    with pytest.raises(AnswerError, match="overloaded_exhausted: 503"):
        played(propose("cup"), gone)


def test_boxes_are_thousandths_of_the_picture():
    finds = {None: [MIDDLE]}
    boxes = [[400, 333.5, 500, 500], [0, 0, 1000, 1000]]
    verdict, viewer, tool = played({"action": "propose", "boxes": boxes}, accept(1), finds=finds)
    ((phrases, asked),) = tool.asked
    assert phrases == ()
    np.testing.assert_allclose(asked, [(40, 20.01, 50, 30), (0, 0, WIDTH, HEIGHT)])
    assert "1. box [400, 333.5, 500, 500], box [0, 0, 1000, 1000]: 1 found" in viewer.text(1)
    assert verdict.rounds[0]["boxes_px"] == [[40, 20.01, 50, 30], [0, 0, WIDTH, HEIGHT]]
    assert verdict.rounds[0]["action"]["boxes"] == boxes


def test_the_best_masks_are_shown_and_all_are_kept():
    many = [square(n % 90, n % 50) for n in range(ASSUMED_MOST_SHOWN + 3)]
    last = accept(ASSUMED_MOST_SHOWN)
    verdict, viewer, _ = played(propose("cup"), accept(25), last, finds={"cup": many})
    assert f'"cup": {len(many)} found, the best {ASSUMED_MOST_SHOWN} shown' in viewer.text(1)
    # The best comes last from this tool, so that three of the first are not shown.
    assert equal(verdict.mask, many[3])
    assert len(verdict.rounds[0]["found"]) == len(many)
    untaken, *_ = played(propose("cup"), finds={"cup": many})
    assert equal(untaken.mask, *many[3:])


def test_every_prompt_reply_box_and_mask_is_kept():
    verdict, viewer, _ = played(propose("cup"), "?", accept(1))
    first, second, third = verdict.rounds
    assert first["prompt"] == [
        {"image_sha256": digest_of_bytes(IMAGE)}, {"text": viewer.text(0)}
    ]  # fmt: skip
    assert second["prompt"][1] == {"image_sha256": digest_of_bytes(viewer.pictures(1)[1])}
    assert [told["reply"] for told in verdict.rounds] == [
        json.dumps(propose("cup")), "?", json.dumps(accept(1))
    ]  # fmt: skip
    assert (second["action"], third["action"]) == (None, {"action": "accept", "masks": [1]})
    best, other = first["found"]
    np.testing.assert_array_equal(decode_mask(best["mask"]), RIGHT)
    np.testing.assert_array_equal(decode_mask(other["mask"]), LEFT)
    assert (best["score"], best["box_px"]) == (0.2, [4, 5, 6, 7])
    assert second["found"] == third["found"] == []


def test_the_same_game_is_told_in_the_same_words():
    script = [propose("cup"), "?", retry("mug"), accept(1)]
    assert played(*script)[0].rounds == played(*script)[0].rounds


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"action": "propose", "phrases": ["cup"], "why": "it is red"}', "propose"),
        ('```json\n{"action": "give_up"}\n```', "give_up"),
        ('\n```\n{"action": "give_up"}\n```\n', "give_up"),
        ('Is {"action": "accept"} right?</think>\n{"action": "give_up"}', "give_up"),
        ('{"action": "retry", "phrases": null, "boxes": [[0, 0, 1, 1.5]]}', "retry"),
    ],
)
def test_replies_that_are_actions(text, told):
    assert read_reply(text, 0).name == told


MANY = json.dumps(["cup"] * (ASSUMED_MOST_ASKED + 1))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not one JSON object alone"),
        ('Sure: {"action": "give_up"}', "not one JSON object alone"),
        ('{"action": "give_up"} {"action": "give_up"}', "not one JSON object alone"),
        ("[" * 100000, "not one JSON object alone"),
        ('["give_up"]', "not one JSON object alone"),
        ("{}", '"action" is null, not one of propose, retry, accept, give_up'),
        ('{"action": ["accept"]}', '"action" is ["accept"]'),
        ('{"action": "propose"}', '"propose" has neither phrases nor boxes'),
        ('{"action": "retry", "phrases": []}', '"retry" has neither phrases nor boxes'),
        ('{"action": "retry", "phrases": "cup"}', '"phrases" is "cup", not a list'),
        ('{"action": "retry", "phrases": [" "]}', '" " is no phrase'),
        ('{"action": "retry", "phrases": ["\\ud800"]}', '"\\ud800" is no phrase'),
        ('{"action": "retry", "phrases": [3]}', "3 is no phrase"),
        (f'{{"action": "retry", "phrases": {MANY}}}', "more than 8 phrases and boxes"),
        ('{"action": "retry", "boxes": [0, 0, 9, 9]}', "0 is no box"),
        ('{"action": "retry", "boxes": [[0, 0, 9]]}', "[0, 0, 9] is no box"),
        ('{"action": "retry", "boxes": [[9, 0, 9, 9]]}', "is no box"),
        ('{"action": "retry", "boxes": [[0, 0, 9, 1001]]}', "is no box"),
        ('{"action": "retry", "boxes": [[-1, 0, 9, 9]]}', "is no box"),
        ('{"action": "retry", "boxes": [[0, 0, 9, true]]}', "is no box"),
        ('{"action": "retry", "boxes": [[0, 0, 9, "9"]]}', "is no box"),
        ('{"action": "retry", "boxes": [[0, 0, 9, NaN]]}', "is no box"),
        ('{"action": "retry", "boxes": [[0, 0, 9, 1e999]]}', "is no box"),
        (f'{{"action": "retry", "boxes": [[0, 0, 9, {10**400}]]}}', "... is no box"),
        ('{"action": "accept"}', '"accept" names no masks'),
        ('{"action": "accept", "masks": []}', '"accept" names no masks'),
        ('{"action": "accept", "masks": 1}', '"masks" is 1, not a list'),
        ('{"action": "accept", "masks": [0]}', "mask 0 is not one of 1 to 3"),
        ('{"action": "accept", "masks": [1, 4]}', "mask 4 is not one of 1 to 3"),
        ('{"action": "accept", "masks": [1.0]}', "mask 1.0 is not one of"),
        ('{"action": "accept", "masks": [true]}', "mask true is not one of"),
    ],
)
def test_replies_that_are_none_are_told_why(text, told):
    with pytest.raises(ReplyError) as caught:
        read_reply(text, 3)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_outlines_are_numbered_and_leave_the_rest_alone():
    before = PICTURE.copy()
    big = square(20, 10, 40)
    shown = outlined(PICTURE, [big, EMPTY])
    np.testing.assert_array_equal(PICTURE, before)
    assert shown.shape == PICTURE.shape
    assert tuple(shown[10, 40]) == COLOURS[0]
    # Nothing changes far from the outline and its number, which is in the middle.
    changed = (shown != PICTURE).any(axis=2)
    assert not changed[:, :15].any() and not changed[:, 66:].any()
    assert not changed[16:20, 26:34].any() and changed[25:35, 35:45].any()
    assert not (outlined(PICTURE, [EMPTY]) != PICTURE).any()
    # The number is what tells the second of two equal masks from the first.
    assert (outlined(PICTURE, [EMPTY, big]) != shown).any()


@pytest.mark.parametrize("size", [(3, 5), (1024, 102), (102, 1024), (1, 1)])
def test_outlines_and_numbers_fit_on_every_picture(size):
    width, height = size
    picture = np.zeros((height, width, 3), np.uint8)
    masks = [np.ones((height, width), bool)] * 12
    shown = outlined(picture, masks)
    assert shown.shape == picture.shape
    # On a picture of a few pixels the plates of the numbers cover all.
    assert shown.any() == (min(size) > 5)


def test_a_prompt_has_the_pictures_before_the_text():
    _, viewer, _ = played(propose("cup"), accept(1))
    assert [part.kind for part in viewer.seen[1]] == ["image", "image", "text"]
    assert all(isinstance(part, Part) for part in viewer.seen[1])
