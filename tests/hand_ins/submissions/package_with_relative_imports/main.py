import torch
from attention import MultiHeadAttention

if __name__ == "__main__":
    print(MultiHeadAttention(3, 4, 6, 0.0, 2)(torch.rand(1, 6, 3)))
