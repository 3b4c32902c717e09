"""What the checks of several assignments share."""

import pytest
import torch

from grader.testing import N_, Failure, StudentOutcome, by_name
from grader.testing.mixins import HasInputs, KeepsNames

JOURNEY = 1
"""The token that the documents follow."""

FOUR_DECIMALS = 5.1e-5
"""Figures with 4 decimals: half a unit of the last digit."""

NAN_IN_TRAINING = N_("In training, NaN (not a number) comes back")
FOR_ALL_QUERIES = N_("What is dropped is dropped for all queries at once: it is no single weight")


def inputs_004(printed):
    """The six tokens as 004 has them: it prints nothing, and its second token differs."""
    inputs = printed("T45").tensor.clone()
    inputs[JOURNEY, 2] = 0.64
    return inputs


def judge_no_overflow(judge, near, far):
    """Judge that large scores give no NaN; what is NaN for small ones as well has another cause."""
    are_alike = all(isinstance(value, torch.Tensor) for value in (near, far))
    are_alike = are_alike and near.shape == far.shape
    is_lost = are_alike and bool((far.isnan() & ~near.isnan()).any())
    judge.that(
        not is_lost,
        "Scores of thousands give NaN: exponentials are infinite, or the weights of a row sum to 0, "
        "and are divided by that",
    )


class StepsWrittenOut:
    """Remarks on the steps of a layer; `shown(attempt)` makes one with tokens."""

    @pytest.mark.remark
    def test_large_scores_give_no_nan(self, attempt, judge):
        """Large scores should give no NaN."""
        layer, x = self.shown(attempt)
        called = [layer(size * x, training=False) for size in (1, 1000)]
        judge_no_overflow(judge, *(each.value for each in called))

    @pytest.mark.remark
    def test_the_steps_are_written_out(self, attempt, judge):
        """The steps should be written out, not left to a ready-made attention of torch."""
        layer, x = self.shown(attempt)
        found = layer(x, operations=True).answer.operations
        is_own = not any("attention" in operation for operation in found)
        judge.that(is_own, "It calls a ready-made attention: the point is to see what that does")


def scores_of_the_text(printed):
    """The scores that the documents go on with: those of the self-attention of seed 789.

    `nn.Linear(3, 2, bias=False)` draws its weight uniformly within 1 / sqrt(3); query comes first.
    """
    generator = torch.Generator().manual_seed(789)
    bound = 3**-0.5
    query, key = (
        torch.empty(2, 3, dtype=torch.float32).uniform_(-bound, bound, generator=generator)
        for _ in range(2)
    )
    inputs = printed("T45").tensor
    return (inputs @ query.T) @ (inputs @ key.T).T


class OfScores(KeepsNames, HasInputs):
    """Checks of a function of scores; `example(printed)` has arguments of the documents'."""

    @pytest.mark.gate
    @pytest.mark.conduct
    def test_the_shape_stays(self, attempt, printed):
        """The result should have the shape and the dtype of the scores."""
        called = attempt(*self.example(printed))
        called.has_shape(*called.args[0].shape)

    @pytest.mark.conduct
    def test_the_scores_are_left_as_they_are(self, attempt, draw):
        """The scores should stay as they are."""
        attempt(*self.inputs(draw)).keeps_arguments()


def future(num_tokens, dtype=torch.float32):
    """Ones above the diagonal."""
    return torch.ones(num_tokens, num_tokens).triu(diagonal=1).to(dtype)


