# The documents' own lines, with what they print.
import torch

torch.manual_seed(123)


def attention_scores_loop(inputs):
    attn_scores = torch.empty(inputs.shape[0], inputs.shape[0])
    for i, x_i in enumerate(inputs):
        for j, x_j in enumerate(inputs):
            attn_scores[i, j] = torch.dot(x_i, x_j)
    print(attn_scores)
    return attn_scores


def attention_scores_matmul(inputs):
    attn_scores = inputs @ inputs.T
    print(attn_scores)
    return attn_scores


def attention_weights(scores):
    attn_weights = torch.softmax(scores, dim=-1)
    print("All row sums:", attn_weights.sum(dim=-1))
    return attn_weights


def context_vectors(weights, inputs):
    all_context_vecs = weights @ inputs
    print(all_context_vecs)
    return all_context_vecs
