import matplotlib.pyplot as plt
import tiktoken
import torch
from torch import nn

tokenizer = tiktoken.get_encoding("gpt2")

inputs = torch.tensor([
    [0.43, 0.15, 0.89],
    [0.55, 0.87, 0.66],
    [0.57, 0.85, 0.64],
    [0.22, 0.58, 0.33],
    [0.77, 0.25, 0.10],
    [0.05, 0.80, 0.55]])


# ---- 3.3.1
def attention_scores(query, inputs):
    scores = torch.empty(inputs.shape[0])
    for i, x_i in enumerate(inputs):
        scores[i] = torch.dot(x_i, query)
    return scores


def softmax_naive(x):
    return torch.exp(x) / torch.exp(x).sum(dim=0)


print(attention_scores(inputs[1], inputs))
print(softmax_naive(attention_scores(inputs[1], inputs)))


# ---- 3.3.2
def attention_weights(scores):
    return torch.softmax(scores, dim=-1)


# ---- 3.4
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (
            nn.Linear(d_in, d_out, bias=qkv_bias) for _ in range(3)
        )

    def forward(self, x):
        keys = self.W_key(x)
        scores = self.W_query(x) @ keys.T
        return attention_weights(scores / keys.shape[-1] ** 0.5) @ self.W_value(x)


# ---- 3.5
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(context_length, context_length)))

    def forward(self, x):
        n = x.size(1)
        keys = self.W_key(x)
        scores = self.W_query(x) @ keys.mT / keys.size(-1) ** 0.5
        scores = scores.masked_fill(self.mask[:n, :n] == 0, float("-inf"))
        return self.dropout(scores.softmax(-1)) @ self.W_value(x)


torch.manual_seed(123)
batch = torch.stack((inputs, inputs))
ca = CausalAttention(3, 2, batch.shape[1], 0.0)
print(ca(batch).shape)
plt.matshow(attention_weights(inputs @ inputs.T))
plt.title("weights")
plt.show()
