"""`grader predict`: what a student says before an exercise, and what their code says after it."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from grader.cli.help import SpokenCommand
from grader.cli.hint import COLUMNS
from grader.cli.shared import course_option, echo
from grader.core.errors import GraderError, UsageError
from grader.core.language import _, bracketed, listed
from grader.core.text import filled
from grader.course.check_helpers import predicted, predicted_ids
from grader.course.course import Course, Exercise
from grader.progress.progress import Progress, read_progress
from grader.progress.solved import Shown, Solved
from grader.progress.store import Memory

if TYPE_CHECKING:
    from grader.judging.submission_grader import SubmissionGrader
    from grader.judging.views import CodeAnswer
    from grader.sessions.base import Session
    from grader.submissions.submission import Submission
    from grader.testing.predictions import Prediction

Answers = dict[str, "tuple[Prediction, CodeAnswer | str]"]
"""By exercise, its prediction with what the code says, or why it says nothing."""


@click.command(cls=SpokenCommand)
@click.argument("target")
@click.option(
    "--answer",
    "numbers",
    type=int,
    multiple=True,
    metavar="NUMBER",
    help="The choice that you predict; given once for each prediction of TARGET.",
)
@course_option
def predict(course: Course, target: str, numbers: tuple[int, ...]) -> None:
    """Predict what your code will do, and have it answer once it is written.

    TARGET is an assignment or an exercise, as for `grader check`. A prediction is never worth
    points. What you said is remembered; when the exercise is solved, this shows it again, with what
    your own code says and why.
    """
    exercises = _chosen(course, target)
    from grader.judging.views import load_predictions  # imports torch

    predictions = load_predictions(course, exercises)
    given = _given(predictions, numbers)
    memory = Memory(course.root)
    before, predicted_now = memory.predictions(), dict[str, int]()
    for id_, prediction in predictions.items():
        number = given.get(id_, before.get(id_))
        if not is_choice(prediction, number):
            number = _asked(course, exercises[id_], prediction)
        if number is None:
            continue
        predicted_now[id_] = number
        if number != before.get(id_) and not memory.remember_prediction(id_, number):
            echo(_("(The prediction could not be remembered.)"), err=True)
    answers = answers_now(read_progress(course, memory), [exercises[id_] for id_ in predicted_now])
    for id_, number in predicted_now.items():
        prediction, answer = answers.get(id_, (predictions[id_], None))
        text = answer_text(course, prediction, number, answer) if answer is not None else ""
        text = text or waiting_text(course, exercises[id_], prediction, number)
        echo(f"{exercises[id_].id}\n{text}")


def _chosen(course: Course, target: str) -> dict[str, Exercise]:
    """The exercises of a target that have predictions.

    Raises:
        UsageError: when none has.
    """
    ids = predicted_ids(course)
    found = {id_: e for id_, e in course.select((target,)).items() if id_ in ids}
    if found:
        return found
    sentence = _("There is no prediction for {target}.").format(target=target)
    if ids:
        others = listed(dict.fromkeys(course.exercises[id_].assignment[:2] for id_ in ids))
        sentence += " " + _("There are some in these assignments: {ids}.").format(ids=others)
    raise UsageError(sentence)


def _given(predictions: Mapping[str, "Prediction"], numbers: Sequence[int]) -> dict[str, int]:
    """The predictions that the command line gives.

    Raises:
        UsageError: when there are more or fewer, or one is no choice's number.
    """
    if not numbers:
        return {}
    if len(numbers) != len(predictions):
        sentence = _("Give --answer once for each prediction, in this order: {ids}.")
        raise UsageError(sentence.format(ids=listed(predictions)))
    for (id_, prediction), number in zip(predictions.items(), numbers, strict=True):
        if not is_choice(prediction, number):
            sentence = _(
                "{number} is no choice for {exercise}; they are numbered from 1 to {most}."
            )
            most = len(prediction.choices)
            raise UsageError(sentence.format(number=number, exercise=id_, most=most))
    return dict(zip(predictions, numbers, strict=True))


def _asked(course: Course, exercise: Exercise, prediction: "Prediction") -> int | None:
    """What somebody at the terminal predicts; None where nobody can be asked."""
    echo(f"{question_text(course, exercise, prediction)}\n")
    if not sys.stdin.isatty():
        sentence = _("Answer with `grader predict {name} --answer NUMBER`.")
        echo(sentence.format(name=course.name_of(exercise)))
        return None
    text = _("Your prediction (1 to {most})").format(most=len(prediction.choices))
    number: int = click.prompt(text, type=click.IntRange(1, len(prediction.choices)))
    echo("")
    return number


def is_choice(prediction: "Prediction", number: object) -> bool:
    """Whether it is the number of one of a prediction's choices."""
    return type(number) is int and 1 <= number <= len(prediction.choices)


