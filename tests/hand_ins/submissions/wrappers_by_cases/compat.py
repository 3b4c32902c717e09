import sys
import torch
import torch.nn as nn

try:
    from flash_attn import flash_attn_func
    HAS_FLASH = True
except ImportError:
    HAS_FLASH = False

try:
    import wandb
except Exception as e:
    print("no wandb:", e)
    wandb = None

if sys.version_info >= (3, 10):
    def dropout_scale(p):
        return (1 - p) ** -1.0
else:
    def dropout_scale(p):
        return 1 / (1 - p)

if not HAS_FLASH:
    class CausalAttention(nn.Module):
        def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
            super().__init__()
            self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
            self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
            self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
            self.dropout = nn.Dropout(dropout)
            self.context_length = context_length

        def forward(self, x):
            n = x.shape[1]
            if n > self.context_length:
                raise ValueError("text too long")
            s = self.W_query(x) @ self.W_key(x).transpose(1, 2) / self.W_key.out_features ** 0.5
            i = torch.arange(n, device=x.device)
            s = s.masked_fill(i[:, None] < i[None, :], float("-inf"))
            return self.dropout(s.softmax(dim=-1)) @ self.W_value(x)


def apply_dropout_mask(weights, keep_mask, p):
    return weights * keep_mask

if wandb is not None:
    wandb.init(project="attention")
