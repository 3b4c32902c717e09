"""What checks of both assignments share: the four students of the text."""

import torch

HOURS = torch.tensor([[0.0], [1.0], [2.0], [3.0]])
SOLVED = torch.tensor([1.0, 3.0, 4.0, 4.0])
DESIGN = torch.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])


def design(draw, num_rows, num_features, dtype=torch.float32):
    """A design matrix of drawn numbers."""
    ones = torch.ones(num_rows, 1, dtype=dtype)
    return torch.cat([ones, draw.normal(num_rows, num_features, dtype=dtype)], dim=1)
