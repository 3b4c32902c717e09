"""Which submissions share what hardly anybody else has: evidence, never a verdict.

It works on text and on results that are there; student code is never loaded.
"""
