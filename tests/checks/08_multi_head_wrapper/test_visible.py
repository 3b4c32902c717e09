"""What students see of assignment 08: heads side by side, judged by their own single heads."""

import pytest
import torch

from grader.testing import N_, Failure, RemoteObject, StudentOutcome

WRAPPER, HEAD = "MultiHeadAttentionWrapper", "CausalAttention"

SIZE = 4
"""Of every axis, where a slip in the student's own `CausalAttention` must not matter: one that
swaps axes still returns a tensor there, which is what the wrapper has to join."""

DRAWS = 512
"""Copies of one text in a batch: enough that each way of dropping the weights of a row occurs."""


SIZES = {"d_in": 3, "d_out": 5, "context_length": 6}
"""All different, to tell in which order a head takes them."""


def trouble(student, name, *further):
    """Why what is made under this name cannot be used as a head; None where it can."""
    try:
        made = student.call(name, SIZE, SIZE, SIZE, 0.0, *further, seed=1).value
        value = student.call(made, torch.eye(SIZE).repeat(SIZE, 1, 1), training=False).value
        is_head = isinstance(value, torch.Tensor) and takes_sizes_in_order(student, name)
    except StudentOutcome as outcome:
        return outcome.failure
    return None if is_head else Failure("exception")


def takes_sizes_in_order(student, name):
    """Whether a head takes its sizes as the exercise has them; where they are named, it does."""
    if SIZES.keys() <= set(student.parameters(name)):
        return True
    made = student.call(name, *SIZES.values(), 0.0, seed=1).value
    for size in SIZES.values():
        x = torch.ones(2, 3, size)
        if student.refusal(made, x, training=False) is None:
            value = student.call(made, x, training=False).value
            return size == SIZES["d_in"] and value.shape[-1] != SIZES["context_length"]
    return True


def name_of_heads(student):
    """The name of the class of the student's heads: another one where no such class is there."""
    found = trouble(student, HEAD)
    if found is None or found.kind != "missing":
        return HEAD
    try:
        wrapper = student.call(WRAPPER, SIZE, SIZE, SIZE, 0.0, 2, seed=1).value
        kinds = student.state(wrapper).classes
    except StudentOutcome:
        return HEAD
    return next((kind for name, kind in kinds.items() if name.endswith(".0")), HEAD)


class Heads:
    """Single heads of the student's own, made one after the other: what a wrapper has to join.

    A head is their `CausalAttention`, or of the class that a wrapper's heads have. Where none can
    be made in the same way, a wrapper of a single head stands for it.
    """

    def __init__(self, student, *sizes, count, dropout=0.0, further=(), seed=1):
        self.student = student
        self.are_given = True
        name = name_of_heads(student)
        self.stand_in = trouble(student, name) is not None
        name, one = (WRAPPER, (1,)) if self.stand_in else (name, ())
        arguments = (*sizes, dropout, *one, *further)
        refused = bool(further) and student.refusal(name, *arguments) is not None
        seeds = [] if refused else [seed, *[None] * (count - 1)]
        self.made = [student.call(name, *arguments, seed=seed).value for seed in seeds]

    def parameters(self):
        """The parameters of the first head, by name."""
        found = self.student.state(self.made[0]).parameters if self.made else {}
        return {n.partition("0.")[2] if self.stand_in else n: t for n, t in found.items()}

    def give(self, wrapper, draw, biased=False, dtype=torch.float32):
        """Give the wrapper's heads and the single ones the same parameters.

        Where the wrapper has no parameter of that name, the single head keeps what it drew: the
        names are judged in a check of their own. A bias is zero unless it is asked for.
        """
        parameters = sorted(self.parameters().items())
        has_heads = any(n.startswith("heads.") for n in self.student.state(wrapper).parameters)
        given = []
        for index in range(len(self.made)):
            place = f"heads.{index}." if has_heads else f"{index}."
            values = {name: draw.normal(*t.shape, dtype=dtype) for name, t in parameters}
            values |= {n: v.zero_() for n, v in values.items() if "bias" in n and not biased}
            given.append({place + n: v for n, v in values.items()})
        loaded = self.student.load(wrapper, {n: v for values in given for n, v in values.items()})
        self.are_given = not loaded.problems
        for head, values in zip(self.made, given, strict=True):
            found = {n: v for n, v in values.items() if n not in loaded.problems}
            start = 2 if has_heads else 1
            self.student.load(head, {n.split(".", start)[start]: v for n, v in found.items()})

    def answers(self, x, training=False):
        """What each head returns; None where one refuses the texts.

        The heads are called in a row from one seed, as a wrapper's heads are: so that heads that
        draw where they should not give the same.
        """
        answers = []
        try:
            for head in self.made:
                seed = None if answers else 2
                answer = self.student.call(head, x, training=training, seed=seed)
                answers.append(answer.value)
        except StudentOutcome as outcome:
            if outcome.failure.kind != "exception":
                raise
            return None
        return answers or None


