"""What students see of assignment 07: the documents' batch, and what the module must hold to."""

import pytest
import torch

from grader.testing import N_, RemoteObject

NAMES = ("W_query", "W_key", "W_value")

DRAWS = 512
"""Copies of one text in a batch: enough that each way of dropping the weights of a row occurs."""


def batch_of_the_text(printed):
    """The documents' batch: the six tokens twice."""
    return torch.stack([printed("T45").tensor] * 2)


def given_weights(draw, d_in, d_out, dtype=torch.float32):
    """Values for the three linear layers."""
    return {f"{name}.weight": draw.normal(d_out, d_in, dtype=dtype) for name in NAMES}


def with_weights(handle, weights, context_length, dropout=0.0, biases=None):
    """An instance with given parameters, and the names that were not found on it.

    A bias that should not be there is set to zero: it is judged in a check of its own.
    """
    d_out, d_in = weights["W_query.weight"].shape
    arguments = (d_in, d_out, context_length, dropout, *([True] if biases else []))
    instance = handle.call("CausalAttention", *arguments, seed=1).value
    zeros = torch.zeros(d_out, dtype=weights["W_query.weight"].dtype)
    handle.load(instance, {f"{name}.bias": zeros for name in NAMES})
    loaded = handle.load(instance, {**weights, **(biases or {})})
    return instance, loaded.problems


def pair(student, reference, judge, weights, context_length):
    """The student's instance and the reference's, given the same parameters."""
    mine, problems = with_weights(student, weights, context_length)
    judge(problems, {}, what="the parameters found")
    right, _ = with_weights(reference, weights, context_length)
    return mine, right


def look_up_weights(draw, num_tokens):
    """Parameters with which context vectors are the attention weights, for `torch.eye` tokens."""
    weights = given_weights(draw, num_tokens, num_tokens)
    return {**weights, "W_value.weight": torch.eye(num_tokens)}


def gradient(gradients, name):
    """A parameter's gradient, also where the parameter's name has something in front."""
    found = [g for known, g in gradients.parameters.items() if f".{known}".endswith(f".{name}")]
    return found[0] if found else None


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


