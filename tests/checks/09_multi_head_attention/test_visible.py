"""What students see of assignment 09: the documents' tensors, and plain properties."""

import pytest
import torch

from grader.testing import N_

# Sizes that all differ, so that none can stand in for another; `head_dim` is 8, half of which is
# not its root.
D_IN, D_OUT, CONTEXT_LENGTH, NUM_HEADS = 6, 24, 7, 3
BATCH_SIZE, NUM_TOKENS = 2, 5

# The four-axis tensor of 000, cell 138: (batch 1, 2 heads, 3 tokens, 4 features).
FOUR_AXES = torch.tensor(
    [
        [
            [
                [0.2745, 0.6584, 0.2775, 0.8573],
                [0.8993, 0.0390, 0.9268, 0.7388],
                [0.7179, 0.7058, 0.9156, 0.4340],
            ],
            [
                [0.0772, 0.3565, 0.1479, 0.5331],
                [0.4066, 0.2318, 0.4545, 0.9737],
                [0.4606, 0.5159, 0.4220, 0.5786],
            ],
        ]
    ]
)

# Three tokens of eight features, each number its position.
NUMBERED = torch.arange(24.0).reshape(1, 3, 8)
IN_TWO_HEADS = torch.tensor(
    [
        [
            [[0.0, 1.0, 2.0, 3.0], [8.0, 9.0, 10.0, 11.0], [16.0, 17.0, 18.0, 19.0]],
            [[4.0, 5.0, 6.0, 7.0], [12.0, 13.0, 14.0, 15.0], [20.0, 21.0, 22.0, 23.0]],
        ]
    ]
)


def judge_gradients(student, reference, judge, name, *args, cotangent):
    """Gradients for every tensor among the arguments of a function are the solution's."""
    mine = student.call(name, *args, cotangent=cotangent).gradients
    right = reference.call(name, *args, cotangent=cotangent).gradients
    names = reference.parameters(name)
    for position, gradient in right.arguments.items():
        what = judge.words("the gradient for {name}", name=f"`{names[int(position)]}`")
        judge(mine.arguments.get(position), gradient, what=what)


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