def question_text(course: Course, exercise: Exercise, prediction: "Prediction") -> str:
    """A prediction's question with its choices."""
    head = _("{exercise}: what do you predict? It is not worth points.")
    question = filled(course.text(prediction.question), COLUMNS, "  ", "  ")
    choices = [
        line
        for number, choice in enumerate(prediction.choices, 1)
        for line in filled(course.text(choice), COLUMNS, f"    {number}  ", "       ")
    ]
    return "\n".join([head.format(exercise=exercise.id), "", *question, "", *choices])


def answer_text(
    course: Course, prediction: "Prediction", number: int, answer: "CodeAnswer | str"
) -> str:
    """What was predicted, and what the code says to it.

    Args:
        course: the course.
        prediction: what was asked.
        number: of the choice that was predicted.
        answer: of the student's code, or why there is none.
    """
    said = course.text(prediction.choices[number - 1])
    if isinstance(answer, str):
        return _indented(_("You said: {said}.").format(said=said), answer)
    code = course.text(prediction.choices[answer.number - 1])
    if answer.figure:
        code = f"{code} {bracketed(answer.figure)}"
    sentence = _("You said: {said}. Your code says: {code}.")
    if answer.number == number:
        sentence, code = _("You said: {said}. Your code says the same: {code}."), answer.figure
        sentence = sentence if code else _("You said: {said}. Your code says the same.")
    sentences = [sentence.format(said=said, code=code)]
    if answer.number != prediction.right:
        sentence = _("Right code says: {right}. Look at yours once more.")
        right = course.text(prediction.choices[prediction.right - 1])
        sentences.append(sentence.format(right=right))
    return _indented(*sentences, course.text(prediction.why))


def chosen_text(course: Course, prediction: "Prediction", number: int) -> str:
    """What was predicted."""
    said = course.text(prediction.choices[number - 1])
    return _indented(_("You said: {said}.").format(said=said))


def waiting_text(course: Course, exercise: Exercise, prediction: "Prediction", number: int) -> str:
    """What was predicted, and when the code will say something to it."""
    sentence = _("Your code answers once it is solved: `grader check {name}`.")
    waits = _indented(sentence.format(name=course.name_of(exercise)))
    return f"{chosen_text(course, prediction, number)}\n{waits}"


def after(solved: Solved) -> Iterator[Shown]:
    """What was predicted for exercises that were just solved, and what the code says.

    `grader watch` says how to ask for that.
    """
    course = solved.course
    numbers = _in_notebook if solved.place == "notebook" else Memory(course.root).predictions()
    chosen = [exercise for exercise in solved.exercises if exercise.id in numbers]
    if solved.place == "watch":
        sentence = _("Were you right? `grader predict {name}`")
        for exercise in (one for one in chosen if one.name in _predicted(course, one)):
            yield Shown(Text(sentence.format(name=course.name_of(exercise)), "dim"))
        return
    found = answers(solved.grader, solved.submission, solved.session, chosen) if chosen else {}
    for id_, (prediction, answer) in found.items():
        if is_choice(prediction, numbers[id_]):
            text = answer_text(course, prediction, numbers[id_], answer)
            head = "" if solved.place == "notebook" else f"{id_}\n"
            yield Shown(Text(f"{head}{text}"))


