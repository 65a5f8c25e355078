"""`bfl_task`: what goes out, how a task is awaited, and what its replies are."""

from __future__ import annotations

import base64
import json
from contextlib import suppress

import httpx2
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mangled_bodies import mangled
from sent_requests import JPEG, KEY, PNG, Catcher, answered, assert_golden, picture, sent, turn

from gensight.errors import ImageError, SpecError
from gensight.models import Reply, _bfl, bfl_task
from gensight.outcomes import MODEL_OUTCOMES
from gensight.providers import Connection, bfl
from gensight.providers.usage import Usage

PAINTER = {"model": "flux-2-pro", "assumed_size": "input"}
ADAPTER = bfl_task.connect(PAINTER, Catcher().connection)
SCENE = picture(size=(1024, 768))
OFFICIAL = "https://api.bfl.ai"
TASK = f"{OFFICIAL}/v1/get_result?id=1"
SAMPLE = "https://delivery.bfl.ai/picture.png?sig=x"
SUBMITTED = {"id": "1", "polling_url": TASK, "cost": 4.5}
PENDING = {"id": "1", "status": "Pending", "result": None}
READY = {"id": "1", "status": "Ready", "result": {"sample": SAMPLE, "seed": 1}}
ASKED = turn("Paint the mask of the cup.", PNG)

GOLDEN = {
    "edit_one": (PAINTER, ASKED),
    "edit_many": (PAINTER, turn("Take the first,", PNG, "then the second.", JPEG)),
    "edit_everything": (
        {
            "model": "flux-2-flex",
            "size": "1024x768",
            "output_format": "jpeg",
            "prompt_upsampling": True,
            "seed": 0,
            "safety_tolerance": 2,
            "guidance": 4.5,
            "steps": 50,
        },
        turn("Paint.", JPEG, seed=3),
    ),
    "generate": ({"model": "flux-2-pro", "size": "provider_default"}, turn("Paint", "a cup.")),
}


def body(generation, asked=ASKED):
    return json.loads(sent(bfl_task, generation, asked).content)


@pytest.mark.parametrize("name", GOLDEN)
def test_a_request_is_the_golden_one(name):
    assert_golden("bfl_task", name, sent(bfl_task, *GOLDEN[name]))


def test_a_lossless_picture_is_asked_for_and_the_prompt_is_left_as_it_is():
    asked = body({"model": "flux-2-pro"})
    assert (asked["output_format"], asked["prompt_upsampling"]) == ("png", False)
    assert set(asked) == {"prompt", "input_image", "output_format", "prompt_upsampling"}


def test_pictures_stand_beside_the_text_in_their_order():
    asked = body(PAINTER, turn("a", JPEG, "b", *[PNG] * 7))
    assert asked["prompt"] == "a\n\nb"
    names = ["input_image", *(f"input_image_{number}" for number in range(2, 9))]
    assert [name for name in asked if name.startswith("input_image")] == names
    assert base64.b64decode(asked["input_image"]) == JPEG
    assert base64.b64decode(asked["input_image_8"]) == PNG


@pytest.mark.parametrize(
    ("size", "wanted"),
    [
        ((1024, 768), (1024, 768)),
        ((1023, 767), (1024, 768)),
        ((40, 30), (80, 64)),
        ((48, 32), (96, 64)),
        ((4000, 20), (12800, 64)),
        ((20_000, 1), (62_496, 64)),
        ((2000, 2000), (2000, 2000)),
        ((2048, 2048), (2000, 2000)),
        ((4000, 3000), (2304, 1728)),
        ((8000, 500), (8000, 496)),
        ((1, 1), (64, 64)),
    ],
)
def test_the_size_is_that_of_the_first_picture_as_the_api_paints_it(size, wanted):
    asked = body(PAINTER, turn("x", picture(size=size), PNG))
    assert (asked["width"], asked["height"]) == wanted


@given(st.integers(1, 20_000), st.integers(1, 20_000))
def test_any_size_is_brought_within_the_limits(width, height):
    sides = _bfl.sides_near((width, height))
    assert all(side % 16 == 0 and side >= 64 for side in sides)
    assert sides[0] * sides[1] <= 4_000_000
    assert _bfl.sides_near(sides) == sides


def test_a_seed_is_sent_only_where_one_is_set():
    assert "seed" not in body(PAINTER, turn("x", PNG, seed=5))
    assert "seed" not in body({**PAINTER, "seed": 0}, turn("x", PNG, seed=None))
    assert body({**PAINTER, "seed": 0}, turn("x", PNG, seed=2**31 + 5))["seed"] == 5


