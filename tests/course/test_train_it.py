"""The finale: it learns from every seed, one head matters most, and its cells say what is missing."""

import runpy
from pathlib import Path

import pytest
import torch
from kernels import printed, run_assignment

from grader.course.course import Course

EXERCISES = (
    "inputs_and_targets",
    "AttentionBlock",
    "training_step",
    "head_weights",
    "switch_off_head",
)
TRAINING = runpy.run_path(str(Path(__file__).with_name("train_it.py")))


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_model_learns_and_one_head_matters_most(seed: int) -> None:
    """From a guess to nearly everything; as the text says of the run that it quotes."""
    own = TRAINING["solution"]()
    model, losses = TRAINING["trained"](own, seed)
    texts = own.draw_texts(256, torch.Generator().manual_seed(1000))
    assert losses[0] > 3
    assert sum(losses[-50:]) / 50 < 0.05
    assert own.accuracy(model, texts) > 0.98
    rest = {(b, h): own.accuracy_without(model, texts, b, h) for b in (0, 1) for h in (0, 1)}
    most_needed = min(rest, key=rest.__getitem__)
    assert most_needed[0] == 0
    assert rest[most_needed] < 0.7


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ((), "12_train_it/inputs_and_targets is still to be written"),
        (("inputs_and_targets", "head_weights"), "training_step is still to be written"),
        (EXERCISES, "block=1 head=1 without="),
    ],
    ids=["as handed out", "half written", "all written"],
)
def test_the_notebook_runs_from_top_to_bottom(
    course: Course,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    written: tuple[str, ...],
    said: str,
) -> None:
    """In a real kernel, in well under two minutes."""
    notebook = run_assignment(course, "12_train_it", tmp_path, monkeypatch, written)
    assert said in printed(*notebook.cells)