def before(course: Course, exercise: Exercise) -> str:
    """What asks for a prediction that was not made yet; "" where there is none, or it was made."""
    is_made = exercise.id in Memory(course.root).predictions()
    if is_made or exercise.name not in _predicted(course, exercise):
        return ""
    sentence = _("Before you write it: `grader predict {name}` asks what you expect.")
    return sentence.format(name=course.name_of(exercise))


def _predicted(course: Course, exercise: Exercise) -> tuple[str, ...]:
    return predicted(course, course.by_id[exercise.assignment])


_in_notebook: dict[str, int] = {}
"""The numbers of the choices that were predicted in this kernel, by exercise."""


def cell(exercise_id: str, answer: int | None = None) -> None:
    """Ask what the student expects of an exercise, or remember the number of their choice.

    Args:
        exercise_id: the full id.
        answer: the number of a choice; None where nothing is chosen yet.
    """
    from grader import notebook
    from grader.judging.views import load_predictions

    try:
        course = notebook.course_here(Path.cwd())
        (exercise,) = course.select((exercise_id,)).values()
        prediction = load_predictions(course, [exercise.id]).get(exercise.id)
        if prediction is None:
            sentence = _("There is no prediction for {target}.")
            raise UsageError(sentence.format(target=exercise.id))
        _in_notebook.pop(exercise.id, None)
        if answer is not None and is_choice(prediction, answer):
            _in_notebook[exercise.id] = answer
            echo(chosen_text(course, prediction, answer))
            sentence = _("Your code answers below, once {name} is solved.")
            echo(f"  {sentence.format(name=exercise.name)}")
            return
        echo(question_text(course, exercise, prediction))
        sentence = _("Write the number of your choice for None above, and run this cell again.")
        if answer is not None:
            sentence = _("{answer!r} is none of the numbers above: choose one of them.")
        echo(f"\n{sentence.format(answer=answer)}")
    except GraderError as error:
        echo(str(error))


def answers(
    grader: "SubmissionGrader",
    submission: "Submission",
    session: "Session",
    exercises: Iterable[Exercise],
) -> Answers:
    """What a submission says to the predictions of some exercises.

    Args:
        grader: what it is checked with.
        submission: the work.
        session: that it runs in.
        exercises: those that it solves.

    Raises:
        CourseError: when a file of predictions has a problem.
    """
    from grader.judging.views import answered, load_predictions  # imports torch
    from grader.testing.lookup import SubmissionHandle

    course, wanted = grader.environment.course, {exercise.id: exercise for exercise in exercises}
    handle = SubmissionHandle(submission, session, course.limits, course.assignments)
    return {
        id_: (one, answered(grader.environment, handle, wanted[id_], one))
        for id_, one in load_predictions(course, wanted).items()
    }


def answers_now(now: Progress, exercises: Iterable[Exercise]) -> Answers:
    """The same for the work as it is, for those of these exercises that are solved.

    What was solved when it was last checked, and has changed since, is checked again.
    """
    from grader.progress.live_checks import checked, running  # imports torch

    course, chosen = now.course, list(exercises)
    remembered = Memory(course.root).results()
    were = [e for e in chosen if e.id in remembered and remembered[e.id].exercise.is_solved]
    changed = now.unknown(were)
    if changed:
        now = checked(now, changed)
    solved = {one.id: one for one in chosen if now.is_solved(one)}
    if not solved:
        return {}
    with running(now, solved) as ran:
        return answers(*ran, solved.values())


def _indented(*sentences: str) -> str:
    return "\n".join(line for text in sentences for line in filled(text, COLUMNS, "  ", "  "))
