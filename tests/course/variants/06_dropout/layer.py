# An nn.Dropout made for each call, put into the mode that was asked for.
import torch
from torch import Tensor, nn

torch.manual_seed(123)


def dropout_scale(p: float) -> float:
    keep = 1.0 - p
    return 1.0 / keep


def apply_dropout_mask(weights: Tensor, keep_mask: Tensor, p: float) -> Tensor:
    return weights.masked_fill(~keep_mask, 0.0) * dropout_scale(p=p)


def dropout(weights: Tensor, p: float, training: bool) -> Tensor:
    return nn.Dropout(p).train(training)(weights)
