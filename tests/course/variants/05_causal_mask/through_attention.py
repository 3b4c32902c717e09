# Weights from the ready-made attention: the values are an identity matrix, the keys too.
import torch
import torch.nn.functional as F


def causal_weights(scores, d_k):
    eye = torch.eye(len(scores), dtype=scores.dtype)
    return F.scaled_dot_product_attention(
        scores[None], eye[None], eye[None], is_causal=True, scale=d_k**-0.5
    )[0]


def mask_scores(scores, mask):
    nothing = torch.zeros_like(scores).masked_fill_(mask.to(torch.bool), -torch.inf)
    return torch.add(scores, nothing)
