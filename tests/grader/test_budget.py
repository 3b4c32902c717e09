"""The package may not grow past the budget in pyproject.toml."""

import tomllib
from pathlib import Path

from code_lines import code_lines, code_lines_in

ROOT = Path(__file__).parents[2]


def test_the_package_keeps_to_its_budget_of_lines() -> None:
    """Whoever needs more raises `[tool.budget]`, and says why in the commit."""
    budget = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["budget"]
    lines = code_lines_in(ROOT / "grader")
    assert lines <= budget["lines_of_code"], (
        f"grader/ has {lines} lines of code and may have {budget['lines_of_code']}: "
        "look what can go, or raise the number in pyproject.toml and say why in the commit"
    )


def test_only_lines_with_code_count() -> None:
    """Docstrings, comments and blank lines are free; imports and each line of a long text are not."""
    text = '"""A module."""\n\nimport os  # why\n\n# A comment.\nNAME = """\ntwo\n"""\n"""What it is."""\n'
    assert code_lines(text) == 4
