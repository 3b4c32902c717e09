"""Inputs of checks: drawn from a seed, the same again for the same check."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.testing.draw import Draw

CHECK = "01_a/f::hidden::test_it"
MODEST = settings(max_examples=50)


def everything(seed, check=CHECK):
    """One of each kind of draw, as plain data."""
    draw = Draw(seed, check)
    return (
        *(draw.normal(2, 3).tolist(), draw.uniform(4).tolist(), draw.whole(0, 10**9), draw.seed()),
        *(draw.permutation(9).tolist(), draw.array(2, 2).tolist(), draw.numbers(3, 1, 6)),
        *(draw.choice("abcdef"), draw.choice(["x", "y", "z"], 2)),
    )


def test_draws_follow_the_seed_and_the_check():
    """A run can be repeated from its seed; two checks of it have inputs of their own."""
    first = everything("42")
    assert everything("42") == first
    for other in (everything("43"), everything("42", "01_a/f::hidden::test_other")):
        assert all(one != another for one, another in zip(first, other, strict=True))


def test_a_seed_that_students_read_is_short():
    """That of hidden inputs is long, so that nobody tries them all."""
    numbers = [Draw(seed, f"{CHECK}{n}").number for seed in ("visible", "42") for n in range(50)]
    assert max(numbers[:50]) < 100_000 < 10**12 < max(numbers[50:])


def test_a_draw_goes_on():
    """Two draws of one check differ."""
    draw = Draw("42", CHECK)
    assert not torch.equal(draw.normal(5), draw.normal(5))


def test_torchs_own_generator_and_draws_are_apart():
    """Neither it nor another check's draws reach a check's inputs, and it is left as it was."""
    before = torch.random.get_rng_state()
    first = everything("42")
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.rand(3)
    Draw("42", "another").normal(3)
    try:
        assert everything("42") == first
    finally:
        torch.random.set_rng_state(before)


def test_normal_numbers_have_the_deviation_at_which_mistakes_show():
    """Around zero, with the standard deviation asked for, in the dtype asked for."""
    numbers = Draw("42", CHECK).normal(100, 100)
    assert (numbers.shape, numbers.dtype) == ((100, 100), torch.float32)
    assert float(numbers.mean()) == pytest.approx(0.0, abs=0.05)
    assert float(numbers.std()) == pytest.approx(0.8, abs=0.05)
    assert float(Draw("42", CHECK).normal(9_999, std=0.5).std()) == pytest.approx(0.5, abs=0.05)
    assert Draw("42", CHECK).normal(2, dtype=torch.float64).dtype is torch.float64


def test_the_default_dtype_does_not_change_what_is_drawn():
    """Inputs are the same where something set torch's default to float64."""
    expected = Draw("42", CHECK).normal(3), Draw("42", CHECK).uniform(3)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        found = Draw("42", CHECK).normal(3), Draw("42", CHECK).uniform(3)
    finally:
        torch.set_default_dtype(before)
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))
    assert {tensor.dtype for tensor in found} == {torch.float32}


@MODEST
@given(st.text(), st.floats(-10, 10, width=16), st.floats(0.125, 10, width=16))
def test_uniform_numbers_lie_within_their_bounds(seed, low, width):
    """Each number lies from `low` to `high`."""
    numbers = Draw(seed, CHECK).uniform(50, low=low, high=low + width)
    assert bool(((low <= numbers) & (numbers <= low + width)).all())


@MODEST
@given(st.text(), st.integers(-5, 5), st.integers(0, 3))
def test_whole_numbers_lie_within_their_bounds(seed, low, width):
    """Both bounds can be drawn, and nothing beyond them."""
    draw = Draw(seed, CHECK)
    drawn = {draw.whole(low, low + width) for _ in range(100)}
    assert drawn == set(range(low, low + width + 1))


@MODEST
@given(st.text(), st.integers(2, 6))
def test_a_permutation_is_one_and_moves_something(seed, size):
    """Every position once, and never all of them in place."""
    order = Draw(seed, CHECK).permutation(size).tolist()
    assert sorted(order) == list(range(size))
    assert order != list(range(size))


def test_a_seed_can_be_handed_to_torch():
    """A drawn seed is a positive whole number of moderate size."""
    assert all(1 <= Draw(str(n), CHECK).seed() <= 1_000_000 for n in range(50))


def test_plain_values_and_arrays_are_drawn_beside_the_tensors():
    """They move nothing of what a message shows by its code; each is of the kind that it says."""
    draw, other = Draw("42", CHECK), Draw("42", CHECK)
    array, numbers = draw.array(4, 3), draw.numbers(50, 1, 6)
    assert (array.shape, str(array.dtype)) == ((4, 3), "float64")
    assert (set(numbers), {type(n) for n in numbers}) == ({1, 2, 3, 4, 5, 6}, {int})
    assert len({*draw.choice(range(5), 5)}) == 5
    assert torch.equal(draw.normal(2), other.normal(2))
    assert len(draw.drawn) == 1


@pytest.mark.parametrize("first", ["whole", "tensor"])
def test_whole_numbers_are_those_of_torchs_generator(first):
    """Also before any tensor was drawn, when torch need not be imported; tensors go on from there."""
    for seed in map(str, range(50)):
        draw = Draw(seed, CHECK)
        generator = torch.Generator().manual_seed(draw.number)
        if first == "tensor":
            assert torch.equal(draw.uniform(2), torch.rand(2, generator=generator))
        for low, high in ((1, 9), (0, 1), (3, 3), (-5, 5), (1, 1_000_000), (0, 2**30)):
            expected = int(torch.randint(low, high + 1, (), generator=generator))
            assert draw.whole(low, high) == expected
        assert torch.equal(draw.normal(3, std=1.0), torch.randn(3, generator=generator))
