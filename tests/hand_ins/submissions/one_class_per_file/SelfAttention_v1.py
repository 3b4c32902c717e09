import torch
import torch.nn as nn

class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        def weight():
            return nn.Parameter(torch.rand(d_in, d_out))
        self.W_query = weight()
        self.W_key = weight()
        self.W_value = weight()
        self.scale = d_out ** -0.5

    def forward(self, x):
        scores = (x @ self.W_query) @ (x @ self.W_key).t()
        return torch.softmax(scores * self.scale, dim=1) @ (x @ self.W_value)