class HidesTheFuture:
    """Remarks on how a causal layer hides the future.

    `layer(attempt)` makes one for a `context_length`, whose tokens have `d_in` features;
    `of_two(attempt, values)` one for two tokens of two features, with the weights of query, key and
    value, that returns the mixed values as they are.
    """

    @pytest.mark.remark
    def test_the_mask_is_a_buffer_of_the_documents_name_and_size(self, attempt, judge):
        """The mask should be a buffer `mask` of shape `(context_length, context_length)`."""
        buffers = self.layer(attempt).state.buffers
        shapes = {name.rpartition(".")[2]: tuple(mask.shape) for name, mask in buffers.items()}
        sentence = N_("There is no buffer `mask`")
        if shapes:
            template = N_("There is no buffer `mask`; your buffers are called {names}")
            sentence = judge.words(template, names=sorted(shapes))
        judge.that("mask" in shapes, sentence)
        expected = (self.context_length, self.context_length)
        template = N_("The mask has the shape {shape}, not {expected}")
        sentence = judge.words(template, shape=str(shapes["mask"]), expected=str(expected))
        judge.that(shapes["mask"] == expected, sentence)
        layer, x = self.layer(attempt), torch.ones(1, 2, self.d_in)
        if layer.refusal(x, training=False) is not None:
            return
        used = layer(x, training=False, operations=True).answer.operations
        sentence = N_("`forward` makes a mask anew: what is the buffer for?")
        judge.that(not {"triu", "tril"} & used.keys(), sentence)

    @pytest.mark.remark
    def test_the_future_is_hidden_by_minus_infinity(self, attempt, judge):
        """The future should be hidden by minus infinity, not by a large negative number."""
        x = torch.tensor([[[1.0, 2.0], [0.0, 4.0]]])
        found = []
        for size in (1.0, 1e5):
            # The first token's score with itself is -size², with the second 0; values are tokens.
            look = torch.tensor([[size, 0.0], [0.0, 0.0]])
            weights = {"W_query": look, "W_key": -look, "W_value": torch.eye(2)}
            layer = self.of_two(attempt, {f"{name}.weight": w for name, w in weights.items()})
            if layer.refusal(x, training=False) is not None:
                return
            value = layer(x, training=False).value
            if not isinstance(value, torch.Tensor) or value.shape != x.shape:
                return
            found.append(value[0, 0])
        is_masked = torch.allclose(found[0], x[0, 0]) and bool(found[1].isfinite().all())
        sentence = N_("Where its own score is -1e10, the first token sees the second")
        judge.that(not is_masked or torch.allclose(found[1], x[0, 0]), sentence)


def judge_start(attempt, one, other):
    """Judge that two new layers do not start with the same weights, by what they hold."""
    first, second = one.parameters, other.parameters
    names = [name for name, tensor in first.items() if tensor.dim() == 2]
    same = bool(names) and all(torch.equal(first[n], second[n]) for n in names if n in second)
    attempt.judge.that(not same, "Two instances start alike: does the class set the seed itself?")


def judge_kept(layer, x, what):
    """Judge that no tensor or layer is kept where a module does not see it."""
    # What `forward` keeps counts as well, unless each call sets it anew; whether it raises is
    # judged elsewhere.
    for _call in range(2):
        layer.refusal(x, training=False)
    layer.judge(layer.state.kept, {}, what=what)


LAYERS = ("W_query", "W_key", "W_value")
OF_CONTEXT_VECTORS = (N_("batch"), N_("token"), N_("feature"))
OF_NEW_VECTORS = (N_("batch"), N_("new token"), N_("feature"))
FOUND_PARAMETERS = N_("each parameter, looked for by its name")


def zero_biases(values):
    """Biases that change nothing, for layers that have some unasked: judged elsewhere."""
    return {f"{name}.bias": torch.zeros_like(values[f"{name}.weight"][:, 0]) for name in LAYERS}


def judge_surplus(judge, state):
    """Judge that a layer has no parameters that the docstring does not name."""
    documented = (*(f"{layer}.weight" for layer in (*LAYERS, "out_proj")), "out_proj.bias")
    names = {name: name for name in state.parameters}
    found = [by_name(names, name) for name in documented]
    again = {name for names in state.aliases for name in names[1:]}
    others = sorted(names.keys() - again - set(found)) if all(found) else []
    sentence = judge.words("There are parameters that should not be there: {names}", names=others)
    judge.that(not others, sentence, about=others)


def judge_each_weight(judge, is_dropped):
    """Judge that keys are not dropped for all queries at once.

    Args:
        judge: what judges.
        is_dropped: where weights are dropped, shape `(…, num_queries, num_keys)`.
    """
    *_others, one, other = is_dropped[..., :2].unbind(dim=-2)
    is_told = bool(one.any()) and not bool(one.all())  # else these queries do not see these keys
    judge.that(not is_told or not torch.equal(one, other), FOR_ALL_QUERIES)


def judge_counts(judge, counts):
    """The same of how many weights each query of a causal layer keeps, shape `(…, num_queries, d_out)`."""
    added = counts.diff(dim=-2)
    goes_on = bool(((added > -0.5) & (added < 1.5)).all())
    judge.that(not goes_on, FOR_ALL_QUERIES)


