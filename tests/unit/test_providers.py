"""What every provider's errors mean, by status and code, and that no reply makes this raise."""

import pytest
from provider_errors import (
    PER_DAY,
    PER_MINUTE,
    anthropic_error,
    fault_of,
    google_error,
    openai_error,
    quota_failure,
    retry_info,
    told,
)

RATE = openai_error("rate_limit_exceeded", "requests")

# (provider, (status, body, headers), fault)
TABLE = [
    # Money of OpenAI has the status of pace, and may have a type that says neither.
    ("openai", (429, RATE, {"retry-after": "20"}), told("wait", "rate_limit_exceeded", 20)),
    ("openai", (429, openai_error("slow_down")), told("wait", "slow_down")),
    *(
        ("openai", (429, openai_error(code, type_)), told("quota", code))
        for type_ in ("insufficient_quota", "requests")
        for code in (
            "insufficient_quota",
            "credit_balance_exhausted",
            "organization_spend_limit_exceeded",
            "project_spend_limit_exceeded",
            "organization_usage_limit_exceeded",
        )
    ),
    # The code goes before the type; a type alone stands for it.
    (
        "openai",
        (429, openai_error("rate_limit_exceeded", "insufficient_quota")),
        told("wait", "rate_limit_exceeded"),
    ),
    (
        "openai",
        (429, openai_error(None, "insufficient_quota"), {"retry-after": "20"}),
        told("quota", "insufficient_quota"),
    ),
    (
        "openai",
        (400, openai_error("billing_hard_limit_reached")),
        told("quota", "billing_hard_limit_reached"),
    ),
    (
        "openai",
        (400, openai_error("moderation_blocked", "image_generation_user_error")),
        told("refused_input", "moderation_blocked"),
    ),
    (
        "openai",
        (400, openai_error("moderation_blocked", moderation_details={"moderation_stage": "input"})),
        told("refused_input", "moderation_blocked"),
    ),
    (
        "openai",
        (
            400,
            openai_error("moderation_blocked", moderation_details={"moderation_stage": "output"}),
        ),
        told("refused_output", "moderation_blocked"),
    ),
    (
        "openai",
        (400, openai_error("image_content_policy_violation")),
        told("refused_input", "image_content_policy_violation"),
    ),
    ("openai", (400, openai_error("unsupported_value")), told("bad_request", "unsupported_value")),
    ("openai", (401, openai_error("invalid_api_key")), told("auth", "invalid_api_key")),
    (
        "openai",
        (403, openai_error("unsupported_country_region_territory")),
        told("auth", "unsupported_country_region_territory"),
    ),
    ("openai", (404, openai_error("model_not_found")), told("gone", "model_not_found")),
    (
        "openai",
        (404, openai_error(None, "invalid_request_error")),
        told("bad_request", "invalid_request_error"),
    ),
    ("openai", (500, openai_error("server_error")), told("overloaded", "server_error")),
    ("openai", (503, openai_error("server_error")), told("overloaded", "server_error")),
    # Google's limits differ by their quotaId only.
    (
        "google",
        (
            429,
            google_error(429, "RESOURCE_EXHAUSTED", quota_failure(PER_MINUTE), retry_info("34.5s")),
        ),
        told("wait", "RESOURCE_EXHAUSTED", 34.5),
    ),
    ("google", (429, google_error(429, "RESOURCE_EXHAUSTED")), told("wait", "RESOURCE_EXHAUSTED")),
    (
        "google",
        (
            429,
            google_error(429, "RESOURCE_EXHAUSTED", retry_info("3s")),
            {"retry-after": "60"},
        ),
        told("wait", "RESOURCE_EXHAUSTED", 60),
    ),
    (
        "google",
        (
            429,
            google_error(
                429, "RESOURCE_EXHAUSTED", quota_failure(PER_MINUTE, PER_DAY), retry_info("9s")
            ),
        ),
        told("quota", PER_DAY, until_s=12 * 3600),
    ),
    (
        "google",
        (
            429,
            google_error(429, "RESOURCE_EXHAUSTED", quota_failure(PER_DAY)),
            {"date": "Sun, 29 Nov 2026 21:00:00 GMT"},
        ),
        told("quota", PER_DAY, until_s=11 * 3600),
    ),
    ("google", (402, google_error(402, "RESOURCE_EXHAUSTED")), told("quota", "RESOURCE_EXHAUSTED")),
    ("google", (503, google_error(503, "UNAVAILABLE")), told("overloaded", "UNAVAILABLE")),
    (
        "google",
        (504, google_error(504, "DEADLINE_EXCEEDED")),
        told("in_doubt", "DEADLINE_EXCEEDED"),
    ),
    ("google", (500, google_error(500, "INTERNAL")), told("overloaded", "INTERNAL")),
    (
        "google",
        (400, google_error(400, "INVALID_ARGUMENT")),
        told("bad_request", "INVALID_ARGUMENT"),
    ),
    (
        "google",
        (400, google_error(400, "INVALID_ARGUMENT", {"reason": "API_KEY_INVALID"})),
        told("auth", "API_KEY_INVALID"),
    ),
    ("google", (403, google_error(403, "PERMISSION_DENIED")), told("auth", "PERMISSION_DENIED")),
    ("google", (404, google_error(404, "NOT_FOUND")), told("gone", "NOT_FOUND")),
    ("google", (200, {"promptFeedback": {"blockReason": "SAFETY"}}), None),
    # Anthropic's type is its code.
    (
        "anthropic",
        (429, anthropic_error("rate_limit_error"), {"retry-after": "12"}),
        told("wait", "rate_limit_error", 12),
    ),
    (
        "anthropic",
        (
            429,
            anthropic_error("rate_limit_error", error_code="ramp_limit_exceeded"),
            {"retry-after": "3"},
        ),
        told("wait", "ramp_limit_exceeded", 3),
    ),
    *(
        (
            "anthropic",
            (429, anthropic_error("rate_limit_error", error_code=code)),
            told("quota", code),
        )
        for code in ("enforced_spend_limit_reached", "contract_spend_limit_reached")
    ),
    (
        "anthropic",
        (
            400,
            anthropic_error(
                "invalid_request_error", "Your credit balance is too low to access the API."
            ),
        ),
        told("quota", "credit_balance"),
    ),
    (
        "anthropic",
        (400, anthropic_error("invalid_request_error")),
        told("bad_request", "invalid_request_error"),
    ),
    ("anthropic", (402, anthropic_error("billing_error")), told("quota", "billing_error")),
    (
        "anthropic",
        (401, anthropic_error("authentication_error", "Your credit balance is not looked at.")),
        told("auth", "authentication_error"),
    ),
    ("anthropic", (404, anthropic_error("not_found_error")), told("gone", "not_found_error")),
    (
        "anthropic",
        (413, anthropic_error("request_too_large")),
        told("bad_request", "request_too_large"),
    ),
    ("anthropic", (500, anthropic_error("api_error")), told("overloaded", "api_error")),
    (
        "anthropic",
        (529, anthropic_error("overloaded_error"), {"retry-after": "5"}),
        told("overloaded", "overloaded_error", 5),
    ),
    # Ark
    (
        "ark",
        (429, openai_error("RateLimitExceeded.EndpointRPMExceeded")),
        told("wait", "RateLimitExceeded.EndpointRPMExceeded"),
    ),
    ("ark", (403, openai_error("AccountOverdueError")), told("quota", "AccountOverdueError")),
    ("ark", (429, openai_error("AccountOverdue")), told("quota", "AccountOverdue")),
    *(
        ("ark", (400, openai_error(code)), told(kind, code))
        for code, kind in (
            ("InputTextSensitiveContentDetected", "refused_input"),
            ("InputImageSensitiveContentDetected", "refused_input"),
            ("SensitiveContentDetected", "refused_input"),
            ("InputImageSensitiveContentDetected.PrivacyInformation", "refused_input"),
            ("OutputImageSensitiveContentDetected", "refused_output"),
            ("InvalidParameter", "bad_request"),
        )
    ),
    (
        "ark",
        (404, openai_error("InvalidEndpointOrModel.NotFound")),
        told("gone", "InvalidEndpointOrModel.NotFound"),
    ),
    ("ark", (401, openai_error("AuthenticationError")), told("auth", "AuthenticationError")),
    (
        "ark",
        (500, openai_error("InternalServiceError")),
        told("overloaded", "InternalServiceError"),
    ),
    ("ark", (200, {"data": [{"error": {"code": "SensitiveContentDetected"}}]}), None),
    # What failed on the server's side is no answer of the model, in whatever status it comes.
    (
        "ark",
        (200, {"data": [{"error": {"code": "InternalServiceError"}}]}),
        told("in_doubt", "InternalServiceError"),
    ),
    (
        "ark",
        (200, {"data": [{"error": {"code": "InternalServiceError"}}, {"b64_json": "x"}]}),
        None,
    ),
    ("ark", (200, {"data": []}), None),
    (
        "openai",
        (200, {"status": "failed", "error": {"code": "server_error"}}),
        told("in_doubt", "server_error"),
    ),
    ("openai", (200, {"status": "failed", "error": {"code": "bio_policy"}}), None),
    ("openai", (200, {"status": "completed", "error": None}), None),
    # Black Forest Labs has no codes.
    ("bfl", (402, {"detail": "Insufficient credits"}), told("quota", "http_402")),
    ("bfl", (429, {"detail": "24 active tasks"}), told("wait", "http_429")),
    ("bfl", (403, {"detail": "Not authenticated"}), told("auth", "http_403")),
    ("bfl", (404, {"detail": "Not Found"}), told("gone", "http_404")),
    ("bfl", (422, {"detail": [{"loc": ["width"], "msg": "odd"}]}), told("bad_request", "http_422")),
    ("bfl", (500, {"detail": "Internal"}), told("overloaded", "http_500")),
    ("bfl", (500, b"Internal Server Error"), told("in_doubt", "http_500")),
    ("bfl", (503, b""), told("overloaded", "http_503")),
    ("bfl", (200, {"id": "1", "polling_url": "https://api.bfl.ai/v1/get_result?id=1"}), None),
    # The others
    (
        "deepseek",
        (402, openai_error("invalid_request_error")),
        told("quota", "invalid_request_error"),
    ),
    ("deepseek", (503, b""), told("overloaded", "http_503")),
    (
        "moonshot",
        (429, openai_error(None, "exceeded_current_quota_error")),
        told("quota", "exceeded_current_quota_error"),
    ),
    (
        "moonshot",
        (429, openai_error(None, "engine_overloaded_error"), {"retry-after": "2"}),
        told("overloaded", "engine_overloaded_error", 2),
    ),
    (
        "moonshot",
        (429, openai_error(None, "rate_limit_reached_error")),
        told("wait", "rate_limit_reached_error"),
    ),
    ("vllm", (404, openai_error(404, "NotFoundError")), told("gone", "NotFoundError")),
    (
        "vllm",
        (404, {"object": "error", "type": "NotFoundError", "code": 404, "message": "No model."}),
        told("gone", "NotFoundError"),
    ),
    ("vllm", (400, openai_error(400, "BadRequestError")), told("bad_request", "BadRequestError")),
    ("vllm", (404, {"detail": "Not Found"}), told("bad_request", "http_404")),
]


@pytest.mark.parametrize(("provider", "reply", "fault"), TABLE)
def test_an_error_means_what_its_status_and_code_say(provider, reply, fault):
    assert fault_of(provider, *reply) == fault
