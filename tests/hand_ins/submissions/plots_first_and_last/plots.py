import matplotlib.pyplot as plt
import matplotlib
matplotlib.use("TkAgg")
import numpy as np
import torch

def normalize_scores(scores):
    return scores / scores.sum()

def softmax_naive(x):
    z = torch.exp(x)
    return z / z.sum()

xs = np.linspace(-3, 3, 50)
plt.figure(figsize=(5, 3))
plt.plot(xs, softmax_naive(torch.tensor(xs)))
plt.xlabel("x")
plt.grid(True)
plt.savefig("softmax.png")
plt.show()

def softmax_stable(x):
    c = torch.max(x)
    return softmax_naive(x - c)

def attention_scores_loop(inputs):
    n = inputs.shape[0]
    return torch.stack([torch.stack([inputs[i].dot(inputs[j]) for j in range(n)]) for i in range(n)])

fig, axes = plt.subplots(1, 2)
for ax, m in zip(axes, (torch.rand(3, 3), attention_scores_loop(torch.rand(3, 3)))):
    ax.matshow(m)
plt.show()
