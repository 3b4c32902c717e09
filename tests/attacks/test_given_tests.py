"""Attacks on given tests: what is expected stays away, and values that claim to be equal are no values."""

import contextlib
from pathlib import Path

import pytest

from grader.classes.worker import grade_student
from grader.course.course import load_course
from grader.intake.folders import Student
from grader.judging.submission_grader import full_grader

COURSE = {
    "course.toml": """
[course]
title = "Given tests"

[[assignments]]
id = "01_first"
title = "First"
[assignments.exercises]
double = 2
""",
    "solutions/01_first/first.py": '''
# %%
def scale():
    """What is given."""
    return 2

# %% exercise="double"
def double(x):
    """Twice a number."""
    # TODO: write this.
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
''',
    "tests/checks/01_first/test_visible.py": '''
import pytest


@pytest.mark.exercise("double")
class TestDouble:
    def test_known(self, student):
        """Twice 3 is 6."""
        student.runs("assert double(3) == 6")
''',
    "tests/checks/01_first/test_hidden.py": '''
import pytest


@pytest.mark.exercise("double")
class TestDouble:
    @pytest.mark.deepens("test_known")
    def test_unseen(self, student):
        """Twice another number."""
        student.runs("""
            secret = [40962, 8]
            assert double(20481) == secret[0] and 8 == double(4), "it is 40962"
            assert double(20481) in secret and type(double(2)) is int
            assert double(5) == 5 * scale()
        """, given=["scale"])
''',
}
RIGHT = "def scale():\n    return 2\n\n\ndef double(x):\n    return 2 * x\n"

EQUAL = """
class Equal:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    def __le__(self, other): return True
    def __bool__(self): return True
    def __contains__(self, other): return True
    def __instancecheck__(self, other): return True
    def __hash__(self): return 0
    def __getattr__(self, name): return self
    def __call__(self, *args): return self
    __array__ = None
    __array_ufunc__ = None


class EqualInt(int):
    def __eq__(self, other): return True
    def __hash__(self): return 0
"""

ATTACKS = {
    "an object that equals everything": f"{EQUAL}\ndef double(x):\n    return Equal()\n",
    "a number that equals everything": f"{EQUAL}\ndef double(x):\n    return EqualInt(1)\n",
    "a class that equals everything": f"{EQUAL}\ndef double(x):\n    return Equal\n",
    "nothing": "def double(x):\n    return None\n",
    "what stands in the program": """
import sys


def double(x):
    frame = sys._getframe(1)
    found = [c for c in frame.f_code.co_consts if isinstance(c, int) and c > 40000]
    found += [v for v in frame.f_locals.get("secret", ()) or frame.f_globals.get("secret", ())]
    return found[-1] if found else 0
""",
    "a note of its own": """
import sys


def double(x):
    names = sys._getframe(1).f_globals
    names["_note_what_is_asked"](0, True, True)
    names["_note_what_is_asked"] = lambda *_: None
    return True
""",
    "another comparison": """
import builtins, operator
import numpy as np

operator.eq = lambda a, b: True
builtins.bool = builtins.all = builtins.isinstance = lambda *_: True


def double(x):
    return 0
""",
    "a helper that agrees": "def scale():\n    return 0\n\n\ndef double(x):\n    return 0\n",
    "a range without end": "def double(x):\n    return range(2**59)\n",
    "huge arrays": "import numpy as np\n\n\ndef double(x):\n    return np.zeros((9_000_000, 1))\n",
    "lists that hold themselves": "def double(x):\n    held = []\n    held.append(held)\n    return held\n",
}


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory):
    """What grades submissions to a course of given tests."""
    root: Path = tmp_path_factory.mktemp("given")
    for name, text in COURSE.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"), "utf-8")
    with contextlib.closing(full_grader(load_course(root), "1")) as made:
        yield made


def outcomes(given, launcher, folder: Path, code: str) -> dict[str, str]:
    """How the checks end on a submission."""
    path = folder / "01_first" / "first.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(code, "utf-8")
    result = grade_student(given, launcher, Student("mallory", folder))
    (exercise,) = result.assignments[0].exercises
    return {check.id.rpartition("::")[2]: str(check.outcome) for check in exercise.checks}


@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_passes_a_given_test(given, without_namespaces, tmp_path, name) -> None:
    """Neither the visible nor the hidden one; a right submission passes both afterwards."""
    found = outcomes(given, without_namespaces, tmp_path, ATTACKS[name])
    assert "passed" not in found.values()
    found = outcomes(given, without_namespaces, tmp_path, RIGHT)
    assert found == {"test_known": "passed", "test_unseen": "passed"}
