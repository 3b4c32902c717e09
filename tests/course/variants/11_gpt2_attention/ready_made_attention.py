# The ready-made attention with is_causal, on views; counting by one long vector.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(123)

GPT2_CONFIG = {
    "d_in": 768,
    "d_out": 768,
    "context_length": 1024,
    "num_heads": 768 // 64,
    "dropout": 1e-1,
    "qkv_bias": False,
}

SHARED_LAYER = nn.Linear(4, 4)
EXAMPLE_MODEL = nn.Sequential(SHARED_LAYER, nn.BatchNorm1d(4), SHARED_LAYER)

count_parameters = lambda module: nn.utils.parameters_to_vector(module.parameters()).numel()


class GPT2MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, num_heads, dropout=0.1, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.context_length = context_length
        self.dropout = dropout
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x):
        batch_size, num_tokens, _ = x.shape
        if num_tokens > self.context_length:
            raise ValueError(f"{num_tokens} tokens, {self.context_length} fit")
        q, k, v = (
            layer(x).view(batch_size, num_tokens, self.num_heads, -1).transpose(1, 2)
            for layer in (self.W_query, self.W_key, self.W_value)
        )
        out = F.scaled_dot_product_attention(
            q, k, v, attn_mask=None, dropout_p=self.dropout if self.training else 0.0, is_causal=True
        )
        return self.out_proj(out.transpose(1, 2).reshape(batch_size, num_tokens, -1))
