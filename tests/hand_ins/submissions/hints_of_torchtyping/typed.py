from typing import Optional, TYPE_CHECKING
import torch
from torchtyping import TensorType, patch_typeguard
from typeguard import typechecked
from numpy.typing import NDArray

Vector = TensorType["d"]
Matrix = TensorType["n", "d"]


def dot_product(a: Vector, b: Vector) -> TensorType[()]:
    return a @ b


def attention_scores(query: TensorType["d"], inputs: TensorType["n", "d"]) -> TensorType["n"]:
    return (inputs * query).sum(dim=-1)


def context_vector(weights: TensorType["n"], inputs: Matrix, out: Optional[Vector] = None) -> Vector:
    return inputs.T @ weights


def project(x: "TensorType['n', 'd_in']", weight: TensorType["d_in", "d_out"]) -> TensorType["n", "d_out"]:
    return torch.tensordot(x, weight, dims=1)


def query_scores(query: Vector | Matrix, keys: Matrix):
    return torch.nn.functional.linear(query, keys)
