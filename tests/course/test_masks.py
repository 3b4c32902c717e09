"""Assignment 13: its notebook, solved, runs in a real kernel, and its layer is torch's attention."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from kernels import printed, run_assignment

from grader.cli.hint import only_exercise
from grader.course.course import Course


@pytest.fixture
def own(defined_by: Callable[[str], SimpleNamespace]) -> SimpleNamespace:
    """What the solution defines."""
    return defined_by("13_masks")


@pytest.mark.parametrize("lengths", [(6, 4), (0, 6)])
def test_the_layer_is_the_ready_made_attention(
    own: SimpleNamespace, lengths: tuple[int, int]
) -> None:
    """For padded texts, and for one without any token: zeros, and finite gradients."""
    torch.manual_seed(1)
    layer = own.CrossAttention(3, 4, 5)
    x, context = torch.randn(2, 3, 3), torch.randn(2, 6, 4, requires_grad=True)
    mask = own.padding_mask(torch.tensor(lengths), 6) & own.causal_mask(3, 6)
    parts = layer.W_query(x), layer.W_key(context), layer.W_value(context)
    found = layer(x, context, mask)
    torch.testing.assert_close(found, own.ready_made_attention(*parts, mask))
    found.sum().backward()
    assert context.grad.isfinite().all()
    assert found[0].any() == bool(lengths[0])


def test_a_mask_named_like_an_earlier_assignment_is_found(course: Course) -> None:
    """`causal_mask` is the module of 05 as well: hints are for the exercise; commands name the id."""
    exercise = only_exercise(course, "causal_mask")
    assert exercise.id == course.name_of(exercise) == "13_masks/causal_mask"


@pytest.mark.long
@pytest.mark.proof
def test_the_solved_notebook_runs_in_a_real_kernel(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each test cell shows its exercise as solved, and the experiment two masks."""
    cells = run_assignment(course, "13_masks", tmp_path, monkeypatch).cells
    shown = [printed(cell) for cell in cells if cell.id.startswith("test_")]
    for exercise, text in zip(course.by_id["13_masks"].exercises, shown, strict=True):
        assert f"✓ {exercise.name}" in text
    assert printed(cells[-1]).count("tensor(") == 2
