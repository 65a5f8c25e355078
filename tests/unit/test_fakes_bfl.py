"""The fake of Black Forest Labs, which has no SDK: submit, ask after, download; what each costs."""

import base64

import pytest
from fakes.bfl import BFLFake
from fakes.billing import Scenario
from fakes.clients import KEY, http_client
from fakes.faults import SHAPES
from fakes.painters import plain

PICTURE = plain(["a room"], []).image
PAINTED = plain(["Paint it"], [PICTURE]).image
HEADERS = {"x-key": KEY}


@pytest.fixture(scope="module")
def http():
    with http_client() as client:
        yield client


def submit(http, fake, model="flux-2-pro", **options):
    body = {
        "prompt": "Paint it",
        "input_image": base64.b64encode(PICTURE).decode(),
        "width": 512,
        "height": 512,
        "output_format": "png",
        **options,
    }
    return http.post(f"{fake.url}/v1/{model}", json=body, headers=HEADERS)


def poll(http, submitted, times=1):
    """Ask after a task so often; return the last answer."""
    for _ in range(times):
        reply = http.get(submitted.json()["polling_url"], headers=HEADERS)
    return reply


def test_a_task_is_charged_when_it_is_submitted_and_then_free(http):
    with BFLFake(pending=2) as fake:
        submitted = submit(http, fake)
        statuses = [poll(http, submitted).json()["status"] for _ in range(3)]
        ready = poll(http, submitted).json()
        picture = http.get(ready["result"]["sample"])
        entries = list(fake.journal)
        assert (fake.charged, fake.charged_usd, fake.distinct) == (1, 0.045, 1)
    assert set(submitted.json()) == {"id", "polling_url", "cost"}
    assert submitted.json()["cost"] == 4.5
    assert statuses == ["Pending", "Pending", "Ready"]
    assert ready["id"] == submitted.json()["id"]
    assert (picture.content, picture.headers["content-type"]) == (PAINTED, "image/png")
    assert [(entry.method, entry.charged) for entry in entries] == [
        ("POST", True), *[("GET", False)] * 5
    ]  # fmt: skip
    assert entries[0].body["input_image"].startswith(f"<{len(PICTURE)} bytes, sha256 ")


def test_words_alone_are_cheaper(http):
    with BFLFake() as fake:
        submitted = submit(http, fake, input_image=None)
        assert fake.charged_usd == 0.03
        assert submitted.json()["cost"] == 3
        submit(http, fake, "flux-2-flex")
        assert fake.charged_usd == pytest.approx(0.13)


def test_the_same_again_is_another_task_and_is_charged_again(http):
    with BFLFake(pending=0) as fake:
        first, second = submit(http, fake), submit(http, fake)
        assert first.json()["id"] != second.json()["id"]
        assert (fake.charged, fake.distinct) == (2, 1)
        assert list(fake.journal.paid_twice.values()) == [2]
        assert poll(http, first).json()["status"] == poll(http, second).json()["status"] == "Ready"


@pytest.mark.parametrize("fault", ["ok", *SHAPES])
def test_every_end_of_a_task_is_paid_for(http, fault):
    with BFLFake(scenario=Scenario().default(fault), pending=0) as fake:
        submitted = submit(http, fake)
        told = poll(http, submitted).json()
        assert fake.charged == 1
    assert submitted.status_code == 200
    ends = {"refused_200": "Content Moderated", "no_image": "Error"}
    assert told["status"] == ends.get(fault, "Ready")
    assert (told["result"] is None) == (fault in ends)


def test_a_refused_prompt_says_so(http):
    scenario = Scenario().default("refused_200", stage="input")
    with BFLFake(scenario=scenario, pending=0) as fake:
        told = poll(http, submit(http, fake)).json()
    assert told["status"] == "Request Moderated"
    assert told["details"] == {"Moderation Reasons": ["Safety Filter"]}


@pytest.mark.parametrize(
    ("fault", "status", "detail"),
    [
        ("wait_429", 429, "Too many active tasks"),
        ("quota_429", 402, "Insufficient credits"),
        ("quota_402", 402, "Insufficient credits"),
        ("credit_400", 402, "Insufficient credits"),
        ("error_500", 500, "Internal error"),
        ("overloaded_503", 503, "Service unavailable"),
        ("overloaded_529", 529, "Service unavailable"),
        ("timeout_504", 504, "Gateway timeout"),
        ("auth_401", 403, "Not authenticated"),
        ("gone_404", 404, "Not Found"),
        ("refused_400", 400, "Request moderated"),
    ],
)
def test_errors_are_a_detail_and_free(http, fault, status, detail):
    with BFLFake(scenario=Scenario().first(fault)) as fake:
        reply = submit(http, fake)
        assert (reply.status_code, reply.json()) == (status, {"detail": detail})
        assert "retry-after" not in reply.headers
        entry = fake.journal[0]
        assert (entry.charged, entry.usd, entry.status, entry.fault) == (False, 0, status, fault)
        # The second attempt of the same request goes through.
        assert submit(http, fake).status_code == 200
        assert (fake.charged, fake.distinct) == (1, 1)


def test_a_wrong_value_is_told_by_its_place(http):
    with BFLFake(scenario=Scenario().on(lambda _: True, "bad_request_400", times=1)) as fake:
        assert submit(http, fake).status_code == 422
        reply = submit(http, fake, height=500)
        (problem,) = reply.json()["detail"]
        assert (reply.status_code, problem["loc"]) == (422, ["body", "height"])
        assert [entry.fault for entry in fake.journal] == ["bad_request_400"] * 2
        assert submit(http, fake, "flux-1-kontext").status_code == 404
        assert fake.charged == 0


def test_a_leaked_key_stays_out_of_the_journal(http):
    with BFLFake(scenario=Scenario().default("leak_key")) as fake:
        reply = submit(http, fake)
        (entry,) = fake.journal
    assert KEY in reply.json()["detail"]
    assert KEY not in repr(entry)


def test_polls_fail_only_where_a_rule_says_so(http):
    scenario = Scenario().on(
        lambda asked: asked.operation == "poll", "error_500", free=True, times=1
    )
    scenario.on(lambda asked: asked.operation == "download", "gone_404", free=True, times=1)
    with BFLFake(scenario=scenario, pending=0) as fake:
        submitted = submit(http, fake)
        assert poll(http, submitted).status_code == 500
        sample = poll(http, submitted).json()["result"]["sample"]
        assert http.get(sample).status_code == 404
        assert http.get(sample).content == PAINTED
        assert fake.charged == 1


def test_nobody_knows_another_task(http):
    with BFLFake() as fake:
        reply = http.get(f"{fake.url}/v1/get_result?id=nothing", headers=HEADERS)
        assert (reply.status_code, reply.json()["status"]) == (404, "Task not found")
        assert http.get(f"{fake.url}/samples/0-0.png").status_code == 404
