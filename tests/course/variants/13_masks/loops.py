# Loops over texts, queries and keys.
import torch
from torch import nn


def padding_mask(lengths, num_tokens):
    rows = [[[place < length for place in range(num_tokens)]] for length in lengths.tolist()]
    return torch.tensor(rows)


def causal_mask(num_queries, num_keys):
    mask = torch.zeros(num_queries, num_keys, dtype=torch.bool)
    for i in range(num_queries):
        mask[i, : num_keys - num_queries + i + 1] = True
    return mask


def combine_masks(padding, causal):
    return torch.stack([torch.stack([row & keys[0] for row in causal]) for keys in padding])


def masked_softmax(scores, mask):
    mask = mask.expand_as(scores)
    texts = []
    for text, seen in zip(scores, mask, strict=True):
        rows = []
        for row, keys in zip(text, seen, strict=True):
            weights = torch.zeros_like(row)
            if keys.any():
                weights = weights.masked_scatter(keys, torch.softmax(row[keys], dim=0))
            rows.append(weights + 0 * row.masked_fill(~keys, 0))
        texts.append(torch.stack(rows))
    return torch.stack(texts)


def ready_made_attention(queries, keys, values, mask):
    scores = torch.stack([q @ k.T for q, k in zip(queries, keys, strict=True)])
    weights = masked_softmax(scores / queries.shape[-1] ** 0.5, mask)
    return torch.stack([w @ v for w, v in zip(weights, values, strict=True)])


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_context, d_out):
        super().__init__()
        for name, size in (("W_query", d_in), ("W_key", d_context), ("W_value", d_context)):
            setattr(self, name, nn.Linear(size, d_out, bias=False))

    def forward(self, x, context, mask):
        return ready_made_attention(
            self.W_query(x), self.W_key(context), self.W_value(context), mask
        )