class MultiHeadLayers:
    """Layers of several heads; `make(attempt, *sizes, **how)` makes one, `num_heads` the last size.

    The sizes all differ, so that none can stand in for another; `head_dim` is 10, half of which is
    not its root, and which is not 8, the root of GPT-2's `head_dim`.
    """

    axes = OF_CONTEXT_VECTORS
    d_in, d_out, context_length, num_heads = 6, 30, 7, 3
    texts = (2, 5, d_in)
    vectors = (2, 5, d_out)

    def layer(self, attempt, *, qkv_bias=False, **how):
        """A layer of the sizes above."""
        sizes = (self.d_in, self.d_out, self.context_length, self.num_heads)
        return self.make(attempt, *sizes, qkv_bias=qkv_bias, **how)

    def given(self, attempt, values, *sizes, **how):
        """A layer with these parameters, of these sizes; of those above where none are given."""
        make = self.make if sizes else self.layer
        return make(attempt, *sizes, given=values, spare=zero_biases(values), **how)

    def square(self, attempt, values, **how):
        """The same with as many features of a token as of a context vector: added tokens show."""
        sizes = (self.d_out, self.d_out, self.context_length, self.num_heads)
        return self.given(attempt, values, *sizes, **how)

    def rows(self, layer):
        """How many rows the weight of one of `LAYERS` has."""
        return self.d_out

    def drawn(self, draw, d_in=None, *, qkv_bias=False, dtype=torch.float32):
        """Values for all parameters of a layer of the sizes above, or with another `d_in`."""
        rows = {layer: self.rows(layer) for layer in LAYERS}
        d_in = d_in or self.d_in
        values = {f"{layer}.weight": draw.normal(n, d_in, std=0.5) for layer, n in rows.items()}
        if qkv_bias:
            values |= {f"{layer}.bias": draw.normal(n, std=0.5) for layer, n in rows.items()}
        values["out_proj.weight"] = draw.normal(self.d_out, self.d_out, std=0.5)
        values["out_proj.bias"] = draw.normal(self.d_out, std=0.5)
        return {name: value.to(dtype) for name, value in values.items()}


class ShowsWeights:
    """A layer that shows its weights: four tokens that are the rows of an identity matrix, two heads.

    A head has five features. A token's value names the token in the first four and has a 1 in the
    last, so that a head's context vector is its row of weights, and their sum. `out_proj` leaves it
    at that. Heads may share keys and values: `kv_heads` says how many of these there are.
    """

    tokens, heads, copies = 4, 2, 16
    kv_heads = heads
    sizes = (tokens, heads * (tokens + 1), tokens, heads)
    eye = torch.eye(tokens).repeat(copies, 1, 1)

    def parameters(self, draw):
        """What makes a layer's output its weights, and the sums of their rows."""
        d_in, d_out, *_ = self.sizes
        names_and_one = torch.cat((torch.eye(d_in), torch.ones(1, d_in)))
        rows = {"W_query": d_out, "W_key": self.kv_heads * len(names_and_one)}
        values = {f"{name}.weight": draw.normal(n, d_in, std=0.5) for name, n in rows.items()}
        values["W_value.weight"] = names_and_one.repeat(self.kv_heads, 1)
        return values | {"out_proj.weight": torch.eye(d_out), "out_proj.bias": torch.zeros(d_out)}

    def by_head(self, value):
        """The weights that the value of such a layer shows, and the sums of their rows."""
        sizes = (self.copies, self.tokens, self.heads, self.tokens + 1)
        heads = value.detach().reshape(sizes)
        return heads[..., :-1], heads[..., -1]

    def shown(self, called):
        """The same of a call with `eye`, having judged its shape."""
        return self.by_head(called.has_shape(self.copies, self.tokens, self.sizes[1]))


SHOWING = ShowsWeights()


