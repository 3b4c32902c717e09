# The mask comes from a cached function; functional dropout, and a device that is looked up.
import functools

import torch
import torch.nn.functional as F
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"


@functools.lru_cache(maxsize=None)
def causal_mask(num_tokens):
    return torch.triu(torch.ones(num_tokens, num_tokens, device=device), 1).bool()


def stack_batch(inputs, copies):
    return torch.stack((inputs,) * copies).to(device)


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias, device=device)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias, device=device)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias, device=device)
        self.rate = dropout

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        s = (q @ k.transpose(1, 2)).masked_fill(causal_mask(x.shape[1]), float("-inf"))
        w = F.softmax(s / k.shape[-1] ** 0.5, dim=-1)
        return F.dropout(w, p=self.rate, training=self.training) @ v
