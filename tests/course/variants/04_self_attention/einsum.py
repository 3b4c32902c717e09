# einsum for every product, the root on the queries.
import torch
from torch import einsum, nn


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super(SelfAttention_v1, self).__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))
        self.scale = d_out**-0.5

    def forward(self, x):
        q = einsum("ni,io->no", x, self.W_query) * self.scale
        k = einsum("ni,io->no", x, self.W_key)
        v = einsum("ni,io->no", x, self.W_value)
        return einsum("qk,ko->qo", einsum("qo,ko->qk", q, k).softmax(-1), v)


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (
            nn.Linear(d_in, d_out, qkv_bias) for _ in range(3)
        )
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        q, k, v = [layer(x) for layer in self.children() if isinstance(layer, nn.Linear)]
        scores = einsum("i d, j d -> i j", q, k)
        weights = self.softmax(scores / torch.tensor(q.shape[-1]).sqrt())
        return einsum("i j, j d -> i d", weights, v)


def copy_weights(source, target):
    with torch.no_grad():
        target.W_query[:] = einsum("oi->io", source.W_query.weight)
        target.W_key[:] = einsum("oi->io", source.W_key.weight)
        target.W_value[:] = einsum("oi->io", source.W_value.weight)
