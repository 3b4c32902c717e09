"""What the checks of assignment 06 share."""

import torch

from grader.testing import N_


def plain(value):
    """A number, also where it came as a tensor of one."""
    if isinstance(value, torch.Tensor) and value.numel() == 1 and not value.is_complex():
        return float(value)
    return value


def share_of_zeros(value):
    """The share of zeros to one decimal, which is the same for every draw of many entries."""
    return round(float((value == 0).double().mean()), 1)


def judged_kept(called):
    """The value of a call in training, having judged that all kept weights have one factor."""
    weights = called.args[0]
    value = called.has_shape(*weights.shape)
    factors = (value / weights)[value != 0]
    # A quotient of float32 numbers.
    are_alike = bool(torch.isclose(factors, factors[:1], rtol=1e-5).all())
    sentence = N_("The kept weights are not all scaled by the same factor")
    called.judge.that(are_alike, sentence, about=value)
    return value


def judge_shares(attempt, weights, shares, seed):
    """Judge how many entries are dropped in training: `seed()` seeds each call."""
    for p in shares:
        value = judged_kept(attempt(weights, p, True, seed=seed()))
        what = attempt.judge.words("the share of zeros for p = {p}, to one decimal", p=p)
        attempt.judge(share_of_zeros(value), p, what=what)


def judge_entries(judge, kept):
    """Judge that neither all rows nor all columns lost the same entries."""
    judge.that(bool((kept != kept[:1]).any()), "All rows lost the same entries")
    judge.that(bool((kept != kept[:, :1]).any()), "All columns lost the same entries")
