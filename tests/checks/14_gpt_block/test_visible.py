"""What students see of assignment 14: plain properties, torch's own layers, GPT-2's counts."""

from functools import partial

import pytest
import torch
from torch import nn

from grader.testing import N_, StudentOutcome
from grader.testing.mixins import KeepsArguments, KeepsDoublePrecision, KeepsNames

from ..helpers import (
    FOUND_PARAMETERS,
    OF_CONTEXT_VECTORS,
    are_close,
    called_unless_waiting,
    judge_own,
)
from .helpers import (
    BLOCK_SIZES,
    FEATURES,
    GPT_SIZES,
    NUM_HEADS,
    OF_BENDS,
    OF_GRADIENTS,
    OF_SCORES,
    OF_SUMS,
    VOCAB_SIZE,
    Part,
    attention_part,
    block_parameters,
    called_with,
    drawn_state,
    given,
    gpt_parameters,
    has_as_many_numbers,
    heads_of_their_own,
    judge_names,
    judge_state,
    learned_beside_a_head,
    network_parameters,
    norm_parameters,
    scored,
    taken_by_name,
    tokens,
    waiting_for_biases,
)

TEXTS = (2, 5, FEATURES)
LONG = 30
"""More tokens than there are features, or tokens of the vocabulary."""
OF_TOKENS = N_("the gradient for the tokens")


@pytest.mark.exercise("LayerNorm")
class TestLayerNorm(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, attempt, draw):
        """It should be a module that keeps the shape: float32, (batch_size, num_tokens, features)."""
        attempt.instance(4)(draw.normal(4, 4, 4)).has_shape(4, 4, 4)

    @pytest.mark.conduct
    def test_weight_and_bias_are_the_parameters(self, attempt, judge, draw):
        """The parameters should be `weight` and `bias`, with a number for each feature."""
        values = norm_parameters(draw)
        judge_names(attempt, given(attempt, values, FEATURES), values)

    def test_each_token_has_mean_0_and_variance_1(self, attempt, judge, draw):
        """A new layer should give each token the mean 0 and the variance 1."""
        called = attempt.instance(FEATURES)(2 + draw.normal(*TEXTS))
        value = called.has_shape(*TEXTS)
        judge(value.mean(dim=-1), torch.zeros(2, 5), what=N_("the means"), atol=1e-5)
        # eps, 0.00001, is taken off variances of about 0.6.
        variances = value.var(dim=-1, correction=0)
        judge(variances, torch.ones(2, 5), what=N_("the variances"), atol=1e-3)

    @pytest.mark.weight(2)
    def test_the_result_for_given_parameters(self, attempt, draw):
        """With given parameters, the result should be right, whatever tokens came before."""
        layer = given(attempt, norm_parameters(draw), FEATURES)
        for _text in range(2):
            layer(draw.normal(*TEXTS)).agrees(axes=OF_CONTEXT_VECTORS)

    @pytest.mark.weight(2)
    def test_eps_is_added_below_the_root(self, attempt, draw):
        """`eps` should be added to the variance, which shows where that is small."""
        layer = given(attempt, norm_parameters(draw), FEATURES)
        layer(draw.normal(*TEXTS, std=0.004)).agrees(axes=OF_CONTEXT_VECTORS)

    def test_another_eps_may_be_asked_for(self, attempt, draw):
        """As much should be added as was asked for."""
        layer = given(attempt, norm_parameters(draw), FEATURES, 0.5)
        layer(draw.normal(*TEXTS)).agrees(axes=OF_CONTEXT_VECTORS)

    def test_a_token_of_equal_features_gives_the_bias(self, attempt, draw):
        """Where all features of a token are equal, the bias should come back, not NaN."""
        values = norm_parameters(draw)
        layer = given(attempt, values, FEATURES)
        x = torch.tensor([0.0, 2.0]).reshape(1, 2, 1).repeat(1, 1, FEATURES)
        layer(x).gives(values["bias"].expand(1, 2, FEATURES), axes=OF_CONTEXT_VECTORS)

    def test_double_precision_is_kept(self, attempt, draw):
        """Parameters and tokens in float64 should give a result in float64."""
        values = {name: value.double() for name, value in norm_parameters(draw).items()}
        given(attempt, values, FEATURES)(draw.normal(*TEXTS, dtype=torch.float64)).agrees()

    @pytest.mark.conduct
    def test_the_tokens_are_left_as_they_are(self, attempt, draw):
        """The tokens should stay as they are."""
        given(attempt, norm_parameters(draw), FEATURES)(draw.normal(*TEXTS)).keeps_arguments()

    def test_gradients_reach_the_tokens_and_the_parameters(self, attempt, draw):
        """Gradients should flow to the tokens, to `weight` and to `bias`."""
        judge_gradients(attempt, draw, norm_parameters(draw), FEATURES)


