"""What the checks of assignment 06 share."""

import torch


def plain(value):
    """A number, also where it came as a tensor of one."""
    if isinstance(value, torch.Tensor) and value.numel() == 1 and not value.is_complex():
        return float(value)
    return value


def share_of_zeros(value):
    """The share of zeros to one decimal, which is the same for every draw of many entries."""
    return round(float((value == 0).double().mean()), 1)


def judge_shares(attempt, weights, shares, seed):
    """Judge how many entries are dropped in training: `seed()` seeds each call."""
    for p in shares:
        value = attempt(weights, p, True, seed=seed()).has_shape(*weights.shape)
        what = attempt.judge.words("the share of zeros for p = {p}, to one decimal", p=p)
        attempt.judge(share_of_zeros(value), p, what=what)


def judge_entries(judge, kept):
    """Judge that neither all rows nor all columns lost the same entries."""
    judge.that(bool((kept != kept[:1]).any()), "All rows lost the same entries")
    judge.that(bool((kept != kept[:, :1]).any()), "All columns lost the same entries")
