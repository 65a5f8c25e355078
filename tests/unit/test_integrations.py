"""Scorers for other harnesses: the pipeline's numbers, and no failed answer lost on the way."""

from __future__ import annotations

import base64
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

from gensight import images
from gensight.errors import GensightError, SpecError
from gensight.extractors import Answer
from gensight.integrations import _scored, lmms_eval
from gensight.integrations import inspect_ai as for_inspect

PAGE = Path(__file__).resolve().parents[2] / "docs/integrations.md"
SIDE = 20
MODEL = "mockllm/model"


def half(columns: int) -> np.ndarray:
    """Return a mask whose first columns are foreground."""
    mask = np.zeros((SIDE, SIDE), np.bool_)
    mask[:, :columns] = True
    return mask


def painted(mask: np.ndarray) -> bytes:
    return images.encode_png(mask.astype(np.uint8) * 255)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)


# lmms-eval


def reply(path: Path, mask: np.ndarray | bytes) -> str:
    path.write_bytes(mask if isinstance(mask, bytes) else painted(mask))
    return json.dumps({"text": "", "images": [str(path)]})


def by_metric(results: list[dict]) -> dict[str, list]:
    """Gather items as lmms-eval does: one list for each key."""
    return {name: [result[name] for result in results] for name in results[0]}


def test_masks_of_lmms_eval(tmp_path):
    doc = {"target_mask": half(10)}
    replies = [
        reply(tmp_path / "a.png", half(10)),
        reply(tmp_path / "b.png", half(5).repeat(3, 0).repeat(3, 1)),
        reply(tmp_path / "c.png", b"<html>502</html>"),
        "I cannot draw.",
    ]
    found = by_metric([lmms_eval.segmentation(doc, [text]) for text in replies])
    # IoU 1, 1 / 2 and two failures, whose targets (200 pixels each) enter the union.
    assert lmms_eval.giou(found["giou"]) == pytest.approx(100 * 1.5 / 4)
    assert lmms_eval.ciou(found["ciou"]) == pytest.approx(100 * 300 / 800)
    assert lmms_eval.coverage(found["coverage"]) == 50
    # What the harness takes for a mean and its error: not of a ratio of sums.
    assert [item["score"] for item in found["giou"]] == [100, 50, 0, 0]
    assert all("score" not in item for item in found["ciou"])
    json.dumps(found)


def test_counts_of_lmms_eval():
    docs = [{"target_count": 10}, {"target_count": "5"}, {"target_count": 3}]
    results = [["12"], ["**5**."], ["about 3"]]
    pairs = list(zip(docs, results, strict=True))
    found = by_metric([lmms_eval.counting(*pair) for pair in pairs])
    # The failed answer fares as silence (3 off), the constant 5 would be 2 off.
    assert lmms_eval.mae(found["mae"]) == pytest.approx(5 / 3)
    assert lmms_eval.rmse(found["rmse"]) == pytest.approx(math.sqrt(13 / 3))
    assert lmms_eval.coverage(found["coverage"]) == pytest.approx(200 / 3)
    assert all("score" not in item for item in found["rmse"])
    worse = lmms_eval.counting(docs[2], results[2], failure_constant=9)
    assert worse["mae"]["absolute_error"] == 6


@pytest.mark.parametrize("results", [[""], []])
def test_an_answer_that_never_came_is_a_failed_one(results):
    found = lmms_eval.counting({"target_count": 8}, results)
    assert (found["mae"]["absolute_error"], found["coverage"]["valid"]) == (8, 0)


def test_several_replies_to_one_request_count_as_their_mean():
    found = lmms_eval.counting({"target_count": 7}, ["7", "9", "many"])
    # RMSE over all three: 0, 4 and 49.
    assert lmms_eval.rmse([found["rmse"]]) == pytest.approx(math.sqrt(53 / 3))
    assert lmms_eval.coverage([found["coverage"]]) == pytest.approx(200 / 3)


def test_a_lost_picture_is_nobodys_failure_and_hides_no_number(tmp_path):
    doc = {"target_mask": half(10)}
    good = lmms_eval.segmentation(doc, [reply(tmp_path / "a.png", half(10))])
    lost = lmms_eval.segmentation(doc, [json.dumps({"images": [str(tmp_path / "gone.png")]})])
    for name, over in (("giou", lmms_eval.giou), ("ciou", lmms_eval.ciou)):
        assert over([good[name]]) == 100
        assert math.isnan(over([good[name], lost[name]]))


def test_documents_without_truth_are_in_no_number():
    known, unknown = ({"target_count": count} for count in (4, None))
    found = by_metric([lmms_eval.counting(doc, ["5"]) for doc in (known, unknown)])
    assert (lmms_eval.mae(found["mae"]), lmms_eval.coverage(found["coverage"])) == (1, 100)
    assert math.isnan(lmms_eval.mae([lmms_eval.counting(unknown, ["5"])["mae"]]))


