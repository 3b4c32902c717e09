"""Work that is the same in two runs: checks have to end the same way for it."""

from collections.abc import Iterable

from grader.core.records import AssignmentResult, Record, Result

CONDITIONS = {
    "course_hash": "the course",
    "seed": "the seed",
    "versions": "the versions",
    "isolation": "the isolation",
}
"""What else decides how a check ends, by the field of a result that has it."""


class EndedOtherwise(Record, frozen=True):
    """A check that did not end as before, and for whose work."""

    id: str
    students: tuple[str, ...]


class SameWork(Record, frozen=True):
    """What two runs say of work that is the same in both.

    Args:
        students: how many handed in the same.
        other_conditions: what else is not the same in the two runs for any of them.
        checks: those that ended otherwise.
    """

    students: int
    other_conditions: tuple[str, ...] = ()
    checks: tuple[EndedOtherwise, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """For people: whether the checks are stable, and where they are not, which."""
        if not self.students:
            return ("Nobody's work is known to be the same in both runs.",)
        who = "1 student has" if self.students == 1 else f"{self.students} students have"
        head = f"{who} the same work in both"
        if not self.checks:
            return (f"{head}: every check ended as before.",)
        count = len(self.checks)
        ended = f"{head}: {count} {'check' if count == 1 else 'checks'} ended otherwise"
        if self.other_conditions:
            listed = " and ".join(
                filter(None, (", ".join(self.other_conditions[:-1]), self.other_conditions[-1]))
            )
            verb = "is" if len(self.other_conditions) == 1 else "are"
            return (f"{ended}, where {listed} {verb} not the same.",)
        named = (f"  {one.id}: {', '.join(one.students)}" for one in self.checks)
        return (
            f"{ended}, although course, seed and versions are the same:",
            *named,
            "Look for what is random without a seed, or close to a limit of time or memory.",
        )


EMPTY = SameWork(0)


def of_same_work(pairs: Iterable[tuple[Result, Result]]) -> SameWork:
    """What two runs say of the students who handed in the same.

    Args:
        pairs: the results of each student in both runs; where these are the same but for versions
            and the like, their assignments may be left out.
    """
    same = [pair for pair in pairs if is_same_work(*pair)]
    others = (
        words
        for field, words in CONDITIONS.items()
        if any(getattr(one, field) != getattr(other, field) for one, other in same)
    )
    found: dict[str, list[str]] = {}
    for before, after in same:
        for id_ in ended_otherwise(before, after):
            found.setdefault(id_, []).append(before.student)
    checks = (EndedOtherwise(id_, tuple(students)) for id_, students in sorted(found.items()))
    return SameWork(len(same), tuple(others), tuple(checks))


def is_same_work(before: Result, after: Result) -> bool:
    """Whether a student's code is the same in two results, in every assignment that both have.

    Of several attempts those that count are compared. Of what others of a group handed in nothing is
    known.
    """
    is_same = bool(after.submission_hash) and before.submission_hash == after.submission_hash
    old = {part.id: part for part in before.assignments if part.read_from}
    pairs = [(old[p.id], p) for p in after.assignments if p.id in old and p.read_from]
    if any(part.handed_in_by for pair in pairs for part in pair):
        return False
    attempts = [(_counting(one), _counting(other)) for one, other in pairs]
    if pairs and all(one and other for one, other in attempts):
        return all(one == other for one, other in attempts)
    return is_same and all(one == other for one, other in attempts)


def _counting(assignment: AssignmentResult) -> list[str]:
    """When the attempts were made that count; nothing where there are none."""
    return [one.at for one in assignment.attempts if one.counts]


def ended_otherwise(before: Result, after: Result) -> list[str]:
    """The ids of the checks that are in both results of a student and did not end the same way."""
    old = {check.id: check.outcome for check in before.checks}
    return [check.id for check in after.checks if old.get(check.id, check.outcome) != check.outcome]
