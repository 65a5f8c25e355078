"""What every extractor owes: no knowledge of the model, equal readings, bad input."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import pkgutil

import numpy as np
import pytest
from images_by_hand import (
    GREY,
    RGB_ALPHA,
    UNREADABLE,
    chunk,
    exif,
    photograph,
    png,
    saved,
)

from gensight import extractors
from gensight.errors import GensightError, SpecError
from gensight.extractors import Answer, Reading, load, names
from gensight.records import Prediction

PICTURE_EXTRACTORS = [
    "boxes",
    "coloured_dots",
    "depth",
    "dots",
    "keypoints",
    "mask",
    "normals",
    "overlay",
]
# What an extractor cannot do without.
GIVEN = {"keypoints": {"colours": {"nose": [255, 0, 0]}}}
SOURCE = saved(photograph(), "PNG")


def answer(image, width=64, height=48):
    return Answer(image=image, source=SOURCE, source_width=width, source_height=height)


def one(name, image, parameters=None, **options):
    settings = {**GIVEN.get(name, {}), **(parameters or {})}
    (reading,) = load(name).extract(answer(image, **options), settings)
    return reading


def names_of_parameters(function):
    return list(inspect.signature(function).parameters)


def model_aware(module):
    """Return the functions and fields of a module whose names speak of a model."""
    found = []
    for name, value in vars(module).items():
        if inspect.isfunction(value):
            found += [f"{name}({key})" for key in names_of_parameters(value) if "model" in key]
        if dataclasses.is_dataclass(value):
            found += [
                f"{name}.{field.name}"
                for field in dataclasses.fields(value)
                if "model" in field.name
            ]
    return found


def test_extractors_cannot_know_the_model():
    modules = [extractors] + [
        importlib.import_module(f"gensight.extractors.{module.name}")
        for module in pkgutil.iter_modules(extractors.__path__)
    ]
    assert len(modules) >= 5
    assert [name for module in modules for name in model_aware(module)] == []


def test_the_search_for_model_names_finds_them():
    class Careless:
        """A namespace with one offence of each sort."""

    module = Careless()
    module.extract = lambda answer, model_name: (answer, model_name)
    module.Reply = dataclasses.make_dataclass("Reply", [("answered_model", str)])
    assert model_aware(module) == ["extract(model_name)", "Reply.answered_model"]


def test_folder_listing():
    assert set(PICTURE_EXTRACTORS) <= set(names())
    assert not any(name.startswith("_") for name in names())
    with pytest.raises(SpecError, match=r"did you mean 'mask'.*depth, dots,.*mask, normals"):
        load("masks")
    with pytest.raises(SpecError, match="'_reading' is not known"):
        load("_reading")


@pytest.mark.parametrize("name", PICTURE_EXTRACTORS)
def test_declared_data(name):
    module = load(name)
    assert isinstance(module.VERSION, int)
    json.dumps(module.DEFAULTS)


@pytest.mark.parametrize("name", PICTURE_EXTRACTORS)
def test_equal_bytes_give_equal_readings(name):
    marked = photograph(seed=1)
    data = saved(marked, "PNG")
    first = one(name, data)
    assert first == one(name, bytes(bytearray(data)))
    assert first.status == "ok"


@pytest.mark.parametrize("name", PICTURE_EXTRACTORS)
@pytest.mark.parametrize("case", UNREADABLE)
def test_unreadable_answers_are_invalid(name, case):
    reading = one(name, UNREADABLE[case])
    assert (reading.status, reading.reason) == ("invalid", "unreadable")
    assert reading.detail
    assert reading.fields["work_width"] == 1024
    columns = ("mask", "grey", "normals", "count", "points", "boxes", "keypoints")
    for column in (*columns, "degenerate_output"):
        assert reading.fields.get(column) is None


@pytest.mark.parametrize("name", PICTURE_EXTRACTORS)
def test_no_picture_is_no_output(name):
    reading = one(name, None)
    assert (reading.status, reading.reason) == ("no_output", "no_image")
    assert reading.fields.get("returned_width") is None


def test_one_reading_per_variant_whatever_happens():
    variants = ["otsu", "kmeans", "threshold_128", "threshold_225"]
    for image in (SOURCE, b"", None):
        readings = load("mask").extract(answer(image), {"variants": variants})
        assert [reading.variant for reading in readings] == variants


@pytest.mark.parametrize("name", PICTURE_EXTRACTORS)
def test_fields_are_columns_of_predictions(name):
    columns = {field.name for field in dataclasses.fields(Prediction)}
    reading = one(name, SOURCE)
    assert set(reading.fields) <= columns
    parameters = json.loads(reading.fields["parameters"])
    assert list(parameters) == sorted(parameters)
    assert set(parameters) == set(load(name).DEFAULTS) - {"variants"}
    assert all(isinstance(value, float) for value in reading.fields["facts"].values())


# (bytes, returned size, kind, bits, alpha) of answers to a 64x48 input
RETURNED = {
    "png": (SOURCE, (64, 48), "png", 8, False),
    "jpeg": (saved(photograph(96, 128), "JPEG"), (128, 96), "jpeg", 8, False),
    "webp": (saved(photograph(48, 48), "WEBP"), (48, 48), "webp", 8, False),
    "rgba": (png((4, 3), 8, RGB_ALPHA, [[9] * 16] * 3), (4, 3), "png", 8, True),
    "turned": (
        png((3, 4), 8, GREY, [[1, 2, 3]] * 4, chunk(b"eXIf", exif(6))),
        (4, 3),
        "png",
        8,
        False,
    ),
}


@pytest.mark.parametrize("name", PICTURE_EXTRACTORS)
@pytest.mark.parametrize("case", RETURNED)
def test_returned_facts(name, case):
    image, (width, height), kind, bits, alpha = RETURNED[case]
    fields = one(name, image).fields
    assert (fields["returned_width"], fields["returned_height"]) == (width, height)
    assert (fields["image_kind"], fields["bit_depth"], fields["had_alpha"]) == (kind, bits, alpha)
    assert fields["aspect_error"] == pytest.approx(abs(width / height / (64 / 48) - 1))
    assert fields["aspect_changed"] == (case == "webp")
    assert (fields["work_width"], fields["work_height"]) == (1024, 768)


def test_aspect_of_a_reply_in_another_shape():
    """PROTOCOLS API-1: 1024x858 asked, 1152x896 returned."""
    reading = one("mask", saved(np.zeros((896, 1152), np.uint8), "PNG"), width=1024, height=858)
    assert reading.status == "ok"
    assert reading.fields["aspect_error"] == pytest.approx(0.077, abs=5e-4)
    assert reading.fields["aspect_changed"] is True
    tolerant = one(
        "mask",
        saved(np.zeros((896, 1152), np.uint8), "PNG"),
        {"assumed_aspect_tolerance": 0.1},
        width=1024,
        height=858,
    )
    assert tolerant.fields["aspect_changed"] is False


@pytest.mark.parametrize("name", PICTURE_EXTRACTORS)
def test_unknown_parameters_and_variants_are_named(name):
    with pytest.raises(SpecError, match="'long_side' is not known \\(did you mean 'long_side_px'"):
        one(name, SOURCE, {"long_side": 512})
    with pytest.raises(SpecError, match=r"parameters\.variants: 'ostu' is not known"):
        one(name, SOURCE, {"variants": ["ostu"]})
    with pytest.raises(SpecError, match=r"'parameters\.variants' is missing"):
        load(name).extract(answer(SOURCE), {"variants": []})


COMPARING = {
    "boxes": {"variants": ["drawn"]},
    "coloured_dots": {},
    "dots": {},
    "keypoints": GIVEN["keypoints"],
    "overlay": {},
}


@pytest.mark.parametrize("name", COMPARING)
def test_an_unreadable_input_is_not_the_answers_fault(name):
    broken = Answer(image=SOURCE, source=b"", source_width=64, source_height=48)
    with pytest.raises(GensightError, match="input picture cannot be read"):
        load(name).extract(broken, COMPARING[name])
    absent = Answer(image=SOURCE, source_width=64, source_height=48)
    with pytest.raises(GensightError, match="source"):
        load(name).extract(absent, COMPARING[name])


def test_readings_are_plain_data():
    assert Reading(variant="x") == Reading(variant="x", status="ok", fields={})
    with pytest.raises(dataclasses.FrozenInstanceError):
        Reading(variant="x").status = "invalid"
