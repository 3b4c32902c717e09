import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--d_model", type=int, required=True)
parser.add_argument("--n_heads", type=int, default=2)
args = parser.parse_args()

print("running with", vars(args))


def split_heads(x, num_heads):
    b, t, c = x.size()
    return x.reshape(b, t, num_heads, c // num_heads).permute(0, 2, 1, 3)


def head_scores(queries, keys):
    return torch.einsum("bhqd,bhkd->bhqk", queries, keys)


def merge_heads(x):
    b, h, t, d = x.size()
    return x.permute(0, 2, 1, 3).reshape(b, t, h * d)


x = torch.rand(1, 5, args.d_model)
print(merge_heads(split_heads(x, args.n_heads)).equal(x))
