# Masks by torch's triangle indices; index_put and where; logs instead of a softmax.
import torch


def lower_triangular_mask(context_length):
    mask = torch.zeros(context_length, context_length)
    rows, columns = torch.tril_indices(context_length, context_length)
    mask[rows, columns] = 1.0
    return mask


def upper_triangular_mask(context_length):
    rows, columns = torch.triu_indices(context_length, context_length, offset=1)
    mask = torch.full((context_length, context_length), False)
    return mask.index_put((rows, columns), torch.tensor(True))


def mask_scores(scores, mask):
    return scores.where(mask == 0, -torch.inf)


def causal_weights(scores, d_k):
    seen = scores.where(lower_triangular_mask(scores.size(0)) > 0, torch.finfo(scores.dtype).min)
    return (seen / d_k**0.5).log_softmax(-1).exp()
