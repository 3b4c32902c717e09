"""Tests of `grader learn`: a student's wrong answer becomes a known mistake, or nothing changes."""

import ast
import io
import re
import sys
from functools import lru_cache
from types import SimpleNamespace

import pytest

from grader.cli import validate
from grader.cli.shared import ExitCode
from grader.core.errors import UsageError
from grader.course.course import load_course
from grader.course.misconceptions import edited, read_misconceptions
from grader.extras.learning import command
from grader.extras.learning.proposal import (
    UNPROVEN,
    proposed_edit,
    refusal,
    with_entry,
    without_unproven,
)
from grader.judging import seal_probe
from grader.submissions.submission import read_submission

FLIPPED = """
def scores(q, k):
    \"\"\"My own.\"\"\"
    products = q @ k.T
    return -products / k.shape[-1] ** 0.5
"""
WORDS = ("--id", "scores-negative", "--kind", "slip", "--symptom", "The scores are negated.")
QUESTION = ("--question", "Should a better fit have a smaller score?")


@pytest.fixture
def learn(grader, work):
    """Learns from what bo wrote for `scores`."""

    def run(text, *options):
        students = work("bo", scores=text).parent
        return grader("learn", "bo", "scores", "--submissions", students, "--yes", *options)

    return run


@pytest.fixture
def misconceptions(folder):
    """The file of the known mistakes of `scores`."""
    return folder / "solutions" / "01_scores" / "misconceptions.toml"


@pytest.fixture
def proof(monkeypatch):
    """Puts something in the place of the proof."""
    return lambda ends: monkeypatch.setattr(validate, "prove", lambda *_, **__: ends())


@pytest.fixture
def answer(grader, work, monkeypatch):
    """Learns the same with an answer to the question."""

    def run(text):
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{text}\n"))
        students = work("bo", scores=FLIPPED).parent
        return grader("learn", "bo", "scores", "--submissions", students, *WORDS, *QUESTION)

    return run


def edit_of(folder, work, text, exercise="01_scores/scores"):
    """The edit that is proposed for a student's file."""
    course = load_course(folder)
    submission = read_submission(course, work("bo", scores=text), "bo")
    return proposed_edit(course, course.exercises[exercise], submission)


def edit_course(folder):
    """A class with two gaps, beside what the course has."""
    gap = "        ### BEGIN SOLUTION\n        {}\n        ### END SOLUTION\n"
    with (folder / "solutions" / "01_scores" / "scores.py").open("a", encoding="utf-8") as file:
        file.write('\n\n# %% exercise="Scale"\nclass Scale:\n')
        file.write("    def __init__(self, by):\n        super().__init__()\n")
        file.write(gap.format("self.by = by") + "\n    def forward(self, x):\n")
        file.write(gap.format("return self.by * x"))
    path = folder / "course.toml"
    text = path.read_text("utf-8").replace("scores = 2\n", "scores = 2\nScale = 1\n", 1)
    path.write_text(text, "utf-8")


COMMENTED = FLIPPED.replace("k.T", "k.T  # mine").replace("    return", "    # by bo\n    return")


@pytest.mark.parametrize("text", [FLIPPED, COMMENTED])
def test_the_edit_is_the_line_that_differs_in_the_solutions_names(folder, work, text):
    """The parameters' names are the solution's; same lines and a student's comments stay out."""
    assert edit_of(folder, work, text) == (
        "    return products / keys.shape[-1] ** 0.5",
        "    return -products / keys.shape[-1] ** 0.5",
    )


def test_a_class_is_learnt_from_by_all_its_methods(folder, work):
    """What stands before a gap is not doubled; what is the same in a method stays out."""
    edit_course(folder)
    own = (
        "class Scale:\n"
        "    def __init__(self, by):\n        super().__init__()\n        self.by = by\n\n"
        "    def forward(self, x):\n        return self.by + x\n"
    )
    assert edit_of(folder, work, own, "01_scores/Scale") == (
        "        return self.by * x",
        "        return self.by + x",
    )
    both = own.replace("= by\n", "= -by\n")
    find, replace = edit_of(folder, work, both, "01_scores/Scale")
    assert find.startswith("        self.by = by\n")
    assert find.endswith("        return self.by * x")
    assert replace == find.replace("= by", "= -by").replace(" * ", " + ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def score(q, k):\n    return q\n", "bo has no function scores for 01_scores/scores"),
        ("def scores(q, k):\n    '''Only this.'''\n", "scores is empty there"),
        (FLIPPED.replace("-products", "products"), "That code is the solution's own"),
    ],
)
def test_what_is_no_mistake_is_said(folder, work, text, words):
    """Another name, nothing written, the solution itself."""
    with pytest.raises(UsageError, match=words):
        edit_of(folder, work, text)


