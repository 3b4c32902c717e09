"""What imports what: faults in the assignments' lists of other assignments."""

from collections.abc import Iterator, Mapping

from grader.course.toml_table import did_you_mean

Imports = Mapping[str, tuple[str, ...]]
"""By an assignment's id, the ids of those that it imports."""


def faulty_imports(imports: Imports, manifest: str) -> Iterator[str]:
    """What is wrong with imports: no other assignment, or a way back to where it came from.

    Args:
        imports: of all assignments, in order.
        manifest: the name of the file they stand in.
    """
    for number, (id_, imported) in enumerate(imports.items(), 1):
        key_path = f"{manifest}: assignments[{number}].imports"
        for name in imported:
            if name not in imports:
                hint = did_you_mean(name, imports)
                yield f"{key_path}: found {name!r}, which is no assignment's id; {hint}".rstrip(
                    "; "
                )
        loop = _loop_from(id_, imports)
        if loop and min(loop) == id_:
            yield f"{key_path}: a loop, {' -> '.join([*loop, id_])}"


def _loop_from(start: str, imports: Imports) -> list[str]:
    """A path of imports from an assignment back to itself, or nothing."""
    paths, seen = [[start]], {start}
    while paths:
        path = paths.pop()
        following = imports.get(path[-1], ())
        if start in following:
            return path
        paths += [[*path, name] for name in following if name not in seen]
        seen.update(following)
    return []
