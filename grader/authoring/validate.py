"""Proves that the course keeps its promises: `PROOFS` names each, and `validate` runs them in order.

A proof is a function that yields a sentence, with its place, for whatever breaks it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from grader.authoring import check_proofs, file_proofs, mistake_proofs, text_proofs
from grader.authoring.check_proofs import Each, Report, Validation
from grader.core.errors import CourseError, GraderError
from grader.course.course import Course


class Stage(Enum):
    """What a proof is given, and what an error of the course ends."""

    FILES = auto()
    """It is given the course; an error ends this proof."""
    TEXTS = auto()
    """The course and the ids of the chosen exercises, once every solution is there."""
    CHECKS = auto()
    """The validation, once every solution is there; an error ends all proofs."""


@dataclass(frozen=True, slots=True)
class Proof:
    """How a promise is proven; the function says which.

    Args:
        find: yields a sentence for whatever breaks it.
        warns: whether that is a warning, and no fault.
        of_whole: whether it is proven of the whole course only.
        last: whether it is proven only where nothing else is broken.
        ends: whether nothing else is proven where it is broken.
    """

    stage: Stage
    find: Callable[..., Iterable[str]]
    warns: bool = False
    of_whole: bool = False
    last: bool = False
    ends: bool = False


FILES, TEXTS, CHECKS = Stage.FILES, Stage.TEXTS, Stage.CHECKS

PROOFS = (
    Proof(FILES, text_proofs.solutions_are_python, ends=True),
    Proof(FILES, file_proofs.points_agree),
    Proof(FILES, file_proofs.hints_are_complete),
    Proof(FILES, file_proofs.files_are_declared),
    Proof(FILES, file_proofs.stubs_are_current),
    Proof(FILES, file_proofs.stubs_do_the_same_in_every_language),
    Proof(FILES, file_proofs.open_translations, warns=True),
    Proof(TEXTS, text_proofs.stubs_say_what_to_do),
    Proof(TEXTS, text_proofs.no_todo_is_left),
    Proof(TEXTS, text_proofs.checks_judge_instead_of_asserting),
    Proof(TEXTS, text_proofs.checks_draw_from_seeds),
    Proof(TEXTS, text_proofs.checks_are_named_so, warns=True),
    Proof(TEXTS, text_proofs.hints_are_no_code, warns=True),
    Proof(TEXTS, text_proofs.questions_ask, warns=True),
    Proof(CHECKS, check_proofs.examples_are_true),
    Proof(CHECKS, check_proofs.exercises_have_a_gate),
    Proof(CHECKS, check_proofs.titles_differ, warns=True),
    Proof(CHECKS, check_proofs.there_are_hidden_checks, warns=True),
    Proof(CHECKS, mistake_proofs.mistakes_are_declared, warns=True),
    Proof(CHECKS, check_proofs.hidden_checks_deepen),
    Proof(CHECKS, check_proofs.solutions_earn_everything),
    Proof(CHECKS, check_proofs.points_cannot_be_forged, warns=True),
    Proof(CHECKS, check_proofs.stubs_earn_nothing),
    Proof(CHECKS, check_proofs.styles_earn_everything),
    Proof(CHECKS, check_proofs.predictions_are_answered),
    Proof(CHECKS, mistake_proofs.mistakes_are_recognised),
    Proof(CHECKS, mistake_proofs.ids_are_unique),
    Proof(CHECKS, check_proofs.views_show_solutions),
    Proof(CHECKS, mistake_proofs.tensors_are_covered, of_whole=True),
    Proof(CHECKS, mistake_proofs.points_mean_something, last=True),
    Proof(
        CHECKS,
        check_proofs.releases_keep_secrets,
        of_whole=True,
        last=True,
    ),
)


def validate(
    course: Course,
    targets: tuple[str, ...] = (),
    *,
    translations: bool = False,
    each: Each = lambda _proof, items: items,
) -> Report:
    """Check every promise of the course; faults are collected, not raised.

    Args:
        targets: assignments or exercises: only their checks are run, and whether the printed
            tensors are covered and the release keeps secrets is left to a run on all.
        translations: whether what is still to be translated is a fault, and no warning.
        each: goes through what takes long.

    Raises:
        UsageError: when a target names nothing.
    """
    validation = Validation(course, course.select(targets), each)
    report = validation.report
    given: dict[Stage, tuple[Any, ...]] = {
        FILES: (course,),
        TEXTS: (course, validation.chosen),
        CHECKS: (validation,),
    }
    for proof in PROOFS:
        if (proof.of_whole and targets) or (proof.last and report.faults):
            continue
        if proof.stage is not FILES and not validation.has_solutions:
            break
        is_fault = not proof.warns or (translations and proof.find is file_proofs.open_translations)
        broken = report.faults if is_fault else report.warnings
        try:
            broken += proof.find(*given[proof.stage])
        except CourseError as error:
            report.faults += error.problems
            if proof.stage is CHECKS:
                break
        except GraderError as error:
            if proof.stage is not CHECKS:
                raise
            report.faults.append(str(error))
            break
        if proof.ends and broken:
            break
    report.faults = list(dict.fromkeys(report.faults))
    return report
