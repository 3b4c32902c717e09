# The documents' own lines, made into functions; prints, and a seed at the top.
import torch

torch.manual_seed(123)


def init_weights(d_in, d_out):
    W_query = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)
    W_key = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)
    W_value = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)
    print(W_query, W_key, W_value)
    return W_query, W_key, W_value


def init_weights_normal(d_in, d_out):
    W_query = torch.nn.Parameter(torch.randn(d_in, d_out))
    W_key = torch.nn.Parameter(torch.randn(d_in, d_out))
    W_value = torch.nn.Parameter(torch.randn(d_in, d_out))
    return W_query, W_key, W_value


def project(x, weight):
    query_2 = x @ weight
    print("query_2:", query_2)
    return query_2


def query_scores(query, keys):
    attn_scores_2 = query @ keys.T
    print(attn_scores_2)
    return attn_scores_2


def scaled_weights(scores, d_k):
    return torch.softmax(scores / d_k**0.5, dim=-1)


def weighted_values(weights, values):
    return weights @ values


W_query, W_key, W_value = init_weights(3, 2)
print(project(torch.rand(6, 3), W_query).shape)
