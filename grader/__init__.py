"""The course kit: exercises with checks that name a student's mistake.

Nothing is imported here, so that a sandboxed process can load `grader.sandbox.servant` alone.
"""
