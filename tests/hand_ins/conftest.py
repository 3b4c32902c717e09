"""What students handed in is graded, never collected."""

collect_ignore = ["submissions"]
