"""Count errors by hand, matching against scipy's assignment, the failure policy."""

import math

import numpy as np
import pytest
from hypothesis import given as across
from hypothesis import settings as run
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from gensight import images
from gensight.errors import GensightError
from gensight.measures import count_match
from gensight.measures._matching import maximum_matching
from gensight.records import Prediction, Sample


def points(*pairs):
    return [{"x": float(x), "y": float(y)} for x, y in pairs]


def sample_of(count=None, width=1024, height=768, **columns):
    return Sample(
        sample_id="s1",
        rank=0,
        cluster_id="c1",
        image={"bytes": b"", "path": None},
        width=width,
        height=height,
        target_count=count,
        **columns,
    )


def prediction_of(count, marks=None, work=(1024, 768)):
    return Prediction(
        sample_id="s1",
        rank=0,
        cluster_id="c1",
        variant="diff_red_blob",
        status="ok",
        outcome="ok",
        count=count,
        points=marks,
        work_width=work[0],
        work_height=work[1],
    )


@pytest.mark.parametrize(
    ("predicted", "truth", "error", "log_error"),
    [
        (12, 10, 2, math.log(13 / 11)),
        (5, 5, 0, 0),
        (3, 0, 3, math.log(4)),
        (0, 7, -7, math.log(8)),
    ],
)
def test_count_errors(predicted, truth, error, log_error):
    parts = count_match.measure(prediction_of(predicted), sample_of(truth), {})[None]
    assert parts == pytest.approx(
        {
            "count_error": error,
            "absolute_error": abs(error),
            "squared_error": error**2,
            "log_error": log_error,
            "failure_constant": 5.0,
        }
    )


def localised(marks, sample, **settings):
    parts = count_match.measure(prediction_of(len(marks), marks), sample, settings)[None]
    return parts["matched"], parts["false_points"], parts["missed"], parts["localised_f1"]


# At the work size of 1024 x 768, the smallest gate is 20.48 px.
@pytest.mark.parametrize(
    ("marks", "truths", "expected"),
    [
        (points((100, 100)), points((120, 100)), (1, 0, 0, 1.0)),
        (points((100, 100)), points((121, 100)), (0, 1, 1, 0.0)),
        # Half the distance to the nearest neighbour widens the gate to 50.
        (points((149, 100)), points((100, 100), (200, 100)), (1, 0, 1, 2 / 3)),
        # Two marks on one thing match once.
        (points((100, 100), (101, 100)), points((100, 100), (900, 700)), (1, 1, 1, 0.5)),
        # Duplicated truths keep the smallest gate and are two things.
        (points((100, 100), (101, 100)), points((100, 100), (100, 100)), (2, 0, 0, 1.0)),
        ([], points((100, 100)), (0, 0, 1, 0.0)),
        (points((100, 100)), [], (0, 1, 0, 0.0)),
        ([], [], (0, 0, 0, 1.0)),
    ],
)
def test_marks_matched_to_points(marks, truths, expected):
    sample = sample_of(len(truths), target_points=truths)
    assert localised(marks, sample) == pytest.approx(expected)
    assert localised(marks, sample_of(target_points=truths)) == pytest.approx(expected)


def test_gate_is_taken_at_the_work_size():
    # 512 x 384 at work size 1024 x 768: x = (99.5 + 0.5) * 2 - 0.5 = 199.5.
    sample = sample_of(1, 512, 384, target_points=points((99.5, 99.5)))
    assert localised(points((219.9, 199.5)), sample)[0] == 1
    assert localised(points((220.1, 199.5)), sample)[0] == 0


def test_lone_gate_is_a_setting():
    sample = sample_of(1, target_points=points((100, 100)))
    assert localised(points((400, 100)), sample, assumed_lone_gate_share=0.3)[0] == 1


def disc(x, y, radius=10, width=200, height=100):
    rows, columns = np.mgrid[:height, :width]
    return images.encode_mask((columns - x) ** 2 + (rows - y) ** 2 <= radius**2)


def test_marks_matched_to_instances():
    sample = sample_of(2, 200, 100, target_instances=[disc(30, 50), disc(150, 50)])
    # Work size 1000 x 500, five times the sample. Marks: inside one, inside it again, outside.
    marks = points((30 * 5 + 2, 50 * 5 + 2), (33 * 5, 50 * 5), (90 * 5, 250))
    parts = count_match.measure(prediction_of(3, marks, (1000, 500)), sample, {})[None]
    assert [parts[name] for name in ("matched", "false_points", "missed")] == [1, 2, 1]
    assert parts["localised_f1"] == pytest.approx(2 / 5)


def test_overlapping_instances_share_out_their_marks():
    near = [np.zeros((10, 10), bool) for _ in range(2)]
    near[0][:, :8] = True
    near[1][:, 2:4] = True
    marks = np.array([[3.0, 5.0], [7.0, 5.0]])
    assert count_match.matches_in_masks(marks, near) == 2


@pytest.mark.parametrize("mark", [(-0.6, 5), (9.6, 5), (5, 9.6), (4.5, -1)])
def test_marks_outside_the_picture_lie_in_nothing(mark):
    assert count_match.matches_in_masks(np.array([mark]), [np.ones((10, 10), bool)]) == 0


