import torch

def dot_product(a, b):
    return (a * b).sum(-1)

def softmax_naive(x):
    exponenten = torch.exp(x)
    return exponenten
