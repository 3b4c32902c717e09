"""What students see of assignment 01."""

from decimal import Decimal

import pytest


@pytest.mark.exercise("amount")
class TestAmount:
    @pytest.mark.gate
    def test_three_pieces_of_ten_cents(self, attempt):
        """Three pieces of 0.10 should cost 0.30."""
        attempt("0.10", 3, 0).gives(Decimal("0.30"))

    @pytest.mark.weight(2)
    def test_the_sum_is_rounded_once(self, attempt):
        """Seven pieces of 0.33 with 10 percent off should cost 2.08: the sum is rounded, not each piece."""
        attempt("0.33", 7, 10).agrees()

    @pytest.mark.weight(2)
    def test_half_a_cent_goes_to_the_even_one(self, attempt):
        """Half a cent should be rounded to the even cent: 0.25 and half of it are 0.12."""
        attempt("0.25", 1, 50).agrees()


@pytest.mark.exercise("windows")
class TestWindows:
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_list_stays_as_it_is(self, attempt):
        """The list should be left as it is."""
        attempt([3, 1, 2], 2).keeps_arguments()

    @pytest.mark.weight(2)
    def test_windows_overlap(self, attempt):
        """The windows of 3 in 1, 2, 3 and 4 should be (1, 2, 3) and (2, 3, 4)."""
        attempt([1, 2, 3, 4], 3).gives([(1, 2, 3), (2, 3, 4)])

    def test_too_few_numbers_have_no_window(self, attempt):
        """Two numbers should have no window of 3, and two of 1."""
        attempt([5, 6], 3).gives([])
        attempt([5, 6], 1).gives([(5,), (6,)])

    def test_a_size_of_0_is_refused(self, attempt):
        """A size of 0 should raise a ValueError, where a size of 2 works."""
        attempt.raises(ValueError, [1, 2], 0, match="size")
        attempt([1, 2], 2).agrees()


@pytest.mark.exercise("primes")
class TestPrimes:
    @pytest.mark.gate
    def test_the_first_primes(self, attempt):
        """The first primes above 1 should be 2, 3, 5, 7, 11 and 13."""
        attempt(1).first(6).gives([2, 3, 5, 7, 11, 13])

    @pytest.mark.weight(2)
    def test_a_prime_is_not_above_itself(self, attempt):
        """Above 7 the primes should go on with 11, 13 and 17."""
        attempt(7).first(3).agrees()

    def test_the_generator_goes_on(self, attempt):
        """Asked again, it should go on where it was."""
        called = attempt(3)
        called.first(2).gives([5, 7])
        called.first(1).gives([11])


@pytest.mark.exercise("RunningMean")
class TestRunningMean:
    @pytest.mark.gate
    def test_two_numbers_have_a_mean(self, attempt):
        """The mean of 2 and 4 should be 3."""
        mean = attempt.instance()
        mean(2.0, method="add")
        mean(4.0, method="add").attribute("mean").gives(3.0)

    def test_the_numbers_are_counted(self, attempt):
        """After two numbers the size should be 2."""
        mean = attempt.instance()
        mean(1.5, method="add").then("add", 2.5).attribute("size").gives(2)
        mean.attribute("mean").agrees()

    def test_before_the_first_number_there_is_no_mean(self, attempt):
        """Without numbers the mean should be None, and afterwards that of the first."""
        mean = attempt.instance()
        mean.attribute("mean").gives(None)
        mean(0.5, method="add").attribute("mean").gives(0.5)
