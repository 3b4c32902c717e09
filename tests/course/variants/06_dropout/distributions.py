# torch.distributions, a dataclass for the settings, prints.
from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.distributions import Bernoulli


@dataclass(frozen=True)
class Dropout:
    p: float

    @property
    def scale(self) -> float:
        return 1 / (1 - self.p)

    def apply(self, weights: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
        print(f"keeping {int(kept.sum())} of {kept.numel()}")
        return weights * kept.float() * self.scale

    def draw(self, shape: torch.Size) -> torch.Tensor:
        return Bernoulli(probs=1 - self.p).sample(shape)


def dropout_scale(p: float) -> float:
    return Dropout(p).scale


def apply_dropout_mask(weights, keep_mask, p):
    return Dropout(p).apply(weights, keep_mask)


def dropout(weights, p, training):
    settings = Dropout(p)
    return settings.apply(weights, settings.draw(weights.shape)) if training else weights
