"""What students see of assignment 10: the document's tensors, and plain properties."""

import pytest
import torch

from grader.testing import N_

# The queries and keys are printed to 4 decimals. A score adds up two products of numbers up to
# 1.08, each operand half a unit of its last digit off: 5e-5 * (1.03 + 0.49 + 1.08 + 0.61), and the
# printed score is rounded itself. A softmax with the greatest weight 0.29 makes 0.3 times that of
# it, twice; the logarithm brings it back to the size of a score's, twice.
ROUNDED_WEIGHTS = 1.5e-4
ROUNDED_LOGARITHMS = 4e-4

EYE = torch.eye(4)


def printed_head(printed):
    """The queries and keys of the document's first head."""
    return printed("T34").tensor, printed("T35").tensor.T


def of_parameter(gradients, name):
    """The gradient for the parameter whose name ends in this one; None where there is none."""
    known = gradients.parameters
    matches = [key for key in known if key == name or key.endswith(f".{name}")]
    return known[matches[0]] if matches else None


class KeepsNames:
    """A remark on parameters with other names than the stub's."""

    @pytest.mark.remark
    def test_the_parameters_keep_their_names(self, student, reference, judge):
        """The parameters should keep the names they have in the stub."""
        name = student.exercise.name
        found, right = (", ".join(handle.parameters(name)) for handle in (student, reference))
        sentence = judge.words(
            "They are {found}, and in the stub {right}", found=found, right=right
        )
        judge.that(found == right, sentence)