class MultiHead(MultiHeadLayers, HidesTheFuture):
    """Checks of a layer of several heads."""

    showing = SHOWING

    def of_two(self, attempt, values):
        """A layer for two tokens of two features."""
        out = {"out_proj.weight": torch.eye(2), "out_proj.bias": torch.zeros(2)}
        return self.given(attempt, values | out, 2, 2, 2, 1)

    @pytest.mark.conduct
    def test_the_parameters_have_the_names_and_shapes_of_the_text(self, attempt, judge, draw):
        """The parameters should have the names and shapes that the docstring gives."""
        values = self.drawn(draw)
        report = self.layer(attempt, given=values).loaded.by_name
        judge(report, dict.fromkeys(values, "loaded"), what=FOUND_PARAMETERS)

    @pytest.mark.weight(2)
    def test_the_context_vectors_for_given_parameters(self, attempt, draw):
        """With given parameters, the context vectors should be right."""
        self.given(attempt, self.drawn(draw))(draw.normal(*self.texts), training=False).agrees()

    def test_a_single_token_sees_itself(self, attempt, draw):
        """A text of one token should give `out_proj` of its value, whatever its scores."""
        layer = self.square(attempt, self.drawn(draw, self.d_out))
        # Among them a token of zeros, whose score is zero.
        for x in (draw.normal(1, 1, self.d_out), torch.zeros(1, 1, self.d_out)):
            layer(x, training=False).agrees()

    @pytest.mark.conduct
    def test_the_future_does_not_leak(self, attempt, judge, draw):
        """Another fourth token should leave the first three context vectors as they are."""
        values, x = self.drawn(draw), draw.normal(1, 4, self.d_in)
        changed = x.clone()
        changed[0, 3] = draw.normal(self.d_in)
        # A layer for each text: what depends on earlier calls is judged elsewhere.
        called = [self.given(attempt, values)(text, training=False) for text in (x, changed)]
        before, after = (each.has_shape(1, 4, self.d_out) for each in called)
        judge(after[:, :3], before[:, :3], axes=OF_CONTEXT_VECTORS)

    def test_biases_are_there_when_asked_for(self, attempt, judge, draw):
        """With `qkv_bias=True`, queries, keys and values should have biases."""
        values, x = self.drawn(draw, qkv_bias=True), draw.normal(*self.texts)
        layer = self.given(attempt, values, qkv_bias=True)
        loaded = dict.fromkeys(values, "loaded")
        judge(loaded | layer.problems, loaded, what=FOUND_PARAMETERS)
        layer(x, training=False).agrees()

    def test_dropout_drops_weights_and_scales_the_rest(self, attempt, judge, draw):
        """In training mode alone, weights should be dropped after the softmax and the rest scaled."""
        showing = self.showing
        layer = self.given(attempt, showing.parameters(draw), *showing.sizes, dropout=0.4)
        called = [layer(showing.eye, training=False) for _ in range(2)]
        right = showing.by_head(called[0].expected)[0]
        still, again = (showing.shown(each)[0] for each in called)
        sentence = N_(
            "In eval mode two calls give different results, so that none shows the weights"
        )
        is_still = torch.allclose(again, still, rtol=0, atol=1e-5, equal_nan=True)
        judge.that(is_still, sentence)
        weights, sums = showing.shown(layer(showing.eye, training=True, seed=1))
        is_unchanged = torch.allclose(weights, still, rtol=0, atol=1e-5)
        is_dropped = (weights == 0) & (still != 0)
        kept = torch.where(weights == 0, 0.0, weights / still)
        factor = kept.max()
        is_one = torch.isclose(kept, factor, rtol=0, atol=1e-3)
        are_alike = bool((is_one | (kept == 0)).all())
        is_mixed = torch.allclose(weights.sum(-1), sums, rtol=0, atol=1e-4)
        if is_unchanged or not is_dropped.any() or not are_alike or not is_mixed:
            # Of what shows no weights in eval mode, nothing is known in training mode.
            sentence = N_("In eval mode the weights are NaN (not a number)")
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
        judge_each_weight(judge, is_dropped.transpose(1, 2))
        again = showing.shown(layer(showing.eye, training=True, seed=2))[0]
        sentence = N_("Two seeds drop the same weights: does `forward` set the seed itself?")
        judge.that(not torch.equal(again, weights), sentence)
        judge.that(layer.state.training, "A call in training mode ends in eval mode")

    @pytest.mark.conduct
    def test_dropout_does_nothing_in_eval_mode(self, attempt, judge, draw):
        """In eval mode, dropout should change nothing."""
        values, x = self.drawn(draw), draw.normal(*self.texts)
        without = self.given(attempt, values)(x, training=False)
        dropping = self.given(attempt, values, dropout=0.5)
        called = dropping(x, training=False, seed=1)
        judge.that(not dropping.state.training, "A call in eval mode ends in training mode")
        one, other = (each.has_shape(*self.vectors) for each in (without, called))
        is_same = torch.allclose(other, one, rtol=0, atol=1e-5, equal_nan=True)
        judge.that(is_same, "In eval mode, dropout 0.5 gives something other than dropout 0.0")

    @pytest.mark.conduct
    def test_the_mask_moves_with_the_module(self, attempt):
        """No tensor or layer should be in a plain attribute, where a module does not see it."""
        x = torch.ones(1, self.context_length, self.d_in)
        judge_kept(self.layer(attempt), x, N_("what is kept in plain attributes or lists"))

    @pytest.mark.remark
    def test_a_text_that_is_too_long_is_refused(self, attempt, judge, draw):
        """A text longer than `context_length` should end in a ValueError that says so."""
        x = draw.normal(1, self.context_length + 1, self.d_in)
        failure = self.layer(attempt).refusal(x)
        is_refused = failure is not None and "ValueError" in failure.bases
        judge.that(is_refused, "8 tokens for a context_length of 7 did not raise a ValueError")

    @pytest.mark.weight(2)
    def test_gradients_reach_tokens_and_parameters(self, attempt, draw):
        """Gradients should flow to the tokens and to every parameter."""
        values, x = self.drawn(draw), draw.normal(*self.texts)
        cotangent = draw.normal(*self.vectors)
        called = self.given(attempt, values)(x, training=False, cotangent=cotangent)
        # Sums of up to 10 products of numbers near 1: ten times the noise of the results.
        called.gradients_agree(what="the gradient for the tokens", atol=1e-4)
        called.parameter_gradients_agree(*values, atol=1e-4)

    def test_double_precision_is_kept(self, attempt, draw):
        """Parameters and tokens in float64 should give context vectors in float64."""
        layer = self.given(attempt, self.drawn(draw, dtype=torch.float64))
        x = draw.normal(*self.texts, dtype=torch.float64)
        layer(x, training=False).agrees()

    @pytest.mark.remark
    def test_large_scores_give_no_nan(self, attempt, judge, draw):
        """Large scores should give no NaN."""
        layer, x = self.given(attempt, self.drawn(draw)), draw.normal(*self.texts)
        called = [layer(size * x, training=False) for size in (1, 1000)]
        judge_no_overflow(judge, *(each.value for each in called))

    @pytest.mark.conduct
    def test_a_second_call_gives_the_same(self, attempt, draw):
        """A second call should give the same, and the texts should stay as they are."""
        x = draw.normal(*self.texts)
        layer = self.given(attempt, self.drawn(draw))
        first = layer(x, training=False)
        layer(draw.normal(1, self.context_length, self.d_in), training=False)
        first.has_shape(*self.vectors)
        layer(x, training=False).gives(first.value, what="the second result")
        first.keeps_arguments()