@pytest.mark.parametrize("text", ["{}", "[]", '{"images": []}', '{"images": [3]}', "null", "7"])
def test_replies_without_a_picture_are_failed(text):
    found = lmms_eval.segmentation({"target_mask": half(10)}, [text])
    assert found["giou"] == {"iou": 0, "intersection": 0, "union": 200, "valid": 0, "score": 0}


def test_a_flat_picture_is_scored_but_not_in_the_asked_format(tmp_path):
    white = reply(tmp_path / "white.png", half(SIDE))
    found = lmms_eval.segmentation({"target_mask": half(10)}, [white])
    assert (found["giou"]["iou"], found["coverage"]["valid"]) == (0.5, 0)


def test_a_true_mask_in_every_form_is_the_same(tmp_path):
    mask = half(7)
    (tmp_path / "m.png").write_bytes(painted(mask))
    text = reply(tmp_path / "a.png", half(14))
    forms = [
        mask,
        mask.astype(np.int64),
        mask.astype(np.uint8) * 255,
        tmp_path / "m.png",
        str(tmp_path / "m.png"),
        images.encode_mask(mask),
        Image.fromarray(mask),
        Image.fromarray(mask.astype(np.uint8) * 255),
    ]
    found = [lmms_eval.segmentation({"m": form}, [text], column="m") for form in forms]
    assert all(one == found[0] for one in found)
    assert found[0]["giou"]["iou"] == 0.5


@pytest.mark.parametrize(
    "value",
    [7, np.arange(9).reshape(3, 3), np.zeros((2, 2, 3)), "gone.png", Image.new("F", (2, 2))],
)
def test_what_is_no_mask_is_refused(value):
    with pytest.raises(GensightError, match="true mask"):
        lmms_eval.segmentation({"target_mask": value}, [""])


# What both share


def test_a_fit_that_does_not_exist_is_named():
    sample = _scored.truth(8, 8, target_depth_m=images.encode_array(np.full((8, 8), 2, np.float32)))
    answer = Answer(source_width=8, source_height=8)
    with pytest.raises(SpecError, match="did you mean 'depth'"):
        _scored.scored(_scored.DEPTH, answer, sample, fit="dept")


