"""Tests of the commands in other languages."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.core import language

pytestmark = pytest.mark.slow


@pytest.fixture
def translate(folder: Path, edit) -> Callable[..., None]:
    """Gives the course catalogues of its own, in which everything has a mark before it."""
    from grader.authoring.translations import (
        domain_folder,
        mo_bytes,
        po_bytes,
        read_translations,
        translation_files,
    )
    from grader.course.course import load_course

    def make(*codes: str) -> None:
        edit("course.toml", "points = 6", f"points = 6\nlanguages = {json.dumps(codes)}")
        for made in translation_files(load_course(folder)):
            for file in made.files:
                file.write(folder)
        path = domain_folder(folder / "translations", codes[0]) / "course.po"
        catalog = read_translations(path, codes[0])
        for entry in catalog:
            if entry.id:
                entry.string = f"訳：{entry.id}"
        path.write_bytes(po_bytes(catalog))
        path.with_suffix(".mo").write_bytes(mo_bytes(catalog))
        language.translation_of.cache_clear()

    return make


@pytest.fixture
def translated(translate) -> None:
    """The course in Japanese, and in Chinese that is still to be written."""
    translate("ja", "zh_CN")


def test_a_run_in_another_language_finds_the_same(grader, work, translated) -> None:
    """The same scores, outcomes and mistakes, in other words."""
    file = work(scores="unscaled")
    found = {}
    for code in ("en", "ja"):
        ran = grader("check", "01", "--submission", file, "--format", "json", "--lang", code)
        assert (ran.code, ran.err) == (1, "")
        found[code] = json.loads(ran.out)
    (english,), (japanese,) = (
        [e for a in found[code]["assignments"] for e in a["exercises"]] for code in ("en", "ja")
    )
    assert english["misconceptions"] == japanese["misconceptions"] == ["scores-not-scaled"]
    for one, other in zip(english["checks"], japanese["checks"], strict=True):
        assert (one["id"], one["outcome"]) == (other["id"], other["outcome"])
        assert other["title"] == f"訳：{one['title']}"
    (mine,), (right,) = (f["findings"][0]["one_of"] for f in (japanese, english))
    assert mine["symptom"] == f"訳：{right['symptom']}"
    assert mine["question"] == f"訳：{right['question']}"
    assert "期待値：" in japanese["checks"][1]["message"]


def test_a_hint_is_given_in_the_language_of_the_variable(grader, translated, monkeypatch) -> None:
    """Where no option says otherwise."""
    monkeypatch.setenv(language.VARIABLE, "ja")
    assert grader("hint", "01_scores/scores").out == (
        "01_scores/scores のヒント 1/3：\n\n  訳：What tells how well two vectors fit?\n\n"
        "もう一度実行すると次のヒントが出ます。\n"
    )
    assert grader("hint", "01_scores/scores", "--restart", "--lang", "en").out.splitlines()[2] == (
        "  What tells how well two vectors fit?"
    )


def test_a_course_speaks_the_language_its_manifest_says(grader, edit, monkeypatch) -> None:
    """As a copy does that was released in a language; the locale comes after it."""
    edit("course.toml", "[course]", '[course]\nlanguage = "ja"')
    monkeypatch.delenv(language.VARIABLE)
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    assert grader("check", "nothing").err == (
        "'nothing' という課題や演習はありません。課題は次のとおりです：01_scores、02_mixture。\n"
    )


def test_a_release_in_a_language(grader, folder, translated, tmp_path) -> None:
    """Stubs and README in it, the catalogues without hidden checks, and a manifest that says so."""
    ran = grader("release", tmp_path / "released", "--to", "students", "--lang", "ja")
    assert (ran.code, ran.err) == (0, "")
    released = tmp_path / "released"
    stub = (released / "assignments/01_scores/scores.py").read_text("utf-8")
    assert '    """訳：' in stub
    assert 'raise NotImplementedError("01_scores/scores: not attempted yet")' in stub
    assert 'language = "ja"' in (released / "course.toml").read_text("utf-8")
    assert (released / "README.md").read_text("utf-8").startswith("# 訳：")
    assert sorted(p.name for p in released.rglob("*.po")) == []
    assert (released / "translations/ja/LC_MESSAGES/course.mo").is_file()
    assert (released / "grader/core/locale/ja/LC_MESSAGES/grader.mo").is_file()


def test_catalogues_are_brought_up_to_date(grader, edit, translated, folder) -> None:
    """A changed text loses its translation, and `--check` tells without writing."""
    assert grader("catalogues", "--check").code == 1  # Chinese is still to be translated
    path = folder / "translations/ja/LC_MESSAGES/course.po"
    assert path.read_text("utf-8").count("fit together") == 0
    edit("solutions/01_scores/hints.toml", "two vectors fit?", "two vectors fit together?")
    ran = grader("catalogues", "--check")
    assert "stale: translations/ja/LC_MESSAGES/course.po" in ran.lines
    assert path.read_text("utf-8").count("fit together") == 0
    ran = grader("catalogues")
    assert "translations/ja/LC_MESSAGES/course.po: 1 still to be translated" in ran.lines
    assert path.read_text("utf-8").count("fit together") == 1


def test_a_course_may_have_a_language_that_the_kit_lacks(grader, work, translate) -> None:
    """Its own texts are in that language, the kit's in English; the locale may ask for it, too."""
    translate("de")
    file = work(scores="unscaled")
    ran = grader("check", "01", "--submission", file, "--lang", "de")
    assert (ran.code, ran.err) == (1, "")
    assert "訳：The scores are not scaled." in ran.out
    assert "expected" in ran.out
    assert grader("check", "--lang", "fr").err == (
        "--lang: There is no language 'fr'. There are: en, ja, zh_CN, de.\n"
    )


def test_a_course_without_translations_can_be_in_english_alone(grader, folder, tmp_path) -> None:
    """Nothing is asked for, and the kit's own languages are there all the same."""
    assert not (folder / "translations").exists()
    assert (grader("catalogues").out, grader("catalogues", "--check").code) == ("", 0)
    ran = grader("release", tmp_path / "released", "--to", "students", "--lang", "ja")
    assert (ran.code, ran.err) == (0, "")
    assert not (tmp_path / "released" / "translations").exists()
    assert "\n\n## 準備" in (tmp_path / "released" / "README.md").read_text("utf-8")