def is_close(value, expected):
    """Whether a value is a tensor like the expected one."""
    if not isinstance(value, torch.Tensor) or value.dtype != expected.dtype:
        return False
    return value.shape == expected.shape and torch.allclose(value, expected, atol=1e-5, rtol=1e-5)


def are_close(value, expected):
    """Whether a value is a dictionary of tensors like the expected one."""
    if not isinstance(value, dict) or value.keys() != expected.keys():
        return False
    return all(is_close(value[name], tensor) for name, tensor in expected.items())


def is_pair(value):
    """Whether a value has two parts, as a pair or a list."""
    return isinstance(value, tuple | list) and len(value) == 2


def judge_tensors(attempt, called, is_judged):
    """Judge the tensors of a dictionary.

    Args:
        attempt: what is judged.
        called: the call that gave it.
        is_judged: says of a name whether its tensor is judged.
    """
    attempt.judge.that(isinstance(called.value, dict), "It is no dictionary", about=called.value)
    names = [name for name in called.expected if is_judged(name)]
    found = {name: called.value[name] for name in names if name in called.value}
    attempt.judge(found, {name: called.expected[name] for name in names}, what="the tensors")


def linear_parameters(draw, inputs, outputs, std=0.25):
    """Values for the parameters of a linear layer."""
    return {"weight": draw.normal(outputs, inputs, std=std), "bias": draw.normal(outputs, std=std)}


