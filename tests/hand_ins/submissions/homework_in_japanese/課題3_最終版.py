# coding: shift_jis
# 課題3 学習できる重み
import math
import torch
from torch import nn


def init_weights(d_in, d_out):
    """クエリ、キー、値の順に作る"""
    重み = []
    for 名前 in ("クエリ", "キー", "値"):
        w = nn.Parameter(torch.rand(d_in, d_out))
        w.requires_grad = False
        重み.append(w)
    return tuple(重み)


def project(x, weight):
    return x @ weight


def query_scores(query, keys):
    return query @ keys.t()


def scaled_weights(scores, d_k):
    # ソフトマックス
    return torch.softmax(scores / math.sqrt(d_k), dim=-1)


def weighted_values(weights, values):
    # 転置が必要?
    return weights.T @ values
