"""Assignment 10 on inputs nobody has seen: other sizes, other values, other dtypes, gradients."""

import pytest
import torch

from grader.testing import N_

NUM_TOKENS, EMBED_DIM, HEAD_DIM, NUM_HEADS = 5, 7, 4, 3
PROJECTIONS = ("q_proj", "k_proj", "v_proj")


@pytest.mark.exercise("head_output")
class TestHeadOutput:
    @pytest.mark.weight(2)
    def test_unseen_tokens(self, student, reference, judge, draw):
        """Other sizes give what the solution gives."""
        head = [draw.normal(NUM_TOKENS, HEAD_DIM) for _ in range(3)]
        expected = reference.call("head_output", *head).value
        judge(student.call("head_output", *head).value, expected, axes=("token", "feature"))

    def test_as_many_tokens_as_features(self, student, reference, judge, draw):
        """Tokens are rows, also where there are as many tokens as features."""
        head = [draw.normal(4, 4) for _ in range(3)]
        expected = reference.call("head_output", *head).value
        judge(student.call("head_output", *head).value, expected, axes=("token", "feature"))

    def test_gradients_reach_queries_keys_and_values(self, student, reference, judge, draw):
        """Gradients flow back to the queries, the keys and the values."""
        head = [draw.normal(NUM_TOKENS, HEAD_DIM) for _ in range(3)]
        cotangent = draw.normal(NUM_TOKENS, HEAD_DIM)
        mine = student.call("head_output", *head, cotangent=cotangent).gradients
        right = reference.call("head_output", *head, cotangent=cotangent).gradients
        for position, name in enumerate((N_("queries"), N_("keys"), N_("values"))):
            found, expected = mine.arguments.get(f"{position}"), right.arguments[f"{position}"]
            judge(found, expected, what=judge.words("the gradient for the {name}", name=name))

    def test_the_arguments_are_left_as_they_are(self, student, judge, draw):
        """The queries, the keys and the values are not changed in place."""
        head = [draw.normal(NUM_TOKENS, HEAD_DIM) for _ in range(3)]
        answer = student.call("head_output", *head)
        judge.that(not answer.changed, "It changed one of its arguments in place")


@pytest.mark.exercise("join_heads")
class TestJoinHeads:
    @pytest.mark.weight(2)
    def test_unseen_heads(self, student, reference, judge, draw):
        """Other sizes, and three heads instead of two, give what the solution gives."""
        heads = [draw.normal(NUM_TOKENS, HEAD_DIM) for _ in range(NUM_HEADS)]
        weight = draw.normal(NUM_HEADS * HEAD_DIM, 7)
        expected = reference.call("join_heads", heads, weight).value
        judge(student.call("join_heads", heads, weight).value, expected, axes=("token", "feature"))

    def test_a_square_weight(self, student, reference, judge, draw):
        """The weight's rows are the joined features, also where the weight is square."""
        heads = [draw.normal(2, 4) for _ in range(2)]
        weight = draw.normal(8, 8)
        expected = reference.call("join_heads", heads, weight).value
        judge(student.call("join_heads", heads, weight).value, expected, axes=("token", "feature"))

    def test_gradients_reach_the_output_weight(self, student, reference, judge, draw):
        """Gradients flow back to the output weight."""
        heads = [draw.normal(NUM_TOKENS, HEAD_DIM) for _ in range(NUM_HEADS)]
        weight, cotangent = draw.normal(NUM_HEADS * HEAD_DIM, 7), draw.normal(NUM_TOKENS, 7)
        mine = student.call("join_heads", heads, weight, cotangent=cotangent).gradients
        right = reference.call("join_heads", heads, weight, cotangent=cotangent).gradients
        expected = right.arguments["1"]
        judge(mine.arguments.get("1"), expected, what="the gradient for the output weight")

    def test_the_output_weight_is_left_as_it_is(self, student, judge, draw):
        """The output weight is not changed in place."""
        heads = [draw.normal(NUM_TOKENS, HEAD_DIM) for _ in range(NUM_HEADS)]
        answer = student.call("join_heads", heads, draw.normal(NUM_HEADS * HEAD_DIM, 7))
        judge.that(not answer.changed, "It changed its argument in place")


