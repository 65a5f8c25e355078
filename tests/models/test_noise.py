"""The noise of an answer comes from its own generator, also where a library names none."""

import pytest

from gensight.models._noise import drawn_from, noise

SEED = 2**62 + 5


def test_draws_without_a_generator_are_made_by_this_one_in_their_order():
    import torch

    expected, given = noise(SEED), torch.zeros(2, 3, dtype=torch.bfloat16)
    odds = torch.tensor([0.2, 0.3, 0.5])
    wanted = [
        torch.randn(4, generator=expected),
        torch.randn((2, 2), generator=expected, dtype=torch.float64),
        torch.randn((2, 3), generator=expected, dtype=torch.bfloat16),
        torch.rand(3, generator=expected),
        torch.rand((2, 3), generator=expected, dtype=torch.float32),
        torch.multinomial(odds, 5, replacement=True, generator=expected),
        torch.multinomial(odds, 1, generator=expected),
    ]
    generator = noise(SEED)
    with drawn_from(generator):
        drawn = [
            torch.randn(4),
            torch.randn((2, 2), dtype=torch.float64, device="cpu", generator=None),
            torch.randn_like(given),
            torch.rand(3),
            torch.rand_like(given, dtype=torch.float32),
            torch.multinomial(odds, 5, replacement=True),
            odds.multinomial(1),
        ]
    for one, other in zip(drawn, wanted, strict=True):
        assert one.dtype == other.dtype and torch.equal(one, other)


def test_draws_that_name_a_generator_are_theirs():
    import torch

    own = torch.Generator().manual_seed(3)
    wanted = torch.randn(4, generator=torch.Generator().manual_seed(3))
    with drawn_from(noise(SEED)):
        assert torch.equal(torch.randn(4, generator=own), wanted)


def test_any_other_draw_follows_the_seed_and_leaves_no_trace():
    import torch

    torch.manual_seed(1)
    before = torch.get_rng_state()
    drawn = []
    for seed in (SEED, SEED, SEED + 1):
        with drawn_from(noise(seed)):
            drawn.append(torch.empty(4).normal_())
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])
    assert torch.equal(torch.get_rng_state(), before)


def test_what_fails_within_ends_it():
    import torch

    with pytest.raises(ValueError, match="no"), drawn_from(noise(SEED)):
        raise ValueError("no")
    assert not torch.equal(torch.randn(4), torch.randn(4, generator=noise(SEED)))
