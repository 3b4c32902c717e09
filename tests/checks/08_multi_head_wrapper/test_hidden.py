"""Assignment 08 on inputs nobody has seen: other sizes, other values, other dtypes."""

import pytest
import torch

from grader.testing import N_, Failure, StudentOutcome

WRAPPER, HEAD = "MultiHeadAttentionWrapper", "CausalAttention"

SIZE = 4
"""Of every axis, where a slip in the student's own `CausalAttention` must not matter: one that
swaps axes still returns a tensor there, which is what the wrapper has to join."""

BATCH_SIZE, CONTEXT_LENGTH, D_IN, D_OUT, NUM_HEADS = 2, 5, 6, 4, 3

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
        is_refused = student.refusal(wrapper, x, training=False) is not None
        sentence = N_(
            "A single head refuses these texts, the wrapper does not: do its heads get all they "
            "are to know?"
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


def side_by_side(student, draw, *sizes, count, dtype=torch.float32, biased=False):
    """Single heads and a wrapper with the same parameters; None where there are no such heads."""
    further = (True,) if biased else ()
    heads = Heads(student, *sizes, count=count, further=further)
    if not heads.made:
        return None
    wrapper = student.call(WRAPPER, *sizes, 0.0, count, *further, seed=1).value
    heads.give(wrapper, draw, biased, dtype)
    return heads, wrapper


@pytest.mark.exercise("MultiHeadAttentionWrapper")
class TestMultiHeadAttentionWrapper:
    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_all_sizes_are_different")
    def test_unseen_texts(self, student, judge, draw):
        """Texts in other sizes should give the results of the heads, side by side."""
        sizes = (D_IN, D_OUT, CONTEXT_LENGTH)
        heads, wrapper = side_by_side(student, draw, *sizes, count=NUM_HEADS)
        judge_joined(student, judge, heads, wrapper, draw.normal(BATCH_SIZE, CONTEXT_LENGTH, D_IN))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_heads_stand_side_by_side")
    def test_all_sizes_the_same(self, student, judge, draw):
        """Axes should not be mixed up, also where all sizes are the same."""
        heads, wrapper = side_by_side(student, draw, SIZE, SIZE, SIZE, count=SIZE)
        judge_joined(student, judge, heads, wrapper, draw.normal(SIZE, SIZE, SIZE))

    @pytest.mark.deepens("test_the_heads_stand_side_by_side")
    def test_a_single_head(self, student, judge, draw):
        """A single head should give what it gives without a wrapper."""
        heads, wrapper = side_by_side(student, draw, SIZE, SIZE, SIZE, count=1)
        judge_joined(student, judge, heads, wrapper, draw.normal(SIZE, SIZE, SIZE))

    @pytest.mark.deepens("test_the_heads_know_the_context_length")
    def test_calls_do_not_depend_on_earlier_ones(self, student, judge, draw):
        """A call should give the same after calls with shorter and longer texts."""
        sizes = (D_IN, D_OUT, CONTEXT_LENGTH)
        heads, wrapper = side_by_side(student, draw, *sizes, count=NUM_HEADS)
        for num_tokens in (3, 2, CONTEXT_LENGTH, 3, CONTEXT_LENGTH + 1):
            judge_joined(student, judge, heads, wrapper, draw.normal(BATCH_SIZE, num_tokens, D_IN))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_every_head_learns")
    def test_gradients_reach_everything(self, student, judge, draw):
        """Gradients should flow to the parameters of every head and to the tokens."""
        heads, wrapper = side_by_side(student, draw, D_IN, D_OUT, CONTEXT_LENGTH, count=NUM_HEADS)
        x = draw.normal(BATCH_SIZE, CONTEXT_LENGTH, D_IN)
        judge_gradients(student, judge, draw, heads, wrapper, x)

    @pytest.mark.deepens("test_every_head_learns")
    def test_gradients_where_all_sizes_are_the_same(self, student, judge, draw):
        """Gradients should flow to every head, also where all sizes are the same."""
        heads, wrapper = side_by_side(student, draw, SIZE, SIZE, SIZE, count=NUM_HEADS)
        judge_gradients(student, judge, draw, heads, wrapper, draw.normal(SIZE, SIZE, SIZE))

    @pytest.mark.deepens("test_with_qkv_bias_the_heads_have_biases")
    def test_with_qkv_bias_the_heads_have_biases(self, student, judge, draw):
        """With `qkv_bias`, every head should have biases that count."""
        found = side_by_side(student, draw, SIZE, SIZE, SIZE, count=NUM_HEADS, biased=True)
        if found is None:
            return
        heads, wrapper = found
        judge_joined(student, judge, heads, wrapper, draw.normal(SIZE, SIZE, SIZE))

    @pytest.mark.weight(2)
    @pytest.mark.deepens("test_the_heads_drop_weights_in_training")
    def test_the_heads_drop_weights_in_training(self, student, judge, draw):
        """In training, the heads should drop with the probability that was given."""
        heads = Heads(student, SIZE, SIZE, SIZE, count=NUM_HEADS, dropout=0.6)
        wrapper = student.call(WRAPPER, SIZE, SIZE, SIZE, 0.6, NUM_HEADS, seed=1).value
        heads.give(wrapper, draw)
        judge_extremes(student, judge, heads, wrapper, draw.normal(1, SIZE, SIZE), training=True)
