"""Says how values, or shapes, lie to the expected ones: exchanged, shifted, all the same. Pure.

Every sentence is true of the values that are compared; none is a guess about code.
"""

from collections.abc import Iterator, Sequence

import torch

from grader.core.language import _, listed

MOST_LISTED = 3
"""How many places along an axis are listed."""

LONGEST = 64
"""The longest axis along which an order is looked for."""

Shape = Sequence[int]


def shape_relation(actual: Shape, expected: Shape) -> Iterator[str]:
    """What distinguishes a shape from the expected one, in a sentence.

    Args:
        actual: the student's, with other sizes than the expected one.
        expected: as it should be.
    """
    if 0 in (*actual, *expected):
        return
    if len(actual) != len(expected):
        if actual and expected:
            yield from _joined(actual, expected)
        return
    wrong = [axis for axis, size in enumerate(expected) if actual[axis] != size]
    if len(expected) > 1 and len(wrong) == 1:
        (axis,) = wrong
        template = _("Only axis {axis} is wrong: it has {actual} entries instead of {expected}.")
        yield template.format(axis=axis, actual=actual[axis], expected=expected[axis])


def _joined(actual: Shape, expected: Shape) -> Iterator[str]:
    """Where one axis stands for two, or is one too many."""
    longer, shorter = sorted((tuple(actual), tuple(expected)), key=len, reverse=True)
    if len(longer) == len(shorter) + 1:
        for axis in range(len(shorter)):
            pair = longer[axis : axis + 2]
            if (*longer[:axis], pair[0] * pair[1], *longer[axis + 2 :]) == shorter:
                template = _("Its axes of {first} and {second} entries should be one of {product}.")
                if longer == tuple(expected):
                    template = _("Its axis of {product} entries should be two: {first}, {second}.")
                yield template.format(first=pair[0], second=pair[1], product=pair[0] * pair[1])
                return
    if len(actual) > len(expected):
        without = [(*actual[:axis], *actual[axis + 1 :]) for axis in range(len(actual))]
        if tuple(expected) in without:
            size = actual[without.index(tuple(expected))]
            yield _("It has an axis of {size} entries too many.").format(size=size)
            return
    template = _("It has {actual} axes instead of {expected}.")
    yield template.format(actual=len(actual), expected=len(expected))


def value_relation(
    actual: torch.Tensor, expected: torch.Tensor, atol: float, axes: Sequence[str]
) -> Iterator[str]:
    """How values lie to the expected ones, in the first sentence that is true of them.

    Args:
        actual: the student's, finite.
        expected: of the same shape, finite, and other values.
        atol: how far off a value may be.
        axes: the names of the axes; rows and columns where there are none.
    """
    if not expected.dim() or expected.numel() < 2:
        return
    if not bool(actual.any()):
        yield _("All its values are 0.")
        return
    off = actual - expected
    is_even = bool((off - off.flatten()[0]).abs().max() <= atol)
    if is_even and abs(float(off.flatten()[0])) > max(1e-3, 20 * atol):
        template = _("Every value is {number} more than the expected one.")
        if off.flatten()[0] < 0:
            template = _("Every value is {number} less than the expected one.")
        yield template.format(number=f"{abs(float(off.flatten()[0])):.4g}")
        return
    names = list(axes) if len(axes) == expected.dim() else _own_names(expected.dim())
    for relation in (_exchanged, _the_same, _few):
        for axis, name in enumerate(names):
            size = expected.shape[axis]
            if size > 1 and name:
                one, other = (t.movedim(axis, 0).reshape(size, -1) for t in (actual, expected))
                if sentence := relation(one, other, atol, name):
                    yield sentence
                    return


def _own_names(dim: int) -> list[str]:
    return [_("row"), _("column")] if dim == 2 else [""] * dim


def _exchanged(actual: torch.Tensor, expected: torch.Tensor, atol: float, name: str) -> str:
    """Whether the expected values stand at other places of an axis.

    Args:
        actual: the values at each place, `(size, count)`.
        expected: likewise.
        atol: how far off a value may be.
        name: what a place of the axis is called.
    """
    size = len(expected)
    if size > LONGEST:
        return ""
    same = (actual[:, None] - expected[None]).abs().amax(-1) <= atol
    if bool((same.sum(1) > 1).any() | (same.sum(0) > 1).any()):
        return ""  # places that are alike tell nothing
    if size > 2 and bool(same[1:, :-1].diagonal().all()):
        template = _("Each {name} but the first has the values expected of the one before it.")
        return template.format(name=name)
    if size > 2 and bool(same[:-1, 1:].diagonal().all()):
        template = _("Each {name} but the last has the values expected of the one after it.")
        return template.format(name=name)
    if not bool(same.any(1).all()):
        return ""
    order = same.int().argmax(1).tolist()
    if order == list(range(size))[::-1]:
        return _("The expected values are there, in reverse order by {name}.").format(name=name)
    moved = [place for place in range(size) if order[place] != place]
    first, holds = moved[0], order[moved[0]]
    template = _(
        "The expected values are there, in another order by {name}: at {name} {first} stand those "
        "of {name} {holds}."
    )
    return template.format(name=name, first=first, holds=holds)


def _the_same(actual: torch.Tensor, expected: torch.Tensor, atol: float, name: str) -> str:
    """Whether all places of an axis have the same values, and should not.

    Args:
        actual: the values at each place, `(size, count)`.
        expected: likewise.
        atol: how far off a value may be.
        name: what a place of the axis is called.
    """
    differs = [bool((t - t[:1]).abs().max() > atol) for t in (actual, expected)]
    if differs != [False, True]:
        return ""
    return _("Its values are the same at every {name}, and should not be.").format(name=name)


def _few(actual: torch.Tensor, expected: torch.Tensor, atol: float, name: str) -> str:
    """Whether values differ, or are right, at a few places of an axis only.

    Args:
        actual: the values at each place, `(size, count)`.
        expected: likewise.
        atol: how far off a value may be.
        name: what a place of the axis is called.
    """
    wrong = (actual - expected).abs() > atol
    differs = wrong.any(-1)
    sides = [(differs, _("It differs only at {places}."))]
    if torch.equal(differs, wrong.all(-1)):
        sides.append((~differs, _("It is right only at {places}.")))
    for is_there, template in sides:
        places = is_there.nonzero().flatten().tolist()
        if 0 < len(places) <= min(MOST_LISTED, len(differs) // 2):
            return template.format(places=listed(f"{name} {place}" for place in places))
    return ""
