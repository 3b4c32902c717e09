import torch


def softmax_naive(x):
    return (x - torch.logsumexp(x, dim=0)).exp()


def softmax_stable(x):
    return softmax_naive(x)