@pytest.mark.exercise("split_heads")
class TestSplitHeads(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_an_axis_for_the_heads(self, student, judge, draw):
        """The result should be float32, of shape (batch_size, num_heads, num_tokens, head_dim)."""
        value = student.call("split_heads", draw.normal(2, 5, 12), 3).value
        judge.shape(value, (2, 3, 5, 4))

    @pytest.mark.weight(2)
    def test_each_head_gets_its_piece_of_every_token(self, student, judge):
        """Each head should get its own features of every token, in order."""
        value = student.call("split_heads", NUMBERED, 2).value
        judge(value, IN_TWO_HEADS, axes=("batch", "head", "token", "feature"))

    def test_one_head_gets_everything(self, student, judge):
        """A single head should get the tokens as they are."""
        for tokens in (NUMBERED, NUMBERED.long()):
            value = student.call("split_heads", tokens, 1).value
            judge(value, tokens.unsqueeze(1), axes=("batch", "head", "token", "feature"))

    @pytest.mark.conduct
    def test_the_argument_is_left_as_it_is(self, student, judge):
        """The tokens should stay as they are."""
        answer = student.call("split_heads", NUMBERED, 2)
        judge.that(not answer.changed, "It changed its argument in place")

    def test_gradients_reach_the_tokens(self, student, reference, judge, draw):
        """Gradients should flow to the tokens."""
        x, cotangent = draw.normal(2, 5, 12), draw.normal(2, 3, 5, 4)
        judge_gradients(student, reference, judge, "split_heads", x, 3, cotangent=cotangent)


@pytest.mark.exercise("head_scores")
class TestHeadScores(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_each_head_has_a_score_for_each_pair_of_tokens(self, student, judge):
        """It should be float32, of shape (batch_size, num_heads, num_tokens, num_tokens)."""
        value = student.call("head_scores", FOUR_AXES, FOUR_AXES).value
        judge.shape(value, (1, 2, 3, 3))

    @pytest.mark.weight(2)
    def test_the_scores_of_two_heads_as_printed(self, student, judge, printed):
        """The example's tensor of two heads should give the example's scores."""
        value = student.call("head_scores", FOUR_AXES, FOUR_AXES).value
        judge(value, printed("T28"), axes=("batch", "head", "query", "key"))

    def test_each_head_has_the_scores_it_has_alone(self, student, judge, printed):
        """Each head's scores should be those of that head alone."""
        for head, id_ in enumerate(("T29", "T30")):
            alone = FOUR_AXES[:, head : head + 1]
            value = student.call("head_scores", alone, alone).value
            judge.shape(value, (1, 1, 3, 3))
            judge(
                value[0, 0],
                printed(id_),
                what=judge.words("head {number}", number=head),
                axes=("query", "key"),
            )

    @pytest.mark.weight(2)
    def test_queries_are_rows_and_keys_are_columns(self, student, judge):
        """Row i should have the scores of query i, column j those of key j."""
        queries = torch.tensor([[[[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]]])
        keys = torch.tensor([[[[3.0, 4.0, 1.0], [5.0, 6.0, 1.0]]]])
        value = student.call("head_scores", queries, keys).value
        expected = torch.tensor([[[[3.0, 5.0], [8.0, 12.0]]]])
        judge(value, expected, axes=("batch", "head", "query", "key"))

    def test_gradients_reach_queries_and_keys(self, student, reference, judge, draw):
        """Gradients should flow to the queries and to the keys."""
        queries, keys = draw.normal(2, 3, 5, 4), draw.normal(2, 3, 5, 4)
        cotangent = draw.normal(2, 3, 5, 5)
        judge_gradients(
            student, reference, judge, "head_scores", queries, keys, cotangent=cotangent
        )

    @pytest.mark.conduct
    def test_the_arguments_are_left_as_they_are(self, student, judge, draw):
        """The queries and the keys should stay as they are."""
        answer = student.call("head_scores", draw.normal(2, 3, 5, 4), draw.normal(2, 3, 5, 4))
        judge.that(not answer.changed, "It changed one of its arguments in place")


@pytest.mark.exercise("merge_heads")
class TestMergeHeads(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_axis_of_the_heads_is_gone(self, student, judge, draw):
        """The result should be float32, of shape (batch_size, num_tokens, d_out)."""
        value = student.call("merge_heads", draw.normal(2, 3, 5, 4)).value
        judge.shape(value, (2, 5, 12))

    @pytest.mark.weight(2)
    def test_each_token_gets_its_pieces_side_by_side(self, student, judge):
        """Each token should get the features of all heads side by side, in order."""
        value = student.call("merge_heads", IN_TWO_HEADS).value
        judge(value, NUMBERED, axes=("batch", "token", "feature"))

    def test_one_head_is_all_there_is(self, student, judge):
        """The features of a single head should stay as they are."""
        for tokens in (NUMBERED, NUMBERED.long()):
            value = student.call("merge_heads", tokens.unsqueeze(1)).value
            judge(value, tokens, axes=("batch", "token", "feature"))

    @pytest.mark.conduct
    def test_the_argument_is_left_as_it_is(self, student, judge):
        """The heads should stay as they are."""
        answer = student.call("merge_heads", IN_TWO_HEADS)
        judge.that(not answer.changed, "It changed its argument in place")

    def test_gradients_reach_the_heads(self, student, reference, judge, draw):
        """Gradients should flow to the heads."""
        x, cotangent = draw.normal(2, 3, 5, 4), draw.normal(2, 5, 12)
        judge_gradients(student, reference, judge, "merge_heads", x, cotangent=cotangent)


def drawn_parameters(draw, *, qkv_bias=False, dtype=torch.float32):
    """Values for all parameters of a layer of this file's sizes."""
    layers = ("W_query", "W_key", "W_value")
    values = {f"{layer}.weight": draw.normal(D_OUT, D_IN, std=0.5) for layer in layers}
    if qkv_bias:
        values |= {f"{layer}.bias": draw.normal(D_OUT, std=0.5) for layer in layers}
    values["out_proj.weight"] = draw.normal(D_OUT, D_OUT, std=0.5)
    values["out_proj.bias"] = draw.normal(D_OUT, std=0.5)
    return {name: value.to(dtype) for name, value in values.items()}


def made(handle, *, dropout=0.0, qkv_bias=False):
    """A layer of this file's sizes."""
    sizes = (D_IN, D_OUT, CONTEXT_LENGTH, dropout, NUM_HEADS)
    return handle.call("MultiHeadAttention", *sizes, qkv_bias=qkv_bias).value


def zero_biases(d_out, dtype=torch.float32):
    """Biases that change nothing, for layers that have some unasked: judged elsewhere."""
    zeros = torch.zeros(d_out, dtype=dtype)
    return {f"{layer}.bias": zeros for layer in ("W_query", "W_key", "W_value")}


def given(handle, values, *, dropout=0.0, qkv_bias=False):
    """A layer of this file's sizes with these parameters."""
    layer = made(handle, dropout=dropout, qkv_bias=qkv_bias)
    handle.load(layer, zero_biases(D_OUT, values["out_proj.bias"].dtype) | values)
    return layer


def of_name(names, name):
    """The one of these that is this name, or ends in it; None where there is none."""
    return next((key for key in names if f".{key}".endswith(f".{name}")), None)


def of_parameter(gradients, name):
    """The gradient for the parameter whose name ends in this one; None where there is none."""
    return gradients.parameters.get(of_name(gradients.parameters, name))


def judge_surplus(judge, state):
    """Judge that a layer has no parameters that the docstring does not name."""
    documented = [f"{layer}.weight" for layer in ("W_query", "W_key", "W_value", "out_proj")]
    found = [of_name(state.parameters, name) for name in (*documented, "out_proj.bias")]
    again = {name for names in state.aliases for name in names[1:]}
    others = sorted(state.parameters.keys() - again - set(found)) if all(found) else []
    sentence = judge.words("There are parameters that should not be there: {names}", names=others)
    judge.that(not others, sentence, about=others)


def trainable(state):
    """How many numbers are trained, shared ones once."""
    again = {name for names in state.aliases for name in names[1:]}
    counted = [p for name, p in state.parameters.items() if name not in again and p.requires_grad]
    return sum(parameter.numel() for parameter in counted)


# A layer that shows its weights: four tokens that are the rows of an identity matrix, two heads of
# five features. A token's value names the token in the first four and has a 1 in the last, so that
# a head's context vector is its row of weights, and their sum. `out_proj` leaves it at that.
SHOWN_TOKENS, SHOWN_HEADS, SHOWN_COPIES = 4, 2, 16
SHOWN_INPUT = torch.eye(SHOWN_TOKENS).repeat(SHOWN_COPIES, 1, 1)
NAMES_AND_ONE = torch.cat((torch.eye(SHOWN_TOKENS), torch.ones(1, SHOWN_TOKENS)))
SHOWN_OUT = SHOWN_HEADS * (SHOWN_TOKENS + 1)


def showing_parameters(draw):
    """What makes a layer's output its weights, and the sums of their rows."""
    return zero_biases(SHOWN_OUT) | {
        "W_query.weight": draw.normal(SHOWN_OUT, SHOWN_TOKENS, std=0.5),
        "W_key.weight": draw.normal(SHOWN_OUT, SHOWN_TOKENS, std=0.5),
        "W_value.weight": NAMES_AND_ONE.repeat(SHOWN_HEADS, 1),
        "out_proj.weight": torch.eye(SHOWN_OUT),
        "out_proj.bias": torch.zeros(SHOWN_OUT),
    }


def showing_layer(handle, parameters, dropout):
    """A layer that shows its weights."""
    sizes = (SHOWN_TOKENS, SHOWN_OUT, SHOWN_TOKENS, dropout, SHOWN_HEADS)
    layer = handle.call("MultiHeadAttention", *sizes).value
    handle.load(layer, parameters)
    return layer


def shown_weights(student, judge, layer, **how):
    """The weights that such a layer shows, and the sums of their rows."""
    value = student.call(layer, SHOWN_INPUT, **how).value
    judge.shape(value, (SHOWN_COPIES, SHOWN_TOKENS, SHOWN_OUT))
    by_head = value.detach().reshape(SHOWN_COPIES, SHOWN_TOKENS, SHOWN_HEADS, SHOWN_TOKENS + 1)
    return by_head[..., :-1], by_head[..., -1]


@pytest.mark.exercise("MultiHeadAttention")
class TestMultiHeadAttention(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_module_with_a_context_vector_for_each_token(self, student, judge, printed):
        """It should be a module that gives float32 vectors, (batch_size, num_tokens, d_out)."""
        layer = student.call("MultiHeadAttention", 3, 2, 6, 0.0, num_heads=2, seed=1).value
        judge(getattr(layer, "kind", ""), "module", what="what the class makes")
        batch = torch.stack((printed("T45").tensor, printed("T45").tensor))
        judge.shape(student.call(layer, batch).value, (2, 6, 2))

    @pytest.mark.conduct
    def test_the_parameters_have_the_names_and_shapes_of_the_text(self, student, judge, draw):
        """The parameters should have the names and shapes that the docstring gives."""
        values = drawn_parameters(draw)
        report = student.load(made(student), values).by_name
        judge(
            report, dict.fromkeys(values, "loaded"), what="each parameter, looked for by its name"
        )

    @pytest.mark.weight(2)
    def test_the_context_vectors_for_given_parameters(self, student, reference, judge, draw):
        """With given parameters, the context vectors should be right."""
        values, x = drawn_parameters(draw), draw.normal(BATCH_SIZE, NUM_TOKENS, D_IN)
        expected = reference.call(given(reference, values), x).value
        value = student.call(given(student, values), x, training=False).value
        judge(value, expected, axes=("batch", "token", "feature"))

    def test_a_single_token_sees_itself(self, student, reference, judge, draw):
        """A text of one token should give `out_proj` of its value, whatever its scores."""
        values = drawn_parameters(draw)
        # Among them a token of zeros, whose score is zero.
        for x in (draw.normal(1, 1, D_IN), torch.zeros(1, 1, D_IN)):
            expected = reference.call(given(reference, values), x).value
            value = student.call(given(student, values), x, training=False).value
            judge(value, expected, axes=("batch", "token", "feature"))

    @pytest.mark.conduct
    def test_the_future_does_not_leak(self, student, judge, draw):
        """Another fourth token should leave the first three context vectors as they are."""
        values, x = drawn_parameters(draw), draw.normal(1, 4, D_IN)
        changed = x.clone()
        changed[0, 3] = draw.normal(D_IN)
        # A layer for each text: what depends on earlier calls is judged elsewhere.
        before, after = (
            student.call(given(student, values), text, training=False).value
            for text in (x, changed)
        )
        judge.shape(before, (1, 4, D_OUT))
        judge.shape(after, (1, 4, D_OUT))
        judge(after[:, :3], before[:, :3], axes=("batch", "token", "feature"))

    def test_the_layer_of_seed_123_as_printed(self, student, judge, printed):
        """Seed 123 should give the example's tensor, if made as query, key, value, out_proj."""
        batch = torch.stack((printed("T45").tensor, printed("T45").tensor))
        sizes = {"num_heads": 2, "seed": 123, "exact": True}
        layer = student.call("MultiHeadAttention", 3, 2, 6, 0.0, **sizes).value
        judge(
            student.call(layer, batch, training=False).value,
            printed("T27"),
            axes=("batch", "token", "feature"),
        )

    @pytest.mark.conduct
    def test_it_learns_four_layers_and_one_bias(self, student, judge):
        """Without `qkv_bias` it should learn four weights and the bias of `out_proj`, no more."""
        expected = 3 * D_IN * D_OUT + D_OUT * D_OUT + D_OUT
        state = student.state(made(student))
        judge_surplus(judge, state)
        judge(trainable(state), expected, what="the numbers it learns")

    def test_biases_are_there_when_asked_for(self, student, reference, judge, draw):
        """With `qkv_bias=True`, queries, keys and values should have biases."""
        values = drawn_parameters(draw, qkv_bias=True)
        x = draw.normal(BATCH_SIZE, NUM_TOKENS, D_IN)
        layer = made(student, qkv_bias=True)
        report = student.load(layer, values).report
        judge(
            report, dict.fromkeys(values, "loaded"), what="each parameter, looked for by its name"
        )
        expected = reference.call(given(reference, values, qkv_bias=True), x).value
        judge(
            student.call(layer, x, training=False).value,
            expected,
            axes=("batch", "token", "feature"),
        )

    def test_dropout_drops_weights_and_scales_the_rest(self, student, reference, judge, draw):
        """In training mode alone, weights should be dropped after the softmax and the rest scaled."""
        parameters = showing_parameters(draw)
        layer, showing = (
            showing_layer(handle, parameters, dropout=0.4) for handle in (student, reference)
        )
        # Asked for in any case: a recording has what is asked where the answer is right.
        right, _ = shown_weights(reference, judge, showing, training=False)
        still, _ = shown_weights(student, judge, layer, training=False)
        again, _ = shown_weights(student, judge, layer, training=False)
        sentence = N_(
            "In eval mode two calls give different results, so that none shows the weights"
        )
        is_still = torch.allclose(again, still, rtol=0, atol=1e-5, equal_nan=True)
        judge.that(is_still, sentence)
        weights, sums = shown_weights(student, judge, layer, training=True, seed=1)
        is_unchanged = torch.allclose(weights, still, rtol=0, atol=1e-5)
        is_dropped = (weights == 0) & (still != 0)
        kept = torch.where(weights == 0, 0.0, weights / still)
        factor = kept.max()
        is_one = torch.isclose(kept, factor, rtol=0, atol=1e-3)
        are_alike = bool((is_one | (kept == 0)).all())
        is_mixed = torch.allclose(weights.sum(-1), sums, rtol=0, atol=1e-4)
        if is_unchanged or not is_dropped.any() or not are_alike or not is_mixed:
            # Of what shows no weights in eval mode, nothing is known in training mode.
            sentence = N_("In eval mode NaN stands where the weights should show")
            judge.that(not still.isnan().any(), sentence)
            judge(still, right, what="what shows the weights, in eval mode", atol=1e-4)
        judge.that(not is_unchanged, "In training mode nothing was dropped")
        judge.that(bool(is_dropped.any()), "In training mode no weight becomes zero")
        judge.that(
            are_alike,
            "The weights in training mode are neither zero nor the same multiple of what they "
            "are in eval mode",
        )
        # A quotient of float32 numbers down to 0.05.
        judge(factor, torch.tensor(1 / 0.6), what="the factor of what is kept", atol=1e-3)
        judge.that(is_mixed, "Something other than attention weights was dropped")
        again, _ = shown_weights(student, judge, layer, training=True, seed=2)
        sentence = N_("Two seeds drop the same weights: does `forward` set the seed itself?")
        judge.that(not torch.equal(again, weights), sentence)
        is_training = student.state(layer).training
        judge.that(is_training, "A call in training mode ends in eval mode")

    @pytest.mark.conduct
    def test_dropout_does_nothing_in_eval_mode(self, student, judge, draw):
        """In eval mode, dropout should change nothing."""
        values, x = drawn_parameters(draw), draw.normal(BATCH_SIZE, NUM_TOKENS, D_IN)
        without = student.call(given(student, values), x, training=False).value
        dropping = given(student, values, dropout=0.5)
        value = student.call(dropping, x, training=False, seed=1).value
        is_training = student.state(dropping).training
        judge.that(not is_training, "A call in eval mode ends in training mode")
        judge.shape(without, (BATCH_SIZE, NUM_TOKENS, D_OUT))
        judge.shape(value, (BATCH_SIZE, NUM_TOKENS, D_OUT))
        is_same = torch.allclose(value, without, rtol=0, atol=1e-5, equal_nan=True)
        judge.that(is_same, "In eval mode, dropout 0.5 gives something other than dropout 0.0")

    @pytest.mark.conduct
    def test_the_mask_moves_with_the_module(self, student, judge):
        """No tensor or layer should be in a plain attribute, where a module does not see it."""
        layer = made(student)
        # What `forward` keeps counts as well, unless each call sets it anew; whether it raises is
        # judged elsewhere.
        for _call in range(2):
            student.refusal(layer, torch.ones(1, CONTEXT_LENGTH, D_IN), training=False)
        state = student.state(layer)
        judge(state.kept, {}, what="what is kept in plain attributes or lists")

    @pytest.mark.conduct
    def test_heads_that_do_not_fit_are_refused(self, student, judge):
        """Making it should fail when d_out is not a multiple of num_heads."""
        refused = student.refusal("MultiHeadAttention", 3, 5, 6, 0.0, num_heads=2) is not None
        judge.that(refused, "5 features were to be shared by 2 heads, and nothing was raised")

    @pytest.mark.conduct
    def test_each_instance_draws_its_own_weights(self, student, judge):
        """Two instances should start with different weights."""
        made = [
            student.call(
                "MultiHeadAttention", D_IN, D_OUT, CONTEXT_LENGTH, 0.0, NUM_HEADS, seed=seed
            ).value
            for seed in (1, 2)
        ]
        first, second = (student.state(instance).parameters for instance in made)
        names = [name for name, tensor in first.items() if tensor.dim() == 2]
        same = bool(names) and all(torch.equal(first[n], second[n]) for n in names if n in second)
        judge.that(not same, "Two instances start alike: does the class set the seed itself?")

    @pytest.mark.remark
    def test_the_mask_is_a_buffer_of_the_documents_name_and_size(self, student, judge):
        """There should be a buffer `mask` of shape `(context_length, context_length)`."""
        buffers = student.state(made(student)).buffers
        shapes = {name.rpartition(".")[2]: tuple(mask.shape) for name, mask in buffers.items()}
        sentence = N_("There is no buffer `mask`")
        if shapes:
            template = N_("There is no buffer `mask`; your buffers are called {names}")
            sentence = judge.words(template, names=sorted(shapes))
        judge.that("mask" in shapes, sentence)
        template = N_("The mask has the shape {shape}, not {expected}")
        expected = (CONTEXT_LENGTH, CONTEXT_LENGTH)
        sentence = judge.words(template, shape=str(shapes["mask"]), expected=str(expected))
        judge.that(shapes["mask"] == expected, sentence)
        if student.refusal(made(student), torch.ones(1, 2, D_IN), training=False) is not None:
            return
        used = student.call(made(student), torch.ones(1, 2, D_IN), operations=True).operations
        sentence = N_("`forward` makes a mask anew: what is the buffer for?")
        judge.that(not {"triu", "tril"} & used.keys(), sentence)

    @pytest.mark.remark
    def test_the_future_is_hidden_by_minus_infinity(self, student, judge):
        """The future should be hidden by minus infinity, not by a large negative number."""
        x = torch.tensor([[[1.0, 2.0], [0.0, 4.0]]])
        found = []
        for size in (1.0, 1e5):
            # The first token's score with itself is -size², with the second 0; values are tokens.
            look = torch.tensor([[size, 0.0], [0.0, 0.0]])
            weights = {
                "W_query.weight": look,
                "W_key.weight": -look,
                "W_value.weight": torch.eye(2),
                "out_proj.weight": torch.eye(2),
                "out_proj.bias": torch.zeros(2),
            }
            layer = student.call("MultiHeadAttention", 2, 2, 2, 0.0, num_heads=1).value
            student.load(layer, zero_biases(2) | weights)
            if student.refusal(layer, x, training=False) is not None:
                return
            value = student.call(layer, x, training=False).value
            if not isinstance(value, torch.Tensor) or value.shape != x.shape:
                return
            found.append(value[0, 0])
        is_masked = torch.allclose(found[0], x[0, 0]) and bool(found[1].isfinite().all())
        sentence = N_("Where its own score is -1e10, the first token sees the second")
        judge.that(not is_masked or torch.allclose(found[1], x[0, 0]), sentence)

    @pytest.mark.remark
    def test_a_text_that_is_too_long_is_refused(self, student, judge, draw):
        """A text longer than `context_length` should end in a ValueError that says so."""
        failure = student.refusal(made(student), draw.normal(1, CONTEXT_LENGTH + 1, D_IN))
        judge.that(
            failure is not None and "ValueError" in failure.bases,
            "8 tokens for a context_length of 7 did not raise a ValueError",
        )

    @pytest.mark.weight(2)
    def test_gradients_reach_tokens_and_parameters(self, student, reference, judge, draw):
        """Gradients should flow to the tokens and to every parameter."""
        values, x = drawn_parameters(draw), draw.normal(BATCH_SIZE, NUM_TOKENS, D_IN)
        cotangent = draw.normal(BATCH_SIZE, NUM_TOKENS, D_OUT)
        mine = student.call(
            given(student, values), x, training=False, cotangent=cotangent
        ).gradients
        right = reference.call(given(reference, values), x, cotangent=cotangent).gradients
        # Sums of up to 10 products of numbers near 1: ten times the noise of the results.
        judge(
            mine.arguments.get("0"),
            right.arguments["0"],
            what="the gradient for the tokens",
            atol=1e-4,
        )
        for name in values:
            found, expected = of_parameter(mine, name), of_parameter(right, name)
            judge(
                found, expected, what=judge.words("the gradient for {name}", name=name), atol=1e-4
            )

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Parameters and tokens in float64 should give context vectors in float64."""
        values = drawn_parameters(draw, dtype=torch.float64)
        x = draw.normal(BATCH_SIZE, NUM_TOKENS, D_IN, dtype=torch.float64)
        expected = reference.call(given(reference, values), x).value
        value = student.call(given(student, values), x, training=False).value
        judge(value, expected, axes=("batch", "token", "feature"))

    @pytest.mark.conduct
    def test_a_second_call_gives_the_same(self, student, judge, draw):
        """A second call should give the same, and the texts should stay as they are."""
        x = draw.normal(BATCH_SIZE, NUM_TOKENS, D_IN)
        layer = given(student, drawn_parameters(draw))
        first = student.call(layer, x, training=False)
        student.call(layer, draw.normal(1, CONTEXT_LENGTH, D_IN), training=False)
        judge.shape(first.value, (BATCH_SIZE, NUM_TOKENS, D_OUT))
        judge(student.call(layer, x, training=False).value, first.value, what="the second result")
        judge.that(not first.changed, "It changed its argument in place")
