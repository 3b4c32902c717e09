"""Tests of what a function or a class reaches, by the names that its code looks up."""

from grader.sandbox.reached import reaches

FILE = """
import torch.nn.functional as F
from torch import nn


def bend(x):
    return x


def indirect(x):
    return [bend(value) for value in x]


def other(x):
    return F.bend(x) + x.bend


class Base:
    def bent(self, x):
        return bend(x)


class Inherits(Base):
    pass


class Own(nn.Module):
    class bend:
        pass

    def forward(self, x):
        return self.bend(x)


class Uses(nn.Module):
    def forward(self, x):
        return indirect(x)


number = 3
"""


def test_a_name_is_reached_by_what_looks_it_up() -> None:
    """Itself or through others; an attribute of that name is another thing."""
    namespace: dict[str, object] = {"__name__": "mine"}
    exec(FILE, namespace)
    names = ("indirect", "Uses", "Inherits", "other", "Own", "number", "missing")
    reached = [name for name in names if reaches(namespace, [name], "bend")]
    assert reached == ["indirect", "Uses", "Inherits"]
    assert reaches(namespace, ["other", "indirect"], "bend")
