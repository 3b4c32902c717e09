import torch


def causal(n: int) -> torch.Tensor:
    idx = torch.arange(n)
    return idx[None, :] > idx[:, None]
