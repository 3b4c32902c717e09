# einsum for the sums and products, cumsum of an identity matrix for the masks.
import torch


def lower_triangular_mask(context_length):
    return torch.eye(context_length).cumsum(dim=0)


def mask_weights(weights, mask):
    return torch.einsum("ij,ij->ij", weights, mask)


def renormalize_rows(weights):
    return torch.einsum("ij,i->ij", weights, 1 / torch.einsum("ij->i", weights))


def upper_triangular_mask(context_length):
    return 1 - torch.eye(context_length).cumsum(dim=0)


def causal_weights(scores, d_k):
    e = torch.exp((scores - scores.max(dim=-1, keepdim=True).values) / d_k**0.5)
    return renormalize_rows(e * lower_triangular_mask(len(e)).to(e.dtype))