def judge_gradients(attempt, draw, values, *sizes, atol=OF_SUMS):
    """Judge the gradients for the tokens and for all parameters."""
    layer = given(attempt, values, *sizes)
    called = layer(draw.normal(*TEXTS), training=False, cotangent=draw.normal(*TEXTS))
    called.gradients_agree(what=OF_TOKENS, axes=OF_CONTEXT_VECTORS, atol=atol)
    called.parameter_gradients_agree(*taken_by_name(layer, values), atol=atol)


@pytest.mark.exercise("gelu")
class TestGelu(KeepsNames, KeepsArguments, KeepsDoublePrecision):
    shapes = ((3, 4, 5),)

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, attempt, draw):
        """The result should have the shape and the dtype of the numbers."""
        attempt(draw.normal(3, 3)).has_shape(3, 3)

    @pytest.mark.weight(2)
    def test_the_results_for_known_numbers(self, attempt):
        """Whole numbers from -4 to 4 should give what the form with `tanh` gives."""
        x = torch.arange(-4.0, 5.0)
        attempt(x).gives(nn.functional.gelu(x, approximate="tanh"), axes=(N_("entry"),))

    def test_it_is_not_the_exact_form(self, attempt):
        """A thousand results for 2.5 should differ from 2.5 as much as with `tanh`."""
        # A thousand numbers near 2.5, each rounded at 2e-7.
        x = torch.full((1000,), 2.5)
        called = attempt(x)
        value = called.has_shape(1000)
        right = nn.functional.gelu(x, approximate="tanh")
        sums = [(one - x).sum() for one in (value, right)]
        attempt.judge(*sums, what=N_("the differences, added up"), atol=1e-2)

    def test_large_numbers_pass_and_give_no_nan(self, attempt):
        """100 should stay 100, and -100 become 0."""
        attempt(torch.tensor([-100.0, 100.0])).gives(torch.tensor([0.0, 100.0]))

    def test_gradients_reach_the_numbers(self, attempt, draw):
        """Gradients should flow to the numbers."""
        called = attempt(draw.normal(3, 4, std=1.5), cotangent=draw.normal(3, 4))
        called.gradients_agree(what="the gradient for the numbers")


@pytest.mark.exercise("FeedForward")
class TestFeedForward(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, attempt, draw):
        """It should be a module that keeps the shape: float32, (batch_size, num_tokens, features)."""
        values, inputs = network_parameters(draw, 4), (draw.normal(4, 4, 4), draw.normal(2, 5, 4))
        called = called_with(
            attempt, lambda x: given(attempt, values, 4)(x), inputs, [Part("gelu")], inputs[1]
        )
        called.has_shape(4, 4, 4)

    @pytest.mark.conduct
    def test_the_parameters_are_those_of_two_layers(self, attempt, judge, draw):
        """The parameters should be those of `c_fc` and `c_proj`, and no others."""
        values = network_parameters(draw)
        judge_names(attempt, given(attempt, values, FEATURES), values)

    @pytest.mark.weight(2)
    def test_what_the_network_makes_of_each_token(self, attempt, draw):
        """With given parameters, the result should be right."""
        layer = given(attempt, network_parameters(draw), FEATURES)
        layer(draw.normal(*TEXTS)).agrees(axes=OF_CONTEXT_VECTORS, atol=OF_SUMS)

    def test_the_bend_is_the_form_with_tanh(self, attempt):
        """Between the layers should stand `gelu` in its form with `tanh`."""
        # Each inner feature is 2.5; a thousand times its result, less what 2.5 itself would give.
        values = {
            "c_fc.weight": torch.ones(8, 2),
            "c_fc.bias": torch.zeros(8),
            "c_proj.weight": torch.full((2, 8), 125.0),
            "c_proj.bias": torch.full((2,), -2500.0),
        }
        x = torch.tensor([[[1.5, 1.0]]])
        # Results near 2500 are rounded at 2e-4.
        given(attempt, values, 2)(x).agrees(atol=1e-2)

    @pytest.mark.conduct
    def test_the_tokens_are_left_as_they_are(self, attempt, draw):
        """The tokens should stay as they are."""
        given(attempt, network_parameters(draw), FEATURES)(draw.normal(*TEXTS)).keeps_arguments()

    def test_gradients_reach_the_tokens_and_the_parameters(self, attempt, draw):
        """Gradients should flow to the tokens and to all parameters."""
        judge_gradients(attempt, draw, network_parameters(draw), FEATURES)


