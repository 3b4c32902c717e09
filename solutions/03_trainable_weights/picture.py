"""The picture of this assignment: the way of the data, with the shape of each tensor."""

import torch
from trainable_weights import (
    INPUTS,
    init_weights,
    project,
    query_scores,
    scaled_weights,
    weighted_values,
)

from grader.course.drawing import Box, Drawing, Gap


def picture() -> Drawing:
    """Three vectors for each word, and what becomes of them."""
    torch.manual_seed(123)
    queries, keys, values = (project(INPUTS, weight) for weight in init_weights(3, 2))
    scores = torch.stack([query_scores(query, keys) for query in queries])
    weights = scaled_weights(scores, keys.shape[-1])
    context = torch.stack([weighted_values(row, values) for row in weights])

    def shape(tensor: torch.Tensor) -> str:
        return str(tuple(tensor.shape))

    return Drawing(
        "Each word gets a query, a key and a value",
        [
            [Box("inputs", shape(INPUTS), "six words, three numbers each")],
            [
                Box("queries", shape(queries), "`@ W_query`", of=["inputs"]),
                Box("keys", shape(keys), "`@ W_key`", of=["inputs"]),
                Box("values", shape(values), "`@ W_value`", "orange", of=["inputs"]),
            ],
            [
                Box(
                    "scores",
                    shape(scores),
                    "each query with each key",
                    "blue",
                    2,
                    of=["queries", "keys"],
                ),
                Gap(),
            ],
            [
                Box(
                    "weights",
                    shape(weights),
                    "divided by √2, softmax of each row",
                    "blue",
                    2,
                    of=["scores"],
                ),
                Gap(),
            ],
            [
                Box(
                    "context vectors",
                    shape(context),
                    "values, mixed by the weights",
                    of=["weights", "values"],
                ),
            ],
        ],
        "Queries and keys decide how much of each word; the values are what gets mixed.",
    )
