"""Predictions: what a student says before an exercise, and their code says after it.

An author declares one with a function in `tests/checks/<assignment>/predictions.py`. It is given
`student`, the handle on the student's code (`grader.testing.student`), and returns the number of
the choice that holds, counted from 1, and the figure that shows it, as a short text of numbers; ""
where the choice says all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grader.testing.student import StudentHandle

Answering = Callable[[StudentHandle], tuple[int, str]]
"""Finds out, with a student's code, which choice holds, and the figure that shows it."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction as its author declares it.

    Args:
        name: of the exercise that comes after it.
        question: what is asked.
        choices: what may be answered.
        right: the number of the choice that right code answers.
        why: explains that, in a sentence or two.
        answer: runs the student's code.
    """

    name: str
    question: str
    choices: tuple[str, ...]
    right: int
    why: str
    answer: Answering


def prediction(
    name: str, question: str, *, choices: Sequence[str], right: int, why: str
) -> Callable[[Answering], Prediction]:
    """Declare that a function answers a question by running an exercise's code.

    Args:
        name: of the exercise; one has one prediction at most.
        question: what students are asked before they write it.
        choices: three to five answers.
        right: the number of the one that right code gives, counted from 1.
        why: explains it.
    """
    return lambda function: Prediction(name, question, tuple(choices), right, why, function)
