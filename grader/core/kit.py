"""The kit's own name, which is in the formats of its files and in its users' folders."""

KIT_NAME = "grader-kit"
"""The distribution that is installed."""


def installing(extra: str) -> str:
    """The command that installs the kit with one of its extras."""
    return f"pip install '{KIT_NAME}[{extra}]'"