REFUSED = {
    'open("seen", "a").write("x")': "`open` is no name of the solution",
    '__import__("os").environ.get("SECRET")': "`__import__` is no name of the solution",
    'eval("1")': "`eval` is no name of the solution",
    'exec("x = 1")': "`exec` is no name of the solution",
    'getattr(q, "T")': "`getattr` is no name of the solution",
    'globals()["scores"]': "`globals` is no name of the solution",
    "os.environ": "`os` is no name of the solution",
    "(lambda: vars())()": "`vars` is no name of the solution",
    "[open for _ in q]": "`open` is no name of the solution",
    "q.__class__": "`.__class__` is nothing that the solution or torch's tensors have",
    "().__class__.__base__": "`.__class__` is nothing that the solution or torch's tensors have",
    "q.numpy().tofile('seen')": "`.tofile` is nothing that the solution or torch's tensors have",
    "'{0.T}'.format(q)": "`.format` is nothing that the solution or torch's tensors have",
    "f'{q.__dict__}'": "`.__dict__` is nothing that the solution or torch's tensors have",
    "torch.load('seen')": "`torch.load` is no function of tensors, and the solution does not use it",
    "torch.save(q, 'seen')": "`torch.save` is no function of tensors, and the solution does not use it",
    "torch.ops.load_library('x')": "`torch.ops.load_library` is no function of tensors",
    "torch.hub.load('a', 'b')": "`torch.hub.load` is no function of tensors",
    "torch.utils.cpp_extension.load": "`torch.utils.cpp_extension.load` is no function of tensors",
    "torch.classes.load_library('x')": "`torch.classes.load_library` is no function of tensors",
    "torch.from_file('seen')": "`torch.from_file` is no function of tensors",
    "torch.serialization.os.system('x')": "`torch.serialization.os.system` is no function of tensors",
    "torch.nn.functional.torch.load('x')": "`torch.nn.functional.torch.load` is no function",
    "(lambda t: t.load)(torch)": "`.load` is nothing that the solution or torch's tensors have",
    "len([torch])": "`torch` is a module, and stands there by itself",
    "np.load('seen')": "`np.load` is no function of tensors, and the solution does not use it",
    "np.savetxt('seen', q)": "`np.savetxt` is no function of tensors",
    "np.memmap('seen')": "`np.memmap` is no function of tensors",
    "q.untyped_storage().from_file('x')": "`.untyped_storage` is nothing that the solution",
}
IMPORTS = "import numpy as np\nimport torch\nfrom torch"
ASKS = """
def scores(q, k):
    products = q @ k.T
    {}
    return -products / k.shape[-1] ** 0.5
"""


@pytest.mark.parametrize("expression", REFUSED)
def test_code_that_does_more_than_compute_is_refused(folder, work, edit, expression):
    """In a sentence that names the part; nothing is written, and nothing runs."""
    edit("solutions/01_scores/scores.py", "from torch", IMPORTS)
    words = (
        f"What bo wrote for 01_scores/scores cannot become a known mistake: {REFUSED[expression]}"
    )
    with pytest.raises(UsageError, match=re.escape(words)):
        edit_of(folder, work, ASKS.format(f"products = products + {expression}"))


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("import os", "it imports something"),
        ("from os import environ", "it imports something"),
        ("global scores", "it changes a global name"),
        ("class Tensor: pass", "it defines a class"),
        (f"x = {'1 + ' * 2000}1", "one thing stands in another too deeply"),
    ],
)
def test_statements_that_no_solution_needs_are_refused(folder, work, statement, words):
    """They reach beyond the function."""
    with pytest.raises(UsageError, match=f"cannot become a known mistake: {words}"):
        edit_of(folder, work, ASKS.format(statement))


@pytest.mark.parametrize(
    "expression",
    [
        "torch.zeros_like(products).masked_fill(products.isnan(), -torch.inf)",
        "torch.nn.functional.softmax(products.double(), dim=-1).to(torch.float32)",
        "torch.stack([row - max(row.tolist(), default=0) for row in products])",
        "sum((lambda one: one * 2)(row).sum() for _row, row in enumerate(products))",
        "np.sqrt(products.numpy()).max(axis=-1, keepdims=True) * np.float32(np.pi)",
        "torch.finfo(products.dtype).eps * torch.linalg.norm(products) + scores(q, k).T",
        "torch.einsum('ij,kj->ik', q, k)[..., None].mT",
    ],
)
def test_what_computes_is_no_reason_to_refuse(folder, work, edit, expression):
    """Torch's functions and its tensors' methods, numpy's, comprehensions, the solution's names."""
    edit("solutions/01_scores/scores.py", "from torch", IMPORTS)
    _find, replace = edit_of(folder, work, ASKS.format(f"products = products + {expression}"))
    assert expression.replace("q", "queries")[:5] in replace


@lru_cache(maxsize=2)
def functions_of(text):
    """The functions of a text by their lines."""
    lines = text.split("\n")
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
    return {"\n".join(lines[node.lineno - 1 : node.end_lineno]): node for node in nodes}


