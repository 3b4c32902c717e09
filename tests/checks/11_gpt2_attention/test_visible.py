"""What students see of assignment 11: the document's configuration and counts, plain properties."""

import pytest
import torch

from grader.testing import N_, StudentOutcome, describe

# Sizes that all differ, so that none can stand in for another; `head_dim` is 8, half of which is
# not its root.
D_IN, D_OUT, CONTEXT_LENGTH, NUM_HEADS = 6, 24, 7, 3
BATCH_SIZE, NUM_TOKENS = 2, 5

# 004's configuration, and what its code gives: (2, 10, 768) stays (2, 10, 768), and four layers of
# 768 × 768 weights with one bias of 768 have 2,360,064 parameters.
GPT2_SIZES = {"d_in": 768, "d_out": 768, "context_length": 1024}
GPT2_HEADS, GPT2_DROPOUT, GPT2_PARAMETERS = 12, 0.1, 2_360_064


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


@pytest.mark.exercise("GPT2_CONFIG")
@pytest.mark.guessable("It is a constant, of names and whole numbers.")
class TestGPT2Config:
    @pytest.mark.gate
    def test_it_is_a_dictionary_by_the_names_of_the_arguments(self, student, judge):
        """It should be a dictionary that has the names of the layer's arguments."""
        config = student.get("GPT2_CONFIG")
        is_dict, kind = isinstance(config, dict), describe(config, str)
        sentence = judge.words("It is {kind}, not a dictionary", kind=describe(config))
        if isinstance(config, tuple) and len(config) == 1:
            sentence = N_("It is a tuple: is there a comma at the end of the line that sets it?")
        judge.that(is_dict, sentence, about=None if is_dict else kind)
        names = (*GPT2_SIZES, "num_heads", "dropout")
        is_whole = all(name in config for name in names)
        found = dict.fromkeys(names if is_whole else config, "an entry")
        judge(found, dict.fromkeys(names, "an entry"), what="its names")

    @pytest.mark.weight(2)
    def test_the_sizes_are_those_of_the_text(self, student, judge):
        """Tokens and context vectors should have 768 features, and a text up to 1024 tokens."""
        config = student.get("GPT2_CONFIG")
        judge({name: config.get(name) for name in GPT2_SIZES}, GPT2_SIZES, what="the sizes")

    @pytest.mark.weight(2)
    def test_there_are_twelve_heads(self, student, judge):
        """There should be 12 heads, of 64 features each."""
        judge(student.get("GPT2_CONFIG").get("num_heads"), GPT2_HEADS, what="num_heads")

    def test_a_tenth_of_the_weights_is_dropped(self, student, judge):
        """The probability of dropout should be 0.1."""
        judge(student.get("GPT2_CONFIG").get("dropout"), GPT2_DROPOUT, what="dropout")

    def test_there_is_nothing_the_layer_does_not_know(self, student, judge):
        """It should have no other entries, except perhaps `qkv_bias`, which is False."""
        known = {*GPT2_SIZES, "num_heads", "dropout"}
        config = student.get("GPT2_CONFIG")
        others = {name: value for name, value in config.items() if name not in known}
        judge({"qkv_bias": False, **others}, {"qkv_bias": False}, what="its other entries")

    @pytest.mark.remark
    def test_it_has_five_entries(self, student, judge):
        """It should have the five entries of the text alone."""
        others = [name for name in student.get("GPT2_CONFIG") if name == "qkv_bias"]
        sentence = N_("`qkv_bias` is not one of the five: without an entry it is False as well")
        judge.that(not others, sentence)


def numbers(state):
    """How many entries the parameters have, shared ones once."""
    again = {name for names in state.aliases for name in names[1:]}
    counted = [parameter for name, parameter in state.parameters.items() if name not in again]
    return sum(parameter.numel() for parameter in counted)


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


def module_to_count(student, name):
    """A module that stands in the stub; where a file has none, a small layer of the student's."""
    try:
        module = student.get(name)
    except StudentOutcome as outcome:
        if outcome.failure.kind != "missing":
            raise
        module = None
    if getattr(module, "kind", "") == "module":
        return module
    sizes = {"d_in": D_IN, "d_out": D_OUT, "context_length": CONTEXT_LENGTH}
    return student.call("GPT2MultiHeadAttention", **sizes, num_heads=NUM_HEADS, dropout=0.0).value


