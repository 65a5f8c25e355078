"""SAM 3 as the tool of a served VLM: it proposes, looks at the masks, and accepts or tries again.

The prompt's text is what is to be found (resources/prompts/segmentation/target.yaml); `_agent` says
how the two play and how each game ends, `_agent_words` what the VLM is told. The answer is the
union of the accepted masks, white on black at the size of the sent picture. Its setup has `status`
(`accepted`, `gave_up`, `not_accepted`, `no_mask` or `malformed`). Every round is an answer of its
own, kept at once, whose setup has as `round` its prompt, reply, phrases, boxes and masks.

    segmenter, revision, ...    SAM 3 and how it is loaded, as in `transformers_segment`
    agent                       the VLM, under the name by which its server knows it
    agent_revision              its weights, which are not sent but part of what is answered
    max_rounds                  calls of the VLM about one picture, at most
    max_tokens, temperature     of each call; null: not sent

The VLM is asked at the site's endpoint `vllm`. Phrases are looked for one by one, each with the
boxes as examples; boxes alone stand by themselves. The peak of memory is the segmenter's; whoever
started the server adds what that holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gensight.errors import GensightError, SpecError
from gensight.images import decode_rgb, encode_png
from gensight.models import Reply, Site, Turn
from gensight.models._agent import Box, Game, Verdict
from gensight.models._segmenter import Instances, Segmenter, open_segmenter
from gensight.models._served_viewer import SERVICE, ServedViewer
from gensight.models._settings import complete, count, load_sdk, stated
from gensight.models._torch import Meter, Size, only_picture, text_of
from gensight.models._transformers import WHITE, as_pillow

if TYPE_CHECKING:
    import httpx2
    from PIL import Image

    from gensight.models import Adapter
    from gensight.records import Sample

VERSION = 1
READS_TRUTH = False
ANSWERS = ["image"]
DEFAULTS = {
    "segmenter": None,
    "revision": None,
    "assumed_revision": None,
    "dtype": None,
    "assumed_dtype": None,
    "bf16_only": False,
    "ignored_keys": [],
    "threshold": None,
    "assumed_threshold": None,
    "mask_threshold": None,
    "assumed_mask_threshold": None,
    "agent": None,
    "agent_revision": None,
    "assumed_agent_revision": None,
    "server_version": None,
    "max_rounds": None,
    "assumed_max_rounds": None,
    "max_tokens": None,
    "assumed_max_tokens": None,
    "temperature": None,
    "assumed_temperature": None,
}
REQUIRED = ["segmenter", "agent"]


def open_model(
    generation: Mapping[str, Any],
    held_out: Sequence[Sample],
    site: Site = Site(),  # noqa: B008
) -> Adapter:
    """Connect to the VLM's server and load the segmenter.

    Raises:
        SpecError: a setting is missing or out of range.
        GensightError: there is no server, or as `open_segmenter`.
    """
    settings = complete("segment_agent", generation)
    rounds = count(settings, "max_rounds")
    if rounds is None:
        raise SpecError("generation: key 'max_rounds' is missing; add it")
    address = site.endpoints.get(SERVICE)
    if not address:
        raise GensightError(
            f"adapter segment_agent: no server of {settings['agent']} is known; name one that runs "
            f"in the config: endpoints: {{{SERVICE}: 'http://127.0.0.1:8000/v1'}}"
        )
    load_sdk("segment_agent", "openai", "openai")
    from gensight.providers import transport

    client = transport.open_client(site.limits.answer_timeout_s)
    try:
        viewer = ServedViewer(settings, address.rstrip("/"), client)
        loading = {**settings, "model": settings["segmenter"]}
        segmenter = open_segmenter("segment_agent", loading, site)
    except BaseException:
        client.close()
        raise
    return SegmentAgent(viewer, segmenter, client, settings, rounds)


class SegmentAgent:
    """A VLM that is served, with a loaded segmenter; neither draws noise.

    Every round is one answer. The game of the last one is remembered: after a kill it is taken up
    again by what was replied before, and the segmenter finds the same once more.
    """

    fit_digest = ""

    def __init__(
        self,
        viewer: ServedViewer,
        segmenter: Segmenter,
        client: httpx2.Client,
        settings: Mapping[str, Any],
        max_rounds: int,
    ) -> None:
        self.segmenter = segmenter
        self._viewer, self._client, self._settings = viewer, client, settings
        self._max_rounds = max_rounds
        self._open: _Open | None = None

    def answer(self, turn: Turn) -> Reply:
        """Play one round; the last one returns the mask that the game ends with.

        Raises:
            AnswerError: the segmenter made NaN or infinity, or the server gave no answer or did not
                take this request.
            SpecError: the turn has not one picture, or no text.
            GensightError: the server takes no request, or serves another model.
        """
        with Meter() as meter:
            played, self._open = self._taken_up(turn), None
            said = self._viewer(played.game.prompt())
            verdict = played.game.take(said)
        if verdict is None:
            played.texts.append(said.text)
            self._open = played
        setup = self._setup(verdict, played)
        if verdict is None:
            return Reply(
                str(said.outcome),
                text=said.text,
                detail=said.detail,
                peak_memory_gb=meter.peak_memory_gb,
                device=meter.device,
                setup=setup,
                goes_on=True,
            )
        images = ()
        if verdict.mask is not None:
            images = (encode_png(verdict.mask.astype(np.uint8) * np.uint8(255)),)
        return Reply(
            verdict.outcome,
            text=said.text,
            images=images,
            detail=verdict.detail,
            peak_memory_gb=meter.peak_memory_gb,
            device=meter.device,
            setup=setup,
        )

    def _taken_up(self, turn: Turn) -> _Open:
        """Return the game of a turn, after the rounds that were played."""
        image = only_picture(turn, "segment_agent")
        query = text_of(turn).strip()
        if not query:
            raise SpecError(
                "adapter segment_agent: the prompt names nothing; take one with {query}"
            )
        texts = [said.text for said in turn.rounds]
        remembered = self._open
        if remembered is not None and remembered.is_of(image, query, texts):
            return remembered
        tool = _Tool(self.segmenter, as_pillow(image))
        game = Game(tool, decode_rgb(image, matte=WHITE), image, query, self._max_rounds)
        for said in turn.rounds:
            game.take(said)
        return _Open(game, tool, image, query, texts)

    def close(self) -> None:
        """Close the connections to the server."""
        self._client.close()

    def _setup(self, verdict: Verdict | None, played: _Open) -> str:
        size = played.tool.picture.size
        returned = None if verdict is None or verdict.mask is None else size
        ended = {}
        if verdict is not None:
            ended = {"status": verdict.status, "malformed_replies": verdict.malformed}
        return self.segmenter.opened.setup(
            seed=None,
            sizes={"sent": size, "used": played.tool.used, "returned": returned},
            agent={
                "weights": self._settings["agent"],
                "revision": stated(self._settings, "agent_revision"),
                "server_version": self._settings["server_version"],
                "max_rounds": self._max_rounds,
            },
            round=played.game.rounds[-1],
            **ended,
        )


@dataclass
class _Open:
    """A game under way, and what was said in it."""

    game: Game
    tool: _Tool
    image: bytes
    query: str
    texts: list[str | None]

    def is_of(self, image: bytes, query: str, texts: Sequence[str | None]) -> bool:
        return (self.image, self.query, self.texts) == (image, query, texts)


@dataclass
class _Tool:
    """The segmenter as the agent asks it about one picture; `used` is the size it worked at."""

    segmenter: Segmenter
    picture: Image.Image
    used: Size | None = None

    def __call__(self, phrases: Sequence[str], boxes: Sequence[Box]) -> Instances:
        found = [
            self.segmenter.find(self.picture, phrase=phrase, boxes=boxes)
            for phrase in (phrases or [None])
        ]
        self.used = found[0].used
        masks, all_boxes, scores = (
            np.concatenate([getattr(one, name) for one in found])
            for name in ("masks", "boxes", "scores")
        )
        return Instances(masks, all_boxes, scores, self.used)