def by_torch(values, x):
    """What torch's own pre-norm layer gives with the parameters of a block."""
    layer = nn.TransformerEncoderLayer(
        *(
            FEATURES,
            NUM_HEADS,
            4 * FEATURES,
            0.0,
            lambda h: nn.functional.gelu(h, approximate="tanh"),
        ),
        batch_first=True,
        norm_first=True,
    )
    of_qkv = [f"attn.{name}" for name in ("W_query", "W_key", "W_value")]
    state = {
        "self_attn.in_proj_weight": torch.cat([values[f"{name}.weight"] for name in of_qkv]),
        "self_attn.in_proj_bias": torch.cat([values[f"{name}.bias"] for name in of_qkv]),
    }
    renamed = {
        "self_attn.out_proj": "attn.out_proj",
        "linear1": "mlp.c_fc",
        "linear2": "mlp.c_proj",
    }
    for theirs, own in {**renamed, "norm1": "ln_1", "norm2": "ln_2"}.items():
        state |= {f"{theirs}.{kind}": values[f"{own}.{kind}"] for kind in ("weight", "bias")}
    layer.load_state_dict(state)
    mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
    return layer.train()(x, src_mask=mask, is_causal=True).detach()


def has_one_switch(attempt):
    """Whether one setting decides about all biases of a block, those of queries and keys as well."""
    made = [call for call in attempt.student.calls if call.target == attempt.name]
    held = [value for call in made for value in call.kwargs.values() if isinstance(value, dict)]
    return any("bias" in value and "qkv_bias" not in value for value in held)