@pytest.mark.exercise("count_parameters")
class TestCountParameters(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_answers_a_whole_number(self, student, judge):
        """The result should be a whole number."""
        value = student.call("count_parameters", module_to_count(student, "SHARED_LAYER")).value
        is_tensor = isinstance(value, torch.Tensor) and value.numel() == 1
        value = value.item() if is_tensor else value
        template = N_("It answered something of type {type}, not a whole number")
        sentence = judge.words(template, type=type(value).__name__)
        judge.that(type(value) is int, sentence)

    @pytest.mark.remark
    def test_it_is_a_plain_number(self, student, judge):
        """The result should be an `int`, as the signature says."""
        value = student.call("count_parameters", module_to_count(student, "SHARED_LAYER")).value
        is_tensor = isinstance(value, torch.Tensor)
        judge.that(not is_tensor, "It is a tensor of one number")

    def test_weights_and_biases_count(self, student, judge):
        """All weights and biases of a linear layer should count."""
        module = module_to_count(student, "SHARED_LAYER")
        state = student.state(module)
        # Equal values, so that their sum shows.
        student.load(
            module, {name: torch.full_like(p, 3.0) for name, p in state.parameters.items()}
        )
        judge(student.call("count_parameters", module).value, numbers(state))

    @pytest.mark.weight(2)
    def test_shared_parameters_count_once_and_buffers_never(self, student, judge):
        """All parameters should count, those of inner modules, too: once where used twice. Buffers should not."""
        module = module_to_count(student, "EXAMPLE_MODEL")
        expected = numbers(student.state(module))
        judge(student.call("count_parameters", module).value, expected)


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
    """A layer of this file's sizes, its arguments by name."""
    sizes = {"d_in": D_IN, "d_out": D_OUT, "context_length": CONTEXT_LENGTH}
    rest = {"num_heads": NUM_HEADS, "dropout": dropout, "qkv_bias": qkv_bias}
    return handle.call("GPT2MultiHeadAttention", **sizes, **rest).value


def zero_biases(d_out, dtype=torch.float32):
    """Biases that change nothing, for layers that have some unasked: judged elsewhere."""
    zeros = torch.zeros(d_out, dtype=dtype)
    return {f"{layer}.bias": zeros for layer in ("W_query", "W_key", "W_value")}


def given(handle, values, *, dropout=0.0, qkv_bias=False):
    """A layer of this file's sizes with these parameters."""
    layer = made(handle, dropout=dropout, qkv_bias=qkv_bias)
    handle.load(layer, zero_biases(D_OUT, values["out_proj.bias"].dtype) | values)
    return layer


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


def showing_layer(handle, parameters, **how):
    """A layer that shows its weights; `how` may say what dropout it has, and that this is exact."""
    sizes = {"d_in": SHOWN_TOKENS, "d_out": SHOWN_OUT, "context_length": SHOWN_TOKENS}
    layer = handle.call("GPT2MultiHeadAttention", **sizes, num_heads=SHOWN_HEADS, **how).value
    handle.load(layer, parameters)
    return layer


def shown_weights(student, judge, layer, **how):
    """The weights that such a layer shows, and the sums of their rows."""
    value = student.call(layer, SHOWN_INPUT, **how).value
    judge.shape(value, (SHOWN_COPIES, SHOWN_TOKENS, SHOWN_OUT))
    by_head = value.detach().reshape(SHOWN_COPIES, SHOWN_TOKENS, SHOWN_HEADS, SHOWN_TOKENS + 1)
    return by_head[..., :-1], by_head[..., -1]


@pytest.mark.exercise("GPT2MultiHeadAttention")
class TestGPT2MultiHeadAttention(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_module_with_a_context_vector_for_each_token(self, student, judge, draw):
        """It should be a module that gives float32 vectors, (batch_size, num_tokens, d_out)."""
        layer = made(student)
        judge(getattr(layer, "kind", ""), "module", what="what the class makes")
        value = student.call(layer, draw.normal(BATCH_SIZE, NUM_TOKENS, D_IN)).value
        judge.shape(value, (BATCH_SIZE, NUM_TOKENS, D_OUT))

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

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_at_the_size_of_gpt2_there_are_2360064_parameters(self, student, judge, draw):
        """At GPT-2's size, (2, 10, 768) should stay (2, 10, 768), with 2,360,064 parameters."""
        sizes = {**GPT2_SIZES, "num_heads": GPT2_HEADS, "dropout": GPT2_DROPOUT}
        layer = student.call("GPT2MultiHeadAttention", **sizes).value
        judge.shape(student.call(layer, draw.normal(2, 10, 768)).value, (2, 10, 768))
        state = student.state(layer, values=False)
        judge_surplus(judge, state)
        found = numbers(state)
        judge(found, GPT2_PARAMETERS, what="how many parameters it has")

    @pytest.mark.conduct
    def test_the_number_of_heads_comes_before_dropout(self, student, judge, draw):
        """Unnamed arguments should be d_in, d_out, context_length, num_heads, dropout, in order."""
        values, x = drawn_parameters(draw), draw.normal(BATCH_SIZE, NUM_TOKENS, D_IN)
        sizes = (D_IN, D_OUT, CONTEXT_LENGTH, NUM_HEADS, 0.0)
        layer = student.call("GPT2MultiHeadAttention", *sizes, exact=True).value
        student.load(layer, zero_biases(D_OUT) | values)
        by_name = student.call(given(student, values), x, training=False).value
        judge.shape(by_name, (BATCH_SIZE, NUM_TOKENS, D_OUT))
        judge(
            student.call(layer, x, training=False).value,
            by_name,
            axes=("batch", "token", "feature"),
        )

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
    def test_a_tenth_is_dropped_unless_said_otherwise(self, student, judge, draw):
        """Without an argument for it, the dropout should be 0.1."""
        parameters = showing_parameters(draw)
        results = []
        for how in ({}, {"dropout": 0.1}):
            layer = showing_layer(student, parameters, exact=True, **how)
            shown = shown_weights(student, judge, layer, training=True, seed=1)[0]
            # What is kept is scaled alike in every draw; of 16 copies each weight is kept in one.
            results.append(shown.amax(dim=0))
        is_same = torch.allclose(*results, rtol=0, atol=1e-5, equal_nan=True)
        judge.that(is_same, "Without an argument it does not do what dropout=0.1 does")

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
        """Making it should fail when d_out is not a multiple of num_heads, and only then."""
        sizes = {"context_length": 6, "num_heads": 2, "dropout": 0.0}
        fits = student.refusal("GPT2MultiHeadAttention", d_in=3, d_out=4, **sizes) is None
        judge.that(fits, "4 features were to be shared by 2 heads, and that was refused")
        refused = student.refusal("GPT2MultiHeadAttention", d_in=4, d_out=5, **sizes) is not None
        judge.that(refused, "5 features were to be shared by 2 heads, and nothing was raised")

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
            layer = student.call("GPT2MultiHeadAttention", 2, 2, 2, num_heads=1, dropout=0.0).value
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
