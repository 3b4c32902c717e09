"""The trusted end of the line to a servant: in this process, a child process, or recorded.

It stands on `submissions` and `sandbox`; `testing` and all packages above may import it.
"""
