"""Depth data sets written by hand in their true formats, and what all of them must obey."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import numpy as np
import pytest
from images_by_hand import GOOD_PNG, HTML
from PIL import Image

from gensight import images
from gensight.datasets import scenes
from gensight.errors import GensightError, MissingDataError
from gensight.truths import valid_depth

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "samples"
needs_samples = pytest.mark.skipif(not SAMPLES.exists(), reason="the sample files are not here")

# What can lie in the place of a picture or of its depth.
BROKEN = {
    "empty": (b"", "empty"),
    "a web page": (HTML, "web page"),
    "cut off": (GOOD_PNG[: len(GOOD_PNG) // 2], "truncated"),
}


def picture(height: int, width: int, seed: int = 0) -> np.ndarray:
    """Return a colour gradient, uint8 (H, W, 3), that no flip or transposition leaves alone."""
    rows, columns = np.mgrid[:height, :width]
    channels = (rows % 251, columns % 241, (rows + 2 * columns + 40 * seed) % 239)
    return np.stack(channels, axis=2).astype(np.uint8)


def depth_ramp(height: int, width: int, near: float, far: float) -> np.ndarray:
    """Return depths, float64 (H, W), that rise along both axes, faster to the right."""
    rows, columns = np.mgrid[:height, :width]
    return near + (far - near) * (rows / height + 2 * columns / width) / 3


def png(array: np.ndarray) -> bytes:
    """Encode uint8 RGB or uint16 grey with Pillow."""
    stream = io.BytesIO()
    Image.fromarray(array).save(stream, "PNG")
    return stream.getvalue()


def jpeg(array: np.ndarray) -> bytes:
    """Encode uint8 RGB with Pillow."""
    stream = io.BytesIO()
    Image.fromarray(array).save(stream, "JPEG", quality=90)
    return stream.getvalue()


def npy(array: np.ndarray) -> bytes:
    """Encode an array as .npy."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def put(root: Path, name: str, data: bytes | str) -> Path:
    """Write a file and the folders above it."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def mark_as_twin(root: Path) -> None:
    """Call a folder a twin, so that a handful of files is no partial download."""
    put(root, "GENSIGHT_TWIN", "")


def write_tar(path: Path, files: dict[str, bytes], start: str = "./", mode: str = "w") -> None:
    """Write members in the given order, with the leading ./ of Marigold's archives."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, mode) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(start + name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def parameters_of(module, root: Path, **given):
    """Return a module's parameters for a twin at this root."""
    return {**module.DEFAULTS, "root": str(root), "twin": True, **given}


def only_sample(module, root: Path, **given):
    """Return the sample of a data set of one."""
    (sample,) = module.iter_samples(parameters_of(module, root, **given), [0])
    return sample


def samples_by_id(module, parameters):
    """Return all samples by their ids."""
    ranks = range(module.population(parameters))
    return {sample.sample_id: sample for sample in module.iter_samples(parameters, ranks)}


def decoded(sample):
    """Return depth (H, W), valid mask (H, W) and picture (H, W, 3) of a sample.

    The picture is read by Pillow. The mask is what the fit uses, which must be the stored one.
    """
    depth_m = images.decode_array(sample.target_depth_m)
    valid = images.decode_mask(sample.valid_mask)
    with Image.open(io.BytesIO(sample.image["bytes"])) as shown:
        pixels = np.asarray(shown.convert("RGB"))
    assert depth_m.dtype == np.float32
    assert depth_m.shape == valid.shape == pixels.shape[:2] == (sample.height, sample.width)
    np.testing.assert_array_equal(valid_depth(sample, depth_m, caps_limit_truth=False), valid)
    return depth_m, valid, pixels


def bounds(mask: np.ndarray) -> tuple[int, int, int, int]:
    """Return first row, end row, first column, end column of a filled rectangle."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    found = (int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1)
    assert mask[found[0] : found[1], found[2] : found[3]].all()
    return found


def depth_scenes(number: int):
    """Return small built-in depth scenes."""
    parameters = {**scenes.DEFAULTS, "task": "depth", "width": 128, "height": 128}
    return list(scenes.iter_samples(parameters, range(number)))


def ids_in_rank_order(ids, seed: int) -> list[str]:
    """Return ids by the sha256 of "seed/id"."""
    return sorted(ids, key=lambda name: hashlib.sha256(f"{seed}/{name}".encode()).hexdigest())


def check_ranks(module, parameters) -> None:
    """Ranks are the hash order of the ids, whatever is asked, and follow the seed."""
    number = module.population(parameters)
    ids = [sample.sample_id for sample in module.iter_samples(parameters, range(number))]
    assert ids == ids_in_rank_order(ids, 0)
    few = list(module.iter_samples(parameters, range(2)))
    assert few == list(module.iter_samples(parameters, range(number)))[:2]
    assert few[::-1] == list(module.iter_samples(parameters, [1, 0]))
    assert {sample.population_n for sample in few} == {number}
    seeded = module.iter_samples({**parameters, "seed": 7}, range(number))
    assert [sample.sample_id for sample in seeded] == ids_in_rank_order(ids, 7)


def check_refusals(module, root: Path) -> None:
    """A handful of files is no real data set, and real and twin are never taken for each other."""
    twin = parameters_of(module, root)
    real = {**twin, "twin": False, "source": module.SOURCE}
    assert module.missing_data(twin) is None
    with pytest.raises(MissingDataError, match="synthetic twin"):
        module.population(real)
    (root / "GENSIGHT_TWIN").unlink()
    with pytest.raises(MissingDataError, match="holds no synthetic twin"):
        module.population(twin)
    with pytest.raises(MissingDataError, match="partial") as caught:
        next(module.iter_samples(real, [0]))
    told = str(caught.value)
    assert str(module.expected_count(real)) in told
    assert told.endswith(module.SOURCE)
    assert module.missing_data(real) == told
    assert "\n" not in told
    nowhere = module.missing_data({**real, "root": str(root / "nowhere")})
    assert str(root / "nowhere") in nowhere
    assert module.SOURCE in nowhere


def check_broken(module, root: Path, path: Path, data: bytes, word: str, sample_id: str) -> None:
    """A file's fault is told with the file and the sample."""
    path.write_bytes(data)
    with pytest.raises(GensightError, match=word) as caught:
        only_sample(module, root)
    assert str(path) in str(caught.value)
    assert sample_id in str(caught.value)
