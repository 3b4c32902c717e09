"""What the libraries hold that all code of a process shares, to see whether some of it changed that.

It runs beside student code: standard library only.
"""

import sys

SHARED = ("builtins", "math", "random", "numpy", "torch", "torch.nn", "torch.nn.functional")

_modules = 0
_at_start = 0


def held() -> int:
    """Stands for what the modules and their classes hold: another number once code has put something there."""
    modules = [sys.modules[name] for name in SHARED if name in sys.modules]
    values = [value for module in modules for value in vars(module).values()]
    classes = [value for value in values if isinstance(value, type)]
    parts = [value for holder in classes for value in vars(holder).values()]
    return hash(tuple(map(id, (*values, *parts))))


def remember() -> None:
    """Take what they hold now for what they hold as code of a submission begins."""
    global _modules, _at_start
    if _modules != len(sys.modules):
        _modules, _at_start = len(sys.modules), held()


def are_as_before() -> bool:
    """Whether they hold what they held then."""
    return held() == _at_start
