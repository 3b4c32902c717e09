"""The picture of this assignment: from scores to a context vector, for one word."""

from simple_attention import INPUTS, attention_scores, context_vector, softmax_stable

from grader.course.drawing import Drawing, Map, Step

WORDS = ["Your", "journey", "starts", "with", "one", "step"]


def picture() -> Drawing:
    """The new vector of "journey"."""
    scores = attention_scores(INPUTS[1], INPUTS)
    weights = softmax_stable(scores)
    context = context_vector(weights, INPUTS)
    return Drawing(
        'The new vector of "journey" is a mixture of all six words',
        [
            [Map("The words, three numbers each", INPUTS.tolist(), rows=WORDS)],
            Step('dot product of each word with "journey", the query'),
            [Map("Scores", [scores.tolist()], columns=WORDS)],
            Step("softmax: all positive, sum 1"),
            [Map("Weights", [weights.tolist()], columns=WORDS, sums="sum")],
            Step("each word times its weight, all six added up"),
            [Map("Context vector", [context.tolist()], rows=[WORDS[1]])],
        ],
        '"journey" takes most from itself and from "starts", least from "one".',
    )
