"""`grader docs`: the pages for students, instructors and authors, where no clone is at hand."""

import click
from rich.markdown import Markdown

from grader.cli.view import console
from grader.core.errors import UsageError
from grader.core.kit import docs_folder


@click.command()
@click.argument("page", default="")
def docs(page: str) -> None:
    """Show a page of the documentation, or list all pages.

    `grader docs authors` shows the page for authors. What is not written to a terminal is the page's
    Markdown.
    """
    folder = docs_folder()
    if folder is None:
        raise UsageError("A students' copy has no pages. Install the kit itself, and ask there.")
    pages = {path.stem: path.read_text("utf-8") for path in sorted(folder.glob("*.md"))}
    if not page:
        width = max(map(len, pages))
        for name, text in pages.items():
            click.echo(f"{name.ljust(width)}  {text.partition(chr(10))[0].removeprefix('# ')}")
        click.echo(f"\n`grader docs authors` shows one. They are in {folder}.")
        return
    name = page.removesuffix(".md")
    if name not in pages:
        raise UsageError(f"There is no page {page!r}. The pages are: {', '.join(pages)}.")
    screen = console()
    if not screen.is_terminal:
        click.echo(pages[name], nl=False)
        return
    with screen.capture() as captured:
        screen.print(Markdown(pages[name]))
    click.echo_via_pager(captured.get())
