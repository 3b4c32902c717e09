"""All of ours that runs beside student code, and what it needs: standard library and torch only.

`constructors`, `failures`, `limits`, `loader`, `processes`, `seal` with its `syscall_table`, `servant`,
`stream` and `wire`. They import nothing else of ours: that is checked. `sessions` and what stands above may
import them.
"""
