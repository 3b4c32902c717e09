"""numpy's texts and moments, and pandas' frames and series, as they travel: by schema, column by column.

It runs on both sides, beside student code as well. numpy and pandas are imported where a value is unpacked,
and never to pack one: nobody has one before they are imported.
"""

import importlib
import math
import re
import sys
from collections.abc import Callable
from typing import Any

from grader.sandbox.kinds import HASHED
from grader.sandbox.plain_data import SCALARS

MOST_TEXT_BYTES = 2**25
"""Of an array of text, whose entries all take as much as the longest."""
MOMENT = re.compile(r"[Mm]8\[(?:Y|M|W|D|h|m|s|ms|us|ns)\]")
MOMENTS = re.compile(r"(?:datetime|timedelta)64\[(?:s|ms|us|ns)\]")
"""pandas' dtypes of moments, without a time zone."""
NUMBERS = re.compile(r"bool|u?int(?:8|16|32|64)|float(?:16|32|64)|complex(?:64|128)")
MASKED = re.compile(r"boolean|U?Int(?:8|16|32|64)|Float(?:32|64)")
"""pandas' own dtypes of numbers, some of which may be missing."""
TEXTS = ("object", "str", "string")
TAGS = ("texts", "moments", "moment", "pandas moment", "missing", "frame", "series", "index")

Convert = Callable[[Any], Any]


class NoTravel(ValueError):
    """A table holds something that does not travel; the text says what."""


def is_table(value: object) -> bool:
    """Whether a value is a frame, a series or an index of pandas."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return False
    kinds = [getattr(pandas, name, None) for name in ("DataFrame", "Series", "Index")]
    return any(isinstance(kind, type) and isinstance(value, kind) for kind in kinds)


def is_moment(value: object) -> bool:
    """Whether a value is a moment or a span of numpy's; these are numbers to Python."""
    return type(value).__module__ == "numpy" and type(value).__name__ in (
        "datetime64",
        "timedelta64",
    )


def is_missing(value: object) -> bool:
    """Whether a value is pandas' NA, or no moment at all (NaT)."""
    return type(value).__name__ in ("NAType", "NaTType") or (is_moment(value) and value != value)


# Packing.


def node_of(value: Any, pack: Convert) -> dict[str, Any] | None:
    """The node of a value of one of these kinds; None where it is none of them.

    Args:
        value: what travels.
        pack: makes the nodes of its parts, numbers of arrays among them.

    Raises:
        NoTravel: when something in it does not travel.
    """
    if is_table(value):
        return _table(value, pack)
    if type(value).__module__.partition(".")[0] == "pandas":
        if type(value).__name__ in ("Timestamp", "Timedelta", "NaTType"):
            if getattr(value, "tzinfo", None) is not None:
                raise NoTravel("a time zone")
            return {"pandas moment": pack(value.to_numpy())}
        return {"missing": "NA"} if type(value).__name__ == "NAType" else None
    if is_moment(value):
        found = array_node(sys.modules["numpy"].asarray(value), pack)
        return found and {"moment": found}
    return None


def array_node(array: Any, pack: Convert) -> dict[str, Any] | None:
    """The node of an array of text or of moments; None for any other."""
    shape = list(array.shape)
    if array.dtype.kind in "Mm" and MOMENT.fullmatch(name := array.dtype.str[1:]):
        native = array.astype(array.dtype.newbyteorder("="))
        return {"moments": [name, _whole(pack(native.view("int64")))]}
    if array.dtype.kind == "U":
        return {"texts": ["str", shape, pack(array.ravel().tolist())]}
    if array.dtype.kind == "O" and all(isinstance(item, SCALARS) for item in array.flat):
        return {"texts": ["object", shape, pack(array.ravel().tolist())]}
    return None


def _whole(node: Any) -> Any:
    """A node of numbers, all of which travel."""
    if "unsupported" in node:
        raise NoTravel("more than may travel")
    return node


def _table(value: Any, pack: Convert) -> dict[str, Any]:
    pandas: Any = sys.modules["pandas"]
    if isinstance(value, pandas.Index):
        return {"index": _index(value, pack)}
    if isinstance(value, pandas.Series):
        return {"series": [pack(value.name), _index(value.index, pack), _column(value, pack)]}
    labels = [_index(value.index, pack), _index(value.columns, pack)]
    columns = [_column(value.iloc[:, at], pack) for at in range(value.shape[1])]
    return {"frame": [*labels, columns]}


def _index(index: Any, pack: Convert) -> list[Any]:
    """The names of an index's levels, and the column of each."""
    levels = [index.get_level_values(at) for at in range(index.nlevels)]
    if not all(map(_are_labels, levels)):
        raise NoTravel("labels of another kind")
    return [[pack(name) for name in index.names], [_column(level, pack) for level in levels]]


def _column(column: Any, pack: Convert) -> list[Any]:
    """The dtype of a column, its values, and of categories what these are."""
    dtype = str(column.dtype)
    if NUMBERS.fullmatch(dtype):
        return [dtype, _whole(pack(column.to_numpy()))]
    if MOMENTS.fullmatch(dtype):
        return [dtype, array_node(column.to_numpy(), pack)]
    if dtype == "category":
        accessor = getattr(column, "cat", column)
        categories = _column(accessor.categories, pack)
        return [dtype, pack(accessor.codes.astype("int64").tolist()), categories, accessor.ordered]
    if dtype in TEXTS or MASKED.fullmatch(dtype):
        items = column.astype(object)
        if dtype != "object":
            items = items.where(column.notna(), None)
        return [dtype, pack(items.tolist())]
    raise NoTravel(f"a {'column' if column.ndim else 'value'} of dtype {dtype[:40]}")


# Unpacking.


