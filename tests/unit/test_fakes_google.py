"""The fake of Google through google-genai: bodies, refusals, quotas, and what each costs."""

import base64
import json

import pytest
from fakes.billing import Painted, Scenario
from fakes.clients import KEY, google_client, http_client, unread
from fakes.faults import SHAPES
from fakes.google import GoogleFake
from fakes.painters import plain
from google.genai import errors, types

PICTURE = plain(["a room"], []).image
PAINTED = plain(["Paint it", "as a mask"], [PICTURE]).image
PARTS = [
    types.Part.from_text(text="Paint it"),
    types.Part.from_bytes(data=PICTURE, mime_type="image/png"),
    types.Part.from_text(text="as a mask"),
]
PAINTER, READER = "gemini-3-pro-image", "gemini-3.6-flash"


@pytest.fixture(scope="module")
def http():
    with http_client() as client:
        yield client


def ask(client, model=PAINTER, **config):
    given = {"response_modalities": ["IMAGE"] if model.endswith("image") else None, **config}
    contents = [types.Content(role="user", parts=PARTS)]
    return client.models.generate_content(
        model=model, contents=contents, config=types.GenerateContentConfig(**given)
    )


def pictures_of(reply, thought=None):
    parts = reply.candidates[0].content.parts
    return [part.inline_data.data for part in parts if part.inline_data and part.thought == thought]


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_a_picture_under_both_versions(http, version):
    with GoogleFake() as fake:
        reply = ask(google_client(fake, http, version), seed=7, temperature=0.5)
        (entry,) = fake.journal
    assert pictures_of(reply) == [PAINTED]
    assert (reply.model_version, reply.candidates[0].finish_reason) == (PAINTER, "STOP")
    assert entry.path == f"/{version}/models/{PAINTER}:generateContent"
    assert entry.body["generationConfig"]["seed"] == 7
    # 18 characters in two texts, one picture of 560; 1120 painted, 96 thought.
    used = reply.usage_metadata
    assert (used.prompt_token_count, used.candidates_token_count) == (5 + 560, 1120)
    assert used.thoughts_token_count == 96
    assert entry.usd == pytest.approx((565 * 2 + 96 * 12 + 1120 * 120) / 1e6)
    assert (entry.charged, entry.status, entry.fault, entry.model) == (True, 200, None, PAINTER)


@pytest.mark.parametrize(
    ("model", "size", "tokens"),
    [
        ("gemini-2.5-flash-image", None, 1290),
        ("gemini-3.1-flash-image", None, 1120),
        ("gemini-3.1-flash-image", "2K", 1680),
        (PAINTER, "4K", 2000),
    ],
)
def test_a_picture_costs_by_its_size(http, model, size, tokens):
    config = {} if size is None else {"image_config": types.ImageConfig(image_size=size)}
    with GoogleFake() as fake:
        reply = ask(google_client(fake, http), model, **config)
    assert reply.usage_metadata.candidates_token_count == tokens


def test_words_and_thoughts_that_can_be_declined(http):
    with GoogleFake() as fake:
        client = google_client(fake, http)
        reply = ask(client, READER)
        calm = ask(client, READER, thinking_config=types.ThinkingConfig(thinking_budget=0))
        usd = [entry.usd for entry in fake.journal]
    assert (reply.text, calm.text) == ("7", "7")
    assert reply.usage_metadata.thoughts_token_count == 96
    assert calm.usage_metadata.thoughts_token_count is None
    prompt = 5 + 1090
    assert usd == pytest.approx(
        [(prompt * 0.75 + (1 + 96) * 3.75) / 1e6, (prompt * 0.75 + 3.75) / 1e6]
    )


@pytest.mark.parametrize("fault", ["ok", *SHAPES])
@pytest.mark.parametrize("model", [PAINTER, READER])
def test_every_answer_is_of_the_sdks_type_and_charged(http, model, fault):
    with GoogleFake(scenario=Scenario().default(fault)) as fake:
        reply = ask(google_client(fake, http), model)
        (entry,) = fake.journal
    assert unread(reply) == set()
    assert entry.charged and entry.usd > 0
    # The type has no word for what it does not know: it would have refused the body.
    assert types.GenerateContentResponse.model_config["extra"] == "forbid"


def test_a_refusal_tells_its_reason_and_costs_its_prompt(http):
    with GoogleFake(scenario=Scenario().default("refused_200", reason="IMAGE_OTHER")) as fake:
        reply = ask(google_client(fake, http))
        assert fake.charged_usd == pytest.approx(565 * 2 / 1e6)
    assert reply.candidates[0].finish_reason == "IMAGE_OTHER"
    assert (reply.candidates[0].content, reply.text) == (None, None)
    with GoogleFake(scenario=Scenario().default("refused_200", stage="input")) as fake:
        reply = ask(google_client(fake, http))
        assert fake.charged_usd == pytest.approx(565 * 2 / 1e6)
    assert reply.candidates is None
    assert reply.prompt_feedback.block_reason == "PROHIBITED_CONTENT"


def test_thoughts_are_marked_and_drafts_come_first(http):
    with GoogleFake(scenario=Scenario().default("thought_image")) as fake:
        thought = ask(google_client(fake, http))
    assert pictures_of(thought) == [PAINTED]
    (draft,) = pictures_of(thought, thought=True)
    assert draft != PAINTED and draft.startswith(b"\x89PNG")
    with GoogleFake(scenario=Scenario().default("two_images")) as fake:
        twice = ask(google_client(fake, http))
        assert twice.usage_metadata.candidates_token_count > 2 * 1120
    first, last = pictures_of(twice)
    assert last == PAINTED and first != PAINTED


