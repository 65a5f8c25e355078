"""A model that is an external command: what it is told, what it makes, and how it ends."""

import io
import json
import textwrap
from contextlib import closing

import numpy as np
import pytest
from external_rig import ROOT, generation_of, opened, picture, turn, write_wrapper
from PIL import Image

from gensight.errors import AnswerError, GensightError, ModelMemoryError, NotHereYetError, SpecError
from gensight.models import Site
from gensight.models.external_command import open_model

ARRAY = """
    import numpy
    numpy.save(os.path.join(turn["folder"], "made.npy"), numpy.array({values}, numpy.{dtype}))
    return {{"outcome": "ok", "array": "made.npy"}}
"""


def levels_of(png):
    return np.asarray(Image.open(io.BytesIO(png)))


def answered(root, body, given=None, **generation):
    write_wrapper(root, body)
    with closing(opened(root, **generation)) as model:
        return model.answer(given or turn())


def test_the_example_returns_the_input_in_grey():
    with closing(open_model(generation_of("example_command"), [], Site(root=ROOT))) as model:
        reply = model.answer(turn(picture(40, 30), "Paint it.", seed=11))
    grey = np.asarray(Image.open(io.BytesIO(picture(40, 30))).convert("L"))
    assert np.array_equal(levels_of(reply.images[0]), grey)
    assert (reply.outcome, reply.device, reply.peak_memory_gb) == ("ok", "cpu", None)
    setup = json.loads(reply.setup)
    assert setup["sizes"] == {"sent": [40, 30], "used": [40, 30], "returned": [40, 30]}
    assert (setup["seed"], setup["batch_size"], setup["wrapper"]) == (11, 1, "example")
    assert setup["libraries"]["pillow"] and list(setup) == sorted(setup)


def test_a_wrapper_is_told_the_settings_without_the_word_assumed(tmp_path):
    body = 'return {"outcome": "ok", "text": repr(sorted(self.generation.items()))}'
    told = answered(
        tmp_path,
        body,
        repository="a/b",
        assumed_revision="0123abc",
        weights="c/d",
        settings={"steps": 4, "assumed_guidance": 2.5},
    )
    assert dict(eval(told.text)) == {
        "repository": "a/b",
        "revision": "0123abc",
        "settings": {"guidance": 2.5, "steps": 4},
        "weights": "c/d",
        "weights_revision": None,
        "wrapper_version": 1,
    }


def test_a_turn_arrives_in_order_with_its_pictures_as_sent_and_its_seed(tmp_path):
    body = """
        found = [part.get("text") or open(part["image"], "rb").read().hex()
                 for part in turn["parts"]]
        return {"outcome": "ok", "text": repr([found, turn["seed"]])}
    """
    first, second = picture(3, 2), picture(5, 4)
    told = answered(tmp_path, body, turn("a", first, "ü", second, seed=2**62))
    assert eval(told.text) == [["a", first.hex(), "ü", second.hex()], 2**62]


def test_floats_are_stretched_to_sixteen_bits_and_their_range_is_kept(tmp_path):
    reply = answered(tmp_path, ARRAY.format(values="[[-1, 0], [1, 3]]", dtype="float32"))
    assert levels_of(reply.images[0]).tolist() == [[0, 16384], [32768, 65535]]
    setup = json.loads(reply.setup)
    assert (setup["min"], setup["max"]) == (-1.0, 3.0)


@pytest.mark.parametrize(
    ("values", "dtype", "levels"),
    [
        ("[[True, False]]", "bool_", [[255, 0]]),
        ("[[3, 4]]", "uint8", [[3, 4]]),
        ("[[3, 40000]]", "uint16", [[3, 40000]]),
        ("[[[1, 2, 3]]]", "uint8", [[[1, 2, 3]]]),
        ("[[5, 5]]", "float64", [[0, 0]]),
    ],
)
def test_other_arrays_are_pictures_as_they_are(tmp_path, values, dtype, levels):
    reply = answered(tmp_path, ARRAY.format(values=values, dtype=dtype))
    assert levels_of(reply.images[0]).tolist() == levels


@pytest.mark.parametrize(("values", "text"), [("[7]", "7"), ("[3, 0, 2]", "[3, 0, 2]")])
def test_a_list_of_counts_is_a_text(tmp_path, values, text):
    assert answered(tmp_path, ARRAY.format(values=values, dtype="int64")).text == text