@pytest.mark.parametrize("mark", [(-0.4, 0), (9.4, 9.4)])
def test_marks_on_the_border_lie_inside(mark):
    assert count_match.matches_in_masks(np.array([mark]), [np.ones((10, 10), bool)]) == 1


def test_a_number_without_marks_has_no_localisation():
    sample = sample_of(2, target_points=points((1, 1), (9, 9)))
    assert "localised_f1" not in count_match.measure(prediction_of(2), sample, {})[None]


def test_a_truth_without_places_has_no_localisation():
    parts = count_match.measure(prediction_of(1, points((1, 1))), sample_of(2), {})[None]
    assert "localised_f1" not in parts
    assert "localised_f1" not in count_match.failed(sample_of(2), {})[None]


@pytest.mark.parametrize(
    ("truth", "constant", "error", "log_error"),
    [
        (0, 5, 5, math.log(6)),  # the constant is worse
        (1, 5, 4, math.log(3)),
        (2, 5, 3, math.log(3)),  # error of the constant, log error of silence
        (3, 5, -3, math.log(4)),
        (40, 5, -40, math.log(41)),
        (3, 4.5, -3, math.log(4)),
        (0, 0, 0, 0),
    ],
)
def test_failing_never_beats_silence_or_the_constant(truth, constant, error, log_error):
    sample = sample_of(truth, target_points=points(*[(i, i) for i in range(truth)]))
    parts = count_match.failed(sample, {"failure_constant": constant})[None]
    assert parts["count_error"] == error
    assert parts["absolute_error"] == max(truth, abs(constant - truth))
    assert parts["squared_error"] == error**2
    assert parts["log_error"] == pytest.approx(log_error)
    assert (parts["matched"], parts["missed"], parts["localised_f1"]) == (0, truth, 0)
    for guess in (0, constant):
        beaten = count_match.count_errors(guess, truth)
        assert parts["absolute_error"] >= beaten["absolute_error"]
        assert parts["log_error"] >= beaten["log_error"]


@pytest.mark.parametrize(
    ("given", "held_out", "expected"),
    [
        (None, [1, 2, 9], 2),
        (None, [1, 2], 1.5),
        (None, [None, 7], 7),
        (None, [], 5),
        (3, [1, 2, 9], 3),
        (0, [9], 0),
    ],
)
def test_constant_is_the_median_of_held_out_counts(given, held_out, expected):
    samples = [sample_of(count) for count in held_out]
    settings = count_match.settings_from({"failure_constant": given}, samples)
    assert settings == {"failure_constant": expected}


def test_constant_without_held_out_samples_is_frozen():
    assert count_match.failed(sample_of(0), {})[None]["absolute_error"] == 5


@pytest.mark.parametrize("constant", ["five", -1, True, math.nan])
def test_constant_is_a_number(constant):
    with pytest.raises(GensightError, match="failure_constant"):
        count_match.failed(sample_of(1), {"failure_constant": constant})


def test_no_count_is_no_ground_truth():
    assert count_match.measure(prediction_of(3), sample_of(), {}) is None
    assert count_match.failed(sample_of(), {}) is None


@pytest.mark.parametrize(
    ("prediction", "settings", "message"),
    [
        (prediction_of(None), {}, "holds no count"),
        (prediction_of(1, points((1, 1)), (None, None)), {}, "holds no work_width"),
        (prediction_of(1), {"failure": "exclude"}, "silence_or_constant"),
    ],
)
def test_errors_name_what_is_missing(prediction, settings, message):
    sample = sample_of(1, target_points=points((1, 1)))
    with pytest.raises(GensightError, match=message):
        count_match.measure(prediction, sample, settings)


tables = st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32 - 1))


@across(tables)
@run(deadline=None)
def test_matching_is_as_large_as_scipys_assignment(shape_and_seed):
    rows, columns, seed = shape_and_seed
    allowed = np.random.default_rng(seed).random((rows, columns)) < 0.3
    picked = linear_sum_assignment(~allowed)
    assert maximum_matching(allowed) == np.count_nonzero(allowed[picked])


@across(tables)
@run(deadline=None)
def test_gated_matching_is_as_large_as_a_gated_hungarian(shape_and_seed):
    rows, columns, seed = shape_and_seed
    rng = np.random.default_rng(seed)
    marks, truths = rng.uniform(0, 100, (rows, 2)), rng.uniform(0, 100, (columns, 2))
    gates = []
    for index, truth in enumerate(truths):
        others = np.hypot(*(np.delete(truths, index, axis=0) - truth).T)
        gates.append(max(20, others.min() / 2) if len(others) else 7)
    distances = np.array([[math.dist(mark, truth) for truth in truths] for mark in marks])
    inside = distances <= np.array(gates)
    picked = linear_sum_assignment(np.where(inside, distances, 1e6))
    matched = count_match.matches_in_gates(marks, truths, gate=20, lone_gate=7)
    assert matched == np.count_nonzero(inside[picked])


def test_many_marks():
    # A chain in which every augmenting path has to move all earlier pairs.
    n = 300
    allowed = np.eye(n, dtype=bool) | np.eye(n, k=1, dtype=bool)
    allowed[0, 0] = False
    allowed[-1] = False
    allowed[-1, 1] = True
    assert maximum_matching(allowed) == n - 1
