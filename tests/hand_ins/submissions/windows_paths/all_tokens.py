import os
import torch

DATA = "D:\data\week2"
LOG = os.path.join(DATA, "log.txt")
HOME = r"C:\Users\student\Desktop"


def attention_scores_loop(inputs):
    size = inputs.size(0)
    attn = torch.empty(size, size)
    i = 0
    while i < size:
        for j in range(size):
            attn[i, j] = (inputs[i] * inputs[j]).sum()
        i += 1
    return attn


def attention_scores_matmul(inputs):
    return torch.inner(inputs, inputs)


def attention_weights(scores):
    e = torch.exp(scores - scores.max(dim=1, keepdim=True)[0])
    return e / e.sum(dim=1, keepdim=True)


def context_vectors(weights, inputs):
    return weights @ inputs


os.chdir(HOME)
with open(LOG, "a") as log:
    print(attention_weights(torch.rand(3, 3)), file=log)