def value_of(tag: str, content: Any, unpack: Convert) -> Any:
    """The value that a node of one of these kinds stands for.

    Raises:
        ValueError: when the content does not fit the kind, or pandas is not installed.
    """
    try:
        return _value_of(tag, content, unpack)
    except (ValueError, RecursionError):
        raise
    except Exception as error:  # whatever numpy and pandas say to what no honest side sends
        raise ValueError(f"a value is no {tag}") from error


def _value_of(tag: str, content: Any, unpack: Convert) -> Any:
    match tag, content:
        case "texts", [("str" | "object") as kind, list(shape), node]:
            return _texts(kind, shape, unpack(node))
        case "moments", [str(name), node] if MOMENT.fullmatch(name):
            numbers = unpack(node)
            if getattr(numbers, "dtype", None) == "int64":
                return numbers.view(name)
        case (("moment" | "pandas moment"), _):
            found = unpack(content)
            if getattr(getattr(found, "dtype", None), "kind", "none") in "Mm" and found.ndim == 0:
                return found[()] if tag == "moment" else _of_pandas(found[()])
        case "missing", "NA":
            return _pandas().NA
        case "index", _:
            return _index_of(content, unpack)
        case "series", [name, index, column]:
            rows, values, label = _index_of(index, unpack), _column_of(column, unpack), unpack(name)
            if len(rows) == len(values) and _is_name(label):
                return values.set_axis(rows).rename(label)
        case "frame", [index, columns, list(nodes)]:
            return _frame_of(_index_of(index, unpack), _index_of(columns, unpack), nodes, unpack)
    raise ValueError(f"a value is no {tag}")


def _pandas() -> Any:
    return importlib.import_module("pandas")


def _of_pandas(moment: Any) -> Any:
    return (_pandas().Timestamp if moment.dtype.kind == "M" else _pandas().Timedelta)(moment)


def _texts(kind: str, shape: list[Any], items: Any) -> Any:
    numpy: Any = importlib.import_module("numpy")
    allowed = str if kind == "str" else SCALARS
    is_shape = len(shape) <= 16 and all(type(size) is int and 0 <= size < 2**31 for size in shape)
    if not is_shape or not isinstance(items, list) or len(items) != math.prod(shape):
        raise ValueError("an array of text is not as long as its shape says")
    if not all(isinstance(item, allowed) for item in items):
        raise ValueError("an array of text holds something else")
    if kind == "str" and 4 * len(items) * max(map(len, items), default=0) > MOST_TEXT_BYTES:
        raise ValueError("an array of text takes too much memory")
    made = numpy.empty(len(items), object)
    made[:] = items
    return made.astype(str).reshape(shape) if kind == "str" else made.reshape(shape)


def _is_name(value: object) -> bool:
    parts = value if isinstance(value, tuple) else (value,)
    return all(isinstance(part, (*SCALARS, *HASHED)) for part in parts)


def _are_labels(level: Any) -> bool:
    return level.dtype != "object" or all(map(_is_name, level.tolist()))


def _index_of(content: Any, unpack: Convert) -> Any:
    pandas = _pandas()
    match content:
        case [list(names), list(nodes)] if len(names) == len(nodes) > 0:
            labels, levels = (
                [unpack(name) for name in names],
                [_column_of(n, unpack) for n in nodes],
            )
        case _:
            raise ValueError("an index is no names and levels")
    if (
        not all(map(_are_labels, levels))
        or not all(map(_is_name, labels))
        or len({len(level) for level in levels}) > 1
    ):
        raise ValueError("the levels of an index do not fit each other")
    if len(levels) > 1:
        return pandas.MultiIndex.from_arrays(levels, names=labels)
    made = pandas.Index(levels[0], name=labels[0])
    is_counted = made.dtype == "int64" and len(made) > 0 and made[0] == 0
    if is_counted and bool((made.to_numpy()[1:] - made.to_numpy()[:-1] == 1).all()):
        return pandas.RangeIndex(len(made), name=labels[0])
    return made


def _column_of(content: Any, unpack: Convert) -> Any:
    """The values of a column, of their dtype.

    Raises:
        ValueError: when they are none of that.
    """
    pandas = _pandas()
    match content:
        case [str(dtype), node] if NUMBERS.fullmatch(dtype) or MOMENTS.fullmatch(dtype):
            values = unpack(node)
            if str(getattr(values, "dtype", "")) == dtype and values.ndim == 1:
                return pandas.Series(values)
        case [str(dtype), node] if dtype in TEXTS:
            items = unpack(node)
            if isinstance(items, list) and (
                dtype == "object" or all(isinstance(i, str | None) for i in items)
            ):
                return pandas.Series(items, dtype=dtype)
        case [str(dtype), node] if MASKED.fullmatch(dtype):
            items = unpack(node)
            if isinstance(items, list) and all(isinstance(i, int | float | None) for i in items):
                return pandas.Series(items, dtype=dtype)
        case ["category", node, categories, bool(ordered)]:
            codes, known = unpack(node), _column_of(categories, unpack)
            if isinstance(codes, list) and all(
                type(c) is int and -1 <= c < len(known) for c in codes
            ):
                made = pandas.Categorical.from_codes(codes, pandas.Index(known), ordered=ordered)
                return pandas.Series(made)
    raise ValueError("a column is not a dtype and its values")


def _frame_of(rows: Any, columns: Any, nodes: list[Any], unpack: Convert) -> Any:
    made = [_column_of(node, unpack) for node in nodes]
    if len(made) != len(columns) or any(len(column) != len(rows) for column in made):
        raise ValueError("the columns of a frame are not as long as its index")
    frame = _pandas().DataFrame(dict(enumerate(made)), index=range(len(rows)))
    frame.index, frame.columns = rows, columns
    return frame
