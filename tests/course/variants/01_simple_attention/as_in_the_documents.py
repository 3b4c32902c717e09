# The documents' own steps: an empty tensor that a loop fills, prints on the way, a seed at the top.
import torch

torch.manual_seed(123)

inputs = torch.tensor(
    [[0.43, 0.15, 0.89],  # Your     (x^1)
     [0.55, 0.87, 0.66],  # journey  (x^2)
     [0.57, 0.85, 0.64],  # starts   (x^3)
     [0.22, 0.58, 0.33],  # with     (x^4)
     [0.77, 0.25, 0.10],  # one      (x^5)
     [0.05, 0.80, 0.55]]  # step     (x^6)
)


def dot_product(a, b):
    res = 0.
    for idx, element in enumerate(a):
        res += a[idx] * b[idx]
    print(res)
    return res


def attention_scores(query, inputs):
    attn_scores_2 = torch.empty(inputs.shape[0])
    for i, x_i in enumerate(inputs):
        attn_scores_2[i] = torch.dot(x_i, query)
    print(attn_scores_2)
    return attn_scores_2


def normalize_scores(scores):
    attn_weights_2_tmp = scores / scores.sum()
    print("Attention weights:", attn_weights_2_tmp)
    print("Sum:", attn_weights_2_tmp.sum())
    return attn_weights_2_tmp


def softmax_naive(x):
    return torch.exp(x) / torch.exp(x).sum(dim=0)


def softmax_stable(x):
    return torch.softmax(x, dim=0)


def context_vector(weights, inputs):
    context_vec_2 = torch.zeros(inputs[0].shape)
    for i, x_i in enumerate(inputs):
        context_vec_2 += weights[i] * x_i
    print(context_vec_2)
    return context_vec_2


query = inputs[1]
attn_weights_2 = softmax_stable(attention_scores(query, inputs))
print("Context:", context_vector(attn_weights_2, inputs))
