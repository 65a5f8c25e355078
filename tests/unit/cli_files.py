"""Hand-made pictures for the tests of the command line, and a way to call it."""

import json
import struct
import zlib

import numpy as np
from click.testing import CliRunner

from gensight.cli import main
from gensight.images import encode_png

HTML = b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>"


def call(*arguments):
    """Run `gensight` in this process; exceptions other than exits are raised."""
    return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)


def answer(*arguments):
    """Run `gensight ... --json`, which must succeed, and return its one object."""
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    assert result.stdout.count("\n") == 1
    content = json.loads(result.stdout)
    assert list(content) == sorted(content)
    return content


def error(*arguments, code=2):
    """Run `gensight`, which must fail with this code and one line on stderr; return the line."""
    result = call(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("gensight: ")
    return result.stderr


def halves(white_columns=32, width=64, height=48):
    """Return a picture whose left columns are white, the others black."""
    grey = np.zeros((height, width), np.uint8)
    grey[:, :white_columns] = 255
    return grey


def ramp_mm(width=64, height=48):
    """Return depths in millimetres from 1 m to 10 m, left to right, in whole millimetres."""
    row = np.linspace(1000, 10000, width).round().astype(np.uint16)
    return np.tile(row, (height, 1))


def marked_pair(centres=((200, 200), (500, 400), (900, 700)), radius=6):
    """Return an input of 1024x768 and a copy with red dots."""
    source = np.full((768, 1024, 3), 120, np.uint8)
    rows, columns = np.mgrid[:768, :1024]
    marked = source.copy()
    for x, y in centres:
        marked[(columns - x) ** 2 + (rows - y) ** 2 <= radius**2] = (255, 0, 0)
    return source, marked


def huge_header(side=20000):
    """Return a PNG whose header claims 20000x20000 pixels."""
    header = b"IHDR" + struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    chunk = struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    end = struct.pack(">I", 0) + b"IEND" + struct.pack(">I", zlib.crc32(b"IEND"))
    return b"\x89PNG\r\n\x1a\n" + chunk + end


def save(path, content):
    """Write bytes as they are, an array as PNG (.npy by its name); return the path."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif path.suffix == ".npy":
        np.save(path, content)
    else:
        path.write_bytes(encode_png(content))
    return path


BAD_PICTURES = {
    "empty.png": (b"", "empty"),
    "page.png": (HTML, "web page"),
    "text.png": (b"sorry, I cannot draw that", "not a PNG, JPEG or WebP"),
    "cut.png": (encode_png(np.arange(48 * 64, dtype=np.uint8).reshape(48, 64))[:-30], "truncated"),
    "huge.png": (huge_header(), "20000x20000"),
}