@pytest.mark.exercise("stack_batch")
@pytest.mark.guessable("A batch of copies of the first argument is that argument again.")
class TestStackBatch(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_a_batch_has_three_axes(self, student, judge, printed):
        """Two copies of six tokens of size three should be float32, of shape (2, 6, 3)."""
        value = student.call("stack_batch", printed("T45").tensor, 2).value
        judge.shape(value, (2, 6, 3))

    @pytest.mark.weight(2)
    def test_each_entry_is_the_text(self, student, judge, printed):
        """Each entry of the batch should be the text."""
        value = student.call("stack_batch", printed("T45").tensor, 2).value
        judge(value, batch_of_the_text(printed), axes=("batch entry", "token", "feature"))
        # Thirds have more digits than are printed.
        value = student.call("stack_batch", torch.full((6, 3), 1 / 3), 2).value
        judge(value, torch.full((2, 6, 3), 1 / 3), axes=("batch entry", "token", "feature"))

    def test_four_copies(self, student, reference, judge, printed):
        """The batch should have as many entries as copies are asked for."""
        value = student.call("stack_batch", printed("T45").tensor, 4).value
        expected = reference.call("stack_batch", printed("T45").tensor, 4).value
        judge(value, expected, axes=("batch entry", "token", "feature"))


@pytest.mark.exercise("CausalAttention")
class TestCausalAttention(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_a_batch_gives_a_batch(self, student, judge):
        """Four texts of four tokens of size four should give 4 times 4 float32 vectors."""
        attention = student.call("CausalAttention", 4, 4, 4, 0.0, seed=1).value
        is_module = isinstance(attention, RemoteObject) and attention.kind == "module"
        judge.that(is_module, "CausalAttention does not make an instance of an nn.Module")
        value = student.call(attention, torch.eye(4).repeat(4, 1, 1), training=False).value
        judge.shape(value, (4, 4, 4))

    @pytest.mark.weight(2)
    def test_texts_as_long_as_the_context(self, student, reference, judge, draw):
        """With given parameters, texts of `context_length` tokens should give the right vectors."""
        mine, right = pair(student, reference, judge, given_weights(draw, 3, 5), 4)
        x = draw.normal(2, 4, 3)
        expected = reference.call(right, x, training=False).value
        value = student.call(mine, x, training=False).value
        judge(value, expected, axes=("batch entry", "token", "feature"))

    @pytest.mark.weight(2)
    def test_texts_shorter_than_the_context(self, student, reference, judge, draw):
        """With given parameters, shorter texts should give the right vectors, a single one too."""
        weights = given_weights(draw, 3, 5)
        for batch_size in (2, 1):
            mine, right = pair(student, reference, judge, weights, 7)
            x = draw.normal(batch_size, 4, 3)
            expected = reference.call(right, x, training=False).value
            value = student.call(mine, x, training=False).value
            judge(value, expected, axes=("batch entry", "token", "feature"))

    def test_the_context_vectors_of_the_batch_as_printed(self, student, judge, printed):
        """With seed 123 the context vectors should be the example's.

        This depends on the order in which the layers are created: query, key, value.
        """
        attention = student.call("CausalAttention", 3, 2, 6, 0.0, seed=123, exact=True).value
        value = student.call(attention, batch_of_the_text(printed), training=False).value
        judge(value, printed("T25"), axes=("batch entry", "token", "feature"))

    def test_all_sizes_the_same(self, student, reference, judge, draw):
        """Axes should not be mixed up where all sizes are equal, and no shape tells them apart."""
        mine, right = pair(student, reference, judge, given_weights(draw, 4, 4), 4)
        x = draw.normal(4, 4, 4)
        expected = reference.call(right, x, training=False).value
        value = student.call(mine, x, training=False).value
        judge(value, expected, axes=("batch entry", "token", "feature"))

    @pytest.mark.conduct
    def test_the_future_does_not_leak(self, student, judge, draw):
        """Context vectors should not change when later tokens do."""
        weights, x = given_weights(draw, 3, 5), draw.normal(2, 4, 3)
        changed = torch.cat([x[:, :2], draw.normal(2, 2, 3)], dim=1)
        # An instance for each text: what depends on earlier calls is judged elsewhere.
        one, other = (
            student.call(with_weights(student, weights, 4)[0], text, training=False).value
            for text in (x, changed)
        )
        judge.shape(one, (2, 4, 5))
        judge.shape(other, (2, 4, 5))
        what = N_("the context vectors of the first two tokens, with other tokens after them")
        judge(other[:, :2], one[:, :2], what=what, axes=("batch entry", "token", "feature"))

    def test_the_first_token_has_only_itself(self, student, judge, draw):
        """The context vector of the first token should be its own value."""
        weights = given_weights(draw, 3, 5)
        # Among them a token of zeros, whose score is zero.
        for x in (draw.normal(2, 4, 3), torch.zeros(2, 4, 3)):
            mine, _ = with_weights(student, weights, 4)
            value = student.call(mine, x, training=False).value
            judge.shape(value, (2, 4, 5))
            expected = x[:, 0] @ weights["W_value.weight"].T
            what = N_("the context vector of the first token")
            judge(value[:, 0], expected, what=what, axes=("batch entry", "feature"))

    @pytest.mark.conduct
    def test_without_qkv_bias_there_are_three_parameters(self, student, judge, draw):
        """Without `qkv_bias`, the three weights should be the only parameters."""
        attention = student.call("CausalAttention", 3, 5, 4, 0.0, seed=1).value
        weights = given_weights(draw, 3, 5)
        report = student.load(attention, weights).by_name
        what = N_("each parameter, looked for by its name")
        judge(report, dict.fromkeys(weights, "loaded"), what=what)
        state = student.state(attention)
        second = {name for group in state.aliases for name in group[1:]}
        first = [name for name in state.parameters if name not in second]
        names = sorted(".".join(name.split(".")[-2:]) for name in first)
        more = [name for name in names if name.removesuffix(".weight") not in NAMES]
        template = N_("There are parameters that should not be there: {names}")
        judge.that(not more, judge.words(template, names=more), about=names)
        judge(names, sorted(f"{name}.weight" for name in NAMES), what="the parameters")

    def test_with_qkv_bias_the_biases_count(self, student, reference, judge, draw):
        """With `qkv_bias`, queries, keys and values should have a bias that counts."""
        weights = given_weights(draw, 3, 5)
        biases = {f"{name}.bias": draw.normal(5) for name in NAMES}
        mine, problems = with_weights(student, weights, 4, biases=biases)
        judge(problems, {}, what="the parameters found")
        right, _ = with_weights(reference, weights, 4, biases=biases)
        x = draw.normal(2, 4, 3)
        expected = reference.call(right, x, training=False).value
        value = student.call(mine, x, training=False).value
        judge(value, expected, axes=("batch entry", "token", "feature"))

    @pytest.mark.weight(2)
    def test_training_drops_weights(self, student, reference, judge, draw):
        """In training, each weight should be either dropped or kept and scaled by 1 / (1 - p)."""
        weights = look_up_weights(draw, 4)
        right, _ = with_weights(reference, weights, 4)
        x = torch.eye(4).repeat(DRAWS, 1, 1)
        plain = reference.call(right, x[:1], training=False).value[0]
        mine, _ = with_weights(student, weights, 4, dropout=0.4)
        value = student.call(mine, x, training=True, seed=1).value
        judge.shape(value, (DRAWS, 4, 4))
        # The largest and the smallest of many draws are the same for every draw.
        axes = (N_("query"), N_("key"))
        judge(value.amax(dim=0), plain / 0.6, what="the weights where they are kept", axes=axes)
        judge(value.amin(dim=0), torch.zeros(4, 4), what="the weights where dropped", axes=axes)
        is_either = (value == 0) | ((value - plain / 0.6).abs() < 1e-5)
        judge.that(bool(is_either.all()), "Some weights are neither dropped nor kept and scaled")
        again = student.call(mine, x, training=True, seed=2).value
        sentence = N_("Two seeds drop the same weights: does `forward` set the seed itself?")
        judge.that(not torch.equal(again, value), sentence)
        is_training = student.state(mine).training
        judge.that(is_training, "A call in training mode ends in eval mode")

    def test_outside_of_training_nothing_is_dropped(self, student, reference, judge, draw):
        """In eval mode, all weights should be kept as they are."""
        weights = look_up_weights(draw, 4)
        right, _ = with_weights(reference, weights, 4)
        x = torch.eye(4).repeat(DRAWS, 1, 1)
        plain = reference.call(right, x[:1], training=False).value[0]
        mine, _ = with_weights(student, weights, 4, dropout=0.4)
        value = student.call(mine, x, training=False, seed=1).value
        judge.that(not student.state(mine).training, "A call in eval mode ends in training mode")
        judge.shape(value, (DRAWS, 4, 4))
        axes = (N_("query"), N_("key"))
        judge(value.amax(dim=0), plain, what="the largest weights of many calls", axes=axes)
        judge(value.amin(dim=0), plain, what="the smallest weights of many calls", axes=axes)

    @pytest.mark.conduct
    def test_weights_are_dropped_and_not_features(self, student, judge, draw):
        """In training, a dropped weight should take out the whole value, not some features."""
        weights = look_up_weights(draw, 4)
        same_features = torch.tensor([[1.0, 2.0, 3.0, 4.0]]).repeat(4, 1)
        mine, _ = with_weights(student, {**weights, "W_value.weight": same_features}, 4, 0.4)
        value = student.call(mine, torch.eye(4).repeat(DRAWS, 1, 1), training=True, seed=1).value
        judge.shape(value, (DRAWS, 4, 4))
        value = value.detach()
        # The largest of many draws is the same for every draw; 1e-4 is float32 noise around 10.
        spread = (value.amax(dim=-1) - value.amin(dim=-1)).amax(dim=0)
        what = N_(
            "how far the features of a context vector are apart, with equal features in all values"
        )
        judge(spread, torch.zeros(4), what=what, atol=1e-4, axes=("token",))

    @pytest.mark.conduct
    def test_tensors_belong_to_the_module(self, student, judge):
        """A tensor that the module keeps, such as the mask, should be a parameter or a buffer.

        Only then does it move along with the module.
        """
        attention = student.call("CausalAttention", 3, 5, 4, 0.0, seed=1).value
        # What `forward` keeps counts as well, unless each call sets it anew; whether it raises is
        # judged elsewhere.
        for _call in range(2):
            student.refusal(attention, torch.ones(1, 4, 3), training=False)
        kept = student.state(attention).kept
        judge(kept, {}, what="tensors and layers in plain attributes")

    @pytest.mark.conduct
    def test_each_instance_draws_its_own_weights(self, student, judge):
        """Two instances should start with different weights."""
        made = [student.call("CausalAttention", 3, 5, 4, 0.0, seed=seed).value for seed in (1, 2)]
        first, second = (student.state(instance).parameters for instance in made)
        names = [name for name, tensor in first.items() if tensor.dim() == 2]
        same = bool(names) and all(torch.equal(first[n], second[n]) for n in names if n in second)
        judge.that(not same, "Two instances start alike: does the class set the seed itself?")

    @pytest.mark.remark
    def test_the_mask_is_a_buffer_of_the_documents_name_and_size(self, student, judge):
        """There should be a buffer `mask` of shape `(context_length, context_length)`."""
        buffers = student.state(student.call("CausalAttention", 3, 5, 4, 0.0, seed=1).value).buffers
        shapes = {name.rpartition(".")[2]: tuple(mask.shape) for name, mask in buffers.items()}
        sentence = N_("There is no buffer `mask`")
        if shapes:
            template = N_("There is no buffer `mask`; your buffers are called {names}")
            sentence = judge.words(template, names=sorted(shapes))
        judge.that("mask" in shapes, sentence)
        template = N_("The mask has the shape {shape}, not {expected}")
        expected = (4, 4)
        sentence = judge.words(template, shape=str(shapes["mask"]), expected=str(expected))
        judge.that(shapes["mask"] == expected, sentence)
        attention, x = (
            student.call("CausalAttention", 3, 5, 4, 0.0, seed=1).value,
            torch.ones(1, 2, 3),
        )
        if student.refusal(attention, x, training=False) is not None:
            return
        used = student.call(attention, x, training=False, operations=True).operations
        sentence = N_("`forward` makes a mask anew: what is the buffer for?")
        judge.that(not {"triu", "tril"} & used.keys(), sentence)

    @pytest.mark.remark
    def test_the_dropout_layer_has_the_documents_name(self, student, judge):
        """The dropout layer should be called `dropout`."""
        parts = student.state(student.call("CausalAttention", 3, 5, 4, 0.0, seed=1).value).modules
        found = sorted(name for name, kind in parts.items() if kind == "Dropout")
        sentence = N_("There is no layer `dropout`")
        if found:
            template = N_("There is no layer `dropout`; your `nn.Dropout` is called {names}")
            sentence = judge.words(template, names=found)
        judge.that("dropout" in {name.rpartition(".")[2] for name in parts}, sentence)

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
            }
            layer, _ = with_weights(student, weights, 2)
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
    def test_a_text_that_is_too_long_is_refused_with_a_reason(self, student, judge):
        """A text longer than `context_length` should be refused with a ValueError that says so."""
        attention = student.call("CausalAttention", 3, 2, 4, 0.0, seed=1).value
        failure = student.refusal(attention, torch.ones(1, 5, 3), training=False)
        kinds = () if failure is None else (failure.type, *failure.bases)
        judge.that("ValueError" in kinds, "Five tokens for a context length of 4: no ValueError")

    @pytest.mark.weight(2)
    def test_gradients_reach_everything(self, student, reference, judge, draw):
        """Gradients should flow to all three weights and to the tokens."""
        weights, x, cotangent = (
            given_weights(draw, 5, 3),
            draw.normal(2, 4, 5),
            draw.normal(2, 4, 3),
        )
        mine, right = (
            handle.call(one, x, training=False, cotangent=cotangent).gradients
            for handle, one in zip(
                (student, reference), pair(student, reference, judge, weights, 4), strict=True
            )
        )
        for name in weights:
            what = judge.words("the gradient for {name}", name=name)
            judge(gradient(mine, name), gradient(right, name), what=what, axes=("row", "column"))
        axes = (N_("batch entry"), N_("token"), N_("feature"))
        found, expected = mine.arguments["0"], right.arguments["0"]
        judge(found, expected, what="the gradient for the tokens", axes=axes)

    def test_double_precision_is_kept(self, student, reference, judge, draw):
        """Parameters and tokens in float64 should give context vectors in float64."""
        weights, x = given_weights(draw, 5, 3, torch.float64), draw.normal(2, 4, 5).double()
        mine, right = pair(student, reference, judge, weights, 4)
        expected = reference.call(right, x, training=False).value
        value = student.call(mine, x, training=False).value
        judge(value, expected, axes=("batch entry", "token", "feature"))

    @pytest.mark.conduct
    def test_the_tokens_are_left_as_they_are(self, student, judge, draw):
        """Texts should stay as they are, and give the same after a call with another one."""
        weights = given_weights(draw, 5, 3)
        used, fresh = (with_weights(student, weights, 7)[0] for _ in range(2))
        answer = student.call(used, draw.normal(2, 4, 5), training=False, seed=1)
        judge.that(not answer.changed, "It changed its argument in place")
        x = draw.normal(3, 7, 5)
        expected = student.call(fresh, x, training=False, seed=1).value
        value = student.call(used, x, training=False, seed=1).value
        what, axes = N_("the second result"), (N_("batch entry"), N_("token"), N_("feature"))
        judge(value, expected, what=what, axes=axes)

    @pytest.mark.remark
    def test_the_steps_are_written_out(self, student, judge):
        """The steps should be written out, not left to a ready-made attention of torch."""
        instance = student.call("CausalAttention", 3, 2, 4, 0.0).value
        if student.refusal(instance, torch.ones(1, 4, 3)) is not None:
            return
        found = student.call(instance, torch.ones(1, 4, 3), operations=True).operations
        is_own = not any("attention" in operation for operation in found)
        judge.that(is_own, "It calls a ready-made attention: the point is to see what that does")
