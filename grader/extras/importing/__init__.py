"""Notebooks written for other graders as assignments of a course: `grader import`.

`nbgrader` and `otter` each read a format into the records of `nbgrader`; `exercises` makes exercises
with solution regions of it (`renaming` what is set anew), `drafts` checks of its tests, and `write` the files.
"""
