"""A notebook's own test cells run the visible checks in the kernel, as nbgrader runs them."""

import re
from pathlib import Path
from typing import Any

import pytest
from kernels import run_notebook

from grader.course.course import Course
from grader.release.solution_cells import SolutionCell, cleared, read_solution
from grader.release.stubs import notebook_text
from tests.course.conftest import part_of_course

pytestmark = pytest.mark.slow

FIRST = "01_simple_attention"


@pytest.fixture(scope="module")
def executed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Assignment 01's notebook, partly right, executed in a real kernel: test cells by exercise."""
    folder = tmp_path_factory.mktemp("kernel")
    course = part_of_course(root, tmp_path_factory.mktemp("part") / "course", [FIRST])
    with pytest.MonkeyPatch.context() as patch:
        cells = run_notebook(partly_right(course), course, folder, patch).cells
    tests = [cell for cell in cells if cell.id.startswith("test_")]
    return {cell.id.removeprefix("test_"): cell for cell in tests} | {"hint": cells[-1]}


def partly_right(course: Course) -> str:
    """Assignment 01: three solutions have a slip, one is the stub, the others are right."""
    assignment = course.assignments[0]
    source = read_solution(assignment, course.paths(assignment).solution)
    texts = {
        "dot_product": lambda cell: cell.text.replace("(a * b).sum()", "(a * b).sum() * 2"),
        "attention_scores": lambda cell: re.sub(
            r"torch\.stack\(.*\)", "inputs @ query * 2", cell.text
        ),
        "softmax_naive": lambda cell: cell.text.replace("torch.exp(", "torch.exps("),
        "context_vector": lambda cell: cleared(assignment, cell),
    }
    asks = SolutionCell("code", 'hint("dot_product")')
    return notebook_text(
        source, lambda cell: texts.get(cell.exercise, lambda cell: cell.text)(cell), (asks,)
    )


def last_value(cell: Any) -> str:
    """What a cell's last line came to, as text."""
    results = [out for out in cell.outputs if out.output_type == "execute_result"]
    return str(results[-1]["data"]["text/plain"])


def printed(cell: Any) -> str:
    """What a cell printed."""
    return "".join(out["text"] for out in cell.outputs if out.output_type == "stream")


def test_the_last_line_of_a_test_cell_is_the_points_earned(executed: dict[str, Any]) -> None:
    """Full marks, partial credit, and nothing for a stub."""
    values = {name: last_value(cell) for name, cell in executed.items() if name != "hint"}
    assert values["softmax_stable"] == "3"
    assert 0 < float(values["dot_product"]) < 2
    assert values["context_vector"] == "0"


def test_a_test_cell_shows_the_messages_of_check(executed: dict[str, Any]) -> None:
    """The same words as `grader check`, with the exercise's name and the values."""
    text = printed(executed["dot_product"])
    assert "expected 0.9544, received 1.9088" in text
    assert "not attempted yet" in printed(executed["context_vector"])


def test_a_place_is_named_as_the_margin_names_it(executed: dict[str, Any]) -> None:
    """By the number of the cell that ran, which is the one before the test cell."""
    cell = executed["softmax_naive"]
    assert f"In[{cell.execution_count - 1}]" in printed(cell)


def test_what_comes_next_is_another_exercise(executed: dict[str, Any]) -> None:
    """It is said of a solved one, and never names the one just checked."""
    assert "Next: 01_simple_attention/context_vector\n" in printed(executed["softmax_stable"])
    assert "Next:" not in printed(executed["dot_product"])


def test_a_hint_is_to_be_had_in_a_cell(executed: dict[str, Any]) -> None:
    """After any test cell, with what asks for it again."""
    text = printed(executed["hint"])
    assert text.startswith("Hint 1 of ")
    assert "grader hint" not in text


def test_nothing_is_written_to_stderr(executed: dict[str, Any]) -> None:
    """Anything on stderr would make nbgrader score the cell 0."""
    names = [out.name for c in executed.values() for out in c.outputs if "name" in out]
    assert set(names) == {"stdout"}


def displayed(cell: Any) -> list[dict[str, str]]:
    """What a cell showed besides text and its value."""
    return [out["data"] for out in cell.outputs if out.output_type == "display_data"]


def test_the_picture_is_shown_below_the_words(executed: dict[str, Any]) -> None:
    """As SVG, and in words for who has no HTML; the text above does not repeat its numbers."""
    (shown,) = displayed(executed["attention_scores"])
    assert shown["text/html"].count("<svg ") == 1
    assert shown["text/html"].count(">journey</text>") == 1
    assert shown["text/plain"] == "token 0 (Your): expected 0.9544, received 1.909"
    text = printed(executed["attention_scores"])
    assert "6 of 6 values differ" in text
    assert "tensor([0.9544" not in text


def test_a_cell_without_a_picture_shows_none(executed: dict[str, Any]) -> None:
    """A single number is said in words."""
    names = ("dot_product", "context_vector")
    assert [displayed(executed[name]) for name in names] == [[], []]


def test_what_is_solved_is_shown(executed: dict[str, Any]) -> None:
    """One fold for each setting, that in the middle open; without a script, and in words."""
    (shown,) = displayed(executed["softmax_stable"])
    assert shown["text/html"].count("<svg ") == 4
    assert shown["text/html"].count('<details class="state" open>') == 1
    assert "<script" not in shown["text/html"]
    assert "temperature = 1\n" in shown["text/plain"]
