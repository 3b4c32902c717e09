"""What students and platforms receive, made from the course."""
