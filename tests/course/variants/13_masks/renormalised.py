# Masked after the softmax, and renormalised with care; larger scores do not get lost.
import torch
from torch import nn


def padding_mask(lengths, num_tokens):
    return torch.stack([torch.arange(num_tokens) < length for length in lengths])[:, None, :]


def causal_mask(num_queries, num_keys):
    lower = torch.tril(torch.ones(num_queries, num_keys), diagonal=num_keys - num_queries)
    return lower.bool()


def combine_masks(padding, causal):
    return torch.minimum(padding.int(), causal.int()).bool()


def masked_softmax(scores, mask):
    visible = scores.masked_fill(~mask, -torch.inf).detach().amax(dim=-1, keepdim=True)
    visible = visible.masked_fill(visible == -torch.inf, 0.0)
    shifted = (scores - visible).masked_fill(~mask, 0.0)
    weights = torch.exp(shifted) * mask
    return weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-7)


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_context, d_out):
        super().__init__()
        self.d_out = d_out
        self.W_query = nn.Linear(d_in, d_out, False)
        self.W_key = nn.Linear(d_context, d_out, False)
        self.W_value = nn.Linear(d_context, d_out, False)

    def attend(self, x, context):
        return self.W_query(x) @ self.W_key(context).transpose(-2, -1) / self.d_out**0.5

    def forward(self, x, context, mask):
        return masked_softmax(self.attend(x, context), mask) @ self.W_value(context)


def ready_made_attention(queries, keys, values, mask):
    scores = torch.baddbmm(torch.zeros(()).to(queries), queries, keys.mT)
    return masked_softmax(scores / queries.shape[-1] ** 0.5, mask) @ values
