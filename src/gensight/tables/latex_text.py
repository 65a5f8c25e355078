"""Plain text to LaTeX text that compiles with pdflatex, the default fonts and no extra package.

Every ASCII character that LaTeX reads as markup is escaped; so are the ligatures that would change
a label (two hyphens, ?` and !`) and the brackets and stars that a line break would swallow.
Unicode signs of a table (minus, times, arrows, Greek) become commands. A letter that the default
fonts lack becomes its code point in brackets: visible, and the document still compiles.
"""

from __future__ import annotations

import unicodedata

# LaTeX names these as Unicode does, but for one letter; it has no capitals that look Latin.
_GREEK = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ"

_COMMANDS = {
    "\\": r"$\backslash$",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"$\sim$",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    '"': "''",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "`": "{`}",
    "\N{NO-BREAK SPACE}": "~",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
    "\N{THIN SPACE}": r"\,",
    "\N{SOFT HYPHEN}": r"\-",
    "−": "$-$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "±": r"$\pm$",
    "°": r"$^\circ$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "∞": r"$\infty$",
    "∆": r"$\Delta$",
    "√": r"$\surd$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "↔": r"$\leftrightarrow$",
    "«": r"$\ll$",
    "»": r"$\gg$",
    "‐": "-",
    "‑": "-",
    "‒": "--",
    "–": "--",
    "—": "---",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "…": r"\ldots{}",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "§": r"$\S$",
    "¶": r"$\P$",
    "•": r"$\bullet$",
    "✓": r"$\surd$",
    "ο": "o",
    "ς": r"$\varsigma$",
    "µ": r"$\mu$",
}
for _letter in _GREEK:
    _, _size, *_, _name = unicodedata.name(_letter).replace("LAMDA", "LAMBDA").split()
    _COMMANDS[_letter] = f"$\\{_name.lower() if _size == 'SMALL' else _name.capitalize()}$"
_COMMANDS |= {char: f"$^{{{power}}}$" for power, char in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
_COMMANDS |= {char: f"$_{{{index}}}$" for index, char in enumerate("₀₁₂₃₄₅₆₇₈₉")}

# Latin letters and signs that the default (OT1) fonts of pdflatex cannot set: found by compiling
# each character from U+00A1 to U+017F.
_UNSETTABLE = frozenset("ÐÞðþĄąĐđĘęĦħĮįĸĿŀŉŊŋŦŧŲųſ")


def escape(text: str) -> str:
    """Return the text as LaTeX that prints exactly its characters on one line."""
    composed = unicodedata.normalize("NFC", " ".join(text.split()) if "\n" in text else text)
    escaped: list[str] = []
    previous = ""
    for char in composed:
        escaped.append(_separated(char, previous))
        previous = char
    return "".join(escaped)


def _separated(char: str, previous: str) -> str:
    """Return one character's LaTeX, kept apart from a neighbour it would melt into."""
    command = _character(char)
    melts = (char == previous and char in "-'") or (char == "`" and previous in "?!")
    return "{}" + command if melts else command


def _character(char: str) -> str:
    if char in _COMMANDS:
        return _COMMANDS[char]
    if char.isascii() and char.isprintable():
        return char
    if "\u00a1" <= char <= "\u017f" and char not in _UNSETTABLE:
        return char
    return " " if char.isspace() or not char.isprintable() else f"{{[}}U+{ord(char):04X}{{]}}"
