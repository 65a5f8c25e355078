"""What is done to a text before an encoder's own tokens."""

from __future__ import annotations

import string
from collections.abc import Sequence

from gensight.errors import GensightError

#: What `in_form` may be asked for, as the choices of a setting.
TEXT_FORMS = {"assumed_text_form": ["canonical", "lower", "as_given"]}
_PUNCTUATION = str.maketrans("_", " ", string.punctuation.replace("_", ""))


def in_form(text: str, form: str) -> str:
    """Return a text in one of `TEXT_FORMS`: `canonical`, `lower`, or as it is given.

    `canonical` is the form in which SigLIP's authors evaluate without examples: low lines become
    blanks, ASCII punctuation goes, letters are lower-case and blanks single (big_vision,
    `canonicalize_text` of its prompt engineering). transformers' tokenizer of SigLIP brings every
    text to it, and open_clip's settings of SigLIP ask for it.

    >>> in_form("A pixel art icon depicting  T-shirt.", "canonical")
    'a pixel art icon depicting tshirt'
    """
    if form == "as_given":
        return text
    lower = text.lower()
    return " ".join(lower.translate(_PUNCTUATION).split()) if form == "canonical" else lower


def refuse_long(where: str, texts: Sequence[str], tokens: Sequence[int], length: int) -> None:
    """Refuse texts of more tokens than the model reads: what is cut could be the label.

    Raises:
        GensightError: one is longer; the message shows the first.
    """
    for text, count in zip(texts, tokens, strict=True):
        if count > length:
            shown = text if len(text) <= 60 else f"{text[:57]}..."
            raise GensightError(
                f"{where}: the text '{shown}' has {count} tokens with its end, and the model reads "
                f"{length}; take a shorter template, or a checkpoint that reads more"
            )


def check_length(where: str, stated: int | None, length: int) -> None:
    """Refuse a `text_tokens` that is not what the checkpoint reads.

    Raises:
        GensightError: the two differ.
    """
    if stated not in (None, length):
        raise GensightError(
            f"{where}: settings.text_tokens: the checkpoint reads {length} tokens, not {stated}; "
            f"correct it, or take another checkpoint"
        )
