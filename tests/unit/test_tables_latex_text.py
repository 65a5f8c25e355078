from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gensight.tables.latex_text import escape


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Qwen-Edit_2511 (20B)", r"Qwen-Edit\_2511 (20B)"),
        ("50 % of $5 & #1", r"50 \% of \$5 \& \#1"),
        ("{a}", r"\{a\}"),
        ("a\\b", r"a$\backslash$b"),
        ("a^b~c", r"a\textasciicircum{}b$\sim$c"),
        ("<a>|b", "$<$a$>$$|$b"),
        ("[0, 1]*", "{[}0, 1{]}{*}"),
        ("−1.5 × 2", r"$-$1.5 $\times$ 2"),
        ("AbsRel ↓ δ₁ λ", r"AbsRel $\downarrow$ $\delta$$_{1}$ $\lambda$"),
        ("a--b", "a-{}-b"),
        ("?`", "?{}{`}"),
        ("é", "é"),
        ("e\u0301", "é"),
        ("中", "{[}U+4E2D{]}"),
        ("two\n  lines", "two lines"),
        ("a\u00a0b", "a~b"),
        ("", ""),
    ],
)
def test_every_special_character_is_escaped(text, expected):
    assert escape(text) == expected


@given(st.text(st.characters(codec="utf-8")))
def test_no_markup_character_survives(text):
    escaped = escape(text)
    for command in (r"\%", r"\&", r"\#", r"\_", r"\$"):
        escaped = escaped.replace(command, "")
    assert not set("%&#") & set(escaped)
    assert all(char.isprintable() for char in escaped)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed")
def test_every_character_of_the_first_blocks_compiles(tmp_path):
    lines = [escape(chr(code)) + f" {code}\n\n" for code in range(0x20, 0x2300)]
    body = "".join(lines) + escape("first") + r"\\ " + escape("[1em] * end")
    document = "\\documentclass{article}\\begin{document}\n" + body + "\\end{document}\n"
    (tmp_path / "a.tex").write_text(document, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "a.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