@pytest.mark.parametrize("status", [400, 402, 403, 422, 429, 500, 503])
def test_a_refused_purchase_is_not_tried_again(status):
    catcher = Catcher({"detail": "no"}, status)
    bfl_task.connect(PAINTER, catcher.connection).send(ASKED)
    assert len(catcher.requests) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": None}, "model"),
        ({"size": "1024x768"}, "assumed_size is given too"),
        ({"assumed_size": "auto"}, "size: 'auto'"),
        ({"assumed_size": "1000x1000"}, "nearest: 992x992|nearest: 1008x1008"),
        ({"assumed_size": "2048x2048"}, "nearest: 2000x2000"),
        ({"assumed_size": "0x64"}, "size: '0x64'"),
        ({"output_format": "webp"}, "output_format"),
        ({"safety_tolerance": 6}, "safety_tolerance"),
        ({"warmth": 1}, "warmth"),
    ],
)
def test_a_wrong_setting_is_one_line_before_anything_is_sent(changes, words):
    catcher = Catcher()
    with pytest.raises(SpecError, match=words) as told:
        bfl_task.connect({**PAINTER, **changes}, catcher.connection)
    assert "\n" not in str(told.value)
    assert not catcher.requests


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        (turn("x", b"<html>"), ImageError, "picture"),
        (turn("x", *[PNG] * 9), SpecError, "9 pictures and the API takes 8"),
    ],
)
def test_what_cannot_be_sent_is_not(asked, error, words):
    catcher = Catcher()
    with pytest.raises(error, match=words):
        bfl_task.connect(PAINTER, catcher.connection).send(asked)
    assert not catcher.requests


class Service:
    """Answers GETs one after the other, the last one for ever; time passes only in pauses."""

    def __init__(self, *answers, base_url=OFFICIAL):
        self.answers, self.requests, self.pauses = list(answers), [], []
        client = httpx2.Client(transport=httpx2.MockTransport(self._answered))
        settings_ = {**bfl_task.DEFAULTS, "model": "flux-2-pro"}
        self.adapter = _bfl.BflTask(
            settings_, Connection(KEY, base_url, client), self.pauses.append, self.now_s
        )

    def now_s(self):
        return sum(self.pauses)

    def follow(self, submitted=SUBMITTED, *later):
        self.adapter.follow([answered(submitted), *later])

    @property
    def asked(self):
        return [str(request.url) for request in self.requests]

    def _answered(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, httpx2.Response):
            return answer
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, bytes):
            return httpx2.Response(200, content=answer)
        return httpx2.Response(200, json=answer)


def test_a_task_is_awaited_and_its_picture_is_fetched_without_the_key():
    service = Service(PENDING, PENDING, READY, PNG)
    service.follow()
    assert service.asked == [TASK, TASK, TASK, SAMPLE]
    assert [request.headers.get("x-key") for request in service.requests] == [*[KEY] * 3, None]
    assert all(KEY not in str(request.headers) for request in service.requests[3:])


def test_pauses_grow_and_one_call_ends():
    service = Service(PENDING)
    with pytest.raises(httpx2.RequestError, match="not ready after 600 s"):
        service.follow()
    assert service.pauses[0] == 1.0
    assert service.pauses == sorted(service.pauses)
    assert service.pauses[-1] == 5.0
    assert len(service.requests) == len(service.pauses) + 1 < 150


def test_a_status_of_tomorrow_is_waited_for():
    service = Service({**PENDING, "status": "Queued"}, READY, PNG)
    service.follow()
    assert len(service.requests) == 3


@pytest.mark.parametrize("status", ["Error", "Request Moderated", "Content Moderated"])
def test_a_task_that_has_ended_is_not_asked_after(status):
    service = Service({**PENDING, "status": status}, PENDING)
    service.follow()
    assert len(service.requests) == 1 and not service.pauses
    service.follow(SUBMITTED, answered({**PENDING, "status": status}, method="GET"))
    service.follow(SUBMITTED, answered(PNG, method="GET"))
    assert len(service.requests) == 1


def test_a_task_that_was_ready_is_asked_again_for_its_address_lives_for_minutes():
    service = Service(READY, PNG)
    service.follow(SUBMITTED, answered(READY, method="GET"))
    assert service.asked == [TASK, SAMPLE]


