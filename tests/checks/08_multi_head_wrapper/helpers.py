"""What the checks of assignment 08 share: a wrapper, judged by single heads of the student's own."""

from functools import cached_property, partial

import torch

from grader.testing import N_, Failure, StudentOutcome, by_name

HEAD = "CausalAttention"
AXES = (N_("batch entry"), N_("token"), N_("feature"))

SIZE = 4
"""Of every axis, where a slip in the student's own `CausalAttention` must not matter: one that
swaps axes still returns a tensor there, which is what the wrapper has to join."""

ALIKE = (SIZE, SIZE, SIZE)
"""Sizes of a wrapper, or of a batch of texts."""

DRAWS = 512
"""Copies of one text in a batch: enough that each way of dropping the weights of a row occurs."""

SIZES = {"d_in": 3, "d_out": 5, "context_length": 6}
"""All different, to tell in which order a head takes them."""


def trouble(attempt, name):
    """Why what is made under this name cannot be used as a head; None where it can."""
    try:
        made = attempt.of(name).instance(*ALIKE, 0.0, seed=1)
        value = made(torch.eye(SIZE).repeat(SIZE, 1, 1), training=False).value
        is_tensor = isinstance(value, torch.Tensor)
        is_head = is_tensor and takes_sizes_in_order(attempt.of(name), attempt.student)
    except StudentOutcome as outcome:
        return outcome.failure
    return None if is_head else Failure("exception")


def takes_sizes_in_order(head, student):
    """Whether a head takes its sizes as the exercise has them; where they are named, it does."""
    if SIZES.keys() <= set(student.parameters(head.name)):
        return True
    made = head.instance(*SIZES.values(), 0.0, seed=1)
    for size in SIZES.values():
        x = torch.ones(2, 3, size)
        if made.refusal(x, training=False) is None:
            value = made(x, training=False).value
            return size == SIZES["d_in"] and value.shape[-1] != SIZES["context_length"]
    return True


def head_class(attempt):
    """The name of the class of the student's heads, and why none can be made of it, None if it can.

    It is another one than `HEAD` where no such class is there.
    """
    name, found = HEAD, trouble(attempt, HEAD)
    if found is None or found.kind != "missing":
        return name, found
    try:
        kinds = attempt.instance(*ALIKE, 0.0, 2, seed=1).state.classes
    except StudentOutcome:
        return name, found
    name = next((kind for name, kind in kinds.items() if name.endswith(".0")), HEAD)
    return name, found if name == HEAD else trouble(attempt, name)


def ignores_parameters(attempt):
    """Whether a single head gives the same whatever it has learned: no wrapper is judged by such."""
    name, why_not = head_class(attempt)
    if why_not is not None:
        return False
    head, values = attempt.of(name).instance(*ALIKE, 0.0, seed=1), []
    shapes = {name: tensor.shape for name, tensor in head.state.parameters.items()}
    for seed in (1, 2):
        drawn = torch.Generator().manual_seed(seed)
        given = {name: torch.rand(shape, generator=drawn) for name, shape in shapes.items()}
        if attempt.student.load(head.own, given).problems:
            return False
        values.append(head(torch.eye(SIZE).repeat(SIZE, 1, 1), training=False).value)
    return torch.equal(*values)


