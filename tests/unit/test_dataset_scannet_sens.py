"""ScanNet's .sens recordings, written by hand, and the data set that their frames become."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from depth_by_hand import (
    decoded,
    depth_ramp,
    jpeg,
    mark_as_twin,
    parameters_of,
    picture,
    put,
    samples_by_id,
)

from gensight.datasets import scannet
from gensight.errors import GensightError, MissingDataError

SIZE = (480, 640)


def raw_depth(seed=0):
    """Return millimetres, uint16, with a hole."""
    raw = np.rint(depth_ramp(*SIZE, 600 + seed, 7000)).astype(np.uint16)
    raw[:50, :70] = 0
    return raw


def sens(path, frames, **changed):
    """Write a .sens file, version 4; each frame is (colour bytes, depth bytes)."""
    header = {"version": 4, "name": b"StructureSensor", "colour": 2, "depth": 1}
    header |= {"colour_size": (1296, 968), "depth_size": (640, 480), "units": 1000.0} | changed
    matrix = struct.pack("<16f", *np.eye(4).ravel())
    data = struct.pack("<IQ", header["version"], len(header["name"])) + header["name"] + 4 * matrix
    data += struct.pack("<ii", header["colour"], header["depth"])
    data += struct.pack("<IIII", *header["colour_size"], *header["depth_size"])
    data += struct.pack("<fQ", header["units"], len(frames))
    # Tracking was lost where the pose is minus infinity; the picture is as good.
    pose = struct.pack("<16f", *[-np.inf] * 16)
    for number, (colour, depth) in enumerate(frames):
        data += pose + struct.pack("<QQQQ", number, number + 1, len(colour), len(depth))
        data += colour + depth
    path.write_bytes(data)
    return path


def recorded(seed=0):
    return jpeg(picture(968, 1296, seed)), zlib.compress(raw_depth(seed).astype("<u2").tobytes())


def test_frames_of_a_recording_become_a_data_set(tmp_path):
    """The listed frames alone, the depth as recorded, the picture at the depth's size."""
    path = sens(tmp_path / "scene0406_02.sens", [(b"", b""), recorded(5), (b"x", b"y"), recorded()])
    root = tmp_path / "scannet"
    scannet.export_frames(path, [3, 1, 3], root)
    written = sorted(str(file.relative_to(root)) for file in root.rglob("*.*"))
    pairs = [
        [f"scene0406_02/color/{number}.jpg", f"scene0406_02/depth/{number}.png"]
        for number in ("000001", "000003")
    ]
    assert written == sorted(name for pair in pairs for name in pair)
    put(root, "scannet_val_sampled_list_800_1.txt", "\n".join(map(" ".join, pairs)))
    mark_as_twin(root)
    found = samples_by_id(scannet, parameters_of(scannet, root))
    depth_m, _, pixels = decoded(found["scannet_scene0406_02_000001"])
    np.testing.assert_array_equal(depth_m, (raw_depth(5) / 1000).astype(np.float32))
    assert pixels.shape == (480, 640, 3)
    # The gradient's jumps aside, the picture is the recorded one, and upright.
    expected = picture(968, 1296, 5)[100, 100].astype(int)
    assert np.abs(pixels[round(100 * 480 / 968), round(100 * 640 / 1296)] - expected).max() < 12


def test_pictures_of_the_depths_size_keep_their_bytes(tmp_path):
    colour, depth = jpeg(picture(*SIZE)), raw_depth().astype("<u2").tobytes()
    path = sens(tmp_path / "a.sens", [(colour, depth)], depth=0, colour_size=(640, 480))
    scannet.export_frames(path, [0], tmp_path / "out")
    assert (tmp_path / "out/a/color/000000.jpg").read_bytes() == colour


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"version": 3}, "version 4"),
        ({"colour": 0}, "compressions 0"),
        ({"depth": 2}, "compressions 2"),
        ({"units": 5000.0}, "5000 units per metre"),
        ({"name": b"x" * 5000}, "5000 bytes"),
        ({"depth_size": (320, 240)}, "the depth has"),
    ],
    ids=str,
)
def test_other_recordings_are_refused(tmp_path, changed, word):
    path = sens(tmp_path / "a.sens", [recorded()], **changed)
    with pytest.raises(MissingDataError, match=word) as caught:
        scannet.export_frames(path, [0], tmp_path / "out")
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("frame", "word"),
    [
        ((b"", zlib.compress(b"")), "frame 0: the file is empty"),
        ((recorded()[0], b"no zlib"), "frame 0: the depth cannot be unpacked"),
        ((recorded()[0], zlib.compress(b"\0" * (2 * 640 * 480 + 9))), "frame 0: the depth has"),
    ],
    ids=["picture", "not packed", "too long"],
)
def test_broken_frames_are_named(tmp_path, frame, word):
    path = sens(tmp_path / "a.sens", [frame])
    with pytest.raises(GensightError, match=word):
        scannet.export_frames(path, [0], tmp_path / "out")


def test_recordings_that_are_cut_off_or_too_short_are_refused(tmp_path):
    path = sens(tmp_path / "a.sens", [recorded(), recorded()])
    data = path.read_bytes()
    for length in (0, 3, 100, 250, 400, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(MissingDataError, match="cut off"):
            scannet.export_frames(path, [1], tmp_path / "out")
    # Nothing behind the last frame that is asked for is read.
    scannet.export_frames(path, [0], tmp_path / "out")
    path.write_bytes(data)
    with pytest.raises(MissingDataError, match="frame 2 is asked for, but the file holds 2"):
        scannet.export_frames(path, [2], tmp_path / "out")
    with pytest.raises(MissingDataError, match="nowhere"):
        scannet.export_frames(tmp_path / "nowhere.sens", [0], tmp_path / "out")
