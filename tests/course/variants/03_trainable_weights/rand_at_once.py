# All three uniform weights from one draw, taken apart afterwards: the same numbers in that order.
import torch
from torch.nn import Parameter


def init_weights(d_in, d_out):
    return tuple(Parameter(w, requires_grad=False) for w in torch.rand(3, d_in, d_out).unbind())
