# Saved by an editor of another encoding, which says so in its second line.
# -*- coding: shift_jis -*-
import torch


def dot_product(a, b):
    # 内積
    return a @ b


def softmax_naive(x):
    """素朴なソフトマックス"""
    return torch.pow(torch.e, x) / torch.pow(torch.e, x).sum()


def attention_scores(query, inputs):
    return query @ inputs.mT