class SideBySide:
    """A wrapper, and single heads of the student's own, made one after the other, for it to join.

    A head is their `CausalAttention`, or of the class that a wrapper's heads have. Where none can
    be made in the same way, a wrapper of a single head stands for it.

    Attributes:
        heads: the single heads; none where they do not take the arguments.
        state: what the first of them held when it was made; None where there is none.
        are_given: whether the wrapper's heads took the parameters that it was to give them.
    """

    def __init__(self, attempt, *sizes, count=3, dropout=0.0, qkv_bias=False, seed=1):
        self.student, self.judge, self.are_given = attempt.student, attempt.judge, True
        name, why_not = head_class(attempt)
        self.stand_in = why_not is not None
        name, one = (attempt.name, (1,)) if self.stand_in else (name, ())
        further = (True,) if qkv_bias else ()
        arguments = (*sizes, dropout, *one, *further)
        refused = qkv_bias and self.student.refusal(name, *arguments) is not None
        seeds = [] if refused else [seed, *[None] * (count - 1)]
        self.heads = [attempt.of(name).instance(*arguments, seed=seed) for seed in seeds]
        self.state = self.heads[0].state if self.heads else None
        self.make = partial(attempt.instance, *sizes, dropout, count, *further, seed=seed)

    @cached_property
    def wrapper(self):
        """The wrapper of as many heads."""
        return self.make()

    def parameters(self):
        """The parameters of the first head, by name."""
        found = self.state.parameters if self.heads else {}
        return {n.partition("0.")[2] if self.stand_in else n: t for n, t in found.items()}

    def give(self, draw, biased=False, dtype=torch.float32):
        """Give the wrapper's heads and the single ones the same parameters.

        Where the wrapper has no parameter of that name, the single head keeps what it drew: the
        names are judged in a check of their own. A bias is zero unless it is asked for.
        """
        parameters = sorted(self.parameters().items())
        has_heads = any(name.startswith("heads.") for name in self.wrapper.state.parameters)
        given = []
        for index in range(len(self.heads)):
            place = f"heads.{index}." if has_heads else f"{index}."
            values = {name: draw.normal(*t.shape, dtype=dtype) for name, t in parameters}
            values |= {n: v.zero_() for n, v in values.items() if "bias" in n and not biased}
            given.append({place + n: v for n, v in values.items()})
        everything = {n: v for values in given for n, v in values.items()}
        loaded = self.student.load(self.wrapper.own, everything)
        self.are_given = not loaded.problems
        for head, values in zip(self.heads, given, strict=True):
            found = {n: v for n, v in values.items() if n not in loaded.problems}
            start = 2 if has_heads else 1
            self.student.load(head.own, {n.split(".", start)[start]: v for n, v in found.items()})

    def joined(self, x, training=False):
        """What the heads return, side by side; None where one refuses the texts."""
        answers = self.answers(x, training)
        return None if answers is None else torch.cat(answers, dim=-1)

    def answers(self, x, training=False):
        """What each head returns; None where one refuses the texts.

        The heads are called in a row from one seed, as a wrapper's heads are: so that heads that
        draw where they should not give the same.
        """
        answers = []
        try:
            for single in self.heads:
                seed = None if answers else 2
                answers.append(single(x, training=training, seed=seed).value)
        except StudentOutcome as outcome:
            if outcome.failure.kind != "exception":
                raise
            return None
        return answers or None

    def judge_joined(self, x):
        """Judge what the wrapper returns by what the single heads return."""
        joined = self.joined(x)
        if joined is not None:
            self.wrapper(x, training=False, seed=2).gives(joined, axes=AXES)
        elif self.are_given:  # the parameters are judged in a check of their own
            is_refused = self.student.refusal(self.wrapper.own, x, training=False) is not None
            sentence = N_(
                "A single head refuses such a text, the wrapper does not: do its heads get the "
                "text as it is, and all they are to know?"
            )
            self.judge.that(is_refused, sentence)

    def judge_gradients(self, draw, x):
        """Judge the gradients through the wrapper by those through the single heads."""
        answers = self.answers(x)
        if answers is None:
            return
        joined = torch.cat(answers, dim=-1)
        cotangent = draw.normal(*joined.shape)
        parts = cotangent.split([answer.shape[-1] for answer in answers], dim=-1)
        seeds = [2, *[None] * (len(answers) - 1)]
        right = [
            head(x, training=False, cotangent=part, seed=seed).answer.gradients
            for head, part, seed in zip(self.heads, parts, seeds, strict=True)
        ]
        # A cotangent can be given only where the shape is right.
        self.wrapper(x, training=False).has_shape(*joined.shape, dtype=None)
        called = self.wrapper(x, training=False, cotangent=cotangent, seed=2)
        mine = called.answer.gradients
        for index, single in enumerate(right):
            for name in self.parameters():
                template = N_("the gradient for {name} of head {head}")
                what = self.judge.words(template, name=name, head=index)
                found = by_name(mine.parameters, f"{index}.{name}")
                self.judge(found, by_name(single.parameters, name), what=what)
        tokens = [single.arguments["0"] for single in right]
        expected = None if any(part is None for part in tokens) else sum(tokens)
        self.judge(mine.arguments["0"], expected, what="the gradient for the tokens", axes=AXES)

    def judge_extremes(self, x, training):
        """Judge the largest and the smallest of many results, which are the same for every draw."""
        x = x.repeat(DRAWS, 1, 1)
        expected = self.joined(x, training)
        if expected is None:
            return
        called = self.wrapper(x, training=training, seed=2)
        value = called.has_shape(*expected.shape, dtype=None)
        high, low, axes = expected.amax(dim=0), expected.amin(dim=0), AXES[1:]
        self.judge(value.amax(dim=0), high, what="the largest of many answers", axes=axes)
        self.judge(value.amin(dim=0), low, what="the smallest of many answers", axes=axes)


def side_by_side(attempt, draw, *sizes, dtype=torch.float32, **how):
    """A wrapper and single heads with the same parameters."""
    both = SideBySide(attempt, *(sizes or ALIKE), **how)
    if both.heads:
        both.give(draw, how.get("qkv_bias", False), dtype)
    return both
