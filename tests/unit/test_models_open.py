"""Loading adapters and opening reference models: names, keys, one-line errors."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gensight import models
from gensight.errors import NotHereYetError, SpecError
from gensight.models import reference
from gensight.models.reference import open_model


def test_load_returns_the_adapter_module():
    assert models.load("reference") is reference
    assert reference.READS_TRUTH is True
    assert isinstance(reference.VERSION, int)


def test_protocol_without_an_adapter_is_one_line():
    with pytest.raises(NotHereYetError, match="'carrier_pigeon' has no adapter") as caught:
        models.load("carrier_pigeon")
    assert "reference" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_importing_models_is_light():
    code = (
        "import sys, gensight.models, gensight.models.reference; "
        "print(sorted({'cv2', 'numpy', 'pyarrow', 'torch', 'pydantic'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.mark.parametrize("method", sorted(set(reference.METHODS) - {"oracle", "planner"}))
def test_a_completed_block_opens_like_a_short_one(method):
    full = reference.complete({"method": method})
    assert set(full) == set(reference.DEFAULTS)
    assert reference.complete(full) == full


def test_methods_are_the_constructors():
    assert set(reference._constructors()) == set(reference.METHODS)


ROOT = Path(__file__).parents[2]
SPECS = sorted(
    path
    for path in (ROOT / "config/models").glob("*.yaml")
    if "adapter: reference" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_shipped_spec_is_a_valid_block(path):
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    settings = reference.complete(spec["generation"])
    spoilt = settings["disturbance"] or settings["grid_disturbance"]
    assert (spoilt is None) == (not settings["severities"])
    assert spec["failed_above"] is None
    assert spec["role"] in {"ceiling", "floor", "disturbed"}


def test_every_method_and_disturbance_ships_as_a_model():
    blocks = [yaml.safe_load(path.read_text(encoding="utf-8"))["generation"] for path in SPECS]
    assert {block["method"] for block in blocks} == set(reference.METHODS)
    shipped = {block.get("disturbance") for block in blocks}
    assert shipped == set(reference.CHOICES["disturbance"])


@pytest.mark.parametrize(
    ("generation", "message"),
    [
        ({}, "key 'generation.method' is missing; allowed: constant, drawer, echo"),
        ({"method": "orakel"}, "method: 'orakel' is not known (did you mean 'oracle'?)"),
        ({"method": ["echo"]}, "method"),
        ({"method": "oracle", "disturbence": "shift"}, "did you mean 'disturbance'?"),
        (
            {"method": "oracle", "disturbance": "rotate"},
            "hue, jpeg, noise, null, scale",
        ),
        ({"method": "oracle", "depth_code": "gamma"}, "allowed: depth, disparity, log"),
        ({"method": "oracle", "bit_depth": 12}, "bit_depth: '12' is not known"),
        ({"method": "echo", "level": 3}, "generation.level: the method 'echo' does not use it"),
        ({"method": "constant", "level": 256}, "level: 256"),
        ({"method": "constant", "level": True}, "level: expected int, got True"),
        ({"method": "oracle", "severities": [1]}, "name the disturbance"),
        ({"method": "oracle", "disturbance": "blur", "severities": [-1]}, "severities: -1"),
        ({"method": "oracle", "disturbance": "blur", "severities": ["x"]}, "severities: 'x'"),
        ({"method": "oracle", "disturbance": "jpeg", "bit_depth": 16}, "JPEG"),
        ({"method": "drawer", "severities": [2]}, "name the disturbance"),
        ({"method": "drawer", "grid_disturbance": "blur"}, "collapse, fade, null, turn"),
        ({"method": "drawer", "disturbance": "shift"}, "the method 'drawer' does not use it"),
        ({"method": "flat_grid", "level": 256}, "level: 256"),
    ],
)
def test_wrong_generation_blocks_are_one_line(generation, message):
    with pytest.raises(SpecError) as caught:
        open_model(generation, [])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", ["prior_centre", "prior_mean", "prior_median"])
def test_fitted_methods_need_held_out_samples(method):
    with pytest.raises(SpecError, match=f"'{method}' is fitted on held-out samples") as caught:
        open_model({"method": method}, [])
    assert "\n" not in str(caught.value)