def test_a_json_file_is_a_text(tmp_path):
    body = """
        with open(os.path.join(turn["folder"], "a.json"), "w") as file:
            file.write('{"count": 3}')
        return {"outcome": "ok", "json": "a.json"}
    """
    assert answered(tmp_path, body).text == '{"count": 3}'


def test_another_outcome_is_kept_with_its_detail(tmp_path):
    body = 'return {"outcome": "refused_output", "detail": "unsafe"}'
    reply = answered(tmp_path, body)
    assert (reply.outcome, reply.detail, reply.images) == ("refused_output", "unsafe", ())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('raise ValueError("no\\nway")', "ValueError: no way"),
        ('return {"outcome": "fine"}', "outcome is 'fine'"),
        ('return {"outcome": "ok"}', "no image, array, text or json"),
        ('return {"outcome": "ok", "text": 3}', "'text' is 3"),
        ('return {"outcome": "ok", "text": "3", "peak_memory_gb": "1"}', "'peak_memory_gb' is '1'"),
        ('return {"outcome": "ok", "text": "3", "setup": [1]}', r"'setup' is \[1\]"),
        ('return {"outcome": "ok", "text": "3", "setup": {"a": object}}', "not JSON serializable"),
        ('return {"outcome": "ok", "image": "gone.png"}', "told and not written"),
        ('return {"outcome": "ok", "image": "/etc/hostname"}', "outside the folder"),
        ('return {"outcome": "ok", "image": "../../x"}', "outside the folder"),
        (
            'open(turn["folder"] + "/a.png", "w").write("no picture")\n'
            'return {"outcome": "ok", "image": "a.png"}',
            "no picture",
        ),
        (ARRAY.format(values="[[1, numpy.nan]]", dtype="float16"), "NaN .* float16"),
        (ARRAY.format(values="[[1j]]", dtype="complex64"), "without numbers"),
        (ARRAY.format(values="[[[[1]]]]", dtype="uint8"), "no picture"),
        (ARRAY.format(values="[['a']]", dtype="object_"), "no NPY array"),
    ],
)
def test_a_bad_answer_costs_one_question_and_the_process_goes_on(tmp_path, body, message):
    bad = textwrap.indent(textwrap.dedent(body), "    ")
    fine = 'return {"outcome": "ok", "text": "2"}'
    write_wrapper(tmp_path, f'if turn["seed"] == 0:\n{bad}\n{fine}')
    with closing(opened(tmp_path)) as model:
        with pytest.raises(AnswerError, match=message):
            model.answer(turn(seed=0))
        assert model.answer(turn(seed=1)).text == "2"


def test_another_version_of_the_wrapper_is_refused_before_it_loads(tmp_path):
    write_wrapper(tmp_path, "pass", load='raise ValueError("it loaded")', version=2)
    with pytest.raises(GensightError, match=r"version 2 of the wrapper, .* says 1"):
        opened(tmp_path)


def test_a_wrapper_that_does_not_compare_versions_is_refused_too(tmp_path):
    write_wrapper(tmp_path, "pass")
    (tmp_path / "workflow/wrappers/made.py").write_text(
        "import json\ninput()\nprint(json.dumps({'ready': True, 'wrapper_version': 3}))\ninput()\n"
    )
    with pytest.raises(SpecError, match=r"made\.py: is version 3 and .* says 1"):
        opened(tmp_path)


def test_a_model_without_a_wrapper_is_one_line():
    with pytest.raises(NotHereYetError, match="some/thing has no wrapper"):
        open_model({"repository": "some/thing"}, [], Site(root=ROOT))


@pytest.mark.parametrize("name", ["gone", "../wrappers/example", "Example"])
def test_a_wrapper_that_is_not_there_is_one_line(name):
    with pytest.raises(SpecError, match="is not there"):
        open_model({"wrapper": name, "wrapper_version": 1}, [], Site(root=ROOT))


def test_a_missing_environment_says_how_to_make_it(tmp_path):
    write_wrapper(tmp_path, "pass")
    told = r"conda env create -p \.envs/far -f envs/far\.yaml"
    with pytest.raises(GensightError, match=told):
        opened(tmp_path, environment="far")


def test_too_little_memory_is_told_as_such(tmp_path):
    body = """
        class OutOfMemoryError(RuntimeError): pass
        raise OutOfMemoryError("CUDA")
    """
    with pytest.raises(ModelMemoryError, match=r"CUDA.*limits\.memory_mb"):
        answered(tmp_path, body)
    write_wrapper(tmp_path, "pass", load="raise MemoryError()")
    with pytest.raises(ModelMemoryError, match="out of memory"):
        opened(tmp_path)
