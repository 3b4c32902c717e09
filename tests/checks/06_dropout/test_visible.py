"""What students see of assignment 06: the documents' tensors and the rule of dropout.

A seeded draw differs between processors, so the documents' two tensors are made from the printed
mask, and a student's own draw is judged by its rule: by values that are the same for every draw.
"""

import pytest
import torch

from grader.testing import N_
from grader.testing.mixins import KeepsArguments, KeepsNames

from ..helpers import future, scores_of_the_text
from .helpers import judge_entries, judge_shares, judged_kept, plain, share_of_zeros

LARGE = 96
"""Rows and columns: the share of dropped entries has a standard deviation of 0.004, so that to one
decimal it is the same for every draw.
"""

AXES = (N_("query"), N_("key"))
ONES = torch.ones(LARGE, LARGE)
WEIGHTS = torch.linspace(0.1, 0.5, LARGE)[:, None] + torch.linspace(0.0, 0.5, LARGE)
"""All different, so that none stands in another's place."""


def kept_as_printed(printed):
    """The mask that the documents drew: what is not zero was kept."""
    return printed("T23").tensor != 0


def causal_weights(printed):
    """The causal weights of the documents with more digits than they are printed with."""
    scores = scores_of_the_text(printed).masked_fill(future(6, torch.bool), -torch.inf)
    return (scores / 2**0.5).softmax(dim=-1)


@pytest.mark.exercise("dropout_scale")
class TestDropoutScale(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_answers_a_number(self, attempt, judge):
        """The factor should be a number."""
        value = plain(attempt(0.5).value)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        judge.that(is_number, "The result is not a number")

    @pytest.mark.weight(2)
    def test_half_dropped_doubles_the_rest(self, attempt, judge):
        """When half of the weights go, the others should be doubled."""
        judge(plain(attempt(0.5).value), 2.0, any_type=True)

    @pytest.mark.weight(2)
    def test_a_quarter_dropped(self, attempt, judge):
        """When a quarter of the weights goes, the others should grow by a third."""
        judge(plain(attempt(0.25).value), 4 / 3, any_type=True)

    def test_nothing_dropped_changes_nothing(self, attempt, judge):
        """When nothing is dropped, the factor should be 1."""
        judge(plain(attempt(0.0).value), 1.0, any_type=True)


@pytest.mark.exercise("apply_dropout_mask")
class TestApplyDropoutMask(KeepsNames, KeepsArguments):
    def inputs(self, draw, dtype=torch.float32):
        """Weights, a mask and a probability."""
        return draw.uniform(5, 7, low=0.1).to(dtype), draw.uniform(5, 7) > 0.4, 0.3

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, attempt, printed):
        """The result should have the shape and the dtype of the weights."""
        attempt(torch.ones(6, 6), kept_as_printed(printed), 0.5).has_shape(6, 6)

    def test_a_matrix_of_ones_as_printed(self, attempt, judge, printed):
        """With p = 0.5, ones should become zeros or twos, as the mask says."""
        arguments = torch.ones(6, 6), kept_as_printed(printed), 0.5
        called = attempt(*arguments), attempt(*arguments)
        value, again = (each.has_shape(6, 6) for each in called)
        sentence = N_("Two calls with the same mask give different results: does the mask decide?")
        judge.that(torch.equal(value.nan_to_num(), again.nan_to_num()), sentence)
        judge(value, printed("T23"), axes=AXES)

    @pytest.mark.weight(2)
    def test_the_causal_weights_as_printed(self, attempt, printed):
        """With p = 0.5, causal weights should become zero or double, as the mask says."""
        called = attempt(causal_weights(printed), kept_as_printed(printed), 0.5)
        called.gives(printed("T24"), axes=AXES)

    @pytest.mark.weight(2)
    def test_a_smaller_share_dropped(self, attempt):
        """With p = 0.2, what is kept should grow by a quarter, however much is really dropped."""
        weights = torch.tensor([[0.4, 0.6, 0.0], [0.2, 0.2, 0.6]])
        keep_mask = torch.tensor([[True, False, True], [True, True, True]])
        expected = torch.tensor([[0.5, 0.0, 0.0], [0.25, 0.25, 0.75]])
        attempt(weights, keep_mask, 0.2).gives(expected, axes=AXES)

    def test_double_precision_is_kept(self, attempt, draw):
        """Weights in float64 should stay in float64."""
        weights, keep_mask, _ = self.inputs(draw, torch.float64)
        attempt(weights, keep_mask, 0.7).agrees(axes=AXES)

    @pytest.mark.remark
    def test_half_precision_is_kept(self, attempt):
        """Weights in float16 should stay in float16."""
        keep_mask = torch.tensor([[True, False, True]] * 2)
        attempt(torch.ones(2, 3).half(), keep_mask, 0.5).has_shape(2, 3, dtype=torch.float16)

    @pytest.mark.conduct
    def test_any_shape(self, attempt, draw):
        """Weights of any shape should keep it, also with three axes and with one of size 1."""
        for shape in ((2, 3, 4), (2, 1, 3)):
            weights, keep_mask = draw.uniform(*shape, low=0.1), draw.uniform(*shape) > 0.4
            attempt(weights, keep_mask, 0.3).has_shape(*shape)

    def test_gradients_reach_the_kept_weights(self, attempt, draw):
        """Gradients should flow to the weights that are kept, scaled like them."""
        called = attempt(*self.inputs(draw), cotangent=draw.normal(5, 7))
        called.gradients_agree(what="the gradient for the weights")


