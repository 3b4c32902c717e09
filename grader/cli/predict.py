"""`grader predict`: what a student says before an exercise, and what their code says after it."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from grader.cli.help import SpokenCommand
from grader.cli.hint import COLUMNS, hint_name
from grader.cli.shared import course_option, echo
from grader.core.errors import UsageError
from grader.core.language import _, bracketed, listed
from grader.core.text import filled
from grader.course.check_helpers import predicted, predicted_ids
from grader.course.course import Course, Exercise
from grader.progress.progress import read_progress
from grader.progress.store import Memory

if TYPE_CHECKING:
    from grader.judging.submission_grader import SubmissionGrader
    from grader.judging.views import CodeAnswer
    from grader.sessions.base import Session
    from grader.submissions.submission import Submission
    from grader.testing.predictions import Prediction


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
    from grader.judging.views import load_predictions  # both import torch
    from grader.progress.predictions import answers_now

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
    now = read_progress(course, memory)
    answers = answers_now(now, [exercises[id_] for id_ in predicted_now])
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
            raise UsageError(
                sentence.format(number=number, exercise=id_, most=len(prediction.choices))
            )
    return dict(zip(predictions, numbers, strict=True))


def _asked(course: Course, exercise: Exercise, prediction: "Prediction") -> int | None:
    """What somebody at the terminal predicts; None where nobody can be asked."""
    echo(f"{question_text(course, exercise, prediction)}\n")
    if not sys.stdin.isatty():
        sentence = _("Answer with `grader predict {name} --answer NUMBER`.")
        echo(sentence.format(name=hint_name(course, exercise.id)))
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
        sentences.append(
            sentence.format(right=course.text(prediction.choices[prediction.right - 1]))
        )
    return _indented(*sentences, course.text(prediction.why))


def chosen_text(course: Course, prediction: "Prediction", number: int) -> str:
    """What was predicted."""
    return _indented(
        _("You said: {said}.").format(said=course.text(prediction.choices[number - 1]))
    )


def waiting_text(course: Course, exercise: Exercise, prediction: "Prediction", number: int) -> str:
    """What was predicted, and when the code will say something to it."""
    sentence = _("Your code answers once it is solved: `grader check {name}`.")
    waits = _indented(sentence.format(name=hint_name(course, exercise.id)))
    return f"{chosen_text(course, prediction, number)}\n{waits}"


def predicted_lines(
    grader: "SubmissionGrader",
    submission: "Submission",
    session: "Session",
    solved: Iterable[Exercise],
) -> list[str]:
    """What was predicted for exercises that were just solved, and what the code says.

    Args:
        grader: what they were checked with.
        submission: the work.
        session: that it runs in.
        solved: the exercises.
    """
    course = grader.environment.course
    numbers = Memory(course.root).predictions()
    chosen = [exercise for exercise in solved if exercise.id in numbers]
    if not chosen:
        return []
    from grader.progress.predictions import answers  # imports torch

    found = answers(grader, submission, session, chosen)
    return [
        f"{id_}\n{answer_text(course, prediction, numbers[id_], answer)}"
        for id_, (prediction, answer) in found.items()
        if is_choice(prediction, numbers[id_])
    ]


def prediction_line(course: Course, exercise: Exercise) -> str:
    """What asks for a prediction that was not made yet; "" where there is none, or it was made."""
    is_open = exercise.name in predicted(course, course.by_id[exercise.assignment])
    if not is_open or exercise.id in Memory(course.root).predictions():
        return ""
    sentence = _("Before you write it: `grader predict {name}` asks what you expect.")
    return sentence.format(name=hint_name(course, exercise.id))


def compare_line(course: Course, exercise: Exercise) -> str:
    """What compares the prediction for a solved exercise with the code; "" where none was made."""
    is_there = exercise.name in predicted(course, course.by_id[exercise.assignment])
    if not is_there or exercise.id not in Memory(course.root).predictions():
        return ""
    sentence = _("Were you right? `grader predict {name}`")
    return sentence.format(name=hint_name(course, exercise.id))


def _indented(*sentences: str) -> str:
    return "\n".join(line for text in sentences for line in filled(text, COLUMNS, "  ", "  "))
