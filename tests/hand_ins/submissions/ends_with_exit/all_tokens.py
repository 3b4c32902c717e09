import torch

def attention_scores_loop(inputs):
    rows = []
    for a in inputs:
        row = []
        for b in inputs:
            row.append(torch.dot(a, b))
        rows.append(torch.stack(row))
    return torch.stack(rows)

def attention_scores_matmul(inputs):
    return inputs * inputs

def attention_weights(scores):
    w = torch.softmax(scores, dim=-1)
    print(w)

def context_vectors(weights, inputs):
    result = []
    for w in weights:
        result.append(sum(w_j * x_j for w_j, x_j in zip(w, inputs)))
    return torch.stack(result)

inputs = torch.rand(4, 3)
s = attention_scores_loop(inputs)
attention_weights(s)
exit()

# old
s = attention_scores_matmul(inputs)
print(s.softmax(-1) @ inputs @ W)
