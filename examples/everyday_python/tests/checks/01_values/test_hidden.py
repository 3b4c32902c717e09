"""Assignment 01 on inputs nobody has seen."""

from decimal import Decimal

import pytest

from grader.testing import beside_student


@beside_student
def up_to(primes, limit):
    """The primes up to a limit, and whether the generator can be told to stop."""
    from itertools import takewhile

    numbers = primes(1)
    found = list(takewhile(lambda number: number <= limit, numbers))
    numbers.close()
    return found, next(numbers, None)


@pytest.mark.exercise("amount")
class TestAmount:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_sum_is_rounded_once")
    def test_other_prices(self, attempt, draw):
        """Other prices and discounts."""
        for euros, pieces in ((draw.whole(1, 99), draw.whole(3, 9)), (0, 7)):
            attempt(f"{euros}.33", pieces, 10).agrees()

    @pytest.mark.deepens("test_three_pieces_of_ten_cents")
    def test_more_digits_than_a_float_has(self, attempt):
        """A price of many digits should stay exact."""
        attempt("12345678901234567.89", 3, 0).gives(Decimal("37037036703703703.67"))


@pytest.mark.exercise("windows")
class TestWindows:
    @pytest.mark.weight(3)
    @pytest.mark.deepens("test_windows_overlap")
    def test_other_numbers(self, attempt, draw):
        """Other numbers, and other sizes."""
        for size in (2, 4):
            attempt(draw.numbers(7, -9, 9), size).agrees()


@pytest.mark.exercise("primes")
class TestPrimes:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_a_prime_is_not_above_itself")
    def test_other_starts(self, attempt, draw):
        """Primes above other numbers."""
        attempt(draw.whole(50, 90)).first(5).agrees()

    @pytest.mark.deepens("test_the_generator_goes_on")
    def test_it_can_be_closed(self, attempt, draw):
        """It should be a generator, which can be closed."""
        attempt.through(up_to)(draw.whole(30, 60)).agrees()


@pytest.mark.exercise("RunningMean")
class TestRunningMean:
    @pytest.mark.weight(3)
    @pytest.mark.deepens("test_two_numbers_have_a_mean")
    def test_other_numbers(self, attempt, draw):
        """The mean of other numbers, after each of them."""
        mean = attempt.instance()
        for number in draw.numbers(4, -20, 20):
            mean(number + 0.5, method="add").attribute("mean").agrees()
