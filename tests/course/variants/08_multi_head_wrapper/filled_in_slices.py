# Fills a tensor of the right size, head by head; the slices keep the gradients.
from causal_attention import CausalAttention
from torch import Tensor, nn


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__()
        self.d_out = d_out
        self.num_heads = num_heads
        self.heads = nn.ModuleList(
            CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)
            for _ in range(num_heads)
        )

    def forward(self, x: Tensor) -> Tensor:
        result = x.new_zeros(*x.shape[:2], self.num_heads * self.d_out)
        for index, head in enumerate(self.heads):
            result[..., index * self.d_out : (index + 1) * self.d_out] = head(x)
        return result
