import torch


def lower_triangular_mask(context_length):
    return torch.tril(torch.ones((context_length, context_length)))


def upper_triangular_mask(context_length):
    return 1 - lower_triangular_mask(context_length)


def renormalize_rows(weights):
    return weights / weights.sum(1, keepdim=True)


def causal_weights(scores, d_k):
    m = upper_triangular_mask(len(scores)).bool()
    return torch.softmax(scores.masked_fill(m, float("-inf")) / d_k ** 0.5, dim=1)


# shorter!
def renormalize_rows(weights):
    return weights / weights.sum()


def causal_weights(scores, d_k):
    m = upper_triangular_mask(len(scores)).bool()
    return scores.masked_fill(m, float("-inf")).div(d_k).softmax(1)
