"""JSON schemas of the files that others read: made from the same records and rules as the files."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from grader.core.records import RESULT_FORMAT, Result
from grader.classes.rows import SUMMARY_FORMAT, Summary
from grader.classes.compare import FORMAT as FORMAT_OF_COMPARISONS
from grader.classes.compare import CheckEffect, Comparison
from grader.grading.journal import FORMAT, Entry, RunIdentity
from grader.grading.results import ORDER, SPECIAL, WHERE_ANY

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMAS = ("result", "run", "summary", "comparison")
"""A result of one student, a line of a run's journal, a class in numbers, and two runs."""

PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    Decimal: {"type": "number"},
    NoneType: {"type": "null"},
}


def schema(name: str) -> dict[str, Any]:
    """The JSON schema of one of `SCHEMAS`."""
    writer = _Writer({})
    if name == "result":
        top = writer.record(Result, RESULT_FORMAT)
    elif name == "summary":
        top = writer.record(Summary, SUMMARY_FORMAT)
    elif name == "comparison":
        top = writer.record(Comparison, FORMAT_OF_COMPARISONS)
        top["properties"]["checks"] = writer.of(tuple[CheckEffect, ...])
        top["required"].append("checks")
    else:
        top = {"oneOf": [writer.record(RunIdentity, FORMAT), writer.of(Entry)]}
    return {"$schema": DIALECT, "title": name, **top, "$defs": writer.definitions}


class _Writer:
    """Writes schemas of types.

    Args:
        definitions: takes the schemas of records, by name.
    """

    def __init__(self, definitions: dict[str, Any]) -> None:
        self.definitions = definitions

    def of(self, kind: Any) -> dict[str, Any]:
        """The schema of a type's values."""
        if kind in PLAIN:
            return dict(PLAIN[kind])
        origin, arguments = get_origin(kind), get_args(kind)
        if origin in (Union, UnionType):
            return {"anyOf": [self.of(one) for one in arguments]}
        if origin is NotRequired:
            return self.of(arguments[0])
        if origin is tuple and arguments[-1] is not Ellipsis:
            items = [self.of(one) for one in arguments]
            return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
        if origin in (tuple, list):
            return {"type": "array", "items": self.of(arguments[0])}
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(arguments[1])}
        if isinstance(kind, type) and issubclass(kind, StrEnum):
            return {"enum": [str(member) for member in kind]}
        if kind.__name__ not in self.definitions:
            self.definitions[kind.__name__] = {}  # it may hold itself
            self.definitions[kind.__name__] = self.record(kind)
        return {"$ref": f"#/$defs/{kind.__name__}"}

    def record(self, kind: Any, format_: str = "") -> dict[str, Any]:
        """The schema of a record's values.

        Args:
            kind: a dataclass, as it is written, or a typed dictionary.
            format_: the name of the format, where the record says it.
        """
        hints = get_type_hints(kind, include_extras=True)
        properties: dict[str, Any] = {}
        required: list[str] = []
        for name in _names(kind):
            rule = SPECIAL.get(name) if is_dataclass(kind) else None
            if rule is not None and rule.omit and kind not in ORDER:
                continue
            own = (
                hints[name] if name in hints else get_type_hints(getattr(kind, name).fget)["return"]
            )
            written = rule.rename if rule is not None and rule.rename else name
            properties[written] = self.of(own)
            if not _may_lack(kind, name):
                required.append(written)
        if format_:
            properties = {"format": {}} | properties | {"format": {"const": format_}}
            required = list(dict.fromkeys(["format", *required]))
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }


def _names(kind: Any) -> tuple[str, ...]:
    """What a file has of a record, in its order."""
    if is_typeddict(kind):
        return tuple(get_type_hints(kind))
    return ORDER.get(kind) or tuple(field.name for field in fields(kind))


def _may_lack(kind: Any, name: str) -> bool:
    """Whether a file leaves something out where there is none of it."""
    if is_typeddict(kind):
        return name in kind.__optional_keys__
    if kind in ORDER:
        return name in WHERE_ANY
    default = {field.name: field.default for field in fields(kind)}[name]
    rule = SPECIAL.get(name)
    return rule is not None and bool(rule.omit_if_default) and default is not MISSING
