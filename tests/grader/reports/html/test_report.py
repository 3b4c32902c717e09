"""Pages under their name in the registry, as `--report html` asks for them."""

from datetime import UTC, datetime
from pathlib import Path

from generated_class import generated_class

from grader.course.course import load_course
from grader.reports.base import CheckedWork, GradedClass, checked, graded
from grader.reports.html.pages import class_report, student_page
from grader.reports.html.views import assignment_pictures

NOW = datetime(2027, 2, 1, 12, tzinfo=UTC)


def test_a_class_has_a_report_and_a_page_for_each_student(root: Path) -> None:
    """Below `html/`, the students' in a folder of their own, with the assignments' pictures."""
    course = load_course(root)
    results = generated_class(course, 2)
    linked = assignment_pictures(course, "pictures")
    assert linked.keys() == course.by_id.keys()
    files = list(graded(["html"], GradedClass(course, results, {}, NOW)))
    covers = f"Graded {NOW:%Y-%m-%d %H:%M %Z}, course {course.hash[:12]}. "
    assert [(file.path, file.text) for file in files] == [
        ("html/index.html", class_report(results, course, covers=covers)),
        *((f"html/students/{one.address}", one.svg) for one in linked.values()),
        ("html/students/student000.html", student_page(results[0], course, pictures=linked)),
        ("html/students/student001.html", student_page(results[1], course, pictures=linked)),
    ]


def test_a_students_own_run_has_one_page(root: Path) -> None:
    """Where the command is run; its name is said."""
    course = load_course(root)
    (result,) = generated_class(course, 1)
    made = checked(["html"], CheckedWork(course, result, "assignments", {}, NOW))
    (file,) = made.files
    assert (file.path, file.text) == ("feedback.html", student_page(result, course))
    assert made.lines == ("Your page: feedback.html",)
