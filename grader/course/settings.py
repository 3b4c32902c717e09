"""What a course says of itself beyond its assignments: languages, roles, printed tensors."""

from dataclasses import dataclass
from pathlib import Path

from grader.core.encodings import is_encoding
from grader.core.language import CODE, DEFAULT_LANGUAGE, kept_in
from grader.course.toml_table import Table

LEDGER_FILE = r"(?:\w[\w.-]*/)*\w[\w.-]*\.json"
ENCODINGS = ("cp1252",)
"""What files are tried in that are not in UTF-8 and do not name their encoding: western Windows'."""
MOST_DECIMALS = 7
"""What a float32 has."""


RoleWords = tuple[tuple[str, tuple[str, ...]], ...]
"""By what parameters stand for, the words that say it in their names."""


@dataclass(frozen=True, slots=True)
class OtherNames:
    """What the world calls things that a course names; they count where its own name is not there.

    Args:
        exercises: by an exercise's name, what else it is called.
        arguments: by the name of a constructor's argument, what else it is called; by "settings",
            what an argument is called that holds all the others.
        unasked: arguments that no solution takes, each with the value that changes nothing.
    """

    exercises: RoleWords = ()
    arguments: RoleWords = ()
    unasked: tuple[tuple[str, object], ...] = ()

    def of(self, argument: str) -> tuple[str, ...]:
        """All names of an argument."""
        return argument, *dict(self.arguments).get(argument, ())


NO_OTHER_NAMES = OtherNames()


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


def ledger_of(manifest: Table) -> LedgerSettings | None:
    """What `[ledger]` says; None where a course has no printed tensors."""
    table = manifest.table("ledger", required=False)
    if not isinstance(manifest.content.get("ledger"), dict):
        return None
    labels, axes = table.texts("labels"), table.texts("axes")
    if bool(labels) != bool(axes):
        table.note("", "labels and axes belong together; found one of them")
    return LedgerSettings(
        file=table.text("file", pattern=LEDGER_FILE, like="tests/printed_tensors.json"),
        decimals=table.whole("decimals", default=4, least=0, most=MOST_DECIMALS),
        source=table.optional_text("source"),
        labels=labels,
        axes=axes,
    )


def encodings_of(about: Table) -> tuple[str, ...]:
    """What `encodings` says; western Windows' where it says nothing."""
    about.known.add("encodings")
    if "encodings" not in about.content:
        return ENCODINGS
    names = about.texts("encodings")
    for number, name in enumerate(names, 1):
        if not is_encoding(name):
            about.note(
                f"encodings[{number}]",
                f"found {name[:80]!r}; one of Python's text encodings that hold ASCII is needed, "
                "like 'cp1252', 'gb18030' or 'cp932'",
            )
    return tuple(name for name in names if is_encoding(name))


def roles_of(manifest: Table) -> RoleWords:
    """What `[roles]` says."""
    table = manifest.table("roles", required=False)
    names = table.identifiers() if table.content else []
    return tuple((name, table.texts(name, pattern=r"[a-z]+", like="out")) for name in names)


def other_names_of(manifest: Table) -> OtherNames:
    """What `[also]`, `[arguments]` and `[unasked]` say."""
    also, arguments, unasked = (
        manifest.table(key, required=False) for key in ("also", "arguments", "unasked")
    )
    exercises, others = (
        tuple((name, one.texts(name, pattern=r"\w+", like="Name")) for name in one.entries())
        for one in (also, arguments)
    )
    values = tuple((name, unasked.plain(name)) for name in unasked.entries())
    return OtherNames(exercises, others, values)


def languages_of(about: Table, translations: Path) -> tuple[str, ...]:
    """The languages that the manifest says, else those there are translations for.

    Args:
        about: the table `[course]`.
        translations: the folder of the course's translations.
    """
    if "languages" not in about.content:
        about.known.add("languages")
        return kept_in(translations)
    said = about.texts("languages", pattern=CODE, like="zh_CN")
    return tuple(code for code in dict.fromkeys(said) if code != DEFAULT_LANGUAGE)
