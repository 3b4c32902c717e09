"""The words, signs and filters of outcomes, for terminals, pages, reports and gradebooks. Pure.

Words in `N_` are English: they are translated with `_` where they are shown.
"""

import re
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from fractions import Fraction
from itertools import groupby

from msgspec.structs import replace

from grader.core.language import N_, _, bracketed, listed, ngettext, paragraph
from grader.core.records import (
    CheckResult,
    CodeLocation,
    ExerciseResult,
    MistakeKind,
    Outcome,
    Result,
    gravest_kind,
)
from grader.judging.scoring import KEPT, rounded

WORDS = {
    Outcome.PASSED: N_("passed"),
    Outcome.FAILED: N_("not right yet"),
    Outcome.NOT_ATTEMPTED: N_("not attempted yet"),
    Outcome.MISSING: N_("not defined"),
    Outcome.BLOCKED: N_("not run"),
    Outcome.TIMEOUT: N_("took too long"),
    Outcome.OUT_OF_MEMORY: N_("out of memory"),
    Outcome.CRASHED: N_("crashed"),
    Outcome.REMARK: N_("a remark, which costs nothing"),
    Outcome.ERROR: N_("undecided: the grader failed"),
    Outcome.NO_TURN: N_("not judged: the computer was busy"),
}
"""A check's outcome in full."""

WORDS_BESIDE_SIGN = {**WORDS, Outcome.PASSED: "", Outcome.FAILED: "", Outcome.REMARK: N_("remark")}
"""The same on a line of a terminal, where the sign already says passed and failed."""

SIGNS = dict.fromkeys(Outcome, "✗") | {
    Outcome.PASSED: "✓",
    Outcome.REMARK: "~",
    Outcome.NOT_ATTEMPTED: "·",
    Outcome.BLOCKED: "·",
    Outcome.ERROR: "!",
    Outcome.NO_TURN: "!",
}

EMOJI = dict.fromkeys(Outcome, "❌") | {
    Outcome.REMARK: "💬",
    Outcome.NOT_ATTEMPTED: "⏳",
    Outcome.BLOCKED: "⏳",
    Outcome.ERROR: "❗",
    Outcome.NO_TURN: "❗",
}
"""Signs for GitHub's Markdown, of the checks that are reported."""


SILENT = (Outcome.PASSED, Outcome.BLOCKED)
"""A check with such an outcome has no message of its own."""

UNJUDGED = (Outcome.NOT_ATTEMPTED, Outcome.MISSING, Outcome.BLOCKED)
"""There is no code to judge, or it did not run."""


NUMBER = re.compile(r"\d+")
"""What may differ in the messages of one exception."""

WAITING = N_("waiting for another exercise")
NOT_HANDED_IN = N_("not handed in")
EXEMPT = N_("does not count")


class ExerciseStatus(StrEnum):
    """How an exercise stands; the value is its name in style sheets."""

    SOLVED = "solved"
    PARTLY = "partly"
    WRONG = "wrong"
    WAITING = "waiting"
    UNTOUCHED = "untouched"
    MISSING = "missing"
    UNDECIDED = "undecided"
    ABSENT = "absent"
    EXEMPT = "exempt"

    @property
    def sign(self) -> str:
        """One character that identifies it without colour."""
        return dict(zip(ExerciseStatus, "✓◐✗…·–!○⊘", strict=True))[self]

    @property
    def word(self) -> str:
        """In words."""
        return {
            ExerciseStatus.SOLVED: _("solved"),
            ExerciseStatus.PARTLY: _("partly right"),
            ExerciseStatus.WRONG: _("not right yet"),
            ExerciseStatus.WAITING: _(WAITING),
            ExerciseStatus.UNTOUCHED: _("not attempted yet"),
            ExerciseStatus.MISSING: _("not defined"),
            ExerciseStatus.UNDECIDED: _("undecided: the grader failed"),
            ExerciseStatus.ABSENT: _(NOT_HANDED_IN),
            ExerciseStatus.EXEMPT: _(EXEMPT),
        }[self]

    def counted(self, count: int) -> str:
        """How many exercises have this status, in words."""
        return {
            ExerciseStatus.SOLVED: ngettext("{count} solved", "{count} solved", count),
            ExerciseStatus.PARTLY: ngettext("{count} partly right", "{count} partly right", count),
            ExerciseStatus.WRONG: ngettext("{count} not right yet", "{count} not right yet", count),
            ExerciseStatus.WAITING: ngettext("{count} waiting", "{count} waiting", count),
            ExerciseStatus.UNTOUCHED: ngettext(
                "{count} not attempted", "{count} not attempted", count
            ),
            ExerciseStatus.MISSING: ngettext("{count} missing", "{count} missing", count),
            ExerciseStatus.UNDECIDED: ngettext("{count} undecided", "{count} undecided", count),
            ExerciseStatus.ABSENT: ngettext(
                "{count} not handed in", "{count} not handed in", count
            ),
            ExerciseStatus.EXEMPT: ngettext(
                "{count} does not count", "{count} do not count", count
            ),
        }[self].format(count=count)


