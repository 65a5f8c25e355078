"""Where things are in the photographs of scikit-image, drawn by hand at a long side of 512 px.

Masks follow the real borders to a few pixels. Depth is a stand-in: layers at plausible distances,
bent a little, over a background that runs from the top to the bottom of the picture. It is good
enough to judge what a picture looks like, never to score one.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

Polygon = list[tuple[int, int]]
Ellipse = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class Outline:
    """A photograph's target, its layers (shape, depth in metres), its background and points.

    `background` is (depth at the top, row of the horizon, depth at the bottom): above the horizon
    the first, below it a floor whose inverse depth grows evenly.
    """

    target: Polygon | Ellipse
    layers: tuple[tuple[Polygon | Ellipse, float], ...]
    background: tuple[float, int, float]
    points: tuple[tuple[int, int], ...]


ASTRONAUT: Polygon = [
    (155, 70), (165, 45), (190, 25), (225, 16), (260, 22), (285, 40), (298, 65), (301, 90),
    (295, 110), (280, 130), (268, 135), (258, 165), (256, 175), (280, 190), (300, 215), (304, 235),
    (330, 255), (345, 275), (355, 310), (362, 345), (330, 360), (305, 385), (285, 420), (278, 460),
    (280, 511), (30, 511), (22, 470), (18, 420), (28, 360), (40, 300), (50, 265), (75, 245),
    (110, 210), (115, 185), (130, 165), (155, 150), (180, 148), (178, 130), (165, 115), (155, 95),
]  # fmt: skip
HELMET: Polygon = [
    (278, 511), (280, 460), (290, 420), (310, 385), (340, 358), (375, 345), (410, 344), (440, 355),
    (470, 380), (490, 415), (500, 455), (511, 470), (511, 511),
]  # fmt: skip
SHUTTLE: Polygon = [
    (405, 5), (420, 0), (432, 20), (437, 45), (441, 40), (447, 45), (452, 80), (453, 180),
    (457, 232), (460, 265), (435, 268), (425, 250), (400, 270), (385, 270), (367, 272), (370, 250),
    (380, 235), (353, 230), (356, 210), (377, 185), (380, 140), (378, 95), (381, 45), (388, 42),
    (393, 50), (397, 25),
]  # fmt: skip
CAT: Polygon = [
    (42, 0), (38, 60), (35, 110), (40, 140), (20, 150), (0, 165), (0, 341), (435, 341), (430, 310),
    (380, 260), (385, 225), (410, 180), (412, 140), (405, 100), (400, 80), (425, 60), (445, 10),
    (448, 0),
]  # fmt: skip
CUP: Polygon = [
    (148, 90), (155, 60), (180, 35), (215, 18), (245, 15), (285, 20), (320, 40), (343, 65),
    (350, 95), (345, 130), (335, 160), (320, 195), (300, 215), (280, 235), (240, 243), (222, 235),
    (200, 258), (180, 258), (168, 245), (170, 225), (185, 203), (175, 190), (160, 165), (150, 130),
]  # fmt: skip
ROCKET: Polygon = [
    (250, 140), (250, 115), (254, 105), (258, 101), (263, 106), (267, 115), (267, 145), (266, 325),
    (250, 325),
]  # fmt: skip
CAMERAMAN: Polygon = [
    (0, 245), (20, 225), (35, 190), (55, 165), (70, 145), (100, 130), (128, 123), (150, 107),
    (163, 105), (168, 90), (185, 72), (205, 64), (230, 70), (250, 85), (265, 105), (270, 120),
    (262, 132), (252, 143), (255, 165), (246, 175), (240, 195), (225, 200), (240, 205), (245, 230),
    (255, 235), (270, 215), (290, 205), (305, 190), (315, 170), (325, 168), (332, 185), (325, 205),
    (310, 225), (302, 245), (303, 270), (285, 290), (245, 312), (208, 295), (180, 335), (142, 382),
    (150, 430), (148, 511), (140, 511), (125, 480), (100, 450), (95, 511), (0, 511),
]  # fmt: skip
TRIPOD: Polygon = [
    (288, 190), (298, 190), (298, 312), (312, 330), (405, 511), (396, 511), (300, 335), (297, 484),
    (289, 484), (288, 340), (245, 511), (232, 511), (280, 330), (278, 313), (288, 312),
]  # fmt: skip
FUEL_TANK: Polygon = [
    (225, 157), (250, 135), (280, 115), (310, 110), (335, 118), (333, 140), (325, 160), (315, 165),
    (290, 163), (260, 160), (235, 175), (190, 194), (165, 165), (130, 150), (80, 168), (90, 150),
    (115, 145), (150, 155), (185, 178),
]  # fmt: skip
COINS = (
    (59, 73), (134, 75), (207, 67), (287, 68), (368, 70), (446, 58), (61, 166), (137, 168),
    (205, 170), (275, 166), (361, 159), (449, 167), (59, 262), (136, 261), (206, 264), (284, 258),
    (365, 259), (463, 249), (62, 347), (152, 355), (230, 349), (326, 352), (402, 351), (478, 358),
)  # fmt: skip

OUTLINES = {
    "astronaut": Outline(
        target=ASTRONAUT,
        layers=((SHUTTLE, 3.4), (ASTRONAUT, 2.0), (HELMET, 1.6)),
        background=(4.0, 511, 4.0),
        points=((170, 385), (303, 358), (172, 478)),
    ),
    "chelsea": Outline(
        target=((194, 132), (40, 35)),
        layers=((CAT, 0.5),),
        background=(1.4, 341, 1.2),
        points=((194, 132), (363, 155)),
    ),
    "coffee": Outline(
        target=CUP,
        layers=((((237, 196), (171, 135)), 0.55), (CUP, 0.45), (((312, 238), (34, 40)), 0.5)),
        background=(0.9, -200, 0.55),
        points=((110, 170), (370, 200), (240, 290), (180, 240), (312, 238)),
    ),
    "rocket": Outline(
        target=ROCKET,
        layers=((ROCKET, 120.0),),
        background=(400.0, 60, 90.0),
        points=((66, 280), (121, 302), (89, 334), (155, 317), (291, 317), (346, 315), (361, 335)),
    ),
    "camera": Outline(
        target=CAMERAMAN,
        layers=((TRIPOD, 2.4), (CAMERAMAN, 2.2)),
        background=(90.0, 232, 2.8),
        points=((421, 160), (461, 180), (477, 187), (365, 180), (460, 210), (331, 236)),
    ),
    "coins": Outline(
        target=((450, 58), (39, 37)),
        layers=tuple(((centre, (27, 27)), 0.47) for centre in COINS),
        background=(0.52, -400, 0.48),
        points=COINS,
    ),
    "motorcycle": Outline(
        target=FUEL_TANK,
        layers=(),
        background=(3.0, 341, 3.0),
        points=((385, 45), (424, 60), (453, 62), (447, 155)),
    ),
}


def shape_mask(shape: Polygon | Ellipse, height: int, width: int) -> np.ndarray:
    """Return the bool (height, width) mask of a polygon, or of an ellipse (centre, radii)."""
    mask = np.zeros((height, width), np.uint8)
    if isinstance(shape, tuple):
        cv2.ellipse(mask, shape[0], shape[1], 0, 0, 360, 1, cv2.FILLED)
    else:
        cv2.fillPoly(mask, [np.array(shape, np.int32)], 1)
    return mask.astype(bool)


def layered_depth(outline: Outline, height: int, width: int) -> np.ndarray:
    """Return the stand-in depth in metres: float32 (height, width)."""
    far, horizon, near = outline.background
    down = np.clip((np.arange(height) - horizon) / max(height - 1 - horizon, 1), 0.0, 1.0)
    depth_m = np.repeat((1.0 / (1.0 / far + down * (1.0 / near - 1.0 / far)))[:, None], width, 1)
    for shape, distance_m in outline.layers:
        mask = shape_mask(shape, height, width)
        inside = cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5)
        bend = np.sqrt(inside / max(float(inside.max()), 1.0))
        depth_m = np.where(mask, distance_m * (1.0 - 0.12 * bend), depth_m)
    return depth_m.astype(np.float32)
