"""A known mistake from a student's own code: the edit of the solution that makes it the same."""

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Sequence

from grader.authoring.learned_code import refusal
from grader.core.errors import UsageError
from grader.core.records import Mistake
from grader.course.course import Course, Exercise
from grader.course.toml_table import toml_text
from grader.release.solution_cells import REGION, read_solution
from grader.submissions.submission import Submission

QUOTES = "'''"
UNPROVEN = "# `grader learn` is proving this one; if that ended early, the next `grader learn` removes it.\n"
ENTRY = "[[misconceptions]]\n"


def proposed_edit(course: Course, exercise: Exercise, submission: Submission) -> tuple[str, str]:
    """`find` and `replace` that put a student's functions, or methods, into the solution.

    Args:
        course: the course.
        exercise: of which each function of the solution has one gap at most.
        submission: whose code it is.

    Raises:
        UsageError: when a function has several gaps, when the student's code has no such function,
            or when something stands there that no solution would have.
    """
    assignment = course.by_id[exercise.assignment]
    solution = read_solution(assignment, course.paths(assignment).solution)
    (cell,) = (one for one in solution.cells if one.exercise == exercise.name)
    gaps = [*REGION.finditer(cell.text)]
    functions = [_function_around(cell.text, gap.start()) for gap in gaps]
    if len({function.lineno for function in functions}) < len(gaps):
        path = course.inner(course.paths(assignment).misconceptions)
        raise UsageError(
            f"A function of the solution of {exercise.id} has several gaps, so its edit is written by "
            f"hand, in {path}."
        )
    own, end, bodies = "", 0, []
    for gap, function in zip(gaps, functions, strict=True):
        before = cell.text.count("\n", 0, gap.start()) + 1
        given = [one for one in function.body if one.lineno < before]
        body = _body(_students_function(submission, exercise, function), function, given)
        bodies.append(body)
        own += cell.text[end : gap.start("body")] + textwrap.indent(body, gap["indent"]) + "\n"
        end = gap.end("body")
    parameters = {arg.arg for one in functions for arg in ast.walk(one) if isinstance(arg, ast.arg)}
    statements = [statement for body in bodies for statement in ast.parse(body).body]
    if what := refusal(statements, parameters, solution.text):
        raise UsageError(
            f"What {submission.student} wrote for {exercise.id} cannot become a known mistake: {what}. "
            "It may use what the solution uses, its parameters, and what computes with numbers and "
            "tensors."
        )
    return _smallest(cell.text.split("\n"), (own + cell.text[end:]).split("\n"), solution.text)


def _function_around(text: str, position: int) -> ast.FunctionDef:
    """The function of a solution that a gap stands in."""
    line = text.count("\n", 0, position) + 1
    found = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    if not found:
        raise UsageError("What is to be written there is no function: write its edit by hand.")
    return found[-1]


def _students_function(
    submission: Submission, exercise: Exercise, function: ast.FunctionDef
) -> tuple[ast.FunctionDef, str]:
    """The student's function, or method of the exercise's class, and the text it stands in."""
    reading = submission.readings.get(exercise.assignment)
    for key in reading.sources if reading else ():
        for cell in reversed(submission.sources[key].cells):
            try:
                tree = ast.parse(cell.text)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            outer: Sequence[ast.AST] = [tree]
            if function.name != exercise.name:
                classes = (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef))
                outer = [one for one in classes if one.name == exercise.name]
            for node in (inner for one in outer for inner in ast.walk(one)):
                if isinstance(node, ast.FunctionDef) and node.name == function.name:
                    return node, cell.text
    if reading and reading.undecided:
        raise UsageError(f"{submission.student}: {reading.undecided}")
    raise UsageError(f"{submission.student} has no function {function.name} for {exercise.id}.")