def test_failures_that_pass_are_waited_out_by_the_server_s_hint_or_ever_longer():
    busy = httpx2.Response(429, headers={"retry-after": "7"}, json={"detail": "busy"})
    lost = httpx2.ReadTimeout("")
    service = Service(lost, httpx2.Response(503), busy, lost, READY, PNG)
    service.follow()
    assert service.pauses == [1.0, 2.0, 7.0, 8.0]
    hours = httpx2.Response(503, headers={"retry-after": "36000"})
    service = Service(hours, READY, PNG)
    service.follow()
    assert service.pauses == [60.0]


@pytest.mark.parametrize(
    "answer",
    [
        httpx2.Response(503),
        httpx2.ConnectError("refused"),
        httpx2.Response(402, json={"detail": "Insufficient credits"}),
        httpx2.Response(403, json={"detail": "Not authenticated"}),
        b"<html>",
        b"",
        [1],
        {"status": 3},
    ],
)
def test_a_task_that_cannot_be_fetched_is_left_for_later(answer):
    service = Service(answer)
    with pytest.raises(httpx2.RequestError):
        service.follow()
    assert len(service.requests) <= 5


@pytest.mark.parametrize(
    ("base_url", "polling_url"),
    [
        (OFFICIAL, "https://api.eu1.bfl.ai/v1/get_result?id=1"),
        (OFFICIAL, "https://bfl.ai/x"),
        ("http://127.0.0.1:8123", "http://127.0.0.1:8123/v1/get_result?id=1"),
        ("http://[::1]:8123", "http://[::1]:8123/v1/get_result?id=1"),
        ("https://gateway.example/bfl", "https://gateway.example/bfl/v1/get_result?id=1"),
        ("https://gateway.example", "https://gateway.example:443/v1/get_result?id=1"),
        ("http://gateway.lan:80", "http://gateway.lan/v1/get_result?id=1"),
        ("http://127.0.0.1:8123", TASK),
    ],
)
def test_the_key_goes_to_the_provider_and_to_the_address_that_is_set(base_url, polling_url):
    service = Service({**PENDING, "status": "Error"}, base_url=base_url)
    service.follow({**SUBMITTED, "polling_url": polling_url})
    (request,) = service.requests
    assert request.headers["x-key"] == KEY


@pytest.mark.parametrize(
    "polling_url",
    [
        "http://api.bfl.ai/v1/get_result?id=1",
        "https://bfl.ai.example/x",
        "https://evilbfl.ai/x",
        "https://example/#.bfl.ai",
        "https://example\\.bfl.ai/x",
        "https://api.bfl.ai@example/x",
        "https://user:word@api.bfl.ai/x",
        "https://127.0.0.1/x",
        "http://127.0.0.1:8124/x",
        "https://127.0.0.1:8123/x",
        "http://localhost:8123/x",
        "ftp://api.bfl.ai/x",
        "file:///etc/hosts",
        "//api.bfl.ai/x",
        "/v1/get_result",
        "https://[",
        "https://\ud800.bfl.ai/x",
        "",
        None,
        3,
        [TASK],
    ],
)
def test_the_key_goes_nowhere_else(polling_url):
    service = Service(READY, base_url="http://127.0.0.1:8123")
    with suppress(_bfl.ForeignAddressError):
        service.follow({**SUBMITTED, "polling_url": polling_url})
    assert not service.requests


def test_a_task_at_an_address_that_is_not_trusted_is_left_for_later_for_it_was_paid():
    submitted = {**SUBMITTED, "polling_url": "https://gateway.example/x"}
    with pytest.raises(httpx2.RequestError, match="not the provider's"):
        Service(READY).follow(submitted)
    # The config names the host in the meantime.
    service = Service(READY, PNG, base_url="https://gateway.example")
    service.follow(submitted)
    assert service.asked == ["https://gateway.example/x", SAMPLE]


@pytest.mark.parametrize("polling_url", [None, "", 3, "https://["])
def test_a_purchase_that_names_no_address_is_a_broken_reply(polling_url):
    submitted = {**SUBMITTED, "polling_url": polling_url}
    service = Service(READY)
    service.follow(submitted)
    assert not service.requests
    assert ended([answered(submitted)]) == ("malformed", "no_polling_url")


@pytest.mark.parametrize("sample", ["http://delivery.bfl.ai/x", "ftp://x/y", "x", "", None, 3, {}])
def test_a_picture_is_not_fetched_from_anywhere(sample):
    service = Service({**READY, "result": {"sample": sample}})
    service.follow()
    assert service.asked == [TASK]
    last = answered({**READY, "result": {"sample": sample}}, method="GET")
    assert ended([answered(SUBMITTED), last]) == ("malformed", "no_sample")


