"""JSON schemas of the files that others read: made from the same records as the files."""

from typing import Any

from msgspec import NODEFAULT
from msgspec.json import schema_components
from msgspec.structs import fields

from grader.classes.compare import FORMAT as FORMAT_OF_COMPARISONS
from grader.classes.compare import CheckEffect, Comparison
from grader.classes.rows import SUMMARY_FORMAT, Summary
from grader.core.records import Record, Result
from grader.judging.results import IN_NO_FILE

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMAS = ("result", "summary", "comparison")
"""A result of one student, a class in numbers, and two runs."""

Schema = dict[str, Any]
NUMBER = {"type": "number"}


def schema(name: str) -> Schema:
    """The JSON schema of one of `SCHEMAS`."""
    if name == "result":
        top, definitions = _schemas(Result)
    elif name == "summary":
        top, definitions = _schemas(Summary, SUMMARY_FORMAT)
    else:
        top, definitions = _schemas(Comparison, FORMAT_OF_COMPARISONS, CheckEffect)
        top["properties"]["checks"] = {"type": "array", "items": {"$ref": "#/$defs/CheckEffect"}}
        top["required"].append("checks")
    return {"$schema": DIALECT, "title": name, **top, "$defs": definitions}


def _schemas(kind: type, format_: str = "", *more: type) -> tuple[Schema, dict[str, Schema]]:
    """The schema of a record, and by name those that it and others refer to.

    Args:
        kind: of the record.
        format_: the name of its format, where the record itself does not have it.
        more: what else is wanted.
    """
    _, found = schema_components((kind, *more), ref_template="#/$defs/{name}")
    definitions = {name: _of_file(name, one) for name, one in found.items()}
    top = definitions.pop(kind.__name__)
    if format_:
        top["properties"] = {"format": {}} | top["properties"] | {"format": {"const": format_}}
        top["required"] = list(dict.fromkeys(("format", *top["required"])))
    return top, definitions


def _of_file(name: str, schema: Schema) -> Schema:
    """A schema of what a file has: scores as numbers, nothing else, and what is always written."""
    if "properties" not in schema:
        return {"enum": schema["enum"]}
    properties = {key: _plain(value) for key, value in schema["properties"].items()}
    required = schema["required"]
    kind = {kind.__name__: kind for kind in Record.__subclasses__()}.get(name)
    if kind is not None:
        for key in IN_NO_FILE.get(kind, ()):
            del properties[key]
        is_short = kind.__struct_config__.omit_defaults
        optional = {f.encode_name for f in fields(kind) if is_short and f.default is not NODEFAULT}
        required = [key for key in properties if key not in optional]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _plain(schema: Any) -> Any:
    """A schema of values, without defaults, and with numbers where msgspec has texts of digits."""
    if isinstance(schema, list):
        return [_plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("format") == "decimal":
        return NUMBER
    return {key: _plain(value) for key, value in schema.items() if key != "default"}
