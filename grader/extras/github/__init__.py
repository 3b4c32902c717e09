"""GitHub: a repository for students, where a push grades, and the report of it."""
