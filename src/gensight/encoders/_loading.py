"""Loading weights as models that run here do, told in an encoder's words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gensight.digests import canonical_json
from gensight.errors import GensightError
from gensight.models._torch import Weights, libraries, name_of

if TYPE_CHECKING:
    import torch


@contextmanager
def told_of_encoder(name: str) -> Iterator[None]:
    """Turn an error about an adapter's `generation` into one about an encoder's `settings`."""
    try:
        yield
    except GensightError as error:
        told = re.sub(rf"^adapter {name}: ", "", str(error))
        told = re.sub(r"\bgeneration(: |\.)", "settings.", told)
        raise type(error)(f"encoder {name}: {told}") from None


def setup_json(
    weights: Weights,
    revision: str | None,
    dtype: torch.dtype,
    packages: Sequence[str],
    **more: Any,
) -> str:
    """Return how an encoder was made, as canonical JSON without times, hosts and paths."""
    return canonical_json(
        {
            "weights": weights.name,
            "revision": revision,
            "dtype": name_of(dtype),
            "libraries": libraries(packages),
            **more,
        }
    )
