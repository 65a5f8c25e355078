"""The card of a hosted model: what must not be asked for ends before anything is planned."""

import copy
from datetime import date

import pytest
from spine_project import CONFIG, PROJECT, edited, plan_of, use_copy_of_library

from gensight.errors import SpecError

CHAT = "config/models/chat.yaml"
ORACLE = "config/models/oracle.yaml"
HOSTED = {
    **PROJECT,
    CHAT: {
        "adapter": "openai_chat",
        "generation": {"service": "moonshot", "model": "kimi", "max_tokens": 99},
        "answers": "text",
        "parameters": {
            "fixed": {"temperature": 1.0},
            "forbidden": ["seed"],
            "default_only": ["top_p"],
        },
        "display": {"label": "Chat"},
    },
}


@pytest.fixture(autouse=True)
def library(monkeypatch, tmp_path):
    use_copy_of_library(monkeypatch, tmp_path / "library")


def asking(**settings):
    files = copy.deepcopy(HOSTED)
    files[CHAT]["generation"] |= settings
    return files


def message_of(root, files, config=CONFIG):
    with pytest.raises(SpecError) as caught:
        plan_of(root, files, config)
    return str(caught.value)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"temperature": 1.0},
        {"temperature": 1},
        {"seed": None},
        {"max_tokens": 7},
        {"length_ladder": [100, 200]},
    ],
)
def test_what_the_provider_takes_is_planned(tmp_path, settings):
    assert plan_of(tmp_path, asking(**settings)).files()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"temperature": 0.0}, "generation.temperature: kimi takes only 1.0, not 0.0; remove it"),
        ({"seed": 0}, "generation.seed: kimi does not take it; remove it"),
        ({"top_p": 1.0}, "generation.top_p: kimi takes only its own default; remove it"),
    ],
)
def test_what_the_provider_refuses_ends_with_one_line(tmp_path, settings, told):
    assert message_of(tmp_path, asking(**settings)) == f"{CHAT}: {told} (see parameters)"


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("parameters", {"fixed": {"temprature": 1}}, "parameters.fixed: 'temprature'"),
        ("parameters", {"forbidden": ["sed"]}, "parameters.forbidden: 'sed'"),
        ("parameters", {"default_only": ["topp"]}, "parameters.default_only: 'topp'"),
        ("answers", "image", "answers: 'image' is not known"),
        ("generation.length_ladder", [50], "[50] does not rise from generation.max_tokens (99)"),
        ("generation.length_ladder", [200, 100], "the smallest first"),
        ("generation.length_ladder", [True], "whole numbers"),
        ("generation.length_ladder", 200, "generation.length_ladder: expected list, got 200"),
        ("generation", {"service": "moonshot"}, "key 'generation.model' is missing"),
    ],
)
def test_a_card_that_is_wrong_itself(tmp_path, key, value, told):
    assert told in message_of(tmp_path, edited(HOSTED, CHAT, key, value))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("parameters", {"forbidden": ["method"]}),
        ("answered_as", ["other"]),
        ("retired", {"date": date(2026, 1, 2), "source": "a page"}),
    ],
)
def test_a_model_that_runs_here_has_no_provider_to_say_so(tmp_path, key, value):
    told = message_of(tmp_path, edited(PROJECT, ORACLE, key, value))
    assert told.startswith(f"{ORACLE}: {key}: only a hosted model can have it")


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"budget": {"usd": 1.0, "models": {"chatt": 1.0}}}, "budget.models: 'chatt'"),
        ({"budget": {"usd": 1.0, "models": {"oracle": 1.0}}}, "budget.models: 'oracle'"),
        ({"endpoints": {"moonshoot": "https://x"}}, "endpoints: 'moonshoot'"),
        ({"endpoints": {"moonshot": "gateway.lab"}}, "endpoints.moonshot: 'gateway.lab' is no"),
        ({"endpoints": {"moonshot": "http://[::1"}}, "endpoints.moonshot: 'http://[::1' is no"),
        ({"endpoints": {"moonshot": "https:///v1"}}, "endpoints.moonshot: 'https:///v1' is no"),
        ({"endpoints": {"moonshot": "http://lab:x/"}}, "endpoints.moonshot: 'http://lab:x/' is no"),
        ({"endpoints": {"moonshot": "http://a lab"}}, "endpoints.moonshot: 'http://a lab' is no"),
        ({"budget": {"usd": -1.0}}, "budget.usd"),
        ({"hosted": {"in_doubt": "retry"}}, "hosted.in_doubt"),
    ],
)
def test_money_and_addresses_name_what_is_there(tmp_path, config, told):
    assert told in message_of(tmp_path, HOSTED, {**CONFIG, **config})


def test_money_and_addresses_change_nothing_of_the_plan(tmp_path):
    files = copy.deepcopy(HOSTED)
    files["config/models/painter.yaml"] = {
        "adapter": "google_generate",
        "generation": {"model": "banana", "response_modalities": ["IMAGE"]},
        "display": {"label": "Painter"},
    }
    plain = copy.deepcopy(CONFIG)
    plain["run"]["models"].append("painter")
    more = {
        "budget": {"usd": 1.0, "models": {"painter": 1.0}},
        "endpoints": {"google": "https://gateway.lab"},
    }
    planned = [
        {path: one.digest for path, one in plan_of(tmp_path / name, files, config).files().items()}
        for name, config in (("plain", plain), ("paid", {**plain, **more}))
    ]
    assert any("generations/painter/" in path for path in planned[0])
    assert planned[0] == planned[1]
