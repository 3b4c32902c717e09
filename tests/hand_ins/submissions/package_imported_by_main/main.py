from layers.drop import apply_dropout_mask, dropout, dropout_scale
import torch

torch.manual_seed(123)
print(dropout(torch.ones(4, 4), 0.5, True))
