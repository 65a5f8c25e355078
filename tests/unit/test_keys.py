"""Keys come from the environment or from a file of one's own, and show up in no error."""

import os
import re
import traceback

import pytest

from gensight import providers
from gensight.errors import SpecError
from gensight.providers import secrets
from gensight.providers.keys import find_key
from gensight.specs.protocols import PROVIDERS

KEY, OTHER = "sk-marked-0123456789", "sk-other-9876543210"
VARIABLES = sorted({name for p in PROVIDERS for name in providers.load(p).KEY_VARIABLES})


@pytest.fixture(autouse=True)
def _no_keys_of_others(monkeypatch):
    monkeypatch.setattr(secrets, "_forms", secrets._Forms())
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def keys_file(tmp_path):
    def write(content, mode=0o600):
        path = tmp_path / "keys.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)
        return path

    return write


def error_of(provider, keys_file, root):
    with pytest.raises(SpecError) as caught:
        find_key(provider, keys_file, root)
    shown = "".join(traceback.format_exception(caught.value))
    cause = caught.value.__cause__ or caught.value.__context__
    assert KEY not in shown
    assert cause is None, "what a parser says may quote the file"
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_provider_says_where_its_key_may_be():
    assert VARIABLES == [
        "ANTHROPIC_API_KEY",
        "ARK_API_KEY",
        "BFL_API_KEY",
        "DEEPSEEK_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "MOONSHOT_API_KEY",
        "OPENAI_API_KEY",
    ]


def test_the_environment_goes_before_the_file(monkeypatch, tmp_path, keys_file):
    keys_file(f"OPENAI_API_KEY: {OTHER}\n")
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    assert find_key("openai", "keys.yaml", tmp_path) == KEY


def test_a_file_is_not_looked_at_where_the_environment_has_a_key(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert find_key("openai", "not/there.yaml", tmp_path) == KEY


def test_the_first_variable_that_is_set_wins(monkeypatch, tmp_path):
    monkeypatch.setenv("GEMINI_API_KEY", OTHER)
    assert find_key("google", None, tmp_path) == OTHER
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    assert find_key("google", None, tmp_path) == KEY
    monkeypatch.setenv("GOOGLE_API_KEY", "  ")
    assert find_key("google", None, tmp_path) == OTHER


FILES = {
    "YAML": f"# mine\nOPENAI_API_KEY: {KEY}\nARK_API_KEY: {OTHER}\n",
    "YAML with quotes": f"OPENAI_API_KEY: '{KEY}'  # work\n",
    "YAML in braces": f'{{"OPENAI_API_KEY": "{KEY}"}}',
    "lines": f"# mine\n\nARK_API_KEY={OTHER}\nOPENAI_API_KEY={KEY}\n",
    "lines of a shell": f"export OPENAI_API_KEY='{KEY}'\r\n",
    "lines with double quotes": f'OPENAI_API_KEY="{KEY}"',
    "a byte order mark": f"\ufeffOPENAI_API_KEY={KEY}\n",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_may_be_yaml_or_lines(tmp_path, keys_file, name):
    keys_file(FILES[name])
    assert find_key("openai", "keys.yaml", tmp_path) == KEY
    assert secrets.scrub(KEY) == "[key]"


def test_a_key_of_digits_is_text(tmp_path, keys_file):
    keys_file("BFL_API_KEY: 0123456789\n")
    assert find_key("bfl", "keys.yaml", tmp_path) == "0123456789"


def test_a_file_may_lie_at_home(monkeypatch, tmp_path, keys_file):
    keys_file(f"OPENAI_API_KEY={KEY}")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_key("openai", "~/keys.yaml", tmp_path / "elsewhere") == KEY
    assert find_key("openai", str(tmp_path / "keys.yaml"), tmp_path / "elsewhere") == KEY


def test_a_provider_that_asks_for_no_key_gets_none(tmp_path):
    assert find_key("vllm", "not/there.yaml", tmp_path) == ""


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o620, 0o601])
def test_a_file_that_others_may_use_is_refused(tmp_path, keys_file, mode):
    path = keys_file(f"OPENAI_API_KEY: {KEY}\n", mode)
    error = error_of("openai", "keys.yaml", tmp_path)
    assert str(path) in error
    assert f"chmod 600 {path}" in error
    path.chmod(0o600)
    assert find_key("openai", "keys.yaml", tmp_path) == KEY


def test_a_missing_key_names_the_variables_and_the_config_key(tmp_path, keys_file):
    assert re.search(
        "GOOGLE_API_KEY or GEMINI_API_KEY.*'keys_file'", error_of("google", None, tmp_path)
    )
    path = keys_file(f"OPENAI_API_KEY: {KEY}\n")
    error = error_of("google", "keys.yaml", tmp_path)
    assert re.search(f"{path}.*GOOGLE_API_KEY or GEMINI_API_KEY.*'keys_file'", error)


UNUSABLE = {
    "only a key": KEY,
    "a list": f"- {KEY}\n",
    "nested": f"openai:\n  OPENAI_API_KEY: {KEY}\n",
    "a value that is a list": f"OPENAI_API_KEY: [{KEY}]\n",
    "a key that is a list": f"? [{KEY}]\n: x\n",
    "not YAML": f"OPENAI_API_KEY: '{KEY}\n",
    "tabs": f"\tOPENAI_API_KEY: {KEY}\n",
    "a control character": f"OPENAI_API_KEY: {KEY}\x00\n",
    "not UTF-8": b"OPENAI_API_KEY: \xff" + KEY.encode(),
    "an alias to nothing": f"OPENAI_API_KEY: *{KEY}\n",
    "deep": "[" * 5000 + KEY,
    "a space within": f"OPENAI_API_KEY={KEY} # mine",
    "letters that are not ASCII": f"OPENAI_API_KEY=ключ{KEY}",
    "empty": "",
    "only a comment": f"# {KEY}",
    "no value": "OPENAI_API_KEY:\n",
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_file_that_cannot_be_used_is_named_and_not_quoted(tmp_path, keys_file, name):
    path = keys_file(UNUSABLE[name])
    error = error_of("openai", "keys.yaml", tmp_path)
    assert error.startswith(f"{path}: ")
    assert "OPENAI_API_KEY" in error or "UTF-8" in error


def test_what_is_not_a_readable_file_is_named(tmp_path):
    assert "No such file" in error_of("openai", "missing.yaml", tmp_path)
    assert "not a file" in error_of("openai", ".", tmp_path)
    os.mkfifo(tmp_path / "pipe", 0o600)
    assert "not a file" in error_of("openai", "pipe", tmp_path)


@pytest.mark.parametrize("value", [f"{KEY}\n{OTHER}", f"Bearer {KEY}", f"{KEY}é", f"{KEY}\udc80"])
def test_a_value_that_no_header_can_hold_is_not_a_key(monkeypatch, tmp_path, value):
    monkeypatch.setenv("OPENAI_API_KEY", value)
    assert "OPENAI_API_KEY" in error_of("openai", None, tmp_path)
