"""What no module may do with pictures, and what only `gensight.images` may."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gensight

PACKAGE = Path(gensight.__file__).parent
SOURCES = {str(path.relative_to(PACKAGE)): path.read_text() for path in PACKAGE.rglob("*.py")}

# Not centre-aligned (PROTOCOLS "Decided"); silently black pictures (PROTOCOLS PQT-2).
BANNED = {
    "nearest": re.compile(r"INTER_NEAREST(?!_EXACT)"),
    "truncated": re.compile(r"LOAD_TRUNCATED_IMAGES"),
}
# Decoding and encoding elsewhere would have its own idea of orientation, alpha and depth.
CODING = re.compile(r"\b(imdecode|imencode|imread|imwrite|Image\.open)\b")


@pytest.mark.parametrize("name", BANNED)
def test_banned_names(name):
    assert [path for path, text in SOURCES.items() if BANNED[name].search(text)] == []


def test_the_patterns_match_what_they_ban():
    assert BANNED["nearest"].search("cv2.INTER_NEAREST)")
    assert BANNED["nearest"].search("INTER_NEAREST_EXACT") is None
    assert BANNED["truncated"].search("ImageFile.LOAD_TRUNCATED_IMAGES = True")
    assert CODING.search("cv2.imread(path)")


def test_only_one_room_opens_and_encodes_pictures():
    outside = {path for path, text in SOURCES.items() if CODING.search(text)}
    assert {path for path in outside if not path.startswith("images/")} == set()