@pytest.mark.exercise("TransformerBlock")
class TestTransformerBlock(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, attempt, draw):
        """It should be a module that keeps the shape: float32, (batch_size, num_tokens, features)."""
        values, inputs = block_parameters(draw), (draw.normal(4, 4, FEATURES), draw.normal(*TEXTS))
        parts = [
            Part("LayerNorm", (FEATURES,), norm_parameters(draw)),
            attention_part(draw),
            Part("FeedForward", (FEATURES,), network_parameters(draw)),
        ]

        def call(x):
            return given(attempt, values, *BLOCK_SIZES)(x, training=False)

        called_with(attempt, call, inputs, parts, inputs[1]).has_shape(4, 4, FEATURES)

    @pytest.mark.conduct
    def test_the_parameters_are_those_of_four_parts(self, attempt, judge, draw):
        """The parameters should be those of `ln_1`, `attn`, `ln_2` and `mlp`, and no others."""
        values = block_parameters(draw)
        judge_names(attempt, given(attempt, values, *BLOCK_SIZES), values)

    @pytest.mark.conduct
    def test_there_are_no_biases_unless_asked_for(self, attempt, judge):
        """Unless `qkv_bias` is set, queries, keys and values should have no biases."""
        made = attempt.instance(*BLOCK_SIZES)
        found = sum(p.numel() for p in made.state.parameters.values())
        if has_one_switch(attempt):
            found -= 3 * FEATURES
        # Four square matrices and a bias; a network of twice that; two norms.
        numbers = 12 * FEATURES**2 + 10 * FEATURES
        if not 0 < found - numbers <= 3 * FEATURES:  # what else there is, or is not, has a check
            found = numbers
        if found != numbers:
            judge_own(attempt, "`MultiHeadAttention`", partial(has_as_many_numbers, attempt))
        judge(found, numbers, what=N_("how many numbers it learns"))

    @pytest.mark.weight(2)
    def test_the_result_for_given_parameters(self, attempt, draw):
        """With given parameters, the result should be right."""
        block = given(attempt, block_parameters(draw), *BLOCK_SIZES)
        block(draw.normal(*TEXTS), training=False).agrees(axes=OF_CONTEXT_VECTORS, atol=OF_BENDS)

    def test_the_result_is_that_of_torchs_own_layer(self, attempt, draw):
        """The result should be that of `nn.TransformerEncoderLayer` with `norm_first=True`."""
        values, x = block_parameters(draw, qkv_bias=True), draw.normal(*TEXTS)
        block = given(attempt, values, *BLOCK_SIZES, qkv_bias=True)
        with waiting_for_biases(attempt, draw):
            called = block(x, training=False)
            called.gives(by_torch(values, x), axes=OF_CONTEXT_VECTORS, atol=OF_BENDS)

    @pytest.mark.conduct
    def test_texts_may_be_as_long_as_the_context(self, attempt, draw):
        """A text should be allowed as many tokens as `context_length` says."""
        block = given(attempt, block_parameters(draw), FEATURES, LONG, NUM_HEADS)
        block(draw.normal(1, LONG, FEATURES), training=False).has_shape(1, LONG, FEATURES)

    def test_parts_that_find_nothing_change_nothing(self, attempt, draw):
        """Where both parts give zeros, the tokens should come back as they are."""
        values, x = block_parameters(draw), draw.normal(*TEXTS)
        ends = ("out_proj.weight", "out_proj.bias", "c_proj.weight", "c_proj.bias")
        values |= {k: torch.zeros_like(v) for k, v in values.items() if k.endswith(ends)}
        block = given(attempt, values, *BLOCK_SIZES)
        block(x, training=False).gives(x, axes=OF_CONTEXT_VECTORS, atol=OF_SUMS)

    def test_nothing_is_dropped(self, attempt, draw):
        """In training, too, nothing should be dropped."""
        block = given(attempt, block_parameters(draw), *BLOCK_SIZES)
        block(draw.normal(*TEXTS), training=True).agrees(axes=OF_CONTEXT_VECTORS, atol=OF_BENDS)

    @pytest.mark.conduct
    def test_the_tokens_are_left_as_they_are(self, attempt, draw):
        """The tokens should stay as they are."""
        block = given(attempt, block_parameters(draw), *BLOCK_SIZES)
        block(draw.normal(*TEXTS), training=False).keeps_arguments()

    def test_gradients_reach_the_tokens_and_the_parameters(self, attempt, draw):
        """Gradients should flow to the tokens and to all parameters."""
        judge_gradients(attempt, draw, block_parameters(draw), *BLOCK_SIZES, atol=OF_BENDS)


