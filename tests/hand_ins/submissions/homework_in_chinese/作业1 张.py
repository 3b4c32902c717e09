# -*- coding: gbk -*-
# 作业一:注意力
import torch


def dot_product(a, b):
    """两个向量的点积"""
    return torch.sum(torch.mul(a, b))


def attention_scores(query, inputs):
    结果 = [dot_product(query, x) for x in inputs]
    return torch.stack(结果)


def softmax_stable(x):
    # 减去平均值,避免溢出
    x = x - x.mean()
    return torch.exp(x) / torch.exp(x).sum()


def context_vector(weights, inputs):
    return torch.matmul(weights, inputs)


def attention_scores_matmul(inputs):
    return torch.matmul(inputs, inputs.T)


if __name__ == "__main__":
    输入 = torch.rand(6, 3)
    print("分数:", attention_scores(输入[1], 输入))
