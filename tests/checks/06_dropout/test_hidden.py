"""Assignment 06 on inputs nobody has seen.

A draw is judged by its rule alone, and what is judged is the same for every draw: so a mistake is
recognised in whatever way a student draws.
"""

import pytest
import torch

from ..helpers import NAN_IN_TRAINING
from .helpers import judge_entries, judge_shares, judged_kept, plain

ROWS, COLUMNS = 80, 130
FACTORS = torch.tensor([0.0, 1.6667])  # p = 0.4, to 4 decimals


@pytest.mark.exercise("dropout_scale")
class TestDropoutScale:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_a_quarter_dropped")
    def test_another_probability(self, attempt, judge, draw):
        """Any probability should give the right factor."""
        called = attempt(draw.whole(55, 80) / 100)
        judge(plain(called.value), called.expected, any_type=True)


@pytest.mark.exercise("apply_dropout_mask")
class TestApplyDropoutMask:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_a_smaller_share_dropped")
    def test_unseen_weights(self, attempt, draw):
        """Other weights, another mask and another probability should be right, too."""
        weights, keep_mask = draw.uniform(5, 7, low=0.1), draw.uniform(5, 7) > 0.4
        attempt(weights, keep_mask, 0.3).agrees(axes=("query", "key"))


@pytest.mark.exercise("dropout")
class TestDropout:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_what_is_kept_is_scaled")
    def test_unseen_weights_are_dropped_or_scaled(self, attempt, judge, draw):
        """In training, every entry should be either zero or its weight times the factor."""
        weights, p = draw.uniform(ROWS, COLUMNS, low=0.1), 0.4
        value = attempt(weights, p, True, seed=draw.seed()).has_shape(ROWS, COLUMNS)
        # Rounded to 4 decimals, so that equal factors are one.
        factors = (value / weights).mul(1e4).round().div(1e4).unique()
        judge(factors, FACTORS, what="the factors that occur")
        is_exact = (value == 0) | ((value - weights / (1 - p)).abs() < 1e-5)
        judge.that(bool(is_exact.all()), "Some kept weights are not scaled by 1 / (1 - p)")

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_right_share_is_dropped")
    def test_the_right_share_is_dropped(self, attempt, draw):
        """In training, about as many entries should be dropped as p says."""
        judge_shares(attempt, draw.uniform(ROWS, COLUMNS, low=0.1), (0.1, 0.7), draw.seed)

    @pytest.mark.deepens("test_every_entry_is_drawn_for_itself")
    def test_every_entry_is_drawn_for_itself(self, attempt, judge, draw):
        """In training, neither all rows nor all columns should lose the same entries."""
        called = attempt(draw.uniform(ROWS, COLUMNS, low=0.1), 0.4, True, seed=draw.seed())
        judge_entries(judge, judged_kept(called) != 0)

    @pytest.mark.deepens("test_every_call_draws_anew")
    def test_every_call_draws_anew(self, attempt, judge, draw):
        """In training, two calls should drop different entries."""
        weights = draw.uniform(ROWS, COLUMNS, low=0.1)
        called = attempt(weights, 0.4, True, seed=draw.seed()), attempt(weights, 0.4, True)
        one, two = (each.has_shape(ROWS, COLUMNS) for each in called)
        judge.that(not (one.isnan() | two.isnan()).any(), NAN_IN_TRAINING)
        one, two = map(judged_kept, called)
        judge.that(not torch.equal(one, two), "Two calls in a row dropped the same entries")

    @pytest.mark.deepens("test_the_right_share_is_dropped")
    @pytest.mark.conduct
    def test_with_probability_zero_nothing_changes(self, attempt, draw):
        """In training with p = 0, the weights should come back as they are."""
        weights = draw.uniform(5, 7, low=0.1)
        attempt(weights, 0.0, True, seed=draw.seed()).gives(weights, axes=("row", "column"))

    @pytest.mark.deepens("test_outside_of_training_nothing_changes")
    @pytest.mark.conduct
    def test_outside_of_training_nothing_changes(self, attempt, draw):
        """Outside of training, other weights should come back as they are, in float64 as well."""
        weights = draw.uniform(5, 7, low=0.1).double()
        attempt(weights, 0.7, False).gives(weights, axes=("row", "column"))

    @pytest.mark.deepens("test_gradients_reach_the_kept_weights")
    def test_outside_of_training_gradients_reach_all_weights(self, attempt, judge, draw):
        """Outside of training, gradients should flow to all weights."""
        weights, cotangent = draw.uniform(5, 7, low=0.1), draw.normal(5, 7)
        found = attempt(weights, 0.7, False, cotangent=cotangent).answer.gradients
        judge(found.arguments["0"], cotangent, what="the gradient for the weights")
