"""`grader schema`: what the files look like that others read."""

import json

import click


@click.command()
@click.argument("name", type=click.Choice(["result", "summary", "comparison"]))
def schema(name: str) -> None:
    """Print the JSON schema of a file that other programs may read.

    `result` is results/STUDENT.json and feedback/STUDENT.json, and what `grader check --format json`
    prints; `summary` is summary.json, `comparison` what `grader compare --format json` prints.
    """
    from grader.classes.schemas import schema as schema_of

    click.echo(json.dumps(schema_of(name), indent=2))
