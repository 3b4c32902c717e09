"""What a course may do without: each of these is imported by its own command only."""
