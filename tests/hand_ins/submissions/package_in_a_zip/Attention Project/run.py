import torch
from heads.causal import MultiHeadAttention as CausalMHA
from heads import plain

if __name__ == "__main__":
    print(CausalMHA(4, 4, 8, 0.0, 2)(torch.rand(1, 8, 4)).shape)
    print(plain.MultiHeadAttention(4, 2, 2)(torch.rand(8, 4)).shape)