def judge_joined(student, judge, heads, wrapper, x):
    """Judge what a wrapper returns by what the single heads return."""
    answers = heads.answers(x)
    if answers is None:
        if not heads.are_given:  # the parameters are judged in a check of their own
            return
        is_refused = student.refusal(wrapper, x, training=False) is not None
        sentence = N_(
            "A single head refuses such a text, the wrapper does not: do its heads get the text as it "
            "is, and all they are to know?"
        )
        judge.that(is_refused, sentence)
        return
    value = student.call(wrapper, x, training=False, seed=2).value
    judge(value, torch.cat(answers, dim=-1), axes=("batch entry", "token", "feature"))


def judge_gradients(student, judge, draw, heads, wrapper, x):
    """Judge the gradients through a wrapper by those through the single heads."""
    answers = heads.answers(x)
    if answers is None:
        return
    joined = torch.cat(answers, dim=-1)
    cotangent = draw.normal(*joined.shape)
    parts = cotangent.split([answer.shape[-1] for answer in answers], dim=-1)
    seeds = [2, *[None] * (len(answers) - 1)]
    right = [
        student.call(head, x, training=False, cotangent=part, seed=seed).gradients
        for head, part, seed in zip(heads.made, parts, seeds, strict=True)
    ]
    # A cotangent can be given only where the shape is right.
    judge.shape(student.call(wrapper, x, training=False).value, joined.shape, dtype=None)
    mine = student.call(wrapper, x, training=False, cotangent=cotangent, seed=2).gradients
    for index, single in enumerate(right):
        for name in heads.parameters():
            what = judge.words("the gradient for {name} of head {head}", name=name, head=index)
            judge(gradient(mine, f"{index}.{name}"), gradient(single, name), what=what)
    tokens = [single.arguments["0"] for single in right]
    expected = None if any(part is None for part in tokens) else sum(tokens)
    what, axes = N_("the gradient for the tokens"), (N_("batch entry"), N_("token"), N_("feature"))
    judge(mine.arguments["0"], expected, what=what, axes=axes)


def gradient(gradients, name):
    """A parameter's gradient, also where the parameter's name has something in front."""
    found = [g for known, g in gradients.parameters.items() if f".{known}".endswith(f".{name}")]
    return found[0] if found else None


def judge_extremes(student, judge, heads, wrapper, x, training):
    """Judge the largest and the smallest of many results, which are the same for every draw."""
    x = x.repeat(DRAWS, 1, 1)
    answers = heads.answers(x, training)
    if answers is None:
        return
    expected = torch.cat(answers, dim=-1)
    value = student.call(wrapper, x, training=training, seed=2).value
    judge.shape(value, expected.shape, dtype=None)
    axes = (N_("token"), N_("feature"))
    judge(value.amax(dim=0), expected.amax(dim=0), what="the largest of many answers", axes=axes)
    judge(value.amin(dim=0), expected.amin(dim=0), what="the smallest of many answers", axes=axes)


