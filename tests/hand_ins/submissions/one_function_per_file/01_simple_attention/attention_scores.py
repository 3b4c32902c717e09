import torch
from dot_product import dot_product

def attention_scores(query, inputs):
    return torch.stack([dot_product(query, row) for row in inputs])
