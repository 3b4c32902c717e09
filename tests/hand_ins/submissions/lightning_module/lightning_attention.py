import pytorch_lightning as pl
import torch
import torch.nn as nn
from torchmetrics import Accuracy
from transformers import AutoTokenizer


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        query, key, value = self.W_query(x), self.W_key(x), self.W_value(x)
        attn = torch.softmax(query @ key.T / (key.shape[-1] ** 0.5), dim=-1)
        return attn @ value


class CausalAttention(pl.LightningModule):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.save_hyperparameters()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        s = self.W_query(x) @ self.W_key(x).transpose(1, 2) / self.W_key.out_features ** 0.5
        s = s + torch.full_like(s, -torch.inf).triu(1)
        return self.dropout(s.softmax(-1)) @ self.W_value(x)
