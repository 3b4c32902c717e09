"""The promises of isolation, read from the table that names the attacks on each."""

import re
from pathlib import Path

HEADER = re.compile(r"^\| promise \| attacked in \|\n\|[-| ]+\|\n((?:\|.*\n)+)", re.MULTILINE)
FILE = re.compile(r"`(?:\S*/)?(test_\w+)(?:\.py)?`")


def promises(text: str) -> dict[str, list[str]]:
    """The table of promises: the files that test each, by name."""
    (table,) = HEADER.findall(text)
    rows = [row.strip("|").split("|") for row in table.splitlines()]
    return {promise.strip(): FILE.findall(files) for promise, files in rows}


def promised(root: Path) -> dict[str, list[str]]:
    """The table as it stands, in the README or in a document that it leads to."""
    texts = [path.read_text("utf-8") for path in (root / "README.md", *root.glob("docs/*.md"))]
    (text,) = [text for text in texts if HEADER.search(text)]
    return promises(text)
