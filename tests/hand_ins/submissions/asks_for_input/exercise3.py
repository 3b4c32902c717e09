import torch
from torch.nn import Parameter

print("*** EXERCISE 3 ***")

def init_weights(d_in, d_out):
    W_query = Parameter(torch.rand(d_in, d_out), requires_grad=False)
    W_key = Parameter(torch.rand(d_in, d_out), requires_grad=False)
    W_value = Parameter(torch.rand(d_in, d_out), requires_grad=False)
    return W_query, W_key, W_value

d = int(input("d_out? "))
print(init_weights(3, d))

def project(x, weight):
    return x @ weight

def query_scores(query, keys):
    return query @ keys.T / keys.shape[-1] ** 0.5

def scaled_weights(scores, d_k):
    return torch.softmax(scores / d_k ** 0.5, dim=0)

def weighted_values(weights, values):
    return weights @ values

again = input("again? [y/n] ")
