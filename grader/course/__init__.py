"""What an author declares: the manifest, exercises, known mistakes, hints, printed tensors.

It stands on `core`; all packages above may import it.
"""
