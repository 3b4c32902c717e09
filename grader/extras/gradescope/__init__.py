"""Gradescope: the autograder's zip, what runs in it, and the report that it writes."""
