"""How a scene looks: materials, light, and the knobs that change the look and nothing else.

contrast scales all colours towards mid grey; texture scales the strength of the patterns; light
scales linear light; blur is a Gaussian sigma in pixels; palette changes the shade behind each
colour name and the background; style is photo-like (shading, shadows, textures), flat (one colour
per surface) or line (dark outlines, pale flat tints). All materials come from streams of their own,
so two levels of a knob differ in that knob alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from gensight.datasets.scenes.camera import rays_through
from gensight.datasets.scenes.colours import BACKGROUNDS, PALETTES, to_linear
from gensight.datasets.scenes.composition import Layout
from gensight.datasets.scenes.randomness import stream
from gensight.datasets.scenes.raycaster import (
    Hits,
    World,
    cast,
    normals_of,
    parts_of,
    points_of,
    shadows_of,
)
from gensight.datasets.scenes.textures import Texture, draw_texture, fade

CONTRAST = {"full": 1.0, "medium": 0.82, "low": 0.65}
LIGHT = {"bright": 1.0, "dim": 0.6, "dark": 0.36}
# Amplitude of the pattern, and the strength below which a surface stays plain.
TEXTURE = {"plain": (0.0, 1.0), "mixed": (0.25, 0.5), "rich": (0.4, 0.0)}
ROD_COLOUR = (92, 92, 96)
# Line art: how much white is mixed into a colour, and the lightness and softness of the lines.
PAPER_SHARE = {"room": 0.8, "things": 0.18}
LINE_LIGHT, LINE_BLUR_PX = 0.01, 0.5
CREASE = 0.85
AMBIENT, KEY, HEADLIGHT, SHINE = 0.40, 0.55, 0.12, 0.12
SHINE_POWER = 40
SUBPIXELS = ((-0.25, -0.25), (0.25, -0.25), (-0.25, 0.25), (0.25, 0.25))


@dataclass(frozen=True)
class Materials:
    """Linear colours and textures: of the six faces of the room, and of each thing."""

    face_colours: np.ndarray
    face_textures: tuple[Texture, ...]
    thing_colours: np.ndarray
    thing_textures: tuple[Texture, ...]


def draw_to_light(name: tuple[object, ...]) -> np.ndarray:
    """Draw the unit vector towards the light: from above, from any side."""
    random = stream(*name, "light")
    azimuth, height = random.uniform(0, 2 * np.pi), np.deg2rad(random.uniform(48, 72))
    return np.array(
        [np.cos(height) * np.cos(azimuth), np.sin(height), np.cos(height) * np.sin(azimuth)]
    )


def draw_materials(name: tuple[object, ...], layout: Layout, split: str, palette: str) -> Materials:
    """Draw the materials of a scene; each surface has a stream of its own."""
    backgrounds = BACKGROUNDS[palette]
    unit_m = layout.stage.view.nearest_m
    picks, face_textures = [], []
    for face in range(6):
        random = stream(*name, "face", face)
        picks.append(backgrounds[random.integers(len(backgrounds))])
        face_textures.append(draw_texture(random, split, 0.6 * unit_m))
    shades = [PALETTES[palette][plan.colour] for plan in layout.plans]
    textures = [
        draw_texture(
            stream(*name, "surface", label), split, 0.7 * layout.stage.solids[label].radius
        )
        for label in range(1, len(layout.plans) + 1)
    ]
    return Materials(
        to_linear(np.array(picks)),
        tuple(face_textures),
        to_linear(np.array(shades)),
        tuple(textures),
    )


def paint(
    layout: Layout, materials: Materials, to_light: np.ndarray, knobs: Mapping[str, Any]
) -> np.ndarray:
    """Return the picture before its blur, as uint8 (H, W, 3) sRGB.

    Truth is sampled at pixel centres; along edges the picture is the mean of four rays a pixel.
    """
    stage = layout.stage
    world = World(stage.camera, stage.room, stage.solids, to_light)
    hits = Hits(stage.rays, stage.depth, stage.owner, stage.face)
    surface = _surface_of(world, hits, knobs)
    colour = _shade(world, hits, surface, materials, knobs)
    edges = _edges(hits, surface)
    rows, columns = np.nonzero(edges)
    right, down = np.repeat(SUBPIXELS, rows.size, axis=0).T
    u, v = np.tile(columns, len(SUBPIXELS)) + right, np.tile(rows, len(SUBPIXELS)) + down
    finer = cast(world, rays_through(world.camera, u, v))
    samples = _shade(world, finer, _surface_of(world, finer, knobs), materials, knobs)
    colour[:, rows, columns] = samples.reshape(3, len(SUBPIXELS), rows.size).mean(axis=1)
    if knobs["style"] == "line":
        lines = cv2.GaussianBlur(edges.astype(np.float64), (0, 0), LINE_BLUR_PX)
        colour = colour * (1 - lines) + LINE_LIGHT * lines
    return _develop(colour, knobs)


@dataclass(frozen=True)
class _Surface:
    """What shading needs at every hit: points and normals (3, ...), and whether it is in shadow."""

    points: np.ndarray
    normals: np.ndarray
    dark: np.ndarray


def _surface_of(world: World, hits: Hits, knobs: Mapping[str, Any]) -> _Surface:
    points = points_of(world, hits)
    has_shadows = knobs["style"] == "photo"
    dark = shadows_of(world, hits, points) if has_shadows else np.zeros(hits.depth.shape, bool)
    return _Surface(points, normals_of(world, hits, points), dark)


def _edges(hits: Hits, surface: _Surface) -> np.ndarray:
    """Return the pixels (H, W) on both sides of an outline, a crease or a shadow's border."""
    region = hits.owner.astype(np.int32) * 16 + np.where(hits.owner == 0, hits.face, 0)
    region = 2 * region + surface.dark
    edges = np.zeros(region.shape, bool)
    for axis in (0, 1):
        low, high = [slice(None)] * 2, [slice(None)] * 2
        low[axis], high[axis] = slice(None, -1), slice(1, None)
        before, after = tuple(low), tuple(high)
        alike = (surface.normals[:, *before] * surface.normals[:, *after]).sum(axis=0)
        border = (region[before] != region[after]) | (alike < CREASE)
        edges[before] |= border
        edges[after] |= border
    return edges


