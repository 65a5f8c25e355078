"""Replies of providers, and the faults that they are told to be, at a fixed time."""

import json

from gensight import providers
from gensight.providers import Exchange, Fault, FaultKind

#: Sunday, 29 November 2026, 20:00:00 in Greenwich and noon in California.
NOW = 1795982400.0
DATE = "Sun, 29 Nov 2026 20:00:00 GMT"
DAY_S = 86400.0
#: Quotas of Google.
PER_MINUTE = "GenerateRequestsPerMinutePerProjectPerModel"
PER_DAY = "GenerateRequestsPerDayPerProjectPerModel"


def exchange(status, body=b"", headers=None, method="POST"):
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    return Exchange(
        method, "https://api.example.org/v1/x", status=status, headers=headers or {}, body=body
    )


def fault_of(provider, *args, **kwargs):
    return providers.load(provider).fault_of(exchange(*args, **kwargs), now=NOW)


def told(kind, detail, wait_s=None, until_s=None):
    return Fault(FaultKind(kind), detail, wait_s, until_s)


def openai_error(code=None, type_="invalid_request_error", **more):
    return {"error": {"message": "Some words.", "type": type_, "param": None, "code": code, **more}}


def google_error(code, status, *details):
    return {"error": {"code": code, "message": "Some words.", "status": status, "details": details}}


def quota_failure(*quotas):
    return {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [
            {"quotaMetric": "requests", "quotaId": quota, "quotaValue": "10"} for quota in quotas
        ],
    }


def retry_info(delay):
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


def anthropic_error(type_, message="Some words.", error_code=None):
    error = {"type": type_, "message": message}
    if error_code:
        error["details"] = {"error_code": error_code}
    return {"type": "error", "error": error, "request_id": "req_1"}
