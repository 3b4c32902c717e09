"""What students see of assignment 08: heads side by side, judged by their own single heads."""

import pytest
import torch

from grader.testing import N_, Failure, RemoteObject, StudentOutcome
from grader.testing.mixins import KeepsNames

from ..helpers import judge_start
from .helpers import (
    ALIKE,
    AXES,
    HEAD,
    SIZE,
    SIZES,
    SideBySide,
    ignores_parameters,
    side_by_side,
    trouble,
)


def is_the_heads_fault(attempt, failure):
    """Whether a wrapper that cannot be used has no single head to build on."""
    if failure.kind == "missing":
        why = failure.loading.message if failure.loading is not None else ""
        return "No module named 'causal_attention'" in why or f"'{HEAD}' from" in why
    if failure.kind in ("not_attempted", "blocked"):
        return False
    if failure.type == "NameError" and f"'{HEAD}'" in failure.message:
        return True
    found = trouble(attempt, HEAD)
    return found is not None and found.kind != "missing"


def waiting_for_the_head(student, judge, outcome):
    """What ends a check in which a single head fails."""
    template = N_("It needs your {head}, which cannot be made and called")
    return student.blocked(judge.words(template, head=HEAD), outcome.failure)


def shapes(parameters):
    """The shape of each parameter, by name."""
    return {name: list(tensor.shape) for name, tensor in parameters.items()}


def head_of(name):
    """The number of the head that a parameter belongs to, as text; "" for another parameter."""
    return name.split(".")[1] if name.startswith("heads.") else ""


def all_equal(these, those):
    """Whether two heads have equal parameters."""
    return len(these) == len(those) and all(map(torch.equal, these, those))


def have_equal_weights(one, other):
    """Whether two modules hold the same weights; False where they have none."""
    first, second = one.parameters, other.parameters
    names = [name for name, tensor in first.items() if tensor.dim() > 1]
    return bool(names) and all(torch.equal(first[n], second[n]) for n in names if n in second)