@pytest.mark.exercise("head_output")
class TestHeadOutput(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_each_token_has_a_vector(self, student, judge, printed):
        """The result should have a row for each token, a column for each feature of the values."""
        queries, keys = printed_head(printed)
        value = student.call("head_output", queries, keys, printed("T31").tensor).value
        judge.shape(value, (4, 2))

    @pytest.mark.weight(2)
    def test_the_weights_as_printed(self, student, judge, printed):
        """With the identity matrix for values, the result should be the example's weights."""
        value = student.call("head_output", *printed_head(printed), EYE).value
        judge(value, printed("T37"), atol=ROUNDED_WEIGHTS, axes=("query", "key"))

    def test_the_scores_as_printed(self, student, judge, printed):
        """The weights' logarithms should be the scores, up to one number for each row."""
        value = student.call("head_output", *printed_head(printed), EYE).value
        judge.shape(value, (4, 4))
        rows = printed("T36").tensor.logsumexp(-1, keepdim=True)
        scores = value.log() + rows
        judge(scores, printed("T36"), atol=ROUNDED_LOGARITHMS, axes=("query", "key"))

    @pytest.mark.weight(2)
    def test_a_mixture_by_hand(self, student, judge):
        """Two tokens whose scores are logarithms should mix their values as worked out by hand."""
        queries = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
        # The scores' exponentials are 1 and 3 in the first row, 1 and 4 in the second.
        keys = torch.tensor([[1.0, 1.0], [3.0, 4.0]]).log()
        values = torch.tensor([[20.0, 40.0], [100.0, 60.0]])
        expected = torch.tensor([[80.0, 55.0], [84.0, 56.0]])
        value = student.call("head_output", queries, keys, values).value
        # Numbers near 100 in float32.
        judge(value, expected, atol=1e-4, axes=("token", "feature"))

    @pytest.mark.remark
    def test_large_scores_give_no_nan(self, student, judge):
        """Large scores should give no NaN: a softmax of your own subtracts each row's largest score."""
        head = 100 * torch.eye(2), torch.ones(2, 2), torch.eye(2)
        if student.refusal("head_output", *head) is not None:
            return
        value = student.call("head_output", *head).value
        is_nan = isinstance(value, torch.Tensor) and bool(value.isnan().any())
        judge.that(not is_nan, "Scores of 100 give NaN: their exponentials are infinite in float32")

    def test_gradients_reach_queries_keys_and_values(self, student, reference, judge, draw):
        """Gradients should flow to the queries, the keys and the values."""
        head = [draw.normal(NUM_TOKENS, HEAD_DIM) for _ in range(3)]
        cotangent = draw.normal(NUM_TOKENS, HEAD_DIM)
        mine = student.call("head_output", *head, cotangent=cotangent).gradients
        right = reference.call("head_output", *head, cotangent=cotangent).gradients
        for position, name in enumerate((N_("queries"), N_("keys"), N_("values"))):
            found, expected = mine.arguments.get(f"{position}"), right.arguments[f"{position}"]
            judge(found, expected, what=judge.words("the gradient for the {name}", name=name))

    @pytest.mark.conduct
    def test_the_arguments_are_left_as_they_are(self, student, judge, draw):
        """The queries, the keys and the values should stay as they are."""
        head = [draw.normal(NUM_TOKENS, HEAD_DIM) for _ in range(3)]
        answer = student.call("head_output", *head)
        judge.that(not answer.changed, "It changed one of its arguments in place")


def slipped_weight(printed):
    """The output weight of the document, from what it printed: the best fit of its 8 rows."""
    stacked = torch.cat((printed("T31").tensor, printed("T32").tensor))
    return torch.linalg.lstsq(stacked, printed("T33").tensor).solution


# What the fit of printed figures misses, and the rounding of the heads' outputs: a product adds
# up two (or four) numbers half a unit of the last digit off, times weights below 1.
ROUNDED_OUTPUTS = 2e-4


@pytest.mark.exercise("join_heads")
class TestJoinHeads(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_a_single_head_keeps_its_rows(self, student, judge, printed):
        """A single head should give a float32 row for each token."""
        value = student.call("join_heads", [printed("T31").tensor], slipped_weight(printed)).value
        judge.shape(value, (4, 2))

    def test_a_single_head_as_printed(self, student, judge, printed):
        """A single head times the output weight should give the right rows."""
        weight, rows = slipped_weight(printed), printed("T33").tensor
        for id_, expected in (("T31", rows[:4]), ("T32", rows[4:])):
            value = student.call("join_heads", [printed(id_).tensor], weight).value
            judge(value, expected, atol=ROUNDED_OUTPUTS, axes=("token", "feature"))

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_four_tokens_stay_four_tokens(self, student, judge, printed):
        """Two heads joined should have as many rows as one: four tokens stay four rows."""
        heads, weight = [printed("T31").tensor, printed("T32").tensor], slipped_weight(printed)
        # A weight with a row for each feature of one head: to most right results it does not fit,
        # and that is fine. It fits heads that were put below one another, and gives T33.
        fits = student.refusal("join_heads", heads, weight) is None
        value = student.call("join_heads", heads, weight).value if fits else None
        if isinstance(value, torch.Tensor) and value.shape[:1] == (8,):
            rows = printed("T33").tensor
            judge(value, rows[:4] + rows[4:], what="two heads of four tokens")

    @pytest.mark.weight(2)
    def test_two_heads_share_the_output_weight(self, student, judge, printed):
        """With the same weight for each head, what the heads give should add up."""
        heads, weight = [printed("T31").tensor, printed("T32").tensor], slipped_weight(printed)
        value = student.call("join_heads", heads, torch.cat((weight, weight))).value
        rows = printed("T33").tensor
        judge(value, rows[:4] + rows[4:], atol=2 * ROUNDED_OUTPUTS, axes=("token", "feature"))

    @pytest.mark.weight(2)
    def test_the_features_of_all_heads_stand_side_by_side(self, student, judge):
        """With the identity matrix for a weight, the heads should stand side by side, in order."""
        heads = [torch.tensor([[1.0, 2.0], [3.0, 4.0]]) + 10 * head for head in range(3)]
        expected = torch.tensor(
            [[1.0, 2.0, 11.0, 12.0, 21.0, 22.0], [3.0, 4.0, 13.0, 14.0, 23.0, 24.0]]
        )
        value = student.call("join_heads", heads, torch.eye(6)).value
        judge(value, expected, axes=("token", "feature"))

    def test_gradients_reach_the_output_weight(self, student, reference, judge, draw):
        """Gradients should flow to the output weight."""
        heads = [draw.normal(NUM_TOKENS, HEAD_DIM) for _ in range(NUM_HEADS)]
        weight, cotangent = draw.normal(NUM_HEADS * HEAD_DIM, 7), draw.normal(NUM_TOKENS, 7)
        mine = student.call("join_heads", heads, weight, cotangent=cotangent).gradients
        right = reference.call("join_heads", heads, weight, cotangent=cotangent).gradients
        expected = right.arguments["1"]
        judge(mine.arguments.get("1"), expected, what="the gradient for the output weight")

    def test_the_arguments_are_left_as_they_are(self, student, judge, draw):
        """The list of heads and the output weight should stay as they are."""
        heads = [draw.normal(NUM_TOKENS, HEAD_DIM) for _ in range(NUM_HEADS)]
        answer = student.call("join_heads", heads, draw.normal(NUM_HEADS * HEAD_DIM, 7))
        judge.that(not answer.changed, "It changed one of its arguments in place")


# Sizes that all differ, so that none can stand in for another; half of `head_dim` is not its root.
EMBED_DIM, HEAD_DIM, NUM_HEADS, NUM_TOKENS = 13, 6, 3, 5
PROJECTIONS = ("q_proj", "k_proj", "v_proj")


def drawn_parameters(draw, dtype=torch.float32):
    """Values for all parameters of a module of this file's sizes."""
    width = NUM_HEADS * HEAD_DIM
    values = {f"{name}.weight": draw.normal(width, EMBED_DIM, std=0.5) for name in PROJECTIONS}
    values |= {f"{name}.bias": draw.normal(width, std=0.5) for name in PROJECTIONS}
    values["out_proj.weight"] = draw.normal(EMBED_DIM, width, std=0.5)
    values["out_proj.bias"] = draw.normal(EMBED_DIM, std=0.5)
    return {name: value.to(dtype) for name, value in values.items()}


def made(handle):
    """A module of this file's sizes."""
    return handle.call("MultiHeadAttention", EMBED_DIM, HEAD_DIM, NUM_HEADS).value


def given(handle, values):
    """A module of this file's sizes with these parameters."""
    module = made(handle)
    handle.load(module, values)
    return module


@pytest.mark.exercise("MultiHeadAttention")
class TestMultiHeadAttention(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_module_that_keeps_the_shape(self, student, judge, printed, draw):
        """It should be a module that gives vectors of the shape and the dtype of the tokens."""
        sizes = {"embed_dim": 3, "head_dim": 2, "num_heads": 2}
        module = student.call("MultiHeadAttention", **sizes, seed=1).value
        judge(getattr(module, "kind", ""), "module", what="what the class makes")
        value = student.call(module, draw.uniform(4, 3)).value
        is_wide = isinstance(value, torch.Tensor) and value.shape[-1] == 4
        report = student.load(module, {"out_proj.weight": torch.zeros(3, 4)}).report
        found = report["out_proj.weight"]
        sentence = N_("There is no `out_proj`, which leads back to the size of a token")
        judge.that(not is_wide or found != "missing", sentence)
        template = N_(
            "The weight of your `out_proj` has the shape {shape}, not {expected}, which leads back "
            "to the size of a token"
        )
        shape = found.removeprefix("wrong shape ")
        sentence = judge.words(template, shape=shape, expected="(3, 4)")
        judge.that(not is_wide or shape == found, sentence, about=found)
        judge.shape(value, printed("T38").tensor.shape)

    @pytest.mark.conduct
    def test_the_parameters_have_the_names_and_shapes_of_the_text(self, student, judge, draw):
        """The parameters, biases among them, should have the docstring's names and shapes."""
        values = drawn_parameters(draw)
        sizes = {"embed_dim": EMBED_DIM, "head_dim": HEAD_DIM, "num_heads": NUM_HEADS}
        module = student.call("MultiHeadAttention", **sizes, exact=True).value
        report = student.load(module, values).by_name
        judge(
            report, dict.fromkeys(values, "loaded"), what="each parameter, looked for by its name"
        )

    @pytest.mark.weight(2)
    def test_the_context_vectors_for_given_parameters(self, student, reference, judge, draw):
        """With given parameters, the context vectors should be right."""
        values, x = drawn_parameters(draw), draw.normal(NUM_TOKENS, EMBED_DIM)
        expected = reference.call(given(reference, values), x).value
        value = student.call(given(student, values), x).value
        judge(value, expected, axes=("token", "feature"))

    def test_a_single_token_sees_itself(self, student, reference, judge, draw):
        """A text of one token should give `out_proj` of its value, whatever its scores."""
        values, x = drawn_parameters(draw), draw.normal(1, EMBED_DIM)
        expected = reference.call(given(reference, values), x).value
        value = student.call(given(student, values), x).value
        judge(value, expected, axes=("token", "feature"))

    @pytest.mark.conduct
    def test_every_token_sees_every_other(self, student, judge, draw):
        """Tokens in another order should give the same vectors in that order: nothing is masked."""
        values, x = drawn_parameters(draw), draw.normal(NUM_TOKENS, EMBED_DIM)
        order = draw.permutation(NUM_TOKENS)
        module = given(student, values)
        before, after = student.call(module, x).value, student.call(module, x[order]).value
        judge.shape(before, (NUM_TOKENS, EMBED_DIM))
        judge(after, before[order], axes=("token", "feature"))

    @pytest.mark.conduct
    def test_two_calls_in_training_mode_agree(self, student, judge, draw):
        """There should be no dropout: training mode and eval mode give the same."""
        values, x = drawn_parameters(draw), draw.normal(NUM_TOKENS, EMBED_DIM)
        module = given(student, values)
        evaluated = student.call(module, x, training=False).value
        trained = student.call(module, x, training=True, seed=1).value
        judge.shape(evaluated, (NUM_TOKENS, EMBED_DIM))
        judge.shape(trained, (NUM_TOKENS, EMBED_DIM))
        again = student.call(module, x, training=False).value
        judge.shape(again, (NUM_TOKENS, EMBED_DIM))
        is_same = torch.allclose(again, evaluated, rtol=0, atol=1e-5, equal_nan=True)
        judge.that(is_same, "Two calls in eval mode differ: is something drawn in `forward`?")
        is_same = torch.allclose(trained, evaluated, rtol=0, atol=1e-5, equal_nan=True)
        judge.that(is_same, "Training mode gives something other than eval mode")

    @pytest.mark.weight(2)
    def test_gradients_reach_tokens_and_parameters(self, student, reference, judge, draw):
        """Gradients should flow to the tokens and to every parameter."""
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
        """Parameters and tokens in float64 should give context vectors in float64."""
        values = drawn_parameters(draw, torch.float64)
        # Most scores are positive here, so that a root of them is a number.
        for name in ("q_proj.bias", "k_proj.bias"):
            values[name] = values[name] + 3
        x = draw.normal(NUM_TOKENS, EMBED_DIM, dtype=torch.float64)
        expected = reference.call(given(reference, values), x).value
        value = student.call(given(student, values), x).value
        judge(value, expected, axes=("token", "feature"))

    @pytest.mark.remark
    def test_large_scores_give_no_nan(self, student, judge, draw):
        """Large scores should give no NaN: a softmax of your own subtracts each row's largest score."""
        x = draw.normal(NUM_TOKENS, EMBED_DIM)
        module = given(student, drawn_parameters(draw))
        near, far = (student.call(module, size * x).value for size in (1, 100))
        judge.shape(near, (NUM_TOKENS, EMBED_DIM))
        judge.shape(far, (NUM_TOKENS, EMBED_DIM))
        # What is NaN for small scores as well has another cause.
        is_lost = bool((far.isnan() & ~near.isnan()).any())
        judge.that(not is_lost, "Scores of thousands give NaN: their exponentials are infinite")

    @pytest.mark.conduct
    def test_a_second_call_gives_the_same(self, student, judge, draw):
        """A second call should give the same, and the text should stay as it is."""
        x = draw.normal(NUM_TOKENS, EMBED_DIM)
        module = given(student, drawn_parameters(draw))
        first = student.call(module, x)
        student.call(module, draw.normal(2 * NUM_TOKENS, EMBED_DIM))
        judge.shape(first.value, (NUM_TOKENS, EMBED_DIM))
        judge(student.call(module, x).value, first.value, what="the second result")
        judge.that(not first.changed, "It changed its argument in place")
