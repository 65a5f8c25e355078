"""SAM 3 as the tool of a served VLM: it proposes, looks at the masks, and accepts or tries again.

The prompt's text is what is to be found (resources/prompts/segmentation/target.yaml); `_agent` says
how the two play and how each game ends, `_agent_words` what the VLM is told. The answer is the
union of the accepted masks, white on black at the size of the sent picture. Its setup has `status`
(`accepted`, `gave_up`, `not_accepted`, `no_mask` or `malformed`) and, as `rounds`, every prompt,
reply, phrase, box and mask.

    segmenter, revision, ...    SAM 3 and how it is loaded, as in `transformers_segment`
    agent                       the VLM, under the name by which its server knows it
    agent_revision              its weights, which are not sent but part of what is answered
    max_rounds                  calls of the VLM about one picture, at most
    max_tokens, temperature     of each call; null: not sent

The VLM is asked at the site's endpoint `vllm`. Phrases are looked for one by one, each with the
boxes as examples; boxes alone stand by themselves. The peak of memory is not told: this process
does not see what the server takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gensight.errors import GensightError, SpecError
from gensight.images import decode_rgb, encode_png
from gensight.models import Reply, Site, Turn
from gensight.models._agent import Box, Verdict, play
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


@dataclass(frozen=True)
class SegmentAgent:
    """A VLM that is served, with a loaded segmenter; neither draws noise."""

    viewer: ServedViewer
    segmenter: Segmenter
    client: httpx2.Client
    settings: Mapping[str, Any]
    rounds: int
    fit_digest = ""

    def answer(self, turn: Turn) -> Reply:
        """Return the mask that the game about the turn's one picture ends with.

        Raises:
            AnswerError: the segmenter made NaN or infinity, or the server gave no answer.
            SpecError: the turn has not one picture, or no text.
            GensightError: the server does not take the requests.
        """
        image = only_picture(turn, "segment_agent")
        query = text_of(turn).strip()
        if not query:
            raise SpecError(
                "adapter segment_agent: the prompt names nothing; take one with {query}"
            )
        picture, pixels = as_pillow(image), decode_rgb(image, matte=WHITE)
        tool = _Tool(self.segmenter, picture)
        with Meter() as meter:
            verdict = play(self.viewer, tool, pixels, image, query, self.rounds)
        images = ()
        if verdict.mask is not None:
            images = (encode_png(verdict.mask.astype(np.uint8) * np.uint8(255)),)
        return Reply(
            verdict.outcome,
            images=images,
            detail=verdict.detail,
            device=meter.device,
            setup=self._setup(verdict, picture.size, tool.used),
        )

    def close(self) -> None:
        """Close the connections to the server."""
        self.client.close()

    def _setup(self, verdict: Verdict, size: Size, used: Size | None) -> str:
        returned = None if verdict.mask is None else size
        return self.segmenter.opened.setup(
            seed=None,
            sizes={"sent": size, "used": used, "returned": returned},
            agent={
                "weights": self.settings["agent"],
                "revision": stated(self.settings, "agent_revision"),
                "server_version": self.settings["server_version"],
                "max_rounds": self.rounds,
            },
            status=verdict.status,
            malformed_replies=verdict.malformed,
            rounds=verdict.rounds,
        )


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