@pytest.mark.parametrize(
    ("fault", "reason", "text"),
    [
        ("no_image", "NO_IMAGE", None),
        ("text_only", "STOP", "7 of them"),
        ("truncated", "MAX_TOKENS", "7 of"),
    ],
)
def test_answers_without_a_picture(http, fault, reason, text):
    def painter(texts, pictures):
        return Painted(image=PICTURE, text="7 of them")

    with GoogleFake(painter, Scenario().default(fault)) as fake:
        reply = ask(google_client(fake, http))
    assert reply.candidates[0].finish_reason == reason
    assert reply.text == text


@pytest.mark.parametrize(
    ("fault", "error", "code", "word"),
    [
        ("wait_429", errors.ClientError, 429, "RESOURCE_EXHAUSTED"),
        ("quota_429", errors.ClientError, 429, "RESOURCE_EXHAUSTED"),
        ("quota_402", errors.ClientError, 402, "RESOURCE_EXHAUSTED"),
        ("error_500", errors.ServerError, 500, "INTERNAL"),
        ("overloaded_503", errors.ServerError, 503, "UNAVAILABLE"),
        ("overloaded_529", errors.ServerError, 529, "UNAVAILABLE"),
        ("timeout_504", errors.ServerError, 504, "DEADLINE_EXCEEDED"),
        ("auth_401", errors.ClientError, 401, "UNAUTHENTICATED"),
        ("gone_404", errors.ClientError, 404, "NOT_FOUND"),
        ("bad_request_400", errors.ClientError, 400, "INVALID_ARGUMENT"),
        ("refused_400", errors.ClientError, 400, "INVALID_ARGUMENT"),
        ("credit_400", errors.ClientError, 400, "FAILED_PRECONDITION"),
        ("leak_key", errors.ClientError, 401, "UNAUTHENTICATED"),
    ],
)
def test_errors_are_the_sdks_own_and_free(http, fault, error, code, word):
    with GoogleFake(scenario=Scenario().first(fault)) as fake:
        client = google_client(fake, http)
        with pytest.raises(error) as raised:
            ask(client)
        assert (raised.value.code, raised.value.status) == (code, word)
        entry = fake.journal[0]
        assert (entry.charged, entry.usd, entry.status, entry.fault) == (False, 0, code, fault)
        assert (KEY in raised.value.message) == (fault == "leak_key")
        assert KEY not in repr(entry)
        # The second attempt of the same request goes through.
        ask(client)
        assert (fake.charged, fake.distinct) == (1, 1)


def details_of(http, fault, **options):
    scenario = Scenario().default(fault, **options)
    with GoogleFake(scenario=scenario) as fake, pytest.raises(errors.APIError) as raised:
        ask(google_client(fake, http))
    found = raised.value.details["error"].get("details", [])
    return {detail["@type"].rpartition(".")[2]: detail for detail in found}


def test_quotas_are_told_by_their_ids_and_waits_in_the_body(http):
    wait = details_of(http, "wait_429", retry_after_s=34.0744)
    assert wait["RetryInfo"]["retryDelay"] == "34.075s"
    (violation,) = wait["QuotaFailure"]["violations"]
    assert violation["quotaId"] == "GenerateRequestsPerMinutePerProjectPerModel"
    assert violation["quotaDimensions"]["model"] == PAINTER
    (violation,) = details_of(http, "quota_429")["QuotaFailure"]["violations"]
    assert violation["quotaId"] == "GenerateRequestsPerDayPerProjectPerModel"
    assert "RetryInfo" not in details_of(http, "wait_429", retry_after_s=None)
    assert details_of(http, "overloaded_503", retry_after_s=2)["RetryInfo"]["retryDelay"] == "2s"
    assert details_of(http, "auth_401")["ErrorInfo"]["reason"] == "API_KEY_INVALID"


def test_the_model_that_answers_may_be_another(http):
    with GoogleFake(scenario=Scenario().default("wrong_model")) as fake:
        assert ask(google_client(fake, http)).model_version == "another-model-1"
    with GoogleFake() as fake:
        assert ask(google_client(fake, http), "gemini-3.5-flash").model_version == READER
        with pytest.raises(errors.ClientError) as raised:
            ask(google_client(fake, http), "gemini-3-pro-preview")
        assert (raised.value.code, fake.charged) == (404, 1)


def test_pictures_are_journaled_by_their_digests_in_either_alphabet(http):
    with GoogleFake() as fake:
        ask(google_client(fake, http))
        part = fake.journal[0].body["contents"][0]["parts"][1]
        body = {
            "contents": [{"parts": [{"inlineData": {"data": base64.b64encode(PICTURE).decode()}}]}]
        }
        http.post(f"{fake.url}/v1/models/{READER}:generateContent", json=body)
        usual = fake.journal[1].body["contents"][0]["parts"][0]
    data = next(value for name, value in part.items() if name.startswith("inline"))["data"]
    assert data.startswith(f"<{len(PICTURE)} bytes, sha256 ")
    assert usual["inlineData"]["data"] == data
    assert base64.b64encode(PICTURE).decode() not in json.dumps(part)
