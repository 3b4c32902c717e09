"""A file of predictions for the example course, which several tests write."""

PREDICTION = '''\
import torch

from grader.testing import N_, prediction


@prediction(
    "scores",
    N_("Keys of four ones in place of one. What happens to the score?"),
    choices=[N_("nothing"), N_("it doubles"), N_("it grows four times")],
    right=2,
    why=N_("Four products, divided by the root of four."),
)
def longer(student):
    """The scores of both."""
    one, four = (
        student.call("scores", torch.ones(1, d), torch.ones(1, d)).value.item() for d in (1, 4)
    )
    return {1.0: 1, 2.0: 2, 4.0: 3}[four / one], f"{one:g} → {four:g}"
'''
PATH = "tests/checks/01_scores/predictions.py"
