"""The table `[ledger]` of a course: the file of its printed tensors, and how they are shown."""

from dataclasses import dataclass

from grader.course.toml_table import Table

LEDGER_FILE = r"(?:\w[\w.-]*/)*\w[\w.-]*\.json"
MOST_DECIMALS = 7
"""What a float32 has."""


@dataclass(frozen=True, slots=True)
class LedgerSettings:
    """How the printed tensors of a course are kept and shown.

    Args:
        file: their list, as a path from the course's folder.
        decimals: how many digits after the point are printed.
        source: whose values they are, in words that fit "The expected values are …"; "" for none.
        labels: what the positions of a text's tensors are called in pictures.
        axes: the names of the axes whose positions have these labels.
    """

    file: str
    decimals: int = 4
    source: str = ""
    labels: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()


def ledger_settings(table: Table) -> LedgerSettings:
    """What the table says."""
    labels, axes = table.texts("labels"), table.texts("axes")
    if bool(labels) != bool(axes):
        table.problems.append(
            f"{table.file}: {table.key_path}: labels and axes belong together; found one of them"
        )
    return LedgerSettings(
        file=table.text("file", pattern=LEDGER_FILE, like="tests/printed_tensors.json"),
        decimals=table.whole("decimals", default=4, least=0, most=MOST_DECIMALS),
        source=table.optional_text("source"),
        labels=labels,
        axes=axes,
    )
