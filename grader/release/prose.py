"""Walks through prose, piece by piece: Markdown, docstrings, comments.

One walk serves two ends. Given a function that only collects, it finds what there is to translate;
given one that returns translations, it puts them in. A piece is a paragraph, a heading, a
list's entry, a table's row, an argument's description. Code, formulas and examples are no pieces. Where a piece
comes back as it was, not a byte changes.
"""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from grader.core.text import filled

Say = Callable[[str], str]
"""Returns a piece in another language."""

WIDTH = 100
SECTIONS = ("Args:", "Returns:", "Raises:", "Example:")
LISTS = ("Args:", "Raises:", "Attributes")
"""Sections with an entry for each name; the head of one may say more, and is translated then."""

ROW = "| "
MARKER = re.compile(r"(?P<marker>\s*(?:#+ |[-*] |\d+\. ))(?P<text>.*)")
ARGUMENT = re.compile(r"(?P<marker>\*{0,2}\w+(?:, \w+)*: )(?P<text>.*)")
TODO = re.compile(r"(?P<marker>TODO: )(?P<text>.*)", re.DOTALL)
COMMENT = re.compile(r"(.*\S +# )(.+)")
"""A command and what is said beside it."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines that belong together.

    Args:
        lines: as they stand.
        marker: what precedes the text and is no part of it, like `# ` or `- ` or `x: `.
        text: the text in one line; empty for what is never translated.
    """

    lines: tuple[str, ...]
    marker: str = ""
    text: str = ""


def translated_markdown(text: str, say: Say, width: int | None = None) -> str:
    """Markdown with its pieces in another language.

    Args:
        text: the Markdown.
        say: translates a piece.
        width: the columns of a translated line; None for a paragraph on one line.
    """
    return "\n".join(line for b in _markdown_blocks(text) for line in _said(b, say, width))


def _markdown_blocks(text: str) -> Iterator[Block]:
    paragraph: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = next((mark for mark in ("```", "$$") if line.lstrip().startswith(mark)), "")
        starts = MARKER.match(line)
        is_row = line.startswith(ROW)
        if fence or mark or not line.strip() or starts or is_row:
            yield from _paragraph(paragraph)
            paragraph = []
        if fence:
            fence = "" if line.rstrip().endswith(fence) else fence
            beside = COMMENT.fullmatch(line)
            yield Block((line,), *beside.groups()) if beside else Block((line,))
        elif mark:
            closes = line.rstrip().endswith(mark) and len(line.strip()) > len(mark)
            fence = "" if closes else mark
            yield Block((line,))
        elif is_row:
            yield Block((line,), ROW, line.removeprefix(ROW))
        elif line.strip():
            paragraph.append(line)
        else:
            yield Block((line,))
    yield from _paragraph(paragraph)


def _paragraph(lines: list[str], pattern: re.Pattern[str] = MARKER) -> Iterator[Block]:
    """A block of lines, with what marks its first one taken off."""
    if not lines:
        return
    text = " ".join(line.strip() for line in lines)
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    match = pattern.match(text)
    marker, text = (match["marker"], match["text"]) if match else ("", text)
    yield Block(tuple(lines), indent + marker, text)


def _said(block: Block, say: Say, width: int | None) -> list[str]:
    """A block's lines, as they were where it has no other words."""
    text = say(block.text) if block.text else block.text
    if text == block.text:
        return list(block.lines)
    if width is None or block.marker == ROW:
        return [block.marker + text]
    return filled(text, width, block.marker, _hanging(block.marker))


def _hanging(marker: str) -> str:
    """What the further lines of a block begin with."""
    indent = marker[: len(marker) - len(marker.lstrip())]
    if marker.rstrip().endswith(":") and marker.strip() != "TODO:":
        return f"{indent}    "
    is_list = marker.strip()[:1] not in ("#", "T", "")
    return " " * len(marker) if is_list else indent


def translated_docstring(text: str, say: Say, indent: int, width: int = WIDTH) -> str:
    """A docstring's inner text with its pieces in another language.

    The names of arguments stay; so does every example's code and output.

    Args:
        text: from the opening quotes to the closing ones.
        say: translates a piece.
        indent: columns before the docstring.
        width: the columns of a line, indent included.
    """
    first, *rest = text.split("\n")
    lines = [first, *(line[indent:] if line[:indent].isspace() else line for line in rest)]
    out = [line for block in _docstring_blocks(lines) for line in _said(block, say, width - indent)]
    pad = " " * indent
    return "\n".join([out[0], *(f"{pad}{line}" if line.strip() else line for line in out[1:])])


