"""What students hand in is graded, never collected: some of them bring tests of their own."""

collect_ignore = ["submissions"]
