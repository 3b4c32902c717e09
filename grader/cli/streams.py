"""Signs on terminals that lack them: each unencodable character becomes one that says the same."""

import codecs
import sys
import unicodedata

import click

REPLACED_ERRORS = "grader.signs"
PLAIN = dict(zip("✓✗·–—“”‘’×−█░", "+x.--\"\"''x-#.", strict=True)) | {
    "→": "->",
    "…": "...",
    "√": "sqrt ",
    "≥": ">=",
    "≤": "<=",
}
"""Signs of our own in ASCII."""


def plain(text: str) -> str:
    """The text in ASCII: signs by others, letters without accents, `?` for the rest."""
    return "".join(_plain(character) for character in text)


def _plain(character: str) -> str:
    parts = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode("ascii")
    return PLAIN.get(character, parts or "?")


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return plain(error.object[error.start : error.end]), error.end


def fit_streams() -> None:
    """Have standard output and error show what their encoding lacks by other signs."""
    codecs.register_error(REPLACED_ERRORS, _replace)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=REPLACED_ERRORS)


def echo(text: str, *, err: bool = False) -> None:
    """Write a text, in the stream's own encoding (click's `echo` writes UTF-8 where that is ASCII)."""
    click.echo(text, file=sys.stderr if err else sys.stdout)
