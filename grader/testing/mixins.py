"""Checks that many exercises share: a class of checks inherits them, by the names they have here.

A class says with `shapes` of normal tensors, or with a method `inputs(draw, dtype)`, what its
function is called with, and with `axes` what the axes of its result are called. These checks are run after the class's own; one that shall stand
among them is named there (`test_x = KeepsArguments.test_x`). One that shall weigh something else is
defined again, with its marks, and calls the one here by `super()`.
"""

from __future__ import annotations

from typing import Any

import pytest

from grader.core.language import N_, _
from grader.core.text import clean
from grader.sandbox.torch_later import torch
from grader.testing.attempt import Attempt
from grader.testing.draw import Draw

OTHER_NAMES = N_("They are {found}, and in the stub {right}")


class KeepsNames:
    """A remark on parameters with other names than the stub's."""

    @pytest.mark.remark
    def test_the_parameters_keep_their_names(self, attempt: Attempt) -> None:
        """The parameters should keep the names and the order they have in the stub."""
        handles = (attempt.student, attempt.reference)
        other = attempt.student.called_otherwise
        sentence = _("Your code calls it {other}").format(other=clean(other, 80))
        attempt.judge.that(not other, sentence)
        found, right = (", ".join(handle.parameters(attempt.name)) for handle in handles)
        sentence = _(OTHER_NAMES).format(found=found, right=right)
        attempt.judge.that(found == right, sentence)


class HasInputs:
    """A class of checks that says what its function is called with.

    Attributes:
        shapes: those of its arguments, where these are normal tensors.
        axes: what the axes of its result are called.
    """

    shapes: tuple[tuple[int, ...], ...] = ()
    axes: tuple[str, ...] = ()

    def inputs(self, draw: Draw, dtype: torch.dtype | None = None) -> tuple[Any, ...]:
        """The arguments of a call, drawn, in that dtype; in float32 unless given."""
        if not self.shapes:
            raise NotImplementedError("its class has neither `shapes` nor `inputs`")
        return tuple(draw.normal(*shape, dtype=dtype) for shape in self.shapes)


class KeepsArguments(HasInputs):
    """A check that the function changes no argument."""

    @pytest.mark.conduct
    def test_the_arguments_are_left_as_they_are(self, attempt: Attempt, draw: Draw) -> None:
        """The arguments should stay as they are."""
        attempt(*self.inputs(draw)).keeps_arguments()


class KeepsDoublePrecision(HasInputs):
    """A check that the function computes in the dtype of its arguments."""

    def test_double_precision_is_kept(self, attempt: Attempt, draw: Draw) -> None:
        """Arguments in float64 should give the right result in float64."""
        attempt(*self.inputs(draw, torch.float64)).agrees()