def is_the_heads_fault(student, failure):
    """Whether a wrapper that cannot be used has no single head to build on."""
    if failure.kind == "missing":
        why = failure.loading.message if failure.loading is not None else ""
        return "No module named 'causal_attention'" in why or f"'{HEAD}' from" in why
    if failure.kind in ("not_attempted", "blocked"):
        return False
    if failure.type == "NameError" and f"'{HEAD}'" in failure.message:
        return True
    found = trouble(student, HEAD)
    return found is not None and found.kind != "missing"


def shapes(parameters):
    """The shape of each parameter, by name."""
    return {name: list(tensor.shape) for name, tensor in parameters.items()}


def judge_parameters(student, judge, heads, wrapper):
    """Judge that a wrapper's parameters are those of its heads."""
    single, state = shapes(heads.parameters()), student.state(wrapper)
    count = len(heads.made)
    expected = {f"heads.{n}.{name}": shape for n in range(count) for name, shape in single.items()}
    second_names = {
        name
        for names in state.aliases
        if expected.keys() & set(names)
        for name in names
        if name not in expected
    }
    found = {n: shape for n, shape in shapes(state.parameters).items() if n not in second_names}
    template = N_("the parameters and their shapes, with {count} heads")
    judge(found, expected, what=judge.words(template, count=count))
    judge.that(bool(found) or not heads.stand_in, "The module knows of no parameters")


def head_of(name):
    """The number of the head that a parameter belongs to, as text; "" for another parameter."""
    return name.split(".")[1] if name.startswith("heads.") else ""


def all_equal(these, those):
    """Whether two heads have equal parameters."""
    return len(these) == len(those) and all(map(torch.equal, these, those))


def have_equal_weights(student, one, other):
    """Whether two modules start with the same weights; False where they have none."""
    first, second = (student.state(module).parameters for module in (one, other))
    names = [name for name, tensor in first.items() if tensor.dim() > 1]
    return bool(names) and all(torch.equal(first[n], second[n]) for n in names if n in second)


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


