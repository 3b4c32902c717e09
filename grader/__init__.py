"""The course kit: exercises on attention and the grader that judges them.

Nothing is imported here, so that a sandboxed process can load `grader.sandbox.servant` alone.
"""