@pytest.mark.exercise("MultiHeadAttentionWrapper")
class TestMultiHeadAttentionWrapper(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_module_that_answers_texts(self, attempt, judge):
        """Three of your own heads side by side should be a module that makes a tensor of texts."""
        student = attempt.student
        try:
            wrapper = attempt.instance(*ALIKE, 0.0, 3, seed=1)
            called = wrapper(torch.eye(SIZE).repeat(SIZE, 1, 1), training=False)
        except StudentOutcome as outcome:
            if is_the_heads_fault(attempt, outcome.failure):
                raise waiting_for_the_head(student, judge, outcome) from None
            raise
        is_module = isinstance(wrapper.own, RemoteObject) and wrapper.own.kind == "module"
        template = N_("{name} does not make an instance of an nn.Module")
        judge.that(is_module, judge.words(template, name=attempt.name))
        if ignores_parameters(attempt):
            template = N_("It needs your {head}, which gives the same whatever its parameters are")
            failure = Failure("exception")
            raise student.blocked(judge.words(template, head=HEAD), failure)
        # Any tensor will do: how heads are joined is judged by the values below.
        is_tensor = isinstance(called.value, torch.Tensor)
        called.has_shape(*(called.value.shape if is_tensor else (SIZE, SIZE, 3 * SIZE)), dtype=None)

    @pytest.mark.weight(2)
    def test_the_heads_stand_side_by_side(self, attempt, draw):
        """Each token should have what your first head gives for it, then what the second does."""
        side_by_side(attempt, draw).judge_joined(draw.normal(*ALIKE))

    def test_the_context_vectors_of_the_batch_as_printed(self, attempt, printed):
        """With seed 123 the context vectors should be the example's, if those of your heads are.

        This depends on creating the heads one after the other, the first one first.
        """
        both = SideBySide(attempt, 3, 2, 6, count=2, seed=123)
        x, right = torch.stack([printed("T45").tensor] * 2), printed("T26")
        joined = both.joined(x)
        both.wrapper = attempt.instance(3, 2, 6, 0.0, num_heads=2, seed=123, exact=True)
        if joined is None or joined.shape != right.tensor.shape:
            both.judge_joined(x)
            return
        is_printed = bool(((joined - right.tensor).abs() <= right.atol).all())
        called = both.wrapper(x, training=False, seed=2)
        called.gives(right if is_printed else joined, axes=AXES)

    @pytest.mark.weight(2)
    def test_all_sizes_are_different(self, attempt, draw):
        """The heads should have the sizes that were asked for, also where all of them differ."""
        both = side_by_side(attempt, draw, *SIZES.values(), count=4)
        both.judge_joined(draw.normal(2, 6, 3))

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_the_module_knows_the_parameters_of_all_heads(self, attempt, judge):
        """The parameters should be those that your heads have when made alone, and no others.

        Only parameters that a module knows of are trained, saved and moved with it.
        """
        both = SideBySide(attempt, *SIZES.values(), count=4)
        single, state = shapes(both.parameters()), both.wrapper.state
        expected = {f"heads.{n}.{name}": shape for n in range(4) for name, shape in single.items()}
        known = [set(names) for names in state.aliases if expected.keys() & set(names)]
        second_names = set().union(*known) - expected.keys()
        found = {n: shape for n, shape in shapes(state.parameters).items() if n not in second_names}
        template = N_("the parameters and their shapes, with {count} heads")
        judge(found, expected, what=judge.words(template, count=4))
        judge.that(bool(found) or not both.stand_in, "The module knows of no parameters")

    @pytest.mark.conduct
    def test_each_head_has_parameters_of_its_own(self, attempt, judge):
        """No two heads should share their parameters, or begin with the same values."""
        both = SideBySide(attempt, *ALIKE, count=2)
        states = [head.state.parameters for head in both.heads]
        state = both.wrapper.state
        groups = [[name for name in names if name in state.parameters] for names in state.aliases]
        shared = [" = ".join(names) for names in groups if len({*map(head_of, names)} - {""}) > 1]
        judge(shared, [], what="the parameters that heads share")
        begin = [
            [tensor for name, tensor in state.parameters.items() if head_of(name) == number]
            for number in ("0", "1")
        ]
        do_single_ones_differ = not all_equal(*(list(found.values()) for found in states))
        is_copy = do_single_ones_differ and bool(begin[0]) and all_equal(*begin)
        judge.that(not is_copy, "Two heads begin with the same values")

    def test_every_head_learns(self, attempt, draw):
        """Gradients should flow to the parameters of every head and to the tokens."""
        side_by_side(attempt, draw).judge_gradients(draw, draw.normal(*ALIKE))

    def test_with_qkv_bias_the_heads_have_biases(self, attempt, draw):
        """With `qkv_bias`, every head should have the biases of your `CausalAttention`."""
        both = side_by_side(attempt, draw, qkv_bias=True)
        if both.heads:
            both.judge_joined(draw.normal(*ALIKE))

    @pytest.mark.weight(2)
    def test_the_heads_drop_weights_in_training(self, attempt, judge, draw):
        """In training, the heads should drop what your `CausalAttention` drops."""
        both = side_by_side(attempt, draw, dropout=0.4)
        both.judge_extremes(draw.normal(1, SIZE, SIZE), training=True)
        judge.that(both.wrapper.state.training, "A call in training mode ends in eval mode")

    def test_outside_of_training_nothing_else_is_dropped(self, attempt, draw):
        """In eval mode, the heads should give what your `CausalAttention` gives in eval mode."""
        both = side_by_side(attempt, draw, dropout=0.4)
        both.judge_extremes(draw.normal(1, SIZE, SIZE), training=False)

    def test_the_heads_know_the_context_length(self, attempt, draw):
        """A text shorter or longer than `context_length` should fare as with a single head."""
        both = side_by_side(attempt, draw)
        for batch_size, num_tokens in ((SIZE, SIZE - 1), (1, SIZE - 1), (SIZE, SIZE + 1)):
            both.judge_joined(draw.normal(batch_size, num_tokens, SIZE))

    @pytest.mark.conduct
    def test_each_instance_draws_its_own_weights(self, attempt):
        """Two instances should start with different weights, if your heads do."""
        both = [SideBySide(attempt, *SIZES.values(), count=1, seed=seed) for seed in (1, 2)]
        states = [one.state for one in both]
        if not both[0].stand_in and have_equal_weights(*states):
            return
        made = (attempt.instance(*SIZES.values(), 0.0, 2, seed=seed) for seed in (1, 2))
        judge_start(attempt, *(wrapper.state for wrapper in made))

    def test_double_precision_is_kept(self, attempt, draw):
        """Parameters and tokens in float64 should give context vectors in float64."""
        both = side_by_side(attempt, draw, dtype=torch.float64)
        both.judge_joined(draw.normal(*ALIKE).double())

    @pytest.mark.conduct
    def test_the_tokens_are_left_as_they_are(self, attempt, judge, draw):
        """The wrapper should leave the texts as they are, if your heads do."""
        both, x = side_by_side(attempt, draw), draw.normal(*ALIKE)
        try:
            allowed = both.heads[0](x, training=False).answer.changed
        except StudentOutcome as outcome:
            if outcome.failure.kind != "exception":  # a stub says so itself
                raise
            raise waiting_for_the_head(attempt.student, judge, outcome) from None
        changed = both.wrapper(x, training=False).answer.changed
        judge(changed, allowed, what="the arguments that were changed in place")
