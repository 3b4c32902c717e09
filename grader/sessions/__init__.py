"""Ways to run a servant: in this process, in a child process, or not at all (a recording)."""
