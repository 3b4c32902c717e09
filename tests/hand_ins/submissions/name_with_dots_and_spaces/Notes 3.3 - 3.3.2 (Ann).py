import torch

# === 3.3.1 one query ===

def dot_product(a, b):
    res = 0.
    for i in range(len(a)):
        res = res + a[i] * b[i]
    return res

def attention_scores(query, inputs):
    return torch.stack([dot_product(x, query) for x in inputs])

def normalize_scores(scores):
    return scores / torch.sum(scores)

def softmax_naive(x):
    e = torch.exp(x)
    return e / torch.sum(e, dim=0)

def softmax_stable(x):
    return softmax_naive(x - torch.max(x))

def context_vector(weights, inputs):
    out = torch.zeros(inputs.shape[1])
    for i, x_i in enumerate(inputs):
        out += weights[i] * x_i
    return out

inputs = torch.rand(6, 3)
w = softmax_stable(attention_scores(inputs[1], inputs))
print("context:", context_vector(w, inputs))

# === 3.3.2 all of them ===

attention_scores_matmul = lambda inputs: torch.matmul(inputs, inputs.transpose(0, 1))

def attention_weights(scores):
    return torch.nn.functional.softmax(scores, dim=1)

def context_vectors(weights, inputs):
    return torch.matmul(weights, inputs)

print(context_vectors(attention_weights(attention_scores_matmul(inputs)), inputs))