@pytest.mark.exercise("dropout")
class TestDropout(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, attempt):
        """The result should have the shape and the dtype of the weights."""
        attempt(torch.ones(3, 5), 0.2, True, seed=1).has_shape(3, 5)

    @pytest.mark.weight(2)
    def test_what_is_kept_is_scaled(self, attempt, judge):
        """In training, ones should become either 0 or 1.25 when a fifth is dropped."""
        values = attempt(ONES, 0.2, True, seed=1).has_shape(LARGE, LARGE).unique()
        judge.that(bool((values == 0).any()), "No entry was dropped")
        judge.that(bool((values != 0).any()), "No entry was kept")
        judge(len(values), 2, what=N_("how many different values occur"))
        judge(values, torch.tensor([0.0, 1.25]), what="the values that occur")
        judged_kept(attempt(WEIGHTS, 0.2, True, seed=1))

    @pytest.mark.weight(2)
    def test_the_right_share_is_dropped(self, attempt, judge):
        """In training, about as many entries should be dropped as p says."""
        judge_shares(attempt, WEIGHTS, (0.2, 0.6), seed=lambda: 1)
        # Weights below p: the draw decides, not how large a weight is.
        share = share_of_zeros(attempt(torch.full((LARGE, LARGE), 0.1), 0.2, True, seed=1).value)
        judge(share, 0.2, what=N_("the share of zeros for weights of 0.1, to one decimal"))

    def test_every_call_draws_anew(self, attempt, judge):
        """In training, two calls should drop different entries."""
        called = attempt(WEIGHTS, 0.2, True, seed=1), attempt(WEIGHTS, 0.2, True)
        one, two = map(judged_kept, called)
        judge.that(bool((one == 0).any()), "No entry was dropped")
        judge.that(not torch.equal(one, two), "Two calls in a row dropped the same entries")

    def test_how_many_go_is_up_to_chance(self, attempt, judge):
        """In training, chance should decide how many entries go, because each is drawn for itself."""
        ones = torch.ones(16, 16)
        # The numbers of dropped entries have a standard deviation of 8: a dozen are never all equal.
        values = (attempt(ones, 0.5, True, seed=seed).has_shape(16, 16) for seed in range(12))
        gone = [int((value == 0).sum()) for value in values]
        some = any(0 < number < ones.numel() for number in gone)
        about = [0 in gone, ones.numel() in gone]
        judge.that(some, "No call dropped some entries and kept others", about=about)
        judge.that(len(set(gone)) > 1, "Every call dropped the same number of entries")

    @pytest.mark.conduct
    def test_any_shape(self, attempt):
        """Weights of any shape should keep it, also with three axes and with one of size 1."""
        for shape in ((2, 3, 4), (2, 1, 3), (5,)):
            attempt(torch.ones(shape), 0.2, True, seed=1).has_shape(*shape)

    def test_every_entry_is_drawn_for_itself(self, attempt, judge):
        """In training, neither all rows nor all columns should lose the same entries."""
        kept = judged_kept(attempt(WEIGHTS, 0.2, True, seed=1)) != 0
        judge.that(not bool(kept.all()), "No entry was dropped")
        judge_entries(judge, kept)

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_outside_of_training_nothing_changes(self, attempt, judge):
        """Outside of training, the weights should come back as they are."""
        row = torch.tensor([0.1, 0.2, 0.3, 0.4])
        value = attempt(row.repeat(LARGE, 1), 0.2, False, seed=1).has_shape(LARGE, 4)
        judge(value.amax(dim=0), row, what="the largest values of equal rows", axes=("key",))
        judge(value.amin(dim=0), row, what="the smallest values of equal rows", axes=("key",))

    def test_gradients_reach_the_kept_weights(self, attempt, judge):
        """Gradients should flow to the weights that are kept, scaled like them."""
        called = attempt(ONES, 0.6, True, seed=1, cotangent=ONES)
        value, gradient = called.has_shape(LARGE, LARGE), called.answer.gradients.arguments["0"]
        judge.shape(gradient, (LARGE, LARGE))
        # Of ones, kept ones and their gradients are the same.
        judge(gradient.unique().tolist(), [0.0, 2.5], what="the factors of the gradient")
        are_the_same = torch.equal(gradient == 0, value == 0)
        judge.that(are_the_same, "Gradients reach other weights than those that were kept")

    @pytest.mark.conduct
    def test_the_weights_are_left_as_they_are(self, attempt):
        """The weights should stay as they are."""
        attempt(torch.ones(3, 5), 0.2, True, seed=1).keeps_arguments()
