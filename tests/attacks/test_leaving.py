"""Attacks that leave early: what was earned stays, what was running is lost."""

UNHARMED = (8, {}, "")


def test_a_function_that_ends_its_process_costs_its_exercise(attack):
    """`os._exit` inside of a call."""
    assert attack("def double(x):\n    os._exit(0)\n") == (
        5,
        {"double": "crashed blocked blocked"},
        "double(<tensor (2, 4)>)\n"
        "The check could not finish: it ended its own Python process (exit status 0).",
    )