def test_nothing_of_a_harness_is_imported_before_it_is_used():
    code = (
        "import sys; import gensight.integrations.inspect_ai, gensight.integrations.lmms_eval;"
        "sys.exit(any(name in sys.modules for name in ('inspect_ai', 'lmms_eval', 'torch')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# inspect_ai itself, where it is installed

foreign_warnings = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def harness(tmp_path, monkeypatch):
    """Return inspect_ai, writing only below the test's folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return pytest.importorskip("inspect_ai", exc_type=ImportError)


def evaluated(harness, task, answers: list):
    """Evaluate a task whose model gives these answers in turn; return the log."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    # With its usage told, nothing has to be counted with a downloaded vocabulary.
    usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    outputs = [ModelOutput.from_content(MODEL, content) for content in answers]
    told = [output.model_copy(update={"usage": usage}) for output in outputs]
    model = get_model(MODEL, custom_outputs=told, memoize=False)
    (log,) = harness.eval(task, model=model, display="none", log_dir="logs", max_connections=1)
    assert log.status == "success", log.error
    return log


def numbers(log) -> dict[str, float]:
    (score,) = log.results.scores
    return {name: metric.value for name, metric in score.metrics.items()}


def drawn(mask: np.ndarray) -> list:
    from inspect_ai.model import ContentImage, ContentText

    uri = "data:image/png;base64," + base64.b64encode(painted(mask)).decode()
    return [ContentText(text="Here it is."), ContentImage(image=uri)]


def task_of(scorer, targets: list[str], solver=None, epochs: int = 1):
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.solver import generate

    samples = [Sample(input="?", target=target) for target in targets]
    return Task(dataset=samples, solver=solver or generate(), scorer=scorer, epochs=epochs)


@foreign_warnings
def test_masks_of_inspect_ai(harness):
    Path("true.png").write_bytes(painted(half(10)))
    task = task_of(for_inspect.segmentation(), ["true.png"] * 3)
    # A path in the model's own words is not followed: it would be the truth's.
    log = evaluated(harness, task, [drawn(half(10)), drawn(half(5)), "true.png"])
    found = numbers(log)
    assert found["giou"] == pytest.approx(50)
    assert found["ciou"] == pytest.approx(100 * 300 / 600)
    assert found["coverage"] == pytest.approx(200 / 3)
    statuses = [sample.scores["segmentation"].metadata["status"] for sample in log.samples]
    assert statuses == ["ok", "ok", "no_output"]


@foreign_warnings
def test_counts_of_inspect_ai_over_epochs(harness):
    task = task_of(for_inspect.counting(failure_constant=2), ["7", "7"], epochs=2)
    found = numbers(evaluated(harness, task, ["7", "many", "9", "9"]))
    # Whichever epoch an answer falls into: errors 0, 7 (as silence), 2, 2.
    assert found["mae"] == pytest.approx(11 / 4)
    assert found["rmse"] == pytest.approx(math.sqrt(57 / 4))
    assert found["coverage"] == 75


@foreign_warnings
def test_depth_of_inspect_ai(harness):
    depth_m = np.tile(np.linspace(1, 10, SIDE, dtype=np.float32), (SIDE, 1))
    np.save("true.npy", depth_m)
    grey = images.encode_png((65535 - 6000 * depth_m).round().astype(np.uint16))
    uri = "data:image/png;base64," + base64.b64encode(grey).decode()
    from inspect_ai.model import ContentImage

    task = task_of(for_inspect.depth(fit="signed"), ["true.npy", "true.npy"])
    found = numbers(evaluated(harness, task, [[ContentImage(image=uri)], "no"]))
    # The failed answer is the best constant: its errors are those of the mean.
    constant = np.mean(np.abs(depth_m - depth_m.mean()) / depth_m)
    assert found["absrel"] == pytest.approx(100 * constant / 2, abs=0.01)
    assert found["rmse_m"] == pytest.approx(depth_m.std() / 2, abs=0.001)
    assert found["coverage"] == 50


@foreign_warnings
def test_a_file_of_the_solver_and_one_that_is_lost(harness):
    from inspect_ai.solver import solver

    Path("true.png").write_bytes(painted(half(10)))
    Path("made.png").write_bytes(painted(half(5)))

    @solver
    def painter():
        async def solve(state, generate):
            made = "made.png" if state.sample_id == 1 else "gone.png"
            state.store.set(for_inspect.IMAGE, made)
            return state

        return solve

    log = evaluated(harness, task_of(for_inspect.segmentation(), ["true.png"] * 2, painter()), [])
    assert numbers(log)["giou"] == pytest.approx(50)
    assert (log.results.scores[0].scored_samples, log.results.scores[0].unscored_samples) == (1, 1)
    assert "gone.png" in log.samples[1].scores["segmentation"].explanation


@foreign_warnings
def test_a_log_is_scored_again_with_another_variant(harness):
    Path("true.png").write_bytes(painted(half(10)))
    task = task_of(for_inspect.segmentation(), ["true.png", "true.png"])
    faint = np.where(half(10), 100, 0).astype(np.uint8)
    from inspect_ai.model import ContentImage

    uri = "data:image/png;base64," + base64.b64encode(images.encode_png(faint)).decode()
    log = evaluated(harness, task, [[ContentImage(image=uri)], drawn(half(10))])
    assert numbers(log)["giou"] == 100
    again = for_inspect.segmentation(variant="threshold_128")
    assert numbers(harness.score(log, again, action="overwrite", display="none"))["giou"] == 50


# The page of the documentation


class TaskLoader(yaml.SafeLoader):
    """Reads `!function utils.name` as the name."""


TaskLoader.add_constructor("!function", lambda loader, node: node.value.removeprefix("utils."))


def test_the_plain_functions_print_what_the_page_says(capsys):
    exec(blocks("python")[0], {})
    assert f"prints `{capsys.readouterr().out.strip()}`" in PAGE.read_text("utf-8")


def test_the_page_is_a_task_of_lmms_eval():
    names: dict = {}
    exec(blocks("python")[2], names)
    spec = yaml.load(blocks("yaml")[0], TaskLoader)
    pairs = [({"number": 7}, ["7"]), ({"number": 9}, ["no idea"])]
    found = by_metric([names[spec["process_results"]](*pair) for pair in pairs])
    assert set(found) == {metric["metric"] for metric in spec["metric_list"]}
    values = {m["metric"]: names[m["aggregation"]](found[m["metric"]]) for m in spec["metric_list"]}
    assert values == {"mae": 4.5, "rmse": pytest.approx(math.sqrt(81 / 2)), "coverage": 50}


@foreign_warnings
def test_the_page_is_a_task_of_inspect_ai(harness):
    Path("coins.py").write_text(blocks("python")[1])
    names: dict = {}
    exec(compile(Path("coins.py").read_text(), "coins.py", "exec"), names)
    found = numbers(evaluated(harness, names["coins"](), ["7", "10"]))
    assert found == {"mae": 1, "rmse": pytest.approx(math.sqrt(2)), "coverage": 100}