def changed_code(text, other):
    """What the functions of a text say otherwise than those of another one, and their parameters."""
    changed = [node for said, node in functions_of(text).items() if said not in functions_of(other)]
    statements = [s for one in changed for s in one.body[ast.get_docstring(one) is not None :]]
    return statements, {n.arg for one in changed for n in ast.walk(one) if isinstance(n, ast.arg)}


@pytest.mark.proof
def test_what_the_courses_known_mistakes_do_is_learned(root):
    """All but those that import something, ask by `getattr`, or keep something with the function."""
    course, refused = load_course(root), {}
    for assignment in course.assignments:
        text = course.paths(assignment).solution.read_text("utf-8")
        for one in read_misconceptions(course, assignment):
            if what := refusal(*changed_code(edited(text, one), text), text):
                refused[one.id] = what
    assert set(refused.values()) == {
        "it imports something",
        "`getattr` is no name of the solution",
        "`.with_cache` is nothing that the solution or torch's tensors have",
    }
    assert len(refused) < len(course.exercises) / 5


@pytest.mark.parametrize("is_yes", [False, True])
def test_nothing_runs_before_somebody_said_so(misconceptions, answer, proof, is_yes):
    """The edit is shown, and then there is the question; no is no."""
    before, ran = misconceptions.read_bytes(), []
    proof(lambda: ran.append(1) or ExitCode.FINE)
    learned = answer("ny"[is_yes])
    question = "Run it? It is a student's code; it runs sealed. [y/N]: "
    assert learned.out.index("return -products") < learned.out.index(question)
    assert (ran, misconceptions.read_bytes() == before) == ([1] * is_yes, not is_yes)
    assert learned.code == (ExitCode.FINE if is_yes else ExitCode.NOT_PASSED)
    assert ("Nothing was run, and nothing was written." in learned.out) == (not is_yes)


def test_where_nothing_can_be_sealed_the_question_says_so(answer, monkeypatch):
    """The same limits as for students, and what is missing."""
    plain = SimpleNamespace(isolation=("child process", "limits"))
    monkeypatch.setattr(seal_probe, "shared_launcher", lambda _packages: plain)
    where = "it runs in a process of its own, which this machine cannot seal"
    assert f"{where}: it can read your files. [y/N]" in answer("n").out


@pytest.mark.slow
def test_a_mistake_is_kept_when_it_is_proven(misconceptions, learn):
    """It is written with its words, and from then on named."""
    before = misconceptions.read_text("utf-8")
    ran = learn(FLIPPED, *WORDS, *QUESTION)
    assert ran.code == ExitCode.FINE, ran.out
    text = misconceptions.read_text("utf-8")
    assert text.startswith(before.rstrip("\n"))
    assert "replace = '''    return -products / keys.shape[-1] ** 0.5'''" in text
    again = learn(FLIPPED, *WORDS, *QUESTION)
    assert (again.code, "'scores-negative' already" in again.err) == (2, True)


@pytest.mark.slow
def test_what_breaks_a_promise_changes_nothing(misconceptions, learn):
    """What passes all checks is no mistake: the file is as it was."""
    before = misconceptions.read_bytes()
    same = FLIPPED.replace("return -products", "return 1.0 * products")
    ran = learn(same, *WORDS, *QUESTION)
    assert (ran.code, "misconceptions.toml is as it was" in ran.out) == (ExitCode.NOT_PASSED, True)
    assert misconceptions.read_bytes() == before


class Killed(BaseException):
    """Stands for the end of the process."""


def test_a_command_killed_while_it_proves_leaves_nothing_to_the_next(misconceptions, learn, proof):
    """What was not proven is no known mistake, and its name is free again."""
    before = misconceptions.read_text("utf-8")
    proof(lambda: ExitCode.FINE)
    assert learn(FLIPPED, *WORDS, *QUESTION).code == ExitCode.FINE
    proven = misconceptions.read_text("utf-8")
    misconceptions.write_text(before, "utf-8")

    def killed():
        raise Killed

    proof(killed)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(command, "_restore", lambda *_: None)  # nobody tidies up
        with pytest.raises(Killed):
            learn(FLIPPED, *WORDS, *QUESTION)
    assert UNPROVEN in misconceptions.read_text("utf-8")
    proof(lambda: ExitCode.FINE)
    assert learn(FLIPPED, *WORDS, *QUESTION).code == ExitCode.FINE
    assert misconceptions.read_text("utf-8") == proven


@pytest.mark.parametrize("later", ["", "\n[[misconceptions]]\nid = 'by-hand'\n"])
@pytest.mark.parametrize("before", ["", "# Of all.\n\n[[misconceptions]]\nid = 'one'\n"])
def test_only_what_is_unproven_is_taken_out(before, later):
    """What stood before it, and what a person wrote behind it since."""
    text = with_entry(before, "[[misconceptions]]\nid = 'new'\n", is_proven=False)
    rest = without_unproven(text + later)
    assert rest.split() == (before + later).split()
    assert without_unproven(rest) == rest
    assert later or rest == before
