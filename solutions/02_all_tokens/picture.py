"""The picture of this assignment: the map of all attention weights."""

from all_tokens import INPUTS, attention_scores_matmul, attention_weights

from grader.course.drawing import Drawing, Map, Step

WORDS = ["Your", "journey", "starts", "with", "one", "step"]


def picture() -> Drawing:
    """All scores, and the weights of each row."""
    scores = attention_scores_matmul(INPUTS)
    weights = attention_weights(scores)
    return Drawing(
        "Each word asks all six words: one row of weights for each",
        [
            [Map("Scores of each word with each", scores.tolist(), rows=WORDS, columns=WORDS)],
            Step("softmax of each row"),
            [Map("Weights", weights.tolist(), rows=WORDS, columns=WORDS, sums="sum")],
        ],
        "A row says where one word looks; it sums to 1. The scores are the same across the "
        "diagonal; the weights are not, because the softmax divides each row by "
        "a different number.",
    )