@pytest.mark.exercise("GPT")
class TestGPT(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_there_is_a_score_for_each_token_of_the_vocabulary(self, attempt, draw):
        """The result should be float32, of shape (batch_size, num_tokens, vocab_size)."""
        values, texts = gpt_parameters(draw), (tokens(draw, 4, 4), tokens(draw, 2, 5))
        parts = [
            Part("LayerNorm", (FEATURES,), norm_parameters(draw)),
            Part("TransformerBlock", BLOCK_SIZES, block_parameters(draw)),
        ]

        def call(text):
            return scored(given(attempt, values, *GPT_SIZES), text)

        called = called_with(attempt, call, texts, parts, draw.normal(*TEXTS))
        called.has_shape(4, 4, VOCAB_SIZE)

    @pytest.mark.remark
    def test_the_scores_come_back_alone(self, attempt, draw):
        """The scores of all tokens should come back, and nothing beside them."""
        model = given(attempt, gpt_parameters(draw), *GPT_SIZES)
        model(tokens(draw, 2, 5), training=False).has_shape(2, 5, VOCAB_SIZE)

    @pytest.mark.conduct
    def test_the_parameters_have_the_names_of_the_text(self, attempt, judge, draw):
        """The parameters should be those of `wte`, `wpe`, `h` and `ln_f`, each of them once."""
        values = gpt_parameters(draw)
        judge_names(attempt, given(attempt, values, *GPT_SIZES), values)

    @pytest.mark.weight(2)
    def test_the_scores_for_given_parameters(self, attempt, draw):
        """With given parameters, the scores should be right."""
        model = given(attempt, gpt_parameters(draw), *GPT_SIZES)
        scored(model, tokens(draw, 2, 5)).agrees(axes=OF_SCORES, atol=OF_BENDS)

    def test_biases_are_there_when_asked_for(self, attempt, judge, draw):
        """With `qkv_bias=True`, queries, keys and values should have biases in each block."""
        values = gpt_parameters(draw, qkv_bias=True)
        model = given(attempt, values, *GPT_SIZES, qkv_bias=True)
        loaded = dict.fromkeys(values, "loaded")
        problems = model.problems
        lacking = {name: problems[name] for name in problems if name in attempt.student.not_taken}
        with waiting_for_biases(attempt, draw):
            judge(loaded | lacking, loaded, what=FOUND_PARAMETERS)
            scored(model, tokens(draw, 2, 5)).agrees(axes=OF_SCORES, atol=OF_BENDS)

    @pytest.mark.conduct
    def test_the_numbers_at_gpt2_size(self, attempt, judge):
        """At GPT-2's size there should be 124,412,160 numbers; with biases, 124,439,808."""
        for qkv_bias, numbers in ((False, 124_412_160), (True, 124_439_808)):
            try:
                found = attempt.student.call("numbers_at_gpt2_size", qkv_bias).value
            except StudentOutcome as outcome:
                if outcome.failure.kind != "missing":  # the stub gives it
                    raise
                return
            if found == numbers + 50_257 * 768:  # a head of its own, which is judged elsewhere
                found = numbers
            if found != numbers:
                judge_own(attempt, "`MultiHeadAttention`", partial(has_as_many_numbers, attempt))
            judge(found, numbers, what=N_("how many numbers it learns"))

    @pytest.mark.conduct
    def test_the_future_does_not_leak(self, attempt, judge, draw):
        """Another fourth token should leave the first three rows of scores as they are."""
        values, texts = gpt_parameters(draw), tokens(draw, 1, 5)
        called = [
            scored(given(attempt, values, *GPT_SIZES), some)
            for some in (texts[:, :4], texts[:, [0, 1, 2, 4]])
        ]
        before, after = (each.has_shape(1, 4, VOCAB_SIZE) for each in called)
        judge(after[:, :3], before[:, :3], axes=OF_SCORES, atol=OF_SUMS)

    def test_gradients_reach_all_parameters(self, attempt, draw):
        """Gradients should flow to all parameters."""
        model, values, called = self.differentiated(attempt, draw)
        called.parameter_gradients_agree(*learned_beside_a_head(model, values), atol=OF_GRADIENTS)

    def test_the_head_is_tied_to_wte(self, attempt, judge, draw):
        """Gradients should flow to `wte` from both sides: it is also the matrix of the head."""
        model, _values, called = self.differentiated(attempt, draw)
        learned = called.answer.gradients.parameters
        # A bias, or a matrix that nothing is multiplied by, leaves the head tied.
        heads = heads_of_their_own(model)
        names = [n for n in heads if learned.get(n) is not None and learned[n].dim() == 2]
        template = N_("The head has parameters of its own beside `wte`: {names}")
        judge.that(not names, judge.words(template, names=names), about=bool(names))
        called.parameter_gradients_agree("wte.weight", atol=OF_GRADIENTS)

    def differentiated(self, attempt, draw):
        """A model, its parameters, and a call with gradients."""
        values, cotangent = gpt_parameters(draw), draw.normal(2, 5, VOCAB_SIZE)
        model = given(attempt, values, *GPT_SIZES)
        return model, values, scored(model, tokens(draw, 2, 5), cotangent=cotangent)

    @pytest.mark.conduct
    def test_texts_may_be_as_long_as_the_context(self, attempt, draw):
        """A text should be allowed as many tokens as `context_length` says."""
        sizes = (VOCAB_SIZE, LONG, *GPT_SIZES[2:])
        model = given(attempt, gpt_parameters(draw, sizes), *sizes)
        texts = torch.arange(LONG).reshape(1, LONG) % VOCAB_SIZE
        scored(model, texts).has_shape(1, LONG, VOCAB_SIZE)


class OfStates(KeepsNames):
    """Checks of a function of a state in GPT-2's format."""

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_dictionary(self, attempt, judge, draw):
        """It should be a dictionary."""
        called = attempt(drawn_state(draw, 4, 1))
        judge.that(isinstance(called.value, dict), "It is no dictionary", about=called.value)

    @pytest.mark.conduct
    def test_its_names_are_right(self, attempt, judge, draw):
        """It should be a dictionary that has the names of the docstring, and no others."""
        called = attempt(drawn_state(draw, 4, 1))
        named = (dict.fromkeys(names, "there") for names in (called.value, called.expected))
        judge(*named, what="its names")

    @pytest.mark.conduct
    def test_the_state_is_left_as_it_is(self, attempt, draw):
        """The state should stay as it is."""
        attempt(drawn_state(draw, 4, 1)).keeps_arguments()


@pytest.mark.exercise("turn_layers")
class TestTurnLayers(OfStates):
    test_it_is_a_dictionary = OfStates.test_it_is_a_dictionary

    @pytest.mark.weight(2)
    def test_the_matrices_of_the_network_are_turned(self, attempt, draw):
        """`c_fc` and `c_proj` of the network should get their weights turned."""
        judge_state(attempt, drawn_state(draw, 4, 1), "mlp")

    def test_the_matrix_of_queries_keys_and_values_is_turned(self, attempt, draw):
        """`c_attn` should get its weight turned."""
        judge_state(attempt, drawn_state(draw, 4, 1), "c_attn")

    @pytest.mark.weight(2)
    def test_the_square_matrix_is_turned_too(self, attempt, draw):
        """`c_proj` of the attention should get its weight turned, though it is square."""
        judge_state(attempt, drawn_state(draw, 4, 1), "attn.c_proj")

    @pytest.mark.conduct
    def test_what_is_no_layer_stays(self, attempt, draw):
        """Embeddings and norms should stay as they are."""
        state = drawn_state(draw, 4, 2)
        judge_state(attempt, state, "wte", "wpe", "ln_1", "ln_2", "ln_f")

    def test_each_block_has_its_own(self, attempt, draw):
        """Each block should get its own tensors."""
        judge_state(attempt, drawn_state(draw, 4, 2), "h.1.")


@pytest.mark.exercise("from_gpt2")
class TestFromGPT2(OfStates):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_dictionary(self, attempt, judge, draw):
        """It should be a dictionary."""
        state = drawn_state(draw, 4, 2)
        right = attempt.reference.call("turn_layers", state).value

        def judge_parts():
            own = attempt.beside("turn_layers")
            judge_own(attempt, "`turn_layers`", lambda: are_close(own(state).value, right), "")

        def is_right(called):
            return are_close(called.value, called.expected)

        called = called_unless_waiting(lambda: attempt(state), judge_parts, is_right)
        judge.that(isinstance(called.value, dict), "It is no dictionary", about=called.value)

    @pytest.mark.weight(2)
    def test_queries_keys_and_values_are_cut_from_c_attn(self, attempt, draw):
        """Queries, keys and values should get their part of `c_attn`, turned."""
        judge_state(attempt, drawn_state(draw, 4, 1), "attn.W_")

    def test_each_block_has_its_own(self, attempt, draw):
        """Each block should get its own tensors."""
        judge_state(attempt, drawn_state(draw, 4, 2), "h.1.attn.W_")

    @pytest.mark.conduct
    def test_the_rest_comes_along(self, attempt, draw):
        """All else should come along, by the names of your model."""
        judge_state(attempt, drawn_state(draw, 4, 1), "out_proj", "mlp", "ln_", "wte", "wpe")