def test_what_is_worth_keeping():
    adapter = ADAPTER
    polled = "https://api.bfl.ai/v1/get_result"
    adapter._polled.add(polled)  # as `follow` does

    def keeps(body, status=200, url=polled):
        return adapter.keeps(answered(body, status=status, method="GET", url=url))

    assert adapter.keeps(answered({"detail": "no"}, status=500))
    assert keeps(READY) and keeps({**PENDING, "status": "Error"})
    assert keeps({"status": "Task not found"}, 404) and keeps({"detail": "gone"}, 410)
    assert not keeps(PENDING) and not keeps(b"<html>") and not keeps({"status": ["Ready"]})
    assert not any(keeps({"detail": "no"}, status) for status in (401, 402, 403, 429, 500, 503))
    elsewhere = "https://delivery.bfl.ai/picture.png"
    assert keeps(PNG, url=elsewhere)
    # What is no picture may be one after another poll, which names another address.
    assert not keeps(b"expired", 403, url=elsewhere) and not keeps(b"", 503, url=elsewhere)
    assert not keeps(b"<html>", url=elsewhere) and not keeps(PNG, 403, url=elsewhere)


def ended(exchanges):
    reply = ADAPTER.read(exchanges)
    return str(reply.outcome), reply.detail


@pytest.mark.parametrize("data", [PNG, JPEG, picture("WEBP")])
def test_a_picture(data):
    last = answered(data, method="GET")
    assert bfl.fault_of(last) is None
    reply = ADAPTER.read([answered(SUBMITTED), answered(READY, method="GET"), last])
    assert reply == Reply("ok", images=(data,), usage=Usage(images=1).to_json())


@pytest.mark.parametrize(
    ("status", "wanted"),
    [
        ("Request Moderated", ("refused_input", "request_moderated")),
        ("Content Moderated", ("refused_output", "content_moderated")),
    ],
)
def test_how_a_task_ends_without_a_picture(status, wanted):
    last = answered({**PENDING, "status": status}, method="GET")
    assert bfl.fault_of(last) is None
    assert ended([answered(SUBMITTED), last]) == wanted


def test_a_task_that_broke_is_no_answer_of_the_model_and_may_have_been_billed():
    last = answered({**PENDING, "status": "Error"}, method="GET")
    assert bfl.fault_of(last) == ("in_doubt", "task_error", None, None)


def test_a_task_that_is_not_found_is_in_doubt_for_it_was_paid():
    last = answered({**PENDING, "status": "Task not found"}, status=404, method="GET")
    assert bfl.fault_of(last) == ("in_doubt", "http_404", None, None)
    last = answered({**PENDING, "status": "Task not found"}, method="GET")
    assert bfl.fault_of(last) == ("in_doubt", "task_not_found", None, None)


GOOD = [SUBMITTED, PENDING, READY, {**PENDING, "status": "Content Moderated"}]


@settings(deadline=None)
@given(mangled(GOOD), mangled(GOOD), st.sampled_from([200, 404]))
@example(b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", 200)
def test_no_body_raises(first, second, status):
    submitted, fetched = answered(first), answered(second, status=status, method="GET")
    for exchanges in ([submitted], [submitted, fetched], [fetched]):
        bfl.fault_of(exchanges[-1])
        ADAPTER.keeps(exchanges[-1])
        reply = ADAPTER.read(exchanges)
        assert reply.outcome in MODEL_OUTCOMES
        assert (reply.outcome == "ok") is bool(reply.images)
        assert reply.detail is None or len(reply.detail) <= 80
        Usage.from_json(reply.usage)


@settings(deadline=None)
@given(mangled([SUBMITTED]), mangled([READY, PENDING]))
def test_no_body_breaks_the_fetching(first, second):
    service = Service(second, PNG)
    try:
        service.adapter.follow([answered(first)])
    except _bfl.ForeignAddressError:
        assert not service.requests
    except httpx2.RequestError:
        assert len(service.requests) > 0
    assert all(request.url.host.endswith("bfl.ai") for request in service.requests[:1])


@given(st.text() | st.from_regex(r"https?://[^/]{0,20}(bfl\.ai)?(:\d{0,6})?/x?", fullmatch=True))
def test_no_address_breaks_the_fetching(address):
    service = Service({**READY, "result": {"sample": address}}, PNG)
    service.follow()
    with suppress(_bfl.ForeignAddressError):
        Service({**PENDING, "status": "Error"}).follow({**SUBMITTED, "polling_url": address})
