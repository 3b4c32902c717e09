"""What authors use: stubs and notebooks from solutions, and the proof that a course holds."""
