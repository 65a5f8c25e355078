"""Black Forest Labs: a task is submitted and charged, asked after, and its picture downloaded."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import parse_qs

from fakes.billing import Asked, Fault, Painted, Price
from fakes.faults import Answer
from fakes.server import Fake
from fakes.wire import Raw

SUBMIT = re.compile(r"/v1/(flux-[a-z0-9.-]+)")
POLL = "/v1/get_result"
SAMPLE = re.compile(r"/samples/([0-9a-f-]+)\.(?:png|jpeg)")
ERRORS: Mapping[str, tuple[int, str]] = {
    "wait_429": (429, "Too many active tasks"),
    "quota_429": (402, "Insufficient credits"),
    "quota_402": (402, "Insufficient credits"),
    "credit_400": (402, "Insufficient credits"),
    "error_500": (500, "Internal error"),
    "overloaded_503": (503, "Service unavailable"),
    "overloaded_529": (529, "Service unavailable"),
    "timeout_504": (504, "Gateway timeout"),
    "auth_401": (403, "Not authenticated"),
    "gone_404": (404, "Not Found"),
    "bad_request_400": (422, "Input should be a multiple of 16"),
    "refused_400": (400, "Request moderated"),
}
STEPS = 16


@dataclass
class _Task:
    status: str
    picture: bytes | None
    prompt: str
    pending: int


class BFLFake(Fake):
    """POST /v1/{model}; GET the polling address; GET the picture.

    The charge is at the submission. A task stays: it can be asked after when whoever submitted it
    is gone. `pending` is how often it is not ready yet. Polls and downloads are in the journal and
    free; rules that touch them say so (`Scenario.on(..., free=True)`).
    """

    #: An edit of one megapixel; from words alone it is cheaper.
    PRICES: ClassVar[Mapping[str, Price]] = {
        "flux-2-pro": Price(picture=0.045),
        "flux-2-max": Price(picture=0.10),
        "flux-2-flex": Price(picture=0.10),
    }
    FROM_WORDS: ClassVar[Mapping[str, float]] = {
        "flux-2-pro": 0.03,
        "flux-2-max": 0.07,
        "flux-2-flex": 0.05,
    }

    def __init__(self, *given: Any, pending: int = 1, **options: Any) -> None:
        super().__init__(*given, **options)
        self.pending = pending
        self._tasks: dict[str, _Task] = {}
        self._tasks_lock = threading.Lock()

    def secret(self, raw: Raw) -> str:
        return raw.headers.get("x-key", "")

    def describe(self, raw: Raw, data: Any) -> dict[str, Any]:
        if raw.method == "GET" and raw.path == POLL:
            return {"operation": "poll", "texts": tuple(parse_qs(raw.query).get("id", ()))}
        if raw.method == "GET" and (found := SAMPLE.fullmatch(raw.path)):
            return {"operation": "download", "texts": (found[1],)}
        found = SUBMIT.fullmatch(raw.path)
        if raw.method != "POST" or found is None or not isinstance(data, dict):
            return {}
        return {
            "operation": "submit",
            "model": found[1],
            "texts": (data.get("prompt", ""),),
            "wants_image": True,
        }

    def objection(self, asked: Asked) -> str | None:
        for name in ("width", "height"):
            side = asked.body.get(name)
            if side is not None and (side < 64 or side % STEPS):
                return name
        return None

    def shapes(self, asked: Asked) -> set[str]:
        return {"refused_200", "no_image"}

    def success(self, asked: Asked, painted: Painted, fault: Fault) -> Answer:
        task = _task_id(asked)
        status = "Ready" if painted.image else "Error"
        if fault.name == "no_image":
            status = "Error"
        if fault.name == "refused_200":
            is_input = fault.options.get("stage") == "input"
            status = "Request Moderated" if is_input else "Content Moderated"
        with self._tasks_lock:
            self._tasks[task] = _Task(status, painted.image, asked.text, self.pending)
        price = self.prices[asked.model].picture
        usd = price if asked.pictures else self.FROM_WORDS.get(asked.model, price)
        body = {
            "id": task,
            "polling_url": f"{self.url}{POLL}?id={task}",
            "cost": round(100 * usd, 3),  # in credits, which are cents
        }
        return Answer(200, body, usd)

    def free(self, asked: Asked) -> Answer | None:
        with self._tasks_lock:
            task = self._tasks.get(asked.text)
            if asked.operation == "download":
                return None if task is None else _download(task)
            if task is None:
                missing = {"id": asked.text, "status": "Task not found", "result": None}
                return Answer(404, missing)
            if task.pending > 0:
                task.pending -= 1
                return Answer(200, _progress(asked.text, "Pending"))
            return Answer(200, self._result(asked.text, task))

    def _result(self, name: str, task: _Task) -> dict[str, Any]:
        told = _progress(name, task.status)
        if task.status == "Ready":
            told["result"] = {
                "sample": f"{self.url}/samples/{name}.png?sig=c2lnbmVk&se=600",
                "prompt": task.prompt,
                "seed": 1,
                "duration": 4.2,
            }
        elif task.status.endswith("Moderated"):
            told["details"] = {"Moderation Reasons": ["Safety Filter"]}
        return told

    def error(self, name: str, asked: Asked, options: Mapping[str, Any]) -> Answer:
        status, message = ERRORS[name]
        told: Any = options.get("message", message)
        if status == 422:
            where = ["body", options.get("param", "width")]
            told = [{"type": "value_error", "loc": where, "msg": told, "input": 1}]
        # Nothing documents a hint: one is sent only where a scenario says how long.
        wait_s = options.get("retry_after_s")
        headers = {} if wait_s is None else {"retry-after": f"{wait_s:g}"}
        return Answer(status, {"detail": told}, headers=headers)


def _task_id(asked: Asked) -> str:
    """Return the id of a task: another one for every submission, also of the same request."""
    digits = f"{asked.attempt:08x}{asked.key[:24]}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _progress(name: str, status: str) -> dict[str, Any]:
    return {
        "id": name,
        "status": status,
        "result": None,
        "progress": 0.4 if status == "Pending" else None,
        "details": None,
        "preview": None,
    }


def _download(task: _Task) -> Answer | None:
    if task.status != "Ready" or task.picture is None:
        return None
    kind = "image/jpeg" if task.picture.startswith(b"\xff\xd8") else "image/png"
    return Answer(200, task.picture, kind=kind)