def exercise_status(exercise: ExerciseResult) -> ExerciseStatus:
    """An exercise's status; what ended its first check counts only where it earned nothing."""
    if exercise.is_exempt:
        return ExerciseStatus.EXEMPT
    if exercise.is_missing:
        return ExerciseStatus.ABSENT
    if exercise.undecided:
        return ExerciseStatus.UNDECIDED
    if exercise.is_solved:
        return ExerciseStatus.SOLVED
    if exercise.score:
        return ExerciseStatus.PARTLY
    first = exercise.checks[0].outcome if exercise.checks else Outcome.FAILED
    return {
        Outcome.NOT_ATTEMPTED: ExerciseStatus.UNTOUCHED,
        Outcome.MISSING: ExerciseStatus.MISSING,
        Outcome.BLOCKED: ExerciseStatus.WAITING,
    }.get(first, ExerciseStatus.WRONG)


def headline(exercise: ExerciseResult) -> str:
    """How an exercise went, in a word or a few of English; any check may decide it."""
    if not exercise.counts:
        return EXEMPT if exercise.is_exempt else NOT_HANDED_IN
    if exercise.undecided:
        return WORDS[Outcome.NO_TURN] if exercise.had_no_turn else N_("undecided")
    if exercise.is_solved:
        return N_("solved")
    outcomes = [check.outcome for check in exercise.checks]
    for outcome in (Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY, Outcome.CRASHED):
        if outcome in outcomes:
            return WORDS[outcome]
    if exercise.is_untouched:
        return WORDS[outcomes[0]]
    if Outcome.NOT_ATTEMPTED in outcomes:
        return N_("partly written")
    if Outcome.MISSING in outcomes:
        return WORDS[Outcome.MISSING]
    if outcomes and outcomes[0] is Outcome.BLOCKED:
        return WAITING
    return N_("partly right") if exercise.score else N_("wrong")


def status_words(exercise: ExerciseResult | None, say: Callable[[str], str] = _) -> str:
    """The headline, with the reason where it is undecided or waits; None is a result nobody has.

    By default in the language of the run, with `say=str` in English.
    """
    if exercise is None or exercise.undecided:
        had_no_turn = exercise is not None and exercise.had_no_turn
        return say(WORDS[Outcome.NO_TURN if had_no_turn else Outcome.ERROR])
    word = headline(exercise)
    if word == WAITING and exercise.waits_for:
        return say(N_("waiting for {exercise}")).format(exercise=exercise.waits_for)
    return say(word)


def score_words(score: object, max_score: float) -> str:
    """A score in words; where there is nothing to earn, that."""
    if not (score or max_score):
        return _("Worth no points")
    return _("{score} of {max_score} points").format(score=score, max_score=max_score)


def out_of(score: str, max_score: float) -> str:
    """A score beside what can be earned; a word where nothing can."""
    return f"{score} / {max_score}" if max_score else _("unscored")


KIND_WORDS = {
    MistakeKind.SLIP: N_("a slip"),
    MistakeKind.STEP: N_("wrong steps"),
    MistakeKind.IDEA: N_("another idea"),
}
"""What decides the points of an exercise in which a known mistake was recognised."""


def checks_passed(exercise: ExerciseResult) -> str:
    """How many checks passed, where some did and it is not solved; "" elsewhere.

    With the kind of the known mistake that was recognised.
    """
    counted = [check for check in exercise.checks if check.weight]
    passed = sum(check.outcome is Outcome.PASSED for check in counted)
    if not passed or not exercise.counts or exercise.undecided or exercise.is_solved:
        return ""
    said = _("{passed} of {count} checks").format(passed=passed, count=len(counted))
    kind = gravest_kind(exercise.findings)
    if kind is None:
        return said
    return _("{checks}; {kind}").format(checks=said, kind=_(KIND_WORDS[kind]))


