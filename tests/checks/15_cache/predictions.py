"""What students predict in this assignment, and how their code answers."""

import torch

from grader.testing import N_, prediction


@prediction(
    "generate_cached",
    N_(
        "With the cache, 32 tokens are written instead of 4. How many times as many multiplications "
        "does that take?"
    ),
    choices=[N_("about twice"), N_("about 8 times"), N_("about 64 times")],
    right=2,
    why=N_(
        "Each step reads one token, so eight times as many steps cost about eight times as much. The "
        "little more comes from the scores, whose row grows with the text."
    ),
)
def eight_times(student):
    """How many times as much 32 tokens cost as 4."""
    model = student.call("Model", 10, 40, 96, 3, seed=1).value
    prompt = torch.tensor([[3]])
    few, many = (
        student.call("generate_cached", model, prompt, count, meter=True).cost.multiplications
        for count in (4, 32)
    )
    times = many / few
    number = 1 if times < 4 else 2 if times < 20 else 3
    return number, f"{times:.1f}"
