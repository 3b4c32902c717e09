"""The kit serves any course: nothing of the one beside it stands in the package."""

import re
from pathlib import Path

import grader

PACKAGE = Path(grader.__file__).parent
OF_THE_COURSE = re.compile(r"attention|journey|\btokens?\b|\bdocuments?\b", re.IGNORECASE)
FORMS = {".py", ".md", ".j2", ".js", ".css", ".json", ".sh", ".yml"}
FOREIGN = {
    "cli/check.py": {"token"},  # GitHub's word for what ends a stopped command
    "extras/desk/edits.py": {"document"},  # tomlkit's
    "extras/desk/server.py": {"token", "tokens"},  # what lets a browser in
    "extras/desk/templates/desk.js": {"document"},  # the browser's
    "extras/learning/proposal.py": {"token"},  # the tokenizer's
    "extras/similarity/traces.py": {"token", "tokens"},
    "release/prose.py": {"token"},
    "sandbox/meter.py": {"attention"},  # torch's, in the names of its operations
    "reports/html/templates/class.js": {"document"},  # the browser's
    "reports/html/templates/view.js": {"document"},
}
"""Words that other people's interfaces ask for, by file."""


def test_nothing_of_the_course_stands_in_the_package() -> None:
    """What is about its subject comes from its own folder."""
    found = {}
    for path in sorted(PACKAGE.rglob("*")):
        words = OF_THE_COURSE.findall(path.read_text("utf-8")) if path.suffix in FORMS else []
        if words:
            found[path.relative_to(PACKAGE).as_posix()] = {word.lower() for word in words}
    assert found == FOREIGN