def summary_line(result: Result) -> str:
    """The outcomes of a student's exercises in a few words."""
    if result.unread:
        return _("files, none of which is read: {names}").format(names=", ".join(result.unread))
    if not (result.submitted or result.exercises):
        return _("nothing was handed in")
    firsts = [
        headline(e) if part.read_from or e.undecided or e.is_exempt else NOT_HANDED_IN
        for part in result.assignments
        for e in part.exercises
    ]
    if not firsts:
        return paragraph(dict.fromkeys(n for a in result.assignments for n in a.notes[:1]))
    counts = Counter(firsts)
    order = [word for word, _same in groupby(sorted(counts, key=firsts.index))]
    entry = _("{count} {outcome}")
    outcomes = listed(entry.format(count=counts[word], outcome=_(word)) for word in order)
    if not result.misconceptions:
        return outcomes
    named = _("{outcomes}; known mistakes: {names}")
    return named.format(outcomes=outcomes, names=listed(result.misconceptions))


def is_attempted(exercise: ExerciseResult | None) -> bool:
    """Whether there is more to show than that nothing is written."""
    checks = exercise.checks if exercise is not None else ()
    return any(check.outcome not in (*UNJUDGED, Outcome.PASSED) for check in checks)


def shown_checks(exercise: ExerciseResult, *, everything: bool = False) -> list[CheckResult]:
    """The checks that a terminal or a page shows: of a stub none, as its status says enough.

    With `everything`, those that may fail for an earlier one's reason alone are among them.
    """
    silent = Outcome.NOT_ATTEMPTED if exercise.is_untouched else None
    found = _gathered(_saying(exercise)) if everything else _with_messages(exercise)
    return [check for check in found if check.outcome is not silent]


def _with_messages(exercise: ExerciseResult) -> list[CheckResult]:
    """The checks that have something to say of their own."""
    found = _saying(exercise)
    return _without_consequences(_gathered([c for c in found if not c.may_follow]), found)


def _saying(exercise: ExerciseResult) -> list[CheckResult]:
    """The checks that say something; of those that were not run, the one that says why."""
    waiting = [
        check
        for check in exercise.checks
        if check.outcome is Outcome.BLOCKED and (check.waits_for or check is exercise.checks[0])
    ]
    open_ = [check for check in exercise.checks if check.outcome is Outcome.NOT_ATTEMPTED]
    once = (*waiting[:1], *open_[:1])
    silent = (*SILENT, Outcome.NOT_ATTEMPTED)
    return [c for c in exercise.checks if c.outcome not in silent or c in once]


def _without_consequences(shown: list[CheckResult], found: list[CheckResult]) -> list[CheckResult]:
    """The checks; the first that failed says how many may fail for the same reason.

    Args:
        shown: those that are shown.
        found: those that have something to say.
    """
    others = sum(check.may_follow for check in found)
    first = next((check for check in shown if check.outcome is Outcome.FAILED), None)
    if not others or first is None:
        return shown
    sentence = ngettext(
        "{count} more check fails, too, perhaps for this reason alone.",
        "{count} more checks fail, too, perhaps for this reason alone.",
        others,
    )
    told = replace(first, message=f"{first.message}\n{sentence.format(count=others)}")
    return [told if check is first else check for check in shown]


def _gathered(checks: list[CheckResult]) -> list[CheckResult]:
    """The checks; of those that one exception ended at one line the first, with how many more."""
    ends = [
        (NUMBER.sub("", check.raised), check.where) if check.raised else number
        for number, check in enumerate(checks)
    ]
    counts = Counter(ends)
    firsts = dict(zip(reversed(ends), reversed(checks), strict=True))
    return [_saying_how_many(firsts[end], counts[end] - 1) for end in dict.fromkeys(ends)]


def _saying_how_many(check: CheckResult, others: int) -> CheckResult:
    if not others:
        return check
    sentence = ngettext(
        "{count} more check was ended by the same exception.",
        "{count} more checks were ended by the same exception.",
        others,
    )
    return replace(check, message=f"{check.message}\n{sentence.format(count=others)}")