def drawn_parameters(draw, *, embed_dim=EMBED_DIM, dtype=torch.float32):
    """Values for all parameters of a module."""
    width = NUM_HEADS * HEAD_DIM
    shapes = {f"{name}.weight": (width, embed_dim) for name in PROJECTIONS}
    shapes |= {f"{name}.bias": (width,) for name in PROJECTIONS}
    shapes |= {"out_proj.weight": (embed_dim, width), "out_proj.bias": (embed_dim,)}
    return {name: draw.normal(*shape, std=0.5, dtype=dtype) for name, shape in shapes.items()}


def given(handle, values):
    """A module with these parameters."""
    embed_dim = len(values["out_proj.bias"])
    module = handle.call("MultiHeadAttention", embed_dim, HEAD_DIM, NUM_HEADS).value
    handle.load(module, values)
    return module


def judge_values(student, reference, judge, values, x):
    """The context vectors of given parameters are the solution's."""
    expected = reference.call(given(reference, values), x).value
    value = student.call(given(student, values), x).value
    judge(value, expected, axes=("token", "feature"))


def of_parameter(gradients, name):
    """The gradient for the parameter whose name ends in this one; None where there is none."""
    known = gradients.parameters
    matches = [key for key in known if key == name or key.endswith(f".{name}")]
    return known[matches[0]] if matches else None


@pytest.mark.exercise("MultiHeadAttention")
class TestMultiHeadAttention:
    @pytest.mark.weight(2)
    def test_an_unseen_text(self, student, reference, judge, draw):
        """Other parameters and tokens give what the solution gives."""
        x = draw.normal(6, EMBED_DIM)
        judge_values(student, reference, judge, drawn_parameters(draw), x)

    def test_as_many_tokens_as_heads(self, student, reference, judge, draw):
        """Heads and tokens are told apart, also where there are as many of one as of the other."""
        x = draw.normal(NUM_HEADS, EMBED_DIM)
        judge_values(student, reference, judge, drawn_parameters(draw), x)

    def test_heads_as_wide_as_a_token(self, student, reference, judge, draw):
        """`out_proj` is applied, also where the heads together are as wide as a token."""
        width = NUM_HEADS * HEAD_DIM
        values, x = drawn_parameters(draw, embed_dim=width), draw.normal(NUM_TOKENS, width)
        judge_values(student, reference, judge, values, x)

    @pytest.mark.weight(2)
    def test_gradients_reach_tokens_and_parameters(self, student, reference, judge, draw):
        """Gradients flow back to the tokens and to every parameter."""
        values, x = drawn_parameters(draw), draw.normal(NUM_TOKENS, EMBED_DIM)
        cotangent = draw.normal(NUM_TOKENS, EMBED_DIM)
        mine = student.call(given(student, values), x, cotangent=cotangent).gradients
        right = reference.call(given(reference, values), x, cotangent=cotangent).gradients
        # Sums of products of numbers near 1: ten times the noise of the results.
        found, expected = mine.arguments.get("0"), right.arguments["0"]
        judge(found, expected, what="the gradient for the tokens", atol=1e-4)
        for name in values:
            found, expected = of_parameter(mine, name), of_parameter(right, name)
            judge(
                found, expected, what=judge.words("the gradient for {name}", name=name), atol=1e-4
            )

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Parameters and tokens in float64 give context vectors in float64."""
        x = draw.normal(NUM_TOKENS, EMBED_DIM, dtype=torch.float64)
        judge_values(student, reference, judge, drawn_parameters(draw, dtype=torch.float64), x)

    def test_a_second_call_gives_the_same(self, student, judge, draw):
        """A longer text in between changes nothing, and the text is not changed in place."""
        x = draw.normal(NUM_TOKENS, EMBED_DIM)
        module = given(student, drawn_parameters(draw))
        first = student.call(module, x)
        student.call(module, draw.normal(2 * NUM_TOKENS, EMBED_DIM))
        judge.shape(first.value, (NUM_TOKENS, EMBED_DIM))
        judge(student.call(module, x).value, first.value, what="the second result")
        judge.that(not first.changed, "It changed its argument in place")
