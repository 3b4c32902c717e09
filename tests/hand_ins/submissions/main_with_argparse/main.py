#!/usr/bin/env python3
"""Homework weeks 7-9.  Usage: python main.py --heads 2"""
import argparse
import logging
import math
import sys

import torch
from torch import nn
import torch.nn.functional as F

log = logging.getLogger(__name__)


def stack_batch(inputs, copies):
    return inputs.unsqueeze(0).repeat(copies, 1, 1)


def attend_to(q, k, v, mask, drop):
    att = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
    n = q.size(-2)
    att = att.masked_fill(mask[:n, :n], float("-inf"))
    return drop(F.softmax(att, dim=-1)) @ v


def future(n):
    return torch.triu(torch.ones(n, n), diagonal=1).bool()


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super(CausalAttention, self).__init__()
        self.W_query = nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(p=dropout)
        self.register_buffer("mask", future(context_length))
        log.debug("made %s", self)

    def forward(self, x):
        return attend_to(self.W_query(x), self.W_key(x), self.W_value(x), self.mask, self.dropout)


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super(MultiHeadAttentionWrapper, self).__init__()
        heads = []
        for _ in range(num_heads):
            heads.append(CausalAttention(d_in, d_out, context_length, dropout, qkv_bias=qkv_bias))
        self.heads = nn.ModuleList(heads)

    def forward(self, x):
        outs = [head(x) for head in self.heads]
        return torch.cat(outs, dim=2)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super(MultiHeadAttention, self).__init__()
        if d_out % num_heads:
            raise ValueError("bad number of heads: {}".format(num_heads))
        self.h = num_heads
        self.W_query = nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(p=dropout)
        self.register_buffer("mask", future(context_length))

    def cut(self, t):
        return t.unflatten(-1, (self.h, -1)).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.cut(self.W_query(x)), self.cut(self.W_key(x)), self.cut(self.W_value(x))
        ctx = attend_to(q, k, v, self.mask, self.dropout)
        return self.out_proj(ctx.transpose(1, 2).flatten(2))


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--heads", type=int, default=2)
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args(argv)
    logging.basicConfig(level=logging.DEBUG if args.verbose else logging.WARNING)
    x = stack_batch(torch.rand(6, 4), 2)
    print(MultiHeadAttention(4, 4, 6, 0.1, args.heads)(x).shape)
    return 0


if __name__ == "__main__":
    sys.exit(main())
