# bmm and baddbmm with a batch of one; tensordot; an inner product.
import torch


def attention_scores_loop(inputs):
    rows = [torch.inner(x, inputs) for x in inputs.unbind()]
    return torch.cat(rows).reshape(len(rows), -1)


def attention_scores_matmul(inputs):
    batch = inputs.unsqueeze(0)
    return torch.bmm(batch, batch.permute(0, 2, 1)).squeeze(0)


def attention_weights(scores):
    batch = scores[None]
    return torch.nn.functional.softmax(batch, dim=2)[0]


def context_vectors(weights, inputs):
    nothing = inputs.new_zeros(1, 1, 1)
    return torch.baddbmm(nothing, weights[None], inputs[None])[0]
