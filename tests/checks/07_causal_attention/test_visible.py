"""What students see of assignment 07: the documents' batch, and what the module must hold to."""

import pytest
import torch

from grader.testing import N_, RemoteObject
from grader.testing.mixins import KeepsNames

from ..helpers import (
    HidesTheFuture,
    StepsWrittenOut,
    judge_each_weight,
    judge_kept,
    judge_start,
)
from .helpers import (
    AXES,
    DRAWS,
    NAMES,
    alike,
    drawn,
    judge_dropped,
    judge_vectors,
    judge_whole_values,
    made,
    of_step_before,
    step_before,
)


def batch_of_the_text(printed):
    """The documents' batch: the six tokens twice."""
    return torch.stack([printed("T45").tensor] * 2)


def given(attempt, weights, *arguments):
    """An instance with given parameters, having judged that it has them."""

    def judge_given(problems):
        attempt.judge(problems, {}, what="the parameters found")

    return made(attempt, weights, *arguments, on_made=judge_given)


def look_up_weights(draw, num_tokens):
    """Parameters with which context vectors are the attention weights, for `torch.eye` tokens."""
    weights = drawn(draw, num_tokens, num_tokens)
    return {**weights, "W_value.weight": torch.eye(num_tokens)}


def plain_weights(layer, x):
    """The weights, nothing dropped: the solution's, or those of the student's own step before."""
    called = layer(x[:1], training=False)
    own = of_step_before(called)
    return called.expected[0] if own is None else own[0]


def own_names(state):
    """The names of the parameters, each once, and of what stands around them the last."""
    second = {name for group in state.aliases for name in group[1:]}
    first = [name for name in state.parameters if name not in second]
    return sorted(".".join(name.split(".")[-2:]) for name in first)


def start_alike(*states):
    """Whether two layers have the same first parameter."""
    first, second = (next(iter(state.parameters.values()), None) for state in states)
    return alike(first, second)