def _body(
    found: tuple[ast.FunctionDef, str], function: ast.FunctionDef, given: Sequence[ast.stmt]
) -> str:
    """The student's statements with the solution's names of parameters.

    Without docstring, and without those that are given before the gap.
    """
    node, text = found
    known = {ast.dump(one) for one in given}
    statements = node.body[ast.get_docstring(node) is not None :]
    while statements and ast.dump(statements[0]) in known:
        statements = statements[1:]
    if not statements:
        raise UsageError(f"{node.name} is empty there.")
    lines = text.split("\n")[statements[0].lineno - 1 : statements[-1].end_lineno]
    body = textwrap.dedent("\n".join(lines))
    for theirs, ours in zip(node.args.args, function.args.args, strict=False):
        if theirs.arg != ours.arg:
            body = re.sub(rf"(?<![.\w]){theirs.arg}\b(?!\s*=[^=])", ours.arg, body)
    return _without_comments(body)


def _without_comments(code: str) -> str:
    """Code without its comments, which may name people, and without the lines that they fill."""
    lines = code.split("\n")
    comments = [
        token.start
        for token in tokenize.generate_tokens(io.StringIO(code).readline)
        if token.type == tokenize.COMMENT
    ]
    for line, column in comments:
        lines[line - 1] = lines[line - 1][:column].rstrip()
    filled = {line for line, column in comments if not lines[line - 1]}
    return "\n".join(line for number, line in enumerate(lines, 1) if number not in filled)


def _smallest(theirs: list[str], own: list[str], text: str) -> tuple[str, str]:
    """The lines in which two bodies differ, with as many around them as make the place unique.

    Raises:
        UsageError: when they do not differ.
    """
    if theirs == own:
        raise UsageError("That code is the solution's own.")
    start = next(
        (n for n, pair in enumerate(zip(theirs, own, strict=False)) if pair[0] != pair[1]),
        min(len(theirs), len(own)),
    )
    end = 0
    while end < min(len(theirs), len(own)) - start and theirs[-1 - end] == own[-1 - end]:
        end += 1
    while True:
        find = "\n".join(theirs[start : len(theirs) - end])
        if find.strip() and text.count(find) == 1:
            return find, "\n".join(own[start : len(own) - end])
        if not start and not end:
            raise UsageError("The solution's lines stand in it more than once: edit by hand.")
        start, end = max(0, start - 1), max(0, end - 1)


def entry(exercise: Exercise, mistake: Mistake, find: str, replace: str) -> str:
    """A known mistake as its file has it.

    Args:
        exercise: the exercise.
        mistake: its name and words.
        find: what stands in the solution.
        replace: what the mistake has instead.
    """

    def quoted(code: str) -> str:
        is_plain = QUOTES not in code and not code.endswith("'") and "\\" not in code
        return f"{QUOTES}{code}{QUOTES}" if is_plain and code else toml_text(code)

    return "\n".join(
        [
            ENTRY.rstrip(),
            f"id = {toml_text(mistake.id)}",
            f'kind = "{mistake.kind}"',
            f"exercise = {toml_text(exercise.name)}",
            f"find = {quoted(find)}",
            f"replace = {quoted(replace)}",
            f"symptom = {toml_text(mistake.symptom)}",
            f"question = {toml_text(mistake.question)}",
            "",
        ]
    )


def with_entry(text: str, entry: str, *, is_proven: bool = True) -> str:
    """The text of a file of known mistakes with one more.

    Args:
        text: the file's.
        entry: the known mistake.
        is_proven: whether it stays whatever happens to the command.
    """
    before = text.rstrip("\n") + "\n\n" if text else ""
    return f"{before}{'' if is_proven else UNPROVEN}{entry}"


def without_unproven(text: str) -> str:
    """The same without what a command left that was killed while it proved it."""
    before, _mark, rest = text.partition(UNPROVEN)
    later = rest.find(f"\n{ENTRY}")
    after = rest[later + 1 :] if later >= 0 else ""
    return before + after if after else before.rstrip("\n") + "\n" * bool(before)
