"""The terms on which a hosted model is asked."""

import shutil
from pathlib import Path

import pytest
import yaml

from gensight.errors import SpecError
from gensight.runner.terms import terms_of

RUN = {"name": "r", "models": ["own"], "benchmarks": ["b"], "prompts": ["p"]}
PRICES = Path(__file__).parents[2] / "resources/prices.yaml"


def terms(root, service, address):
    generation = {"service": service, "model": "Qwen/Qwen3-VL-8B-Thinking", "max_tokens": 9}
    spec = {
        "adapter": "openai_chat",
        "generation": generation,
        "answers": "text",
        "display": {"label": "Own"},
    }
    (root / "config/models").mkdir(parents=True)
    (root / "config/models/own.yaml").write_text(yaml.safe_dump(spec))
    (root / "resources").mkdir()
    shutil.copy(PRICES, root / "resources")
    return terms_of({"run": RUN, "endpoints": {service: address}}, root, "own", generation)


def test_a_server_of_ones_own_is_free(tmp_path):
    assert terms(tmp_path, "vllm", "http://127.0.0.1:8000/v1").price.free


def test_what_is_free_there_is_not_free_elsewhere(tmp_path):
    with pytest.raises(SpecError, match=r"is free at vllm, and config/models/own.yaml asks openai"):
        terms(tmp_path, "openai", "https://gateway.example/v1")
