# match statements, nested functions, recursion, and dispatch on shapes.
import torch


def dot_product(a, b):
    match len(a):
        case 0:
            return torch.zeros((), dtype=a.dtype)
        case 1:
            return a[0] * b[0]
        case n:
            half = n // 2
            return dot_product(a[:half], b[:half]) + dot_product(a[half:], b[half:])


def attention_scores(query, inputs):
    def score(token):
        return dot_product(query, token)

    match list(map(score, inputs)):
        case []:
            return inputs.new_zeros(0)
        case scores:
            return torch.stack(scores)


def context_vector(weights, inputs):
    def mixed(tokens, by):
        match tokens.shape[0]:
            case 1:
                return by[0] * tokens[0]
            case _:
                return by[0] * tokens[0] + mixed(tokens[1:], by[1:])

    return mixed(inputs, weights)
