"""A student's wrong answer becomes a known mistake: `grader learn`."""