def _shade(
    world: World, hits: Hits, surface: _Surface, materials: Materials, knobs: Mapping[str, Any]
) -> np.ndarray:
    """Return linear colours (3, ...) of hits."""
    amplitude, plain_below = TEXTURE[knobs["texture"]]
    if knobs["style"] != "photo":
        amplitude = 0.0
    colour = np.moveaxis(materials.face_colours[hits.face], -1, 0).copy()
    for face in range(6) if amplitude else ():
        index = np.nonzero((hits.face == face) & (hits.owner == 0))
        texture = materials.face_textures[face]
        if texture.strength >= plain_below and index[0].size:
            points = surface.points[:, *index]
            colour[:, *index] *= _pattern(world, hits, texture, points, index, amplitude)
    for label, solid, index in parts_of(world, hits):
        plain = to_linear(np.array(ROD_COLOUR)) if label < 0 else materials.thing_colours[label - 1]
        colour[:, *index] = plain[:, None]
        texture = materials.thing_textures[abs(label) - 1]
        if amplitude and label > 0 and texture.strength >= plain_below:
            points = solid.local(surface.points[:, *index]) * solid.scale[:, None]
            colour[:, *index] *= _pattern(world, hits, texture, points, index, amplitude)
    if knobs["style"] == "line":
        paper = np.where(hits.owner == 0, PAPER_SHARE["room"], PAPER_SHARE["things"])
        return colour * (1 - paper) + paper
    return _lit(world, hits, surface, colour) if knobs["style"] == "photo" else colour


def _pattern(
    world: World,
    hits: Hits,
    texture: Texture,
    points: np.ndarray,
    index: tuple[np.ndarray, ...],
    amplitude: float,
) -> np.ndarray:
    """Return the factors (n,) by which a texture darkens a surface."""
    kept = fade(texture.period_m, hits.depth[index], world.camera.focal_px)
    return 1.0 - amplitude * kept * (0.5 - 0.5 * texture.values(points))


def _lit(world: World, hits: Hits, surface: _Surface, colour: np.ndarray) -> np.ndarray:
    """Light colours by a sky, a key light with hard shadows, a headlight and a small highlight."""
    length = np.sqrt((hits.directions**2).sum(axis=0))
    to_eye = -hits.directions / length
    light = world.to_light.reshape((3,) + (1,) * hits.depth.ndim)
    key = np.clip((surface.normals * light).sum(axis=0), 0.0, None) * ~surface.dark
    facing = np.clip((surface.normals * to_eye).sum(axis=0), 0.0, None)
    sky = AMBIENT * (1.0 + 0.25 * surface.normals[1])
    half = to_eye + light
    half /= np.sqrt((half**2).sum(axis=0))
    shine = np.clip((surface.normals * half).sum(axis=0), 0.0, None) ** SHINE_POWER
    shine = np.where((hits.owner > 0) & (key > 0), SHINE * shine, 0.0)
    return colour * (sky + KEY * key + HEADLIGHT * facing) + shine


def _develop(colour: np.ndarray, knobs: Mapping[str, Any]) -> np.ndarray:
    """Turn linear colours (3, H, W) into a picture: the knobs light and contrast, 8 bits."""
    encoded = np.clip(colour * LIGHT[knobs["light"]], 0.0, 1.0) ** (1 / 2.2)
    encoded = 0.5 + CONTRAST[knobs["contrast"]] * (encoded - 0.5)
    return np.rint(np.moveaxis(encoded, 0, -1) * 255.0).astype(np.uint8)


def blur(picture: np.ndarray, sigma_px: int) -> np.ndarray:
    """Return the picture under a Gaussian of this sigma; the picture itself for 0."""
    return cv2.GaussianBlur(picture, (0, 0), float(sigma_px)) if sigma_px else picture