def _docstring_blocks(lines: list[str]) -> Iterator[Block]:
    paragraph: list[str] = []
    section = ""
    in_example = False
    for line in lines:
        text = line.strip()
        is_outside = not line.startswith(" ")
        in_example = (in_example and bool(text)) or text.startswith(">>>")
        starts = text in SECTIONS or (is_outside and text.startswith(LISTS))
        section = text if starts else "" if text and is_outside else section
        entry = section.startswith(LISTS) and re.match(r" {4}\S", line)
        if not text or text in SECTIONS or in_example or entry:
            yield from _paragraph(paragraph, ARGUMENT if _is_entry(paragraph, section) else MARKER)
            paragraph = []
        if text in SECTIONS:
            yield Block((line,), line[: -len(text)], text)
        elif not text or in_example:
            yield Block((line,))
        else:
            paragraph.append(line)
    yield from _paragraph(paragraph, ARGUMENT if _is_entry(paragraph, section) else MARKER)


def _is_entry(paragraph: list[str], section: str) -> bool:
    return bool(paragraph) and paragraph[0].startswith("    ") and section not in ("", "Example:")


def translated_code(code: str, say: Say) -> str:
    """Code with docstrings and whole-line comments in another language; the rest untouched.

    Raises:
        ValueError: when a translation changes what the code does.
    """
    lines = code.split("\n")
    for start, end, new in sorted([*_docstrings(code, say), *_comments(code, say)], reverse=True):
        lines[start:end] = new
    result = "\n".join(lines)
    if meaning(result) != meaning(code):
        raise ValueError("a translation changes the code")
    return result


def meaning(code: str) -> str:
    """What code does: its syntax tree without docstrings."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if _docstring_node(node) is not None:
            del node.body[0]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _docstring_node(node: ast.AST) -> ast.Constant | None:
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    first = node.body[0] if isinstance(node, kinds) and node.body else None
    value = first.value if isinstance(first, ast.Expr) else None
    return value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


Change = tuple[int, int, list[str]]
"""Lines from one number up to another, and what stands there instead."""


def _docstrings(code: str, say: Say) -> Iterator[Change]:
    lines = code.split("\n")
    for node in ast.walk(ast.parse(code)):
        found = _docstring_node(node)
        if found is None or found.end_lineno is None:
            continue
        start, end = found.lineno - 1, found.end_lineno
        indent = len(lines[start]) - len(lines[start].lstrip())
        text = "\n".join(lines[start:end])
        opening, closing = text.index('"""') + 3, text.rindex('"""')
        closing = len(text[:closing].rstrip())
        inner = translated_docstring(text[opening:closing], say, indent)
        yield start, end, (text[:opening] + inner + text[closing:]).split("\n")


def _comments(code: str, say: Say) -> Iterator[Change]:
    """Lines that hold nothing but a comment, those that follow each other together."""
    runs: list[tuple[int, list[str]]] = []
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        is_alone = token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
        if not is_alone or token.string.startswith(("###", "# %%")):
            continue
        line = token.start[0] - 1
        text = token.line.rstrip("\n")
        follows = runs and runs[-1][0] + len(runs[-1][1]) == line
        if follows and not text.lstrip().startswith("# TODO"):
            runs[-1][1].append(text)
        else:
            runs.append((line, [text]))
    for start, texts in runs:
        yield start, start + len(texts), _said_comment(texts, say)


def _said_comment(lines: list[str], say: Say) -> list[str]:
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    bare = [line.strip().removeprefix("#").removeprefix(" ") for line in lines]
    (block,) = _paragraph(bare, TODO)
    new = _said(block, say, WIDTH - len(indent) - 2)
    return lines if new == bare else [f"{indent}# {line}".rstrip() for line in new]


def in_comment(text: str) -> str:
    """Markdown as the percent form has it: each line behind a `#`."""
    return "\n".join(f"# {line}".rstrip() for line in text.split("\n"))