@pytest.mark.exercise("MultiHeadAttentionWrapper")
class TestMultiHeadAttentionWrapper(KeepsNames):
    @pytest.mark.gate
    @pytest.mark.conduct
    def test_it_is_a_module_that_answers_texts(self, student, judge):
        """Three of your own heads side by side should be a module that makes a tensor of texts."""
        try:
            wrapper = student.call(WRAPPER, SIZE, SIZE, SIZE, 0.0, 3, seed=1).value
            x = torch.eye(SIZE).repeat(SIZE, 1, 1)
            value = student.call(wrapper, x, training=False).value
        except StudentOutcome as outcome:
            if is_the_heads_fault(student, outcome.failure):
                template = N_("It needs your {head}, which cannot be made and called")
                sentence = judge.words(template, head=HEAD)
                raise student.blocked(sentence, outcome.failure) from None
            raise
        is_module = isinstance(wrapper, RemoteObject) and wrapper.kind == "module"
        sentence = judge.words("{name} does not make an instance of an nn.Module", name=WRAPPER)
        judge.that(is_module, sentence)
        # Any tensor will do: how heads are joined is judged by the values below.
        is_tensor = isinstance(value, torch.Tensor)
        judge.shape(value, value.shape if is_tensor else (SIZE, SIZE, 3 * SIZE), dtype=None)

    @pytest.mark.weight(2)
    def test_the_heads_stand_side_by_side(self, student, judge, draw):
        """Each token should have what your first head gives for it, then what the second does."""
        heads = Heads(student, SIZE, SIZE, SIZE, count=3)
        wrapper = student.call(WRAPPER, SIZE, SIZE, SIZE, 0.0, 3, seed=1).value
        heads.give(wrapper, draw)
        judge_joined(student, judge, heads, wrapper, draw.normal(SIZE, SIZE, SIZE))

    def test_the_context_vectors_of_the_batch_as_printed(self, student, judge, printed):
        """With seed 123 the context vectors should be the example's, if those of your heads are.

        This depends on creating the heads one after the other, the first one first.
        """
        heads = Heads(student, 3, 2, 6, count=2, seed=123)
        x = torch.stack([printed("T45").tensor] * 2)
        answers = heads.answers(x)
        wrapper = student.call(WRAPPER, 3, 2, 6, 0.0, num_heads=2, seed=123, exact=True).value
        right = printed("T26")
        joined = None if answers is None else torch.cat(answers, dim=-1)
        if joined is None or joined.shape != right.tensor.shape:
            judge_joined(student, judge, heads, wrapper, x)
            return
        is_printed = bool(((joined - right.tensor).abs() <= right.atol).all())
        value = student.call(wrapper, x, training=False, seed=2).value
        axes = (N_("batch entry"), N_("token"), N_("feature"))
        judge(value, right if is_printed else joined, axes=axes)

    @pytest.mark.weight(2)
    def test_all_sizes_are_different(self, student, judge, draw):
        """The heads should have the sizes that were asked for, also where all of them differ."""
        heads = Heads(student, 3, 5, 6, count=4)
        wrapper = student.call(WRAPPER, 3, 5, 6, 0.0, 4, seed=1).value
        heads.give(wrapper, draw)
        judge_joined(student, judge, heads, wrapper, draw.normal(2, 6, 3))

    @pytest.mark.weight(2)
    @pytest.mark.conduct
    def test_the_module_knows_the_parameters_of_all_heads(self, student, judge):
        """The parameters should be those that your heads have when made alone, and no others.

        Only parameters that a module knows of are trained, saved and moved with it.
        """
        heads = Heads(student, 3, 5, 6, count=4)
        wrapper = student.call(WRAPPER, 3, 5, 6, 0.0, 4, seed=1).value
        judge_parameters(student, judge, heads, wrapper)

    @pytest.mark.conduct
    def test_each_head_has_parameters_of_its_own(self, student, judge):
        """No two heads should share their parameters, or begin with the same values."""
        heads = Heads(student, SIZE, SIZE, SIZE, count=2)
        states = [student.state(head).parameters for head in heads.made]
        wrapper = student.call(WRAPPER, SIZE, SIZE, SIZE, 0.0, 2, seed=1).value
        state = student.state(wrapper)
        groups = [[name for name in names if name in state.parameters] for names in state.aliases]
        shared = [names for names in groups if len({*map(head_of, names)} - {""}) > 1]
        judge(shared, [], what="names of one and the same parameter")
        begin = [
            [tensor for name, tensor in state.parameters.items() if head_of(name) == number]
            for number in ("0", "1")
        ]
        do_single_ones_differ = not all_equal(*(list(found.values()) for found in states))
        is_copy = do_single_ones_differ and bool(begin[0]) and all_equal(*begin)
        judge.that(not is_copy, "Two heads begin with the same values")

    def test_every_head_learns(self, student, judge, draw):
        """Gradients should flow to the parameters of every head and to the tokens."""
        heads = Heads(student, SIZE, SIZE, SIZE, count=3)
        wrapper = student.call(WRAPPER, SIZE, SIZE, SIZE, 0.0, 3, seed=1).value
        heads.give(wrapper, draw)
        x = draw.normal(SIZE, SIZE, SIZE)
        judge_gradients(student, judge, draw, heads, wrapper, x)

    def test_with_qkv_bias_the_heads_have_biases(self, student, judge, draw):
        """With `qkv_bias`, every head should have the biases of your `CausalAttention`."""
        heads = Heads(student, SIZE, SIZE, SIZE, count=3, further=(True,))
        if not heads.made:
            return
        wrapper = student.call(WRAPPER, SIZE, SIZE, SIZE, 0.0, 3, True, seed=1).value
        heads.give(wrapper, draw, biased=True)
        judge_joined(student, judge, heads, wrapper, draw.normal(SIZE, SIZE, SIZE))

    @pytest.mark.weight(2)
    def test_the_heads_drop_weights_in_training(self, student, judge, draw):
        """In training, the heads should drop what your `CausalAttention` drops."""
        heads = Heads(student, SIZE, SIZE, SIZE, count=3, dropout=0.4)
        wrapper = student.call(WRAPPER, SIZE, SIZE, SIZE, 0.4, 3, seed=1).value
        heads.give(wrapper, draw)
        judge_extremes(student, judge, heads, wrapper, draw.normal(1, SIZE, SIZE), training=True)
        is_training = student.state(wrapper).training
        judge.that(is_training, "A call in training mode ends in eval mode")

    def test_outside_of_training_nothing_else_is_dropped(self, student, judge, draw):
        """In eval mode, the heads should give what your `CausalAttention` gives in eval mode."""
        heads = Heads(student, SIZE, SIZE, SIZE, count=3, dropout=0.4)
        wrapper = student.call(WRAPPER, SIZE, SIZE, SIZE, 0.4, 3, seed=1).value
        heads.give(wrapper, draw)
        judge_extremes(student, judge, heads, wrapper, draw.normal(1, SIZE, SIZE), training=False)

    def test_the_heads_know_the_context_length(self, student, judge, draw):
        """A text shorter or longer than `context_length` should fare as with a single head."""
        heads = Heads(student, SIZE, SIZE, SIZE, count=3)
        wrapper = student.call(WRAPPER, SIZE, SIZE, SIZE, 0.0, 3, seed=1).value
        heads.give(wrapper, draw)
        judge_joined(student, judge, heads, wrapper, draw.normal(SIZE, SIZE - 1, SIZE))
        judge_joined(student, judge, heads, wrapper, draw.normal(1, SIZE - 1, SIZE))
        judge_joined(student, judge, heads, wrapper, draw.normal(SIZE, SIZE + 1, SIZE))

    @pytest.mark.conduct
    def test_each_instance_draws_its_own_weights(self, student, judge):
        """Two instances should start with different weights, if your heads do."""
        heads = [Heads(student, 3, 5, 6, count=1, seed=seed) for seed in (1, 2)]
        if not heads[0].stand_in and have_equal_weights(student, *(one.made[0] for one in heads)):
            return
        made = [student.call(WRAPPER, 3, 5, 6, 0.0, 2, seed=seed).value for seed in (1, 2)]
        same = have_equal_weights(student, *made)
        judge.that(not same, "Two instances start alike: does the class set the seed itself?")

    def test_double_precision_is_kept(self, student, judge, draw):
        """Parameters and tokens in float64 should give context vectors in float64."""
        heads = Heads(student, SIZE, SIZE, SIZE, count=3)
        wrapper = student.call(WRAPPER, SIZE, SIZE, SIZE, 0.0, 3, seed=1).value
        heads.give(wrapper, draw, dtype=torch.float64)
        judge_joined(student, judge, heads, wrapper, draw.normal(SIZE, SIZE, SIZE).double())

    @pytest.mark.conduct
    def test_the_tokens_are_left_as_they_are(self, student, judge, draw):
        """The wrapper should leave the texts as they are, if your heads do."""
        heads = Heads(student, SIZE, SIZE, SIZE, count=3)
        wrapper = student.call(WRAPPER, SIZE, SIZE, SIZE, 0.0, 3, seed=1).value
        heads.give(wrapper, draw)
        x = draw.normal(SIZE, SIZE, SIZE)
        allowed = student.call(heads.made[0], x, training=False).changed
        changed = student.call(wrapper, x, training=False).changed
        judge(changed, allowed, what="the arguments that were changed in place")
