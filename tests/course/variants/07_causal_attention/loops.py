# A loop over texts and a loop over tokens: each token has scores for its past only.
import torch
from torch import nn


def stack_batch(inputs, copies):
    batch = torch.zeros(copies, *inputs.shape)
    for i in range(copies):
        batch[i] = inputs
    return batch


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.context_length = context_length

    def forward(self, x):
        assert x.shape[1] <= self.context_length, "too many tokens"
        return torch.stack([self.one_text(text) for text in x])

    def one_text(self, text):
        queries, keys, values = self.W_query(text), self.W_key(text), self.W_value(text)
        contexts = []
        for position, query in enumerate(queries):
            past = slice(0, position + 1)
            scores = keys[past] @ query / len(query) ** 0.5
            weights = self.dropout(torch.softmax(scores, dim=0))
            contexts.append(weights @ values[past])
        return torch.stack(contexts)
