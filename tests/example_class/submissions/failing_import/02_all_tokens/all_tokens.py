import torch


def attention_scores_loop(inputs):
    scores = inputs.new_empty(len(inputs), len(inputs))
    for i in range(len(inputs)):
        for j in range(len(inputs)):
            scores[i][j] = inputs[i].dot(inputs[j])
    return scores


def attention_scores_matmul(inputs):
    return torch.mm(inputs, inputs.T)


def attention_weights(scores):
    return scores.softmax(-1)


import attention_made_easy.plots as plots


def context_vectors(weights, inputs):
    return weights @ inputs


plots.show(attention_scores_matmul)
