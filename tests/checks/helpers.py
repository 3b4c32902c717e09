"""What the checks of several assignments share."""

import pytest
import torch

from grader.testing import N_

JOURNEY = 1
"""The token that the documents follow."""

FOUR_DECIMALS = 5.1e-5
"""Figures with 4 decimals: half a unit of the last digit."""


def inputs_004(printed):
    """The six tokens as 004 has them: it prints nothing, and its second token differs."""
    inputs = printed("T45").tensor.clone()
    inputs[JOURNEY, 2] = 0.64
    return inputs


class StepsWrittenOut:
    """A remark on a layer whose steps are left to torch; `shown(attempt)` makes one with tokens."""

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
        """There should be a buffer `mask` of shape `(context_length, context_length)`."""
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
        if attempt.student.refusal(layer.own, x, training=False) is not None:
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
            if attempt.student.refusal(layer.own, x, training=False) is not None:
                return
            value = layer(x, training=False).value
            if not isinstance(value, torch.Tensor) or value.shape != x.shape:
                return
            found.append(value[0, 0])
        is_masked = torch.allclose(found[0], x[0, 0]) and bool(found[1].isfinite().all())
        sentence = N_("Where its own score is -1e10, the first token sees the second")
        judge.that(not is_masked or torch.allclose(found[1], x[0, 0]), sentence)


def judge_start(attempt, one, other):
    """Judge that two new layers do not start with the same weights."""
    first, second = (layer.state.parameters for layer in (one, other))
    names = [name for name, tensor in first.items() if tensor.dim() == 2]
    same = bool(names) and all(torch.equal(first[n], second[n]) for n in names if n in second)
    attempt.judge.that(not same, "Two instances start alike: does the class set the seed itself?")


def judge_kept(layer, x, what):
    """Judge that no tensor or layer is kept where a module does not see it."""
    # What `forward` keeps counts as well, unless each call sets it anew; whether it raises is
    # judged elsewhere.
    for _call in range(2):
        layer.student.refusal(layer.own, x, training=False)
    layer.judge(layer.state.kept, {}, what=what)
