# %% [markdown]
# # 1. Values
#
# Money that adds up to the cent, numbers side by side, primes without an end, and a mean that knows
# only what it has seen so far.

# %%
from collections.abc import Iterator, Sequence
from decimal import Decimal

# %% [markdown]
# ## Money
#
# `0.1 + 0.2` is not `0.3`: binary fractions cannot hold tenths. `Decimal` can, as long as it is made
# from text and never from a float.


# %% exercise="amount"
def amount(price: str, pieces: int, percent: int) -> Decimal:
    """What some pieces cost after a discount, rounded to the cent.

    Half a cent is rounded to the even one, as `round` does.

    Args:
        price: of a piece, as it is written: "0.10".
        pieces: how many.
        percent: the discount on all of them.

    Example:
        >>> amount("0.10", 3, 0)
        Decimal('0.30')
    """
    # TODO: multiply, take the discount off, and round to two decimals at the end.
    ### BEGIN SOLUTION
    whole = Decimal(price) * pieces
    return round(whole * (100 - percent) / 100, 2)
    ### END SOLUTION


# %% [markdown]
# ## Windows
#
# A window of three slides over a list one step at a time: `[1, 2, 3, 4]` has the windows `(1, 2, 3)`
# and `(2, 3, 4)`.


# %% exercise="windows"
def windows(numbers: Sequence[int], size: int) -> list[tuple[int, ...]]:
    """Every run of neighbours of some size, as tuples, in order; none where there are too few.

    Raises:
        ValueError: when the size is not at least 1.

    Example:
        >>> windows([1, 2, 3, 4], 3)
        [(1, 2, 3), (2, 3, 4)]
    """
    # TODO: refuse a size below 1; then cut a tuple out at each place where one fits.
    ### BEGIN SOLUTION
    if size < 1:
        raise ValueError("a window has a size of at least 1")
    return [tuple(numbers[at : at + size]) for at in range(len(numbers) - size + 1)]
    ### END SOLUTION


# %% [markdown]
# ## Primes
#
# A generator makes its values only when somebody asks for them. So it may promise all primes.


# %% exercise="primes"
def primes(above: int) -> Iterator[int]:
    """All primes above a number, one after the other, without an end.

    Args:
        above: at least 1.

    Example:
        >>> numbers = primes(3)
        >>> next(numbers), next(numbers)
        (5, 7)
    """
    # TODO: count upwards, and yield each number that nothing divides.
    ### BEGIN SOLUTION
    number = above
    while True:
        number += 1
        if all(number % divisor for divisor in range(2, int(number**0.5) + 1)):
            yield number
    ### END SOLUTION


# %% [markdown]
# ## A running mean
#
# Sensors do not wait until all numbers are there. A count and a sum are enough to know the mean so
# far.


# %% exercise="RunningMean"
class RunningMean:
    """The mean of the numbers that were added so far."""

    def __init__(self) -> None:
        # TODO: begin with nothing.
        ### BEGIN SOLUTION
        self.total, self.count = 0.0, 0
        ### END SOLUTION

    def add(self, number: float) -> "RunningMean":
        """Add a number, and return the object itself, so that calls can be chained."""
        # TODO: keep what the mean needs to know of it.
        ### BEGIN SOLUTION
        self.total += number
        self.count += 1
        return self
        ### END SOLUTION

    @property
    def size(self) -> int:
        """How many numbers were added."""
        # TODO: say how many.
        ### BEGIN SOLUTION
        return self.count
        ### END SOLUTION

    @property
    def mean(self) -> float | None:
        """Their mean; None before the first one."""
        # TODO: divide, where there is something to divide by.
        ### BEGIN SOLUTION
        return self.total / self.count if self.count else None
        ### END SOLUTION
