"""What everything shares: records, errors, versions, whole files, and the language people read.

Standard library only, and nothing else of ours. Everybody may import it, but the sandbox.
"""