def prefixed(start, values):
    """Parameters as a module has them that keeps their module under that name."""
    return {f"{start}.{name}": value for name, value in values.items()}


def attention_of_torch(values, num_heads, x, num_kv_heads=None):
    """What torch's own attention gives for whole texts: context vectors, and keys and values.

    Args:
        values: the parameters of a layer of several heads.
        num_heads: how many heads it has.
        x: the texts.
        num_kv_heads: how many of these have keys and values of their own; None for all.
    """
    of_kv = num_kv_heads or num_heads
    counts = dict(zip(LAYERS, (num_heads, of_kv, of_kv), strict=True))
    heads = [
        torch.nn.functional.linear(x, values[f"{name}.weight"], values.get(f"{name}.bias"))
        .unflatten(-1, (count, -1))
        .transpose(1, 2)
        for name, count in counts.items()
    ]
    mixed = torch.nn.functional.scaled_dot_product_attention(
        *heads, is_causal=True, enable_gqa=num_kv_heads is not None
    )
    merged = mixed.transpose(1, 2).flatten(2)
    weight, bias = values["out_proj.weight"], values["out_proj.bias"]
    return torch.nn.functional.linear(merged, weight, bias), tuple(heads[1:])


def judge_vectors(judge, vectors, right, start, end):
    """Judge the context vectors of some new tokens, read with a cache.

    Args:
        judge: what judges.
        vectors: of the new tokens.
        right: of all tokens of the texts.
        start: the place of the first new token: so many are in the cache.
        end: the place behind the last one.
    """
    template = N_("the context vectors of {new} new tokens, with {past} in the cache")
    if end - start == 1:
        template = N_("the context vector of one new token, with {past} in the cache")
    what = judge.words(template, new=end - start, past=start)
    judge(vectors, right[:, start:end], what=what, axes=OF_NEW_VECTORS)


def judge_unchanged(attempt, changed, past, assignment):
    """Judge that a call left tokens and cache as they are; `append_to_cache` may be to blame.

    Args:
        attempt: what is judged.
        changed: what the call changed.
        past: the cache that it was given.
        assignment: the number of the one that `append_to_cache` is of; "" for that at hand.
    """

    def is_right():
        return not attempt.beside("append_to_cache")(past, *past).answer.changed

    if changed:
        judge_own(attempt, "`append_to_cache`", is_right, assignment)
    attempt.judge.that(not changed, N_("It changed the tokens or the cache in place"))


OF_EARLIER = (
    N_("It needs your {name} of assignment {number}, which does not run yet"),
    N_("It needs your {name} of assignment {number}, which is not right yet"),
)
OF_HERE = (
    N_("It needs your {name}, which does not run yet"),
    N_("It needs your {name}, which is not right yet"),
)


def judge_own(attempt, name, is_right, assignment="09", by=()):
    """End the check where what it needs of the student's own is there and not right.

    What the code at hand does not use is not to blame; nor is a stub, which would have said so itself.

    Args:
        attempt: what is judged.
        name: what is needed.
        is_right: says whether it is; it may end in a `StudentOutcome`.
        assignment: the number of the one that it is of; "" for that at hand.
        by: what else the check calls that may use it.
    """
    if not attempt.student.uses(name.strip("`"), *by):
        return
    not_running, template = OF_EARLIER if assignment else OF_HERE
    cause = Failure("exception")
    try:
        if is_right():
            return
    except StudentOutcome as outcome:
        cause, template = outcome.failure, not_running
        if cause.kind in ("not_attempted", "blocked", "missing"):
            return
    sentence = attempt.judge.words(template, name=name, number=assignment)
    raise attempt.student.blocked(sentence, cause) from None


def is_as_expected(called):
    """Whether a call gave a tensor like the solution's."""
    return is_close(called.value, called.expected)


def called_unless_waiting(make, judge_parts, is_right=is_as_expected):
    """The call that a gate judges; it waits where a part of the student's own is to blame.

    Args:
        make: makes the call.
        judge_parts: ends the check where a part is not right.
        is_right: says whether the call gave what it should.
    """
    try:
        called = make()
    except StudentOutcome as outcome:
        if outcome.failure.kind not in ("not_attempted", "missing", "blocked"):
            judge_parts()
        raise
    if not is_right(called):
        judge_parts()
    return called
