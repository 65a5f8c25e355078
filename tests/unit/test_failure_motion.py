"""Features of the blind classifier that look for movement, against movements that were made."""

import cv2
import numpy as np
import pytest
from images_by_hand import photograph

from gensight.datasets.photographs import load_photograph
from gensight.failures import motion
from gensight.failures.pictures import Pair
from gensight.failures.thresholds import THRESHOLDS


@pytest.fixture(scope="module")
def coffee():
    return load_photograph("coffee")


def pair_of(source, answer):
    return Pair(source, answer, THRESHOLDS)


def warped(rgb, *, right=0.0, down=0.0, scale=1.0, turn_deg=0.0):
    """Return a picture moved about its centre, in shares of its width; the border is mirrored."""
    height, width = rgb.shape[:2]
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), turn_deg, scale)
    matrix[:, 2] += right * width, down * width
    return cv2.warpAffine(rgb, matrix, (width, height), borderMode=cv2.BORDER_REFLECT)


def test_edges_lost_and_invented(coffee):
    found = motion.edge_agreement(pair_of(coffee, coffee))
    assert (found["edge_recall"], found["edge_precision"]) == (1, 1)
    flat = np.full_like(coffee, 99)
    lost = motion.edge_agreement(pair_of(coffee, flat))
    assert (lost["edge_recall"], lost["edge_precision"]) == (0, 1)
    invented = motion.edge_agreement(pair_of(flat, coffee))
    assert (invented["edge_recall"], invented["edge_precision"]) == (0, 0)


@pytest.mark.parametrize(("down", "right"), [(0, 18), (-12, 9), (0, 0)])
def test_edges_of_a_drawing_find_their_place(down, right):
    source = np.full((288, 384, 3), 90, np.uint8)
    cv2.ellipse(source, (200, 140), (60, 40), 20, 0, 360, (230, 220, 60), -1)
    drawn = np.zeros_like(source)
    cv2.ellipse(drawn, (200 + right, 140 + down), (60, 40), 20, 0, 360, (255, 255, 255), -1)
    found = motion.edge_alignment(pair_of(source, drawn))
    assert found["edge_shift_x_share"] == pytest.approx(-right / 384, abs=2 / 384)
    assert found["edge_shift_y_share"] == pytest.approx(-down / 384, abs=2 / 384)
    assert found["edge_precision_aligned"] > 0.95
    assert found["edge_gain"] == pytest.approx(0, abs=0.05) or right


def test_where_either_has_no_edges_nothing_moves():
    flat, picture = np.full((64, 64, 3), 9, np.uint8), photograph(64, 64)
    for source, answer in ((picture, flat), (flat, picture)):
        found = motion.edge_alignment(pair_of(source, answer))
        assert found["edge_shift_x_share"] == found["edge_shift_y_share"] == 0
        assert (found["edge_scale"], found["edge_gain"]) == (1, 0)


@pytest.mark.parametrize(
    "move",
    [
        {"right": 0.05},
        {"right": -0.02, "down": 0.03},
        {"scale": 1.08},
        {"turn_deg": 3},
        {"right": 0.03, "scale": 0.95, "turn_deg": -2},
    ],
)
def test_registration_finds_the_move(coffee, move):
    found = motion.registration(pair_of(coffee, warped(coffee, **move)))
    assert found["registration"] > 0.95
    assert found["shift_x_share"] == pytest.approx(move.get("right", 0), abs=2e-3)
    assert found["shift_y_share"] == pytest.approx(move.get("down", 0), abs=2e-3)
    assert found["scale"] == pytest.approx(move.get("scale", 1), abs=3e-3)
    # Positive turns of OpenCV's matrices are counter-clockwise, those of the fit clockwise.
    assert found["rotation_deg"] == pytest.approx(-move.get("turn_deg", 0), abs=0.1)
    assert found["anisotropy"] == pytest.approx(1, abs=5e-3)
    assert found["ssim_gain"] > 0.2


def test_registration_from_far_away(coffee):
    found = motion.registration(pair_of(coffee, warped(coffee, turn_deg=12, scale=1.15)))
    assert found["registration"] > 0.95
    assert found["scale"] == pytest.approx(1.15, abs=0.01)


def test_nothing_registers_on_a_flat_picture(coffee):
    found = motion.registration(pair_of(coffee, np.full_like(coffee, 90)))
    assert found["registration"] == 0
    assert found["scale"] == 1


def test_flow_follows_a_bend_that_no_affine_map_undoes(coffee):
    height, width = coffee.shape[:2]
    rows, columns = np.mgrid[:height, :width].astype(np.float32)
    bent = cv2.remap(
        coffee,
        columns + 12 * np.sin(rows / 40),
        rows + 12 * np.sin(columns / 40),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REFLECT,
    )
    pair = pair_of(coffee, bent)
    found, rigid = motion.flow(pair), motion.registration(pair)
    # A sine moves half of its places by more than 0.7 of its height, here in both directions.
    assert 4 < found["flow_px"] < 12
    assert found["flow_gain"] > 0.2 > rigid["ssim_gain"]
    still = motion.flow(pair_of(coffee, coffee))
    assert still["flow_px"] < 0.1
