"""What golden results keep of an exercise: that which is the same on every machine and in every run."""

from typing import Any

from grader.core.records import CheckResult, ExerciseResult, Outcome, Picture, Visibility
from grader.judging.results import points


def golden_exercise(exercise: ExerciseResult) -> dict[str, Any]:
    """An exercise with its checks' outcomes, and the first visible check that did not pass."""
    shown = [check for check in not_passed(exercise) if check.visibility is Visibility.VISIBLE]
    candidates = [finding.candidates for finding in exercise.findings]
    record = {
        "score": points(exercise.score),
        "misconceptions": [" or ".join(mistake.id for mistake in one_of) for one_of in candidates],
        "outcomes": golden_outcomes(exercise),
        "message": shown[0].message.split("\n") if shown else [],
        "picture": golden_picture(shown[0].picture) if shown else [],
    }
    return {name: value for name, value in record.items() if value != []}


def golden_picture(picture: Picture | None) -> list[str]:
    """What a picture shows, without its numbers, which differ a little between machines."""
    if picture is None:
        return []
    sides = [
        f"{axis.size} of {axis.name or 'no name'}: {' '.join(axis.labels) or 'no labels'}"
        for axis in (picture.rows, picture.columns)
    ]
    row, column = picture.first
    return [*sides, f"first difference at {row}, {column}"]


def golden_outcomes(exercise: ExerciseResult) -> dict[str, str]:
    """Outcomes by check; the many that passed, or were blocked, in one line as `others`."""
    outcomes = {c.id.removeprefix(f"{exercise.id}::"): c.outcome for c in exercise.checks}
    found = list(outcomes.values())
    others = max(Outcome.PASSED, Outcome.BLOCKED, key=found.count)
    told = {name: str(outcome) for name, outcome in outcomes.items() if outcome is not others}
    return {**told, "others": str(others)} if others in found else told


def not_passed(exercise: ExerciseResult) -> list[CheckResult]:
    """The checks that did not pass; those that say something against the code come first."""
    found = [check for check in exercise.checks if check.outcome is not Outcome.PASSED]
    return sorted(found, key=lambda check: check.outcome is Outcome.REMARK)


def timeless(value: Any) -> Any:
    """A record without durations."""
    if isinstance(value, dict):
        return {key: timeless(part) for key, part in value.items() if key != "duration_s"}
    return [timeless(part) for part in value] if isinstance(value, list) else value