@pytest.mark.exercise("stack_batch")
@pytest.mark.guessable("A batch of copies of the first argument is that argument again.")
class TestStackBatch(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_a_batch_has_three_axes(self, attempt, printed):
        """Two copies of six tokens of size three should be float32, of shape (2, 6, 3)."""
        attempt(printed("T45"), 2).has_shape(2, 6, 3)

    @pytest.mark.weight(2)
    def test_each_entry_is_the_text(self, attempt, printed):
        """Each entry of the batch should be the text."""
        attempt(printed("T45"), 2).gives(batch_of_the_text(printed), axes=AXES)
        # Thirds have more digits than are printed.
        attempt(torch.full((6, 3), 1 / 3), 2).gives(torch.full((2, 6, 3), 1 / 3), axes=AXES)

    def test_four_copies(self, attempt, printed):
        """The batch should have as many entries as copies are asked for."""
        attempt(printed("T45"), 4).agrees(axes=AXES)


class Step(StepsWrittenOut, KeepsNames):
    """What all three classes hold to; `rest(context_length)` are the arguments after `d_out`."""

    def rest(self, context_length):
        """The arguments of the last class: those after `d_out`, but for the bias."""
        return context_length, 0.0

    def layer(self, attempt, seed=1):
        """A new layer."""
        return attempt.instance(3, 5, *self.rest(4), seed=seed)

    def shown(self, attempt):
        """A layer and a text: for the first token, one of the later ones has by far the largest score."""
        tokens = torch.tensor([1.0, 2.0, -3.0, 1.0])[:, None].repeat(1, 1, 3)
        return attempt.instance(3, 2, *self.rest(4)), tokens

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_a_batch_gives_a_batch(self, attempt, judge):
        """Four texts of four tokens of size four should give 4 times 4 float32 vectors."""
        layer = attempt.instance(4, 4, *self.rest(4), seed=1)
        is_module = isinstance(layer.own, RemoteObject) and layer.own.kind == "module"
        template = N_("{name} does not make an instance of an nn.Module")
        judge.that(is_module, judge.words(template, name=attempt.name))
        layer(torch.eye(4).repeat(4, 1, 1), training=False).has_shape(4, 4, 4)

    def test_all_sizes_the_same(self, attempt, draw):
        """Axes should not be mixed up where all sizes are equal, and no shape tells them apart."""
        layer = given(attempt, drawn(draw, 4, 4), *self.rest(4))
        judge_vectors(layer(draw.normal(4, 4, 4), training=False))

    @pytest.mark.conduct
    def test_without_qkv_bias_there_are_three_parameters(self, attempt, judge, draw):
        """Without `qkv_bias`, the three weights should be the only parameters."""
        layer, weights = self.layer(attempt), drawn(draw, 3, 5)
        names, right = own_names(layer.state), sorted(f"{name}.weight" for name in NAMES)
        before = step_before(layer) if names != right else None
        if before is not None and own_names(before.state) == names:
            return
        report = attempt.student.load(layer.own, weights).by_name
        what = N_("each parameter, looked for by its name")
        judge(report, dict.fromkeys(weights, "loaded"), what=what)
        more = [name for name in names if name.removesuffix(".weight") not in NAMES]
        template = N_("There are parameters that should not be there: {names}")
        judge.that(not more, judge.words(template, names=more), about=names)
        judge(names, right, what="the parameters")

    def test_with_qkv_bias_the_biases_count(self, attempt, draw):
        """With `qkv_bias`, queries, keys and values should have a bias that counts."""
        values = drawn(draw, 3, 5) | {f"{name}.bias": draw.normal(5) for name in NAMES}
        layer = given(attempt, values, *self.rest(4), True)
        judge_vectors(layer(draw.normal(2, 4, 3), training=False))

    @pytest.mark.conduct
    def test_each_instance_draws_its_own_weights(self, attempt):
        """Two instances should start with different weights."""
        made = (self.layer(attempt, seed) for seed in (1, 2))
        layers, states = zip(*((layer, layer.state) for layer in made), strict=True)
        before = [step_before(layer) for layer in layers] if start_alike(*states) else [None]
        if None in before or not start_alike(*(layer.state for layer in before)):
            judge_start(attempt, *states)

    @pytest.mark.weight(2)
    def test_gradients_reach_everything(self, attempt, judge, draw):
        """Gradients should flow to all three weights and to the tokens."""
        weights = drawn(draw, 5, 3)
        x, cotangent = draw.normal(2, 4, 5), draw.normal(2, 4, 3)
        layer = given(attempt, weights, *self.rest(4))
        called = layer(x, training=False, cotangent=cotangent)
        if of_step_before(called) is None:
            called.parameter_gradients_agree(*weights, axes=("row", "column"))
            called.gradients_agree(what="the gradient for the tokens", axes=AXES)
            return
        template, missing = N_("No gradient reaches {names}"), [N_("the tokens")]
        is_there = called.answer.gradients.arguments["0"] is not None
        judge.that(is_there, judge.words(template, names=missing), about=missing)

    def test_double_precision_is_kept(self, attempt, draw):
        """Parameters and tokens in float64 should give context vectors in float64."""
        layer = given(attempt, drawn(draw, 5, 3, torch.float64), *self.rest(4))
        judge_vectors(layer(draw.normal(2, 4, 5).double(), training=False))

    @pytest.mark.conduct
    def test_the_tokens_are_left_as_they_are(self, attempt, draw):
        """Texts should stay as they are, and give the same after a call with another one."""
        weights = drawn(draw, 5, 3)
        used, fresh = (made(attempt, weights, *self.rest(7)) for _ in range(2))
        used(draw.normal(2, 4, 5), training=False, seed=1).keeps_arguments()
        x = draw.normal(3, 7, 5)
        expected = fresh(x, training=False, seed=1).value
        called = used(x, training=False, seed=1)
        called.gives(expected, what="the second result", axes=AXES)


@pytest.mark.exercise("BatchAttention")
class TestBatchAttention(Step):
    def rest(self, context_length):
        """None: it has no mask and drops nothing."""
        return ()

    @pytest.mark.weight(2)
    def test_each_text_of_a_batch(self, attempt, draw):
        """With given parameters, each text of a batch should give the right vectors."""
        weights = drawn(draw, 3, 5)
        for batch_size in (2, 1):
            layer = given(attempt, weights)
            judge_vectors(layer(draw.normal(batch_size, 4, 3), training=False))

    test_all_sizes_the_same = Step.test_all_sizes_the_same

    def test_each_text_gives_what_is_printed_for_it(self, attempt, printed):
        """With seed 789 each of two copies should give what `SelfAttention_v2` gave: the example's.

        This depends on the order in which the layers are created: query, key, value.
        """
        right, layer = printed("T17"), attempt.instance(3, 2, seed=789, exact=True)
        called = layer(batch_of_the_text(printed), training=False)
        own = of_step_before(called)
        expected = torch.stack([right.tensor] * 2) if own is None else own
        called.gives(expected, atol=right.atol, axes=AXES)


class MaskedStep(Step, HidesTheFuture):
    """What both classes with a mask hold to."""

    d_in, context_length = 3, 4

    def of_two(self, attempt, values):
        """A layer for two tokens of two features."""
        return made(attempt, values, *self.rest(2))

    @pytest.mark.weight(2)
    def test_texts_as_long_as_the_context(self, attempt, draw):
        """With given parameters, texts of `context_length` tokens should give the right vectors."""
        layer = given(attempt, drawn(draw, 3, 5), *self.rest(4))
        judge_vectors(layer(draw.normal(2, 4, 3), training=False))

    @pytest.mark.weight(2)
    def test_texts_shorter_than_the_context(self, attempt, draw):
        """With given parameters, shorter texts should give the right vectors, a single one too."""
        weights = drawn(draw, 3, 5)
        for batch_size in (2, 1):
            layer = given(attempt, weights, *self.rest(7))
            judge_vectors(layer(draw.normal(batch_size, 4, 3), training=False))

    def test_the_context_vectors_of_the_batch_as_printed(self, attempt, printed):
        """With seed 123 the context vectors should be the example's.

        This depends on the order in which the layers are created: query, key, value.
        """
        layer = attempt.instance(3, 2, *self.rest(6), seed=123, exact=True)
        called, right = layer(batch_of_the_text(printed), training=False), printed("T25")
        own = of_step_before(called)
        called.gives(right if own is None else own, axes=AXES)

    @pytest.mark.conduct
    def test_the_future_does_not_leak(self, attempt, judge, draw):
        """Context vectors should not change when later tokens do."""
        weights, x = drawn(draw, 3, 5), draw.normal(2, 4, 3)
        changed = torch.cat([x[:, :2], draw.normal(2, 2, 3)], dim=1)
        # An instance for each text: what depends on earlier calls is judged elsewhere.
        layers = (made(attempt, weights, *self.rest(4)) for _ in range(2))
        texts = zip(layers, (x, changed), strict=True)
        called = [layer(text, training=False) for layer, text in texts]
        one, other = (each.has_shape(2, 4, 5) for each in called)
        what = N_("the context vectors of the first two tokens, with other tokens after them")
        if of_step_before(called[0]) is None:
            judge(other[:, :2], one[:, :2], what=what, axes=AXES)

    def test_the_first_token_has_only_itself(self, attempt, judge, draw):
        """The context vector of the first token should be its own value."""
        weights = drawn(draw, 3, 5)
        # Among them a token of zeros, whose score is zero.
        for x in (draw.normal(2, 4, 3), torch.zeros(2, 4, 3)):
            called = made(attempt, weights, *self.rest(4))(x, training=False)
            value = called.has_shape(2, 4, 5)
            own = of_step_before(called)
            expected = x[:, 0] @ weights["W_value.weight"].T if own is None else own[:, 0]
            what = N_("the context vector of the first token")
            judge(value[:, 0], expected, what=what, axes=("batch entry", "feature"))

    @pytest.mark.conduct
    def test_tensors_belong_to_the_module(self, attempt):
        """A tensor that the module keeps, such as the mask, should be a parameter or a buffer.

        Only then does it move along with the module.
        """
        layer, x = self.layer(attempt), torch.ones(1, 4, 3)
        what = N_("tensors and layers in plain attributes")
        kept = layer.state.kept
        before = step_before(layer) if kept else None
        if before is None or before.state.kept != kept:
            judge_kept(layer, x, what)


@pytest.mark.exercise("MaskedAttention")
class TestMaskedAttention(MaskedStep):
    def rest(self, context_length):
        """Its context length."""
        return (context_length,)

    test_texts_as_long_as_the_context = MaskedStep.test_texts_as_long_as_the_context
    test_texts_shorter_than_the_context = MaskedStep.test_texts_shorter_than_the_context


@pytest.mark.exercise("CausalAttention")
class TestCausalAttention(MaskedStep):
    test_texts_as_long_as_the_context = MaskedStep.test_texts_as_long_as_the_context
    test_texts_shorter_than_the_context = MaskedStep.test_texts_shorter_than_the_context
    test_the_context_vectors_of_the_batch_as_printed = (
        MaskedStep.test_the_context_vectors_of_the_batch_as_printed
    )
    test_all_sizes_the_same = Step.test_all_sizes_the_same
    test_the_future_does_not_leak = MaskedStep.test_the_future_does_not_leak
    test_the_first_token_has_only_itself = MaskedStep.test_the_first_token_has_only_itself
    test_without_qkv_bias_there_are_three_parameters = (
        Step.test_without_qkv_bias_there_are_three_parameters
    )
    test_with_qkv_bias_the_biases_count = Step.test_with_qkv_bias_the_biases_count

    @pytest.mark.weight(3)
    def test_training_drops_weights(self, attempt, judge, draw):
        """In training, each weight should be either dropped or kept and scaled by 1 / (1 - p)."""
        layer, x = made(attempt, look_up_weights(draw, 4), 4, 0.4), torch.eye(4).repeat(DRAWS, 1, 1)
        value = layer(x, training=True, seed=1).has_shape(DRAWS, 4, 4)
        judge_dropped(judge, value, plain_weights(layer, x), 0.6)
        judge_each_weight(judge, value == 0)
        again = layer(x, training=True, seed=2).value
        sentence = N_("Two seeds drop the same weights: does `forward` set the seed itself?")
        judge.that(not torch.equal(again, value), sentence)
        judge.that(layer.state.training, "A call in training mode ends in eval mode")

    def test_outside_of_training_nothing_is_dropped(self, attempt, judge, draw):
        """In eval mode, all weights should be kept as they are."""
        layer, x = made(attempt, look_up_weights(draw, 4), 4, 0.4), torch.eye(4).repeat(DRAWS, 1, 1)
        called = layer(x, training=False, seed=1)
        judge.that(not layer.state.training, "A call in eval mode ends in training mode")
        value, plain = called.has_shape(DRAWS, 4, 4), plain_weights(layer, x)
        axes = (N_("query"), N_("key"))
        judge(value.amax(dim=0), plain, what="the largest weights of many calls", axes=axes)
        judge(value.amin(dim=0), plain, what="the smallest weights of many calls", axes=axes)

    @pytest.mark.conduct
    def test_weights_are_dropped_and_not_features(self, attempt, judge, draw):
        """In training, a dropped weight should take out the whole value, not some features."""
        weights = look_up_weights(draw, 4)
        weights["W_value.weight"] = torch.tensor([[1.0, 2.0, 3.0, 4.0]]).repeat(4, 1)
        x = torch.eye(4).repeat(DRAWS, 1, 1)
        called = made(attempt, weights, 4, 0.4)(x, training=True, seed=1)
        judge_whole_values(judge, called.has_shape(DRAWS, 4, 4))

    test_tensors_belong_to_the_module = MaskedStep.test_tensors_belong_to_the_module
    test_each_instance_draws_its_own_weights = Step.test_each_instance_draws_its_own_weights

    @pytest.mark.remark
    def test_the_dropout_layer_has_the_documents_name(self, attempt, judge):
        """The dropout layer should be called `dropout`."""
        parts = self.layer(attempt).state.modules
        found = sorted(name for name, kind in parts.items() if kind == "Dropout")
        sentence = N_("There is no layer `dropout`")
        if found:
            template = N_("There is no layer `dropout`; your `nn.Dropout` is called {names}")
            sentence = judge.words(template, names=found)
        judge.that("dropout" in {name.rpartition(".")[2] for name in parts}, sentence)

    @pytest.mark.remark
    def test_a_text_that_is_too_long_is_refused_with_a_reason(self, attempt, judge):
        """A text longer than `context_length` should be refused with a ValueError that says so."""
        layer = attempt.instance(3, 2, 4, 0.0, seed=1)
        failure = layer.refusal(torch.ones(1, 5, 3), training=False)
        kinds = () if failure is None else (failure.type, *failure.bases)
        judge.that("ValueError" in kinds, "Five tokens for a context length of 4: no ValueError")
