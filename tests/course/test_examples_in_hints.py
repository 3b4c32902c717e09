"""What hints work out by hand is what the solutions return."""

from math import inf

import pytest
import torch
from torch import Tensor

from grader.course.hints import read_hints
from tests.course.test_openings import COURSE, solution

PAIR = [[1, 2], [3, 4]]
NEXT = [[5, 6], [7, 8]]
WIDE = [[4, 0], [0, 8]]
SHARES = [[1, 0], [0.25, 0.75]]
EXAMPLES = [
    (1, "dot_product", PAIR),
    (1, "attention_scores", [[1, 2], [[3, 4], [5, 6]]]),
    (1, "normalize_scores", [[1, 3]]),
    (1, "softmax_naive", [[0, 1]]),
    (1, "softmax_stable", [[1000, 1001]]),
    (1, "context_vector", [[0.25, 0.75], WIDE]),
    (2, "attention_scores_loop", [PAIR]),
    (2, "attention_scores_matmul", [PAIR]),
    (2, "attention_weights", [[[0, 1], [0, 1]]]),
    (2, "context_vectors", [SHARES, WIDE]),
    (3, "project", [[1, 2], [[1, 0], [3, 1]]]),
    (3, "query_scores", [[1, 2], [[3, 4], [5, 6]]]),
    (3, "scaled_weights", [[0, 2], 4]),
    (3, "weighted_values", [SHARES, WIDE]),
    (5, "mask_weights", [[[0.6, 0.4], [0.3, 0.7]], [[1, 0], [1, 1]]]),
    (5, "causal_weights", [[[5, 9], [0, 2]], 4]),
    (6, "apply_dropout_mask", [[[1, 0], [0.6, 0.4]], [[1, 1], [0, 1]], 0.5]),
    (9, "head_scores", [[[PAIR]], [[NEXT]]]),
    (10, "head_output", [[[1, 0], [0, 0]], [[0, 0], [1, 0]], WIDE]),
]


def hint(number: int, name: str) -> str:
    """The hint of an exercise with its example, the last but one."""
    assignment = COURSE.assignments[number - 1]
    return read_hints(assignment, COURSE.paths(assignment).hints)[name][-2]


def written(value: Tensor) -> str:
    """As a person writes it: four digits at most, whole numbers without a point."""
    if value.dim():
        return f"[{', '.join(map(written, value))}]"
    rounded = round(float(value), 4)
    return f"{rounded:g}" if rounded in (inf, -inf) or rounded.is_integer() else str(rounded)


@pytest.mark.parametrize(("number", "name", "given"), EXAMPLES, ids=lambda x: f"{x}"[:24])
def test_an_example_by_hand_is_right(number: int, name: str, given: list) -> None:
    """Its result stands in the hint."""
    arguments = [torch.tensor(x, dtype=torch.float) if isinstance(x, list) else x for x in given]
    result = getattr(solution(number), name)(*arguments)
    while result.dim() > 2:
        result = result[0]
    assert written(result) in hint(number, name)


def test_what_stands_between_is_right() -> None:
    """Exponentials, and what comes out the wrong way round."""
    ones = torch.tensor([0.0, 1.0]).exp()
    naive, stable = (hint(1, name) for name in ("softmax_naive", "softmax_stable"))
    assert (
        f"are {written(ones[0])} and {written(ones[1])}, their sum is {written(ones.sum())},"
        in naive
    )
    assert f"exponentials are {written(torch.tensor(-1.0).exp())} and 1," in stable
    turned = torch.tensor([[1.0, 0.0], [3.0, 1.0]]) @ torch.tensor([1.0, 2.0])
    assert f"the other way round it would be {written(turned)}." in hint(3, "project")
    masked = torch.tensor([[5.0, -inf], [0.0, 2.0]]) / 2
    assert written(masked) in hint(5, "causal_weights")
    weights = torch.tensor([[0.0, 1.0], [0.0, 0.0]]).softmax(dim=1)
    assert written(weights) in hint(10, "head_output")
    assert f"{PAIR} is the matrix {written(torch.tensor(PAIR).T)}." in hint(4, "copy_weights")
