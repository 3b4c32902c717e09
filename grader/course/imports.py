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
    yield from unknown_assignments(imports, manifest, "imports")
    for number, id_ in enumerate(imports, 1):
        key_path = f"{manifest}: assignments[{number}].imports"
        loop = _loop_from(id_, imports)
        if loop and min(loop) == id_:
            yield f"{key_path}: a loop, {' -> '.join([*loop, id_])}"


def unknown_assignments(named: Imports, manifest: str, key: str) -> Iterator[str]:
    """What names no assignment, of lists of assignments.

    Args:
        named: the lists, of all assignments in order.
        manifest: the name of the file they stand in.
        key: the key they stand under.
    """
    for number, names in enumerate(named.values(), 1):
        key_path = f"{manifest}: assignments[{number}].{key}"
        for name in names:
            if name not in named:
                hint = did_you_mean(name, named)
                yield f"{key_path}: found {name!r}, which is no assignment's id; {hint}".rstrip(
                    "; "
                )


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
