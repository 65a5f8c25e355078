"""Noise of one answer: one generator, made on the CPU, also for draws that name none.

Libraries draw some numbers past the generator that they are given: from torch's own, which is made
on whatever device they draw for, so that another GPU draws other noise. Within `drawn_from` such
draws are made here and sent there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

SEEDS = 2**63


def noise(seed: int | None) -> torch.Generator:
    """Return the generator of one answer.

    It is made on the CPU, so that the noise is the same on every device; the answer's position in a
    shard has no part in it.
    """
    import torch

    return torch.Generator("cpu").manual_seed((seed or 0) % SEEDS)


@contextmanager
def drawn_from(generator: torch.Generator) -> Iterator[None]:
    """Have draws that name no generator made by this one, on the CPU, in the order of their calls.

    Those are of `randn`, `rand`, their `_like` and `multinomial`, by which diffusers and
    transformers draw. Torch's own generator is seeded from this one for any other, and left as it
    was afterwards.
    """
    import torch
    from torch.overrides import TorchFunctionMode

    draws = _draws(torch, generator)

    class _Drawn(TorchFunctionMode):
        def __torch_function__(
            self, function: Any, _types: Any, given: Any = (), named: Any = None
        ) -> Any:
            named = named or {}
            draw = draws.get(function) if named.get("generator") is None else None
            return (function if draw is None else draw)(*given, **named)

    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    with torch.random.fork_rng(devices), _Drawn():
        torch.manual_seed(generator.initial_seed() % SEEDS)
        yield


def _draws(torch: Any, generator: torch.Generator) -> dict[Any, Callable[..., Any]]:
    """Return what is called in place of functions that draw."""

    def sized(function: Any) -> Callable[..., Any]:
        def draw(*size: Any, device: Any = None, **named: Any) -> Any:
            named.pop("generator", None)
            return function(*size, generator=generator, device="cpu", **named).to(device or "cpu")

        return draw

    def like(function: Any) -> Callable[..., Any]:
        def draw(model: Any, *, dtype: Any = None, device: Any = None, **named: Any) -> Any:
            named.pop("memory_format", None)
            made = function(
                tuple(model.shape), generator=generator, dtype=dtype or model.dtype, **named
            )
            return made.to(device or model.device)

        return draw

    def multinomial(odds: Any, *given: Any, **named: Any) -> Any:
        named["generator"] = generator
        return torch.multinomial(odds.cpu(), *given, **named).to(odds.device)

    return {
        torch.randn: sized(torch.randn),
        torch.rand: sized(torch.rand),
        torch.randn_like: like(torch.randn),
        torch.rand_like: like(torch.rand),
        torch.multinomial: multinomial,
        torch.Tensor.multinomial: multinomial,
    }
