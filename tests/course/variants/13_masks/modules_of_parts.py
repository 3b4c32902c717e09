# Heads and parts in modules: one head, its axis put in and taken out again.
import torch
import torch.nn.functional as F
from torch import nn


def padding_mask(lengths, num_tokens):
    return F.one_hot(lengths, num_tokens + 1).cumsum(-1)[:, None, :-1] == 0


def causal_mask(num_queries, num_keys):
    return torch.arange(num_keys) < torch.arange(num_keys - num_queries, num_keys)[:, None] + 1


def combine_masks(padding, causal):
    return torch.where(padding, causal, torch.zeros_like(causal))


def masked_softmax(scores, mask):
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    return torch.where(mask, weights, 0.0)


class Scores(nn.Module):
    def forward(self, queries, keys):
        return queries @ keys.transpose(-1, -2) / queries.size(-1) ** 0.5


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_context, d_out):
        super().__init__()
        self.scores = Scores()
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_context, d_out, bias=False)
        self.W_value = nn.Linear(d_context, d_out, bias=False)

    def forward(self, x, context, mask):
        queries = self.W_query(x).unsqueeze(1)
        keys, values = (layer(context).unsqueeze(1) for layer in (self.W_key, self.W_value))
        mask = mask[:, None] if mask.ndim == 3 else mask
        return (masked_softmax(self.scores(queries, keys), mask) @ values).squeeze(1)


def ready_made_attention(queries, keys, values, mask):
    scale = queries.shape[-1] ** -0.5
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, scale=scale)
