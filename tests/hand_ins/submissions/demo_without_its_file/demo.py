import torch
import torch.nn as nn
import re


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.d_out = d_out
        self.W_query = nn.Parameter(torch.rand(size=(d_in, d_out)))
        self.W_key = nn.Parameter(torch.rand(size=(d_in, d_out)))
        self.W_value = nn.Parameter(torch.rand(size=(d_in, d_out)))

    def forward(self, x):
        q = torch.matmul(x, self.W_query)
        k = torch.matmul(x, self.W_key)
        v = torch.matmul(x, self.W_value)
        omega = torch.matmul(q, k.T)
        alpha = torch.softmax(omega / (self.d_out ** 0.5), dim=-1)
        return torch.matmul(alpha, v)


with open("texts/story.txt", "r", encoding="utf-8") as f:
    text = f.read()
tokens = re.findall(r"\w+", text)
print(len(tokens), tokens[:10])


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out)
        self.W_key = nn.Linear(d_in, d_out)
        self.W_value = nn.Linear(d_in, d_out)

    def forward(self, x):
        k = self.W_key(x)
        alpha = torch.softmax(self.W_query(x) @ k.T / k.size(1) ** 0.5, dim=1)
        return alpha @ self.W_value(x)


def stack_batch(inputs, copies):
    return torch.cat([inputs[None]] * copies)
