"""Files that are written whole or not at all, and several of them all or none."""

import pytest

from grader.core.errors import UsageError
from grader.core.files import OutputFile, write_all


def test_several_files_are_written_all_or_none(tmp_path):
    """What was there comes back, and what was not is gone."""
    (tmp_path / "a").write_text("old", "utf-8")
    (tmp_path / "folder").mkdir()
    wanted = [OutputFile("a", "new"), OutputFile("b", "new"), OutputFile("folder", "in the way")]
    with pytest.raises(UsageError, match="folder cannot be written"):
        write_all(wanted, tmp_path)
    assert (tmp_path / "a").read_text("utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "folder"]
    write_all(wanted[:2], tmp_path)
    assert [(tmp_path / name).read_text("utf-8") for name in "ab"] == ["new", "new"]
