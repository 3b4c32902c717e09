"""What students see of assignment 06: the documents' tensors and the rule of dropout.

A seeded draw differs between processors, so the documents' two tensors are made from the printed
mask, and a student's own draw is judged by its rule: by values that are the same for every draw.
"""

import pytest
import torch

from grader.testing import N_

LARGE = 96
"""Rows and columns: the share of dropped entries has a standard deviation of 0.004, so that to one
decimal it is the same for every draw.
"""


def kept_as_printed(printed):
    """The mask that the documents drew: what is not zero was kept."""
    return printed("T23").tensor != 0


def causal_weights(printed):
    """The causal weights of the documents with more digits than they are printed with.

    They come from the scores of `nn.Linear(3, 2, bias=False)` with seed 789: uniform numbers within
    1 / sqrt(3), query first.
    """
    generator = torch.Generator().manual_seed(789)
    bound = 3**-0.5
    query, key = (
        torch.empty(2, 3, dtype=torch.float32).uniform_(-bound, bound, generator=generator)
        for _ in range(2)
    )
    inputs = printed("T45").tensor
    scores = (inputs @ query.T) @ (inputs @ key.T).T
    hidden = torch.ones(6, 6, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(scores.masked_fill(hidden, -torch.inf) / 2**0.5, dim=-1)


def plain(value):
    """A number, also where it came as a tensor of one."""
    if isinstance(value, torch.Tensor) and value.numel() == 1 and not value.is_complex():
        return float(value)
    return value


def share_of_zeros(value):
    """The share of zeros to one decimal, which is the same for every draw."""
    return round(float((value == 0).double().mean()), 1)


class KeepsNames:
    """A remark on parameters with other names than the stub's."""

    @pytest.mark.remark
    def test_the_parameters_keep_their_names(self, student, reference, judge):
        """The parameters should keep the names they have in the stub."""
        name = student.exercise.name
        found, right = (", ".join(handle.parameters(name)) for handle in (student, reference))
        sentence = judge.words(
            "They are {found}, and in the stub {right}", found=found, right=right
        )
        judge.that(found == right, sentence)


@pytest.mark.exercise("dropout_scale")
class TestDropoutScale(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_answers_a_number(self, student, judge):
        """The factor should be a number."""
        value = plain(student.call("dropout_scale", 0.5).value)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        judge.that(is_number, "The result is not a number")

    @pytest.mark.weight(2)
    def test_half_dropped_doubles_the_rest(self, student, judge):
        """When half of the weights go, the others should be doubled."""
        judge(plain(student.call("dropout_scale", 0.5).value), 2.0)

    @pytest.mark.weight(2)
    def test_a_quarter_dropped(self, student, judge):
        """When a quarter of the weights goes, the others should grow by a third."""
        judge(plain(student.call("dropout_scale", 0.25).value), 4 / 3)

    def test_nothing_dropped_changes_nothing(self, student, judge):
        """When nothing is dropped, the factor should be 1."""
        judge(plain(student.call("dropout_scale", 0.0).value), 1.0)


@pytest.mark.exercise("apply_dropout_mask")
class TestApplyDropoutMask(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, student, judge, printed):
        """The result should have the shape and the dtype of the weights."""
        keep_mask = kept_as_printed(printed)
        value = student.call("apply_dropout_mask", torch.ones(6, 6), keep_mask, 0.5).value
        judge.shape(value, (6, 6))

    def test_a_matrix_of_ones_as_printed(self, student, judge, printed):
        """With p = 0.5, ones should become zeros or twos, as the mask says."""
        keep_mask = kept_as_printed(printed)
        value = student.call("apply_dropout_mask", torch.ones(6, 6), keep_mask, 0.5).value
        again = student.call("apply_dropout_mask", torch.ones(6, 6), keep_mask, 0.5).value
        for each in (value, again):
            judge.shape(each, (6, 6))
        sentence = N_("Two calls with the same mask give different results: does the mask decide?")
        judge.that(torch.equal(value.nan_to_num(), again.nan_to_num()), sentence)
        judge(value, printed("T23"), axes=("query", "key"))

    @pytest.mark.weight(2)
    def test_the_causal_weights_as_printed(self, student, judge, printed):
        """With p = 0.5, causal weights should become zero or double, as the mask says."""
        weights, keep_mask = causal_weights(printed), kept_as_printed(printed)
        value = student.call("apply_dropout_mask", weights, keep_mask, 0.5).value
        judge(value, printed("T24"), axes=("query", "key"))

    @pytest.mark.weight(2)
    def test_a_smaller_share_dropped(self, student, judge):
        """With p = 0.2, what is kept should grow by a quarter, however much is really dropped."""
        weights = torch.tensor([[0.4, 0.6, 0.0], [0.2, 0.2, 0.6]])
        keep_mask = torch.tensor([[True, False, True], [True, True, True]])
        value = student.call("apply_dropout_mask", weights, keep_mask, 0.2).value
        expected = torch.tensor([[0.5, 0.0, 0.0], [0.25, 0.25, 0.75]])
        judge(value, expected, axes=("query", "key"))

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Weights in float64 should stay in float64."""
        weights = draw.uniform(5, 7, low=0.1).double()
        keep_mask = draw.uniform(5, 7) > 0.4
        expected = reference.call("apply_dropout_mask", weights, keep_mask, 0.7).value
        value = student.call("apply_dropout_mask", weights, keep_mask, 0.7).value
        judge(value, expected, axes=("query", "key"))

    @pytest.mark.remark
    def test_half_precision_is_kept(self, student, judge):
        """Weights in float16 should stay in float16."""
        weights, keep_mask = torch.ones(2, 3).half(), torch.tensor([[True, False, True]] * 2)
        value = student.call("apply_dropout_mask", weights, keep_mask, 0.5).value
        judge.shape(value, (2, 3), dtype=torch.float16)

    @pytest.mark.conduct
    def test_any_shape(self, student, judge, draw):
        """Weights of any shape should keep it, also with three axes and with one of size 1."""
        for shape in ((2, 3, 4), (2, 1, 3)):
            weights, keep_mask = draw.uniform(*shape, low=0.1), draw.uniform(*shape) > 0.4
            judge.shape(student.call("apply_dropout_mask", weights, keep_mask, 0.3).value, shape)

    def test_gradients_reach_the_kept_weights(self, student, reference, judge, draw):
        """Gradients should flow to the weights that are kept, scaled like them."""
        weights, keep_mask = draw.uniform(5, 7, low=0.1), draw.uniform(5, 7) > 0.4
        arguments, cotangent = (weights, keep_mask, 0.3), draw.normal(5, 7)
        mine = student.call("apply_dropout_mask", *arguments, cotangent=cotangent).gradients
        right = reference.call("apply_dropout_mask", *arguments, cotangent=cotangent).gradients
        judge(mine.arguments["0"], right.arguments["0"], what="the gradient for the weights")

    @pytest.mark.conduct
    def test_the_arguments_are_left_as_they_are(self, student, judge, draw):
        """The weights and the mask should stay as they are."""
        weights, keep_mask = draw.uniform(5, 7, low=0.1), draw.uniform(5, 7) > 0.4
        answer = student.call("apply_dropout_mask", weights, keep_mask, 0.3)
        judge.that(not answer.changed, "It changed one of its arguments in place")


@pytest.mark.exercise("dropout")
class TestDropout(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, student, judge):
        """The result should have the shape and the dtype of the weights."""
        value = student.call("dropout", torch.ones(3, 5), 0.2, True, seed=1).value
        judge.shape(value, (3, 5))

    @pytest.mark.weight(2)
    def test_what_is_kept_is_scaled(self, student, judge):
        """In training, ones should become either 0 or 1.25 when a fifth is dropped."""
        value = student.call("dropout", torch.ones(LARGE, LARGE), 0.2, True, seed=1).value
        judge.shape(value, (LARGE, LARGE))
        judge(value.unique(), torch.tensor([0.0, 1.25]), what="the values that occur")

    @pytest.mark.weight(2)
    def test_the_right_share_is_dropped(self, student, judge):
        """In training, about as many entries should be dropped as p says."""
        for p in (0.2, 0.6):
            value = student.call("dropout", torch.ones(LARGE, LARGE), p, True, seed=1).value
            judge.shape(value, (LARGE, LARGE))
            what = judge.words("the share of zeros for p = {p}, to one decimal", p=p)
            judge(share_of_zeros(value), p, what=what)
        # Weights below p: the draw decides, not how large a weight is.
        small = torch.full((LARGE, LARGE), 0.1)
        share = share_of_zeros(student.call("dropout", small, 0.2, True, seed=1).value)
        judge(share, 0.2, what=N_("the share of zeros for weights of 0.1, to one decimal"))

    def test_every_call_draws_anew(self, student, judge):
        """In training, two calls should drop different entries."""
        one = student.call("dropout", torch.ones(LARGE, LARGE), 0.2, True, seed=1).value
        two = student.call("dropout", torch.ones(LARGE, LARGE), 0.2, True).value
        judge.shape(one, (LARGE, LARGE))
        judge.shape(two, (LARGE, LARGE))
        judge.that(bool((one == 0).any()), "No entry was dropped")
        judge.that(not torch.equal(one, two), "Two calls in a row dropped the same entries")

    def test_how_many_go_is_up_to_chance(self, student, judge):
        """In training, chance should decide how many entries go, because each is drawn for itself."""
        ones = torch.ones(16, 16)
        # The numbers of dropped entries have a standard deviation of 8: a dozen are never all equal.
        gone = []
        for seed in range(12):
            value = student.call("dropout", ones, 0.5, True, seed=seed).value
            judge.shape(value, (16, 16))
            gone.append(int((value == 0).sum()))
        some = any(0 < number < ones.numel() for number in gone)
        about = [0 in gone, ones.numel() in gone]
        judge.that(some, "No call dropped some entries and kept others", about=about)
        judge.that(len(set(gone)) > 1, "Every call dropped the same number of entries")

    @pytest.mark.conduct
    def test_any_shape(self, student, judge):
        """Weights of any shape should keep it, also with three axes and with one of size 1."""
        for shape in ((2, 3, 4), (2, 1, 3), (5,)):
            value = student.call("dropout", torch.ones(shape), 0.2, True, seed=1).value
            judge.shape(value, shape)

    def test_every_entry_is_drawn_for_itself(self, student, judge):
        """In training, neither all rows nor all columns should lose the same entries."""
        value = student.call("dropout", torch.ones(LARGE, LARGE), 0.2, True, seed=1).value
        judge.shape(value, (LARGE, LARGE))
        kept = value != 0
        judge.that(not bool(kept.all()), "No entry was dropped")
        judge.that(bool((kept != kept[:1]).any()), "All rows lost the same entries")
        judge.that(bool((kept != kept[:, :1]).any()), "All columns lost the same entries")

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_outside_of_training_nothing_changes(self, student, judge):
        """Outside of training, the weights should come back as they are."""
        row = torch.tensor([0.1, 0.2, 0.3, 0.4])
        value = student.call("dropout", row.repeat(LARGE, 1), 0.2, False, seed=1).value
        judge.shape(value, (LARGE, 4))
        judge(value.amax(dim=0), row, what="the largest values of equal rows", axes=("key",))
        judge(value.amin(dim=0), row, what="the smallest values of equal rows", axes=("key",))

    def test_gradients_reach_the_kept_weights(self, student, judge):
        """Gradients should flow to the weights that are kept, scaled like them."""
        weights = torch.ones(LARGE, LARGE)
        answer = student.call("dropout", weights, 0.6, True, seed=1, cotangent=weights)
        gradient = answer.gradients.arguments["0"]
        judge.shape(answer.value, (LARGE, LARGE))
        judge.shape(gradient, (LARGE, LARGE))
        # Of ones, kept ones and their gradients are the same.
        judge(gradient.unique(), torch.tensor([0.0, 2.5]), what="the factors of the gradient")
        are_the_same = torch.equal(gradient == 0, answer.value == 0)
        judge.that(are_the_same, "Gradients reach other weights than those that were kept")

    @pytest.mark.conduct
    def test_the_weights_are_left_as_they_are(self, student, judge):
        """The weights should stay as they are."""
        answer = student.call("dropout", torch.ones(3, 5), 0.2, True, seed=1)
        judge.that(not answer.changed, "It changed its argument in place")
