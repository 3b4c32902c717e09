import logging, random, warnings
import numpy as np
import torch
from torch import nn

SEED = 123
random.seed(SEED); np.random.seed(SEED); torch.manual_seed(SEED)
torch.use_deterministic_algorithms(False)
torch.set_printoptions(sci_mode=False, precision=4)
warnings.simplefilter("ignore")
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
logger = logging.getLogger("attention")
if torch.cuda.is_available():
    device = "cuda"
elif torch.backends.mps.is_available():
    device = "mps"
else:
    device = "cpu"
logger.info("device: %s", device)

GPT2_CONFIG = {"emb_dim": 768, "n_heads": 12, "context_length": 1024, "drop_rate": 0.1, "qkv_bias": False}


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if not d_out % num_heads == 0:
            raise AssertionError("d_out % num_heads")
        self.num_heads, self.head_dim = num_heads, d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        b, n, _ = x.shape
        logger.debug("x: %s", tuple(x.shape))
        q, k, v = [
            w(x).view(b, n, self.num_heads, self.head_dim).transpose(1, 2)
            for w in (self.W_query, self.W_key, self.W_value)
        ]
        hidden = self.mask.to(x.device).bool()[:n, :n]
        s = (q @ k.transpose(2, 3)).masked_fill(hidden, -torch.inf)
        w = self.dropout(torch.softmax(s / self.head_dim ** 0.5, dim=-1))
        return self.out_proj((w @ v).transpose(1, 2).reshape(b, n, -1))


class GPT2MultiHeadAttention(MultiHeadAttention):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__(d_in, d_out, context_length, dropout, num_heads, qkv_bias)


model = MultiHeadAttention(4, 4, 8, 0.1, 2).to(device)
logger.info("out: %s", model(torch.rand(1, 8, 4).to(device)).shape)
