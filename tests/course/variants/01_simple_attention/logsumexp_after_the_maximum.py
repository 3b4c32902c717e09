# The stable softmax by logsumexp, after the maximum is taken off.
import torch


def softmax_stable(x):
    shifted = x - torch.max(x)
    return (shifted - shifted.logsumexp(dim=-1)).exp()
