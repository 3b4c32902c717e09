"""One submission to one result; a class, in processes or on a cluster, resumable.

It stands on `checks`; all packages above may import it.
"""
