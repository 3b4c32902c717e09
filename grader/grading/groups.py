"""Groups: one submission that counts for several students, each with their own dates and points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from grader.core.records import Result
from grader.core.text import hash_of
from grader.grading.kept_outcomes import Kept, read_kept
from grader.grading.personal import Personal
from grader.grading.result_maker import ResultMaker
from grader.submissions.moments import Times

Members = Mapping[str, Sequence[str]]
"""By assignment, everybody of a student's group in it, the student too, by name."""


def shared_digest(members: Members, prints: Mapping[str, str], times: Mapping[str, Times]) -> str:
    """A hash of what a group handed in and when.

    Args:
        members: who belongs to the group.
        prints: a fingerprint of what each student handed in.
        times: when that was, where something besides the files says so.
    """
    everybody = sorted({name for names in members.values() for name in names})
    handed_in = [(name, prints.get(name, ""), times.get(name, ())) for name in everybody]
    text = repr((sorted(members.items()), handed_in))
    return hash_of(text)[:16]


@dataclass(frozen=True, slots=True)
class SharedWork:
    """Makes results of students of groups, from what is kept of everybody's outcomes."""

    out: Path
    maker: ResultMaker

    def result(self, student: str, members: Members, personal: Personal) -> Result:
        """A student's result with the group's work: of several submissions, the one with most points.

        Args:
            student: the student's id.
            members: who belongs to the group.
            personal: what was decided about the student.
        """
        kept, by = read_kept(self.out, student), {}
        for id_, names in members.items():
            if id_ not in self.maker.course.by_id:
                continue
            found = {name: read_kept(self.out, name) for name in names}
            # Where it makes no difference, a student's own work stays, else the first name's.
            order = sorted(names, key=lambda name: (name != student, name))
            best = max(order, key=lambda name: self._worth(found[name], id_))
            number = found[best].latest(id_)
            if best != student and number is not None:
                kept, by[id_] = kept.taking(found[best], number), best
        return self.maker.result(student, kept, personal, by)

    def _worth(self, kept: Kept, id_: str) -> tuple[bool, Decimal]:
        """Whether anything was handed in for an assignment, and the points that it has.

        What is undecided is worth most, so that nobody overlooks it.
        """
        number = kept.latest(id_)
        if number is None or not kept.heads[number].submitted:
            return False, Decimal(0)
        alone = Kept((kept.heads[number],), (kept.records[number],))
        (found,) = self.maker.result("", alone).assignments or (None,)
        if found is None or not found.read_from:
            return False, Decimal(0)
        return True, Decimal("Infinity") if found.score is None else found.score
