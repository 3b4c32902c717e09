"""Mechanical wrong answers that checks are tried with: `grader mutate`."""
