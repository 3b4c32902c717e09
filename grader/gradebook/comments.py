"""What a student reads in nbgrader about an exercise: the feedback as Markdown, in one comment."""

import textwrap
from collections.abc import Sequence

from grader.core.records import CheckResult, ExerciseResult, Finding
from grader.judging.outcomes import SIGNS, check_head, reported_checks
from grader.judging.results import points

MAX_CHARACTERS = 20_000


def comment(exercise: ExerciseResult, notes: Sequence[str] = ()) -> str | None:
    """The comment on an exercise; None where there is nothing to say.

    Args:
        exercise: as the student may see it, without what hidden checks asked.
        notes: sentences on the whole assignment.
    """
    checks = [_check(check) for check in reported_checks(exercise)]
    parts = [*notes, *(_finding(finding) for finding in exercise.findings), *checks]
    if exercise.undecided:
        parts.insert(0, "This could not be judged: the score is undecided.")
    if not parts:
        return None
    if exercise.score is not None and exercise.max_score:
        parts.insert(0, f"{points(exercise.score)} of {exercise.max_score} points.")
    return storable("\n\n".join(parts))


def _check(check: CheckResult) -> str:
    message = textwrap.indent(check.message, "    ", lambda line: True)
    head = f"{SIGNS[check.outcome]} {check_head(check)}"
    return head + (f"\n\n{message}" if check.message else "")


def _finding(finding: Finding) -> str:
    lines = [f"{m.id}: {m.symptom} {m.question}" for m in finding.candidates]
    if len(lines) == 1:
        return f"→ A known mistake, {lines[0]}"
    return "\n".join(["→ One of these mistakes:", "", *(f"- {one}" for one in lines)])


def storable(text: str) -> str:
    """A text that every database accepts: no NUL, no half of a pair, of limited length."""
    short = text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}\n(shortened)"
    return short.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
