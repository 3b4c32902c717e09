"""What was handed in: one student's files, and a class however it arrives.

It stands on `course`; all packages above may import it.
"""
