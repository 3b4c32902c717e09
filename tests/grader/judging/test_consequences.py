"""What a check that failed says where parameters took no values, and which checks only follow."""

from typing import Any

import pytest
import torch

from grader.judging.consequences import may_follow, without_values
from grader.testing.compare import Difference

NOT_TAKEN = (
    "No parameter of it takes the check's values for 'W_key', 'W_query'. The numbers cannot be compared, "
    "so this check says nothing about what it computes."
)
NAMES = frozenset({"W_query", "W_key"})


@pytest.mark.parametrize(
    ("expected", "actual", "not_taken", "said"),
    [
        (torch.zeros(2, 3), torch.ones(2, 3), NAMES, NOT_TAKEN),
        (None, None, NAMES, NOT_TAKEN),
        (torch.zeros(2, 3), torch.ones(2, 3), frozenset(), "differs"),
        (torch.zeros(2, 3), torch.ones(3, 2), NAMES, "differs"),
        ({"W_query": 1}, {"W_q": 1}, NAMES, "differs"),
    ],
    ids=["values", "a property", "all taken", "a shape", "the names themselves"],
)
def test_of_numbers_without_the_checks_parameters_nothing_is_said(
    expected: Any, actual: Any, not_taken: frozenset[str], said: str
) -> None:
    """Two draws are compared then: rows, dropout and gradients may all be right."""
    difference = Difference("", expected, actual, "differs", ("a hint",))
    found = without_values(difference, not_taken)
    assert (found.summary, found.hints) == (said, () if said == NOT_TAKEN else ("a hint",))


def test_what_lacks_names_that_an_earlier_check_asks_for_may_only_follow() -> None:
    """Also where the earlier one lists what is there, and not what is missing."""
    names = Difference("", {"W_query": (3, 2)}, {"Wq": (3, 2)}, "'W_query' is missing")
    values = Difference("", torch.zeros(2), torch.ones(2), "differs")
    for not_taken in (NAMES, frozenset({"W_value"})):
        follows = may_follow(values, names, is_general=False, not_taken=not_taken)
        assert follows == ("W_query" in not_taken)
