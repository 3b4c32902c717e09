# Masks that are added, as floats of 0 and minus infinity.
import torch
import torch.nn.functional as F
from torch import nn


def added(mask, dtype):
    return torch.zeros(mask.shape, dtype=dtype).masked_fill(~mask, float("-inf"))


def padding_mask(lengths, num_tokens):
    mask = torch.zeros(len(lengths), 1, num_tokens, dtype=torch.bool)
    for text, length in enumerate(lengths):
        mask[text, :, :length] = True
    return mask


def causal_mask(num_queries, num_keys):
    later = torch.ones(num_queries, num_keys).triu(num_keys - num_queries + 1)
    return later.logical_not()


def combine_masks(padding, causal):
    return (padding.float() + causal.float()) == 2


def masked_softmax(scores, mask):
    sees = mask.any(-1, keepdim=True)
    weights = torch.softmax(scores * mask + added(mask | ~sees, scores.dtype), dim=-1)
    return weights * sees


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_context, d_out):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_context, d_out, bias=False)
        self.W_value = nn.Linear(d_context, d_out, bias=False)
        self.scale = d_out**-0.5

    def forward(self, x, context, mask):
        q, k, v = self.W_query(x), self.W_key(context), self.W_value(context)
        scores = torch.matmul(q, k.mT).mul(self.scale)
        return torch.matmul(masked_softmax(scores, mask), v)


def ready_made_attention(queries, keys, values, mask):
    sees = mask.any(-1, keepdim=True)
    mask = added(mask | ~sees, queries.dtype)
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask) * sees
