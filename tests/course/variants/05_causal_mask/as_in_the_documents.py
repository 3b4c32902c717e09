# The documents' own lines.
import torch

torch.manual_seed(123)


def lower_triangular_mask(context_length):
    mask_simple = torch.tril(torch.ones(context_length, context_length))
    print(mask_simple)
    return mask_simple


def mask_weights(weights, mask):
    masked_simple = weights*mask
    print(masked_simple)
    return masked_simple


def renormalize_rows(weights):
    row_sums = weights.sum(dim=-1, keepdim=True)
    masked_simple_norm = weights / row_sums
    print(masked_simple_norm)
    return masked_simple_norm


def upper_triangular_mask(context_length):
    return torch.triu(torch.ones(context_length, context_length), diagonal=1)


def mask_scores(scores, mask):
    masked = scores.masked_fill(mask.bool(), -torch.inf)
    print(masked)
    return masked


def causal_weights(scores, d_k):
    context_length = scores.shape[0]
    mask = upper_triangular_mask(context_length)
    masked = scores.masked_fill(mask.bool(), -torch.inf)
    attn_weights = torch.softmax(masked / d_k**0.5, dim=-1)
    print(attn_weights)
    return attn_weights
