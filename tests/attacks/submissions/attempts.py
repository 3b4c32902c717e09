# ruff: noqa
"""A `double` that fails if anything in `ATTEMPTS` was not refused."""


def double(x):
    found = what_succeeds(ATTEMPTS)
    if found:
        raise AssertionError(f"It was not refused: {', '.join(found)}")
    return x + x
