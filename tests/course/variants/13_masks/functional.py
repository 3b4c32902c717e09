# Functions of torch.nn.functional, parameters without linear layers, log_softmax.
import torch
import torch.nn.functional as F
from torch import nn


def padding_mask(lengths: torch.Tensor, num_tokens: int) -> torch.Tensor:
    counted = torch.ones(len(lengths), 1, num_tokens).cumsum(dim=-1)
    return counted <= lengths.view(-1, 1, 1)


def causal_mask(num_queries: int, num_keys: int) -> torch.Tensor:
    i, j = torch.meshgrid(torch.arange(num_queries), torch.arange(num_keys), indexing="ij")
    return j - i <= num_keys - num_queries


def combine_masks(padding, causal):
    return torch.logical_and(padding, causal)


def masked_softmax(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    logarithms = F.log_softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
    return logarithms.masked_fill(~mask, -torch.inf).exp()


class Projection(nn.Module):
    def __init__(self, size, d_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d_out, size) / size**0.5)

    def forward(self, x):
        return F.linear(x, self.weight)


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_context, d_out):
        super().__init__()
        self.W_query = Projection(d_in, d_out)
        self.W_key, self.W_value = (Projection(d_context, d_out) for _ in range(2))

    def forward(self, x, context, mask):
        query, key, value = self.W_query(x), self.W_key(context), self.W_value(context)
        return masked_softmax(query.bmm(key.mT) * key.shape[-1] ** -0.5, mask).bmm(value)


def ready_made_attention(queries, keys, values, mask):
    attend = F.scaled_dot_product_attention
    return attend(query=queries, key=keys, value=values, attn_mask=mask, dropout_p=0.0)
