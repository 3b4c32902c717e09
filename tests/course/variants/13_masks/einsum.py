# einsum and exponentials: the softmax by hand, each row minus its largest score.
import math

import torch
from torch import einsum, nn


def padding_mask(lengths, num_tokens):
    places = torch.arange(num_tokens).expand(len(lengths), 1, num_tokens)
    return torch.lt(places, lengths.reshape(-1, 1, 1))


def causal_mask(num_queries, num_keys):
    keys = torch.arange(num_keys)
    return keys[None, :] <= keys[num_keys - num_queries :][:, None]


def combine_masks(padding, causal):
    return einsum("bzk,qk->bqk", padding.float(), causal.float()) > 0


def masked_softmax(scores, mask):
    hidden = torch.where(mask, scores, -math.inf)
    largest = hidden.detach().amax(dim=-1, keepdim=True)
    largest = torch.where(largest.isinf(), 0.0, largest)
    exponentials = torch.exp(hidden - largest)
    sums = exponentials.sum(dim=-1, keepdim=True)
    return exponentials / torch.where(sums == 0, 1.0, sums)


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_context, d_out):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_context, d_out, bias=False)
        self.W_value = nn.Linear(d_context, d_out, bias=False)

    def forward(self, x, context, mask):
        q, k = einsum("bqi,oi->bqo", x, self.W_query.weight), self.W_key(context)
        weights = masked_softmax(einsum("bqd,bkd->bqk", q, k) / math.sqrt(q.size(-1)), mask)
        return einsum("bqk,bkd->bqd", weights, self.W_value(context))


def ready_made_attention(queries, keys, values, mask):
    scores = einsum("bqd,bkd->bqk", queries, keys) / math.sqrt(queries.size(-1))
    return einsum("bqk,bkd->bqd", masked_softmax(scores, mask), values)