def reported_checks(exercise: ExerciseResult) -> list[CheckResult]:
    """The checks that a platform's report shows, those that cost points first."""
    found = _with_messages(exercise)
    return sorted(found, key=lambda check: check.outcome is Outcome.REMARK)


def where_to_look(exercise: ExerciseResult) -> CodeLocation | None:
    """The line of a script that the first check with something to say is about."""
    checks = (*shown_checks(exercise), *exercise.checks)
    wheres = (check.where for check in checks if check.where is not None)
    return next((where for where in wheres if where.cell is None), None)


def ended_by(check: CheckResult) -> str:
    """What stands beside the title of a check that an exception ended: what it says may hold."""
    return _("ended by {exception}").format(exception=check.raised.partition(":")[0])


def has_to_hold_first(title: str) -> str:
    """Why a check is not run, where another one did not pass."""
    reason = _("first this has to hold: {title}").format(title=title)
    return _("Not run: {reason}").format(reason=reason)


def check_head(check: CheckResult, beside: str = "") -> str:
    """What stands above a check's message: what should hold, or that nothing was judged."""
    is_judged = check.outcome not in UNJUDGED
    if check.raised:
        beside = f"  {bracketed(ended_by(check))}"
    return f"{check.title}{beside}" if is_judged else _(WORDS[check.outcome])


def judged_with(exercise: ExerciseResult) -> str:
    """With which right ones an exercise was judged, or will be, or which wrong one it uses; else ""."""
    named = exercise.judged_with or exercise.to_judge_with or exercise.may_come_from
    if not named:
        return ""
    names = [f"`{name}`" for name in named]
    if exercise.judged_with:
        sentence = ngettext(
            "Judged with a right {names}, because yours is not.",
            "Judged with right {names}, because yours are not.",
            len(names),
        )
    elif not exercise.to_judge_with:
        sentence = ngettext(
            "Part of this may come from your {names}, which is not right yet.",
            "Part of this may come from your {names}, which are not right yet.",
            len(names),
        )
    else:
        sentence = ngettext(
            "Judged with a right {names} when it is graded.",
            "Judged with right {names} when it is graded.",
            len(names),
        )
    return sentence.format(names=listed(names))


def mistake_lines(exercise: ExerciseResult) -> list[str]:
    """The named mistakes, each with the question that leads out of it."""
    lines = []
    for finding in exercise.findings:
        found = [f"{m.symptom} {bracketed(m.id)} {m.question}" for m in finding.candidates]
        if len(found) > 1:
            found[0] = _("One of these mistakes: {mistake}").format(mistake=found[0])
        lines += found
    return lines


def why_less(exercise: ExerciseResult) -> str:
    """Why a known mistake leaves less than its kind does elsewhere; else ""."""
    kind, score = gravest_kind(exercise.findings), exercise.score
    if kind is None or score is None or exercise.decision is not None:
        return ""
    if score >= rounded(Fraction(exercise.max_score) * KEPT[kind][0]):
        return ""
    words = _(
        "Fewer points are left than is usual for {kind}: the code ended in an exception, or gave another "
        "kind of result, before the values that count could be judged."
    )
    if any(finding.is_partial for finding in exercise.findings):
        words = _(
            "Fewer points are left than is usual for {kind}: not each check that fails is explained by it."
        )
    return words.format(kind=_(KIND_WORDS[kind]))


def notes_above(exercise: ExerciseResult) -> list[str]:
    """What is said of how an exercise was judged, before its mistakes and checks."""
    return [*filter(None, (judged_with(exercise), why_less(exercise)))]


def leading_lines(exercise: ExerciseResult) -> list[str]:
    """What is said of an exercise before its checks: how it was judged, and named mistakes."""
    lines = judged_with(exercise), *mistake_lines(exercise), why_less(exercise)
    return [line for line in lines if line]


def details(exercise: ExerciseResult) -> str:
    """What a student reads of an exercise: named mistakes, then each check's own message."""
    lines = leading_lines(exercise)
    for check in reported_checks(exercise):
        lines.append(check_head(check, beside=f"  {bracketed(_(WORDS[check.outcome]))}"))
        lines += [f"    {line}" for line in check.message.splitlines()]
    return "\n".join(lines)
