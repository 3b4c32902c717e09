"""What `grader validate` notices in texts and in how checks are written, on copies of a small course."""

import pytest

from grader.authoring import text_proofs
from grader.authoring.file_proofs import wrong_examples
from grader.authoring.text_proofs import code_in
from grader.course.course import load_course

SOLUTION = "solutions/01_scores/scores.py"
MISTAKES = "solutions/01_scores/misconceptions.toml"
HINTS = "solutions/01_scores/hints.toml"
VISIBLE = "tests/checks/01_scores/test_visible.py"
HIDDEN = "tests/checks/01_scores/test_hidden.py"
SCORES = ("01_scores/scores",)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Write `products = queries @ keys.T` first.", "products = queries @ keys.T"),
        ("Write products = queries @ keys.T first, then divide.", ""),
        ("The first line is: products = queries @ keys.T", "products = queries @ keys.T"),
        ("像这样：products = queries @ keys.T", "products = queries @ keys.T"),
        ("Try torch.softmax(scores, dim=-1).", "torch.softmax(scores, dim=-1)"),
        ("`torch.softmax(scores, dim=-1)` is it.", "torch.softmax(scores, dim=-1)"),
        ("`weights += 1`, then `return weights`", "weights += 1"),
        ("End with return weights.sum()", "return weights.sum()"),
        # An equation, a name, a shape, an example with numbers.
        ("The equation: y = f(x[j])", ""),
        ("The equation: softmax(Q Kᵀ / √d_k) V.", ""),
        ("What shape has the weight of `nn.Linear(3, 2)`?", ""),
        ("Which axis of `(batch_size, num_tokens)` grows?", ""),
        ("It is called `torch.tril`: https://example.org/torch.tril.html", ""),
        ("Which steps does your function return?", ""),
    ],
)
def test_a_hint_that_holds_code_is_known_from_one_that_names_things(text: str, code: str) -> None:
    """With backticks or without."""
    assert code_in(text) == code


def test_a_hint_with_code_and_a_question_that_asks_nothing_are_warned_of(example) -> None:
    """Matters of taste; the course still keeps its promises."""
    example.edit(HINTS, "what a transpose does.", "write `products = queries @ keys.T`.")
    example.edit(MISTAKES, "when keys get longer?", "when keys get longer.")
    example.edit(MISTAKES, "Whose scores are in a row?", "一行里是谁的得分？")
    course = load_course(example.folder)
    assert list(text_proofs.hints_are_no_code(course, SCORES)) == [
        f"{HINTS}: scores[2]: the hint holds code: products = queries @ keys.T"
    ]
    assert list(text_proofs.questions_ask(course, SCORES)) == [
        f"{MISTAKES}: scores-not-scaled: its question has no question mark"
    ]


def test_a_region_without_a_todo_is_told(example) -> None:
    """Its stub would not say what to write."""
    example.edit(SOLUTION, "# TODO: multiply", "# Multiply")
    found = text_proofs.stubs_say_what_to_do(load_course(example.folder), SCORES)
    line = (
        (example.folder / SOLUTION).read_text("utf-8").splitlines().index("    ### BEGIN SOLUTION")
    )
    said = "no `# TODO: …` above ### BEGIN SOLUTION says what to write"
    assert list(found) == [f"{SOLUTION}:{line + 1}: {said}"]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (HINTS, "What tells how well", "TODO: ask"),
        (MISTAKES, "The scores are not scaled.", "TODO say what it does"),
        (VISIBLE, "The scores are the document's.", "TODO: a sentence."),
        (SOLUTION, "The scaled score of", "TODO: what it returns,"),
        (SOLUTION, "products = queries", "# TODO: write it\n    products = queries"),
    ],
)
def test_a_todo_of_the_authors_own_that_is_left_is_told_with_its_line(
    example, path: str, old: str, new: str
) -> None:
    """Wherever a template may have put one."""
    example.edit(path, old, new)
    text = (example.folder / path).read_text("utf-8")
    number = text[: text.index(new)].count("\n")
    line = text.splitlines()[number].strip()
    course = load_course(example.folder)
    (found,) = text_proofs.no_todo_is_left(course, SCORES)
    place, said = f"{path}:{number + 1}: still to be written: ", line.partition("TODO")[2]
    assert found.startswith(place)
    assert found.removeprefix(place) in said


@pytest.mark.parametrize(
    ("path", "old"),
    [
        ("solutions/02_mixture/mixture.py", "    # TODO: a softmax along each row."),
        ("solutions/02_mixture/hints.toml", "What has to sum to 1?"),
        ("solutions/02_mixture/misconceptions.toml", "The softmax runs down the columns."),
        ("tests/checks/02_mixture/test_visible.py", "There is a weight for each score."),
    ],
)
def test_a_todo_that_is_left_belongs_to_one_exercise(example, path: str, old: str) -> None:
    """Who validates another exercise of the assignment does not read of it."""
    example.edit(path, old, "# TODO(author): say it")
    course = load_course(example.folder)
    assert len(list(text_proofs.no_todo_is_left(course, ("02_mixture/weights",)))) == 1
    assert list(text_proofs.no_todo_is_left(course, ("02_mixture/Mixture",))) == []


def test_a_todo_that_is_left_in_no_exercise_is_told_for_each(example) -> None:
    """Such as a title."""
    example.edit(
        "solutions/02_mixture/mixture.py", "What the scores are good", "TODO(author): what"
    )
    course = load_course(example.folder)
    assert len(list(text_proofs.no_todo_is_left(course, ("02_mixture/Mixture",)))) == 1


def test_a_sentence_that_speaks_of_the_stubs_todo_is_none_that_is_left(example) -> None:
    """Students read that word."""
    example.edit(MISTAKES, "Whose scores", "What does the `TODO`, the TODO say: whose scores")
    course = load_course(example.folder)
    assert list(text_proofs.no_todo_is_left(course, SCORES)) == []


# Checks.


@pytest.mark.parametrize(
    ("line", "drawn"),
    [
        ("random.random()", "random.random"),
        ("random.Random().random()", "random.Random"),
        ("torch.randn(3)", "torch.randn"),
        ("torch.empty(3).normal_()", "torch.empty(3).normal_"),
        ("np.random.rand(3)", "np.random.rand"),
        ("np.random.default_rng()", "np.random.default_rng"),
        ("torch.randn(3, generator=torch.Generator().manual_seed(1))", ""),
        ("torch.manual_seed(1), torch.randn(3)", ""),
        ("random.Random(1).random()", ""),
        ("np.random.default_rng(1).random(3)", ""),
        ("draw.normal(3)", ""),
    ],
)
def test_what_a_check_draws_without_a_seed_is_told(example, line: str, drawn: str) -> None:
    """A generator, `draw`, and a seed set above are right."""
    head = "import random\n\nimport numpy as np\nimport torch\n"
    example.edit(HIDDEN, "import pytest\n", f"{head}import pytest\n")
    example.append(HIDDEN, f"\n\ndef inputs(draw):\n    return {line}\n")
    count = len((example.folder / HIDDEN).read_text("utf-8").splitlines())
    found = list(text_proofs.checks_draw_from_seeds(load_course(example.folder), SCORES))
    said = f"`{drawn}` draws without a seed: use `draw`, or give it a generator"
    assert found == ([f"{HIDDEN}:{count}: {said}"] if drawn else [])


def test_an_assert_in_a_check_is_told(example) -> None:
    """No mistake is recognised by it."""
    judged = "judge(value, SCORES, atol=ROUNDED, axes=AXES)"
    example.edit(VISIBLE, judged, "assert value is not None")
    text = (example.folder / VISIBLE).read_text("utf-8")
    line = text[: text.index("assert value")].count("\n") + 1
    found = text_proofs.checks_judge_instead_of_asserting(load_course(example.folder), SCORES)
    assert list(found) == [f"{VISIBLE}:{line}: `assert` in a check: hand the value to `judge`"]


@pytest.mark.parametrize(
    ("name", "asked", "used", "is_told"),
    [
        ("as_many_queries", "student, judge", "", True),
        ("as_many_queries", "attempt, draw", "", True),
        ("as_many_queries", "student, judge", "self.as_many_queries(student, judge)", False),
        ("as_many_queries", "student, judge, size", "", False),
        ("inputs", "draw", "", False),
        ("_as_many_queries", "student, judge", "", False),
    ],
)
def test_a_check_whose_name_makes_it_none_is_told(
    example, name: str, asked: str, used: str, is_told: bool
) -> None:
    """Such a method is passed over in silence; a helper is called, or asks for other things."""
    method = f"    def {name}(self, {asked}):\n        {used or 'pass'}\n"
    example.append(VISIBLE, f"\n\nclass TestMore:\n{method}")
    line = len((example.folder / VISIBLE).read_text("utf-8").splitlines()) - 1
    found = list(text_proofs.checks_are_named_so(load_course(example.folder), SCORES))
    said = "a check's name begins with `test_`, a helper's that nothing calls with `_`"
    told = [f"{VISIBLE}:{line}: `TestMore.{name}` is never run: {said}"]
    assert found == (told if is_told else [])


@pytest.mark.slow
def test_what_checks_declare_is_told(example) -> None:
    """No gate is a fault, and a name too few for axes; two of one title, no hidden check and no misconception are warned of."""
    example.edit(VISIBLE, "    @pytest.mark.gate\n", "")
    example.edit(VISIBLE, "With as many queries as keys, the scores are still right.", "As many.")
    example.edit(HIDDEN, "Other queries, other keys, all sizes different.", "As many.")
    example.edit(VISIBLE, "atol=ROUNDED, axes=AXES", "atol=ROUNDED, axes=AXES[:1]")
    path = "tests/checks/02_mixture/test_hidden.py"
    text = (example.folder / path).read_text("utf-8")
    first, last = (
        text.index('@pytest.mark.exercise("weights")'),
        text.index('@pytest.mark.exercise("Mixture")'),
    )
    (example.folder / path).write_text(text[:first] + text[last:], "utf-8")
    mistakes = example.folder / "solutions/02_mixture/misconceptions.toml"
    _empty, _first, *others = mistakes.read_text("utf-8").split("[[misconceptions]]")
    mistakes.write_text("".join(f"[[misconceptions]]{one}" for one in others), "utf-8")
    report = example.report()
    (gate,) = [fault for fault in report.faults if "gate" in fault]
    mark = "mark its first visible check with `@pytest.mark.gate`"
    assert gate.startswith(f"{VISIBLE}:")
    assert gate.endswith(f"01_scores/scores has no gate: {mark}")
    (axes,) = [fault for fault in report.faults if "axes" in fault]
    assert axes.startswith(f"{VISIBLE}:")
    shape = "the expected tensor has the shape (2, 3): give one name for each axis"
    assert axes.endswith(f": `axes` is ('query',), and {shape}")
    title, *lonely = report.warnings
    other = "01_scores/scores::visible::test_as_many_queries_as_keys"
    assert title.endswith(f": its title is that of {other}, too: As many.")
    assert lonely == [
        "02_mixture/weights: it has no hidden check",
        "02_mixture/weights: it has no misconception",
    ]


# Examples.


@pytest.mark.parametrize(
    ("example_", "said"),
    [
        (">>> 1 + 1\n        2", None),
        (">>> 1 + 1\n        3", "the example `1 + 1` returns 2, not 3"),
        (">>> 1 / 0\n        3", "the example `1 / 0` raises ZeroDivisionError: division by zero"),
    ],
)
def test_an_example_of_a_docstring_that_is_not_so_is_told_with_its_line(
    example, example_: str, said: str | None
) -> None:
    """Students read it as the truth."""
    example.edit(SOLUTION, "The scaled score of each", f"Each:\n\n        {example_}\n\n    Each")
    text = (example.folder / SOLUTION).read_text("utf-8")
    line = text[: text.index(">>>")].count("\n") + 1
    course = load_course(example.folder)
    wanted = [f"{SOLUTION}:{line}: {said}"] if said else []
    assert wrong_examples(course, course.assignments[0]) == wanted


def test_an_example_finds_the_files_of_its_assignment_and_leaves_none(example) -> None:
    """It runs in a working folder, as student code does."""
    copied = ">>> Path('made.txt').write_text(Path('data.txt').read_text())"
    text = f">>> from pathlib import Path\n        {copied}\n        2\n    "
    example.edit(SOLUTION, "The scaled score of each", f"Each:\n\n        {text}\n\n    Each")
    files = (example.folder / SOLUTION).parent / "files"
    files.mkdir()
    (files / "data.txt").write_text("42", "utf-8")
    course = load_course(example.folder)
    assert wrong_examples(course, course.assignments[0]) == []
    assert [path.name for path in files.iterdir()] == ["data.txt"]


def test_an_example_that_never_ends_and_a_file_that_does_not_load_are_told(example) -> None:
    """Whatever they do, validating goes on."""
    example.edit("course.toml", "[course]", "[limits]\nsubmission_seconds = 0.3\n\n[course]")
    endless = ">>> while True: pass\n    "
    example.edit(SOLUTION, "The scaled score of each", f"Each:\n\n        {endless}\n\n    Each")
    example.append("solutions/02_mixture/mixture.py", "\nraise ValueError('not yet')\n")
    course = load_course(example.folder)
    assert [wrong_examples(course, one) for one in course.assignments] == [
        [f"{SOLUTION}: its examples did not end within 0.3 seconds"],
        ["solutions/02_mixture/mixture.py: its examples cannot be run: ValueError: not yet"],
    ]


@pytest.mark.slow
def test_examples_of_an_assignment_that_was_not_chosen_are_not_run(example) -> None:
    """`grader validate 02` takes as long as that assignment does."""
    from grader.authoring.validate import validate

    example.edit(SOLUTION, "The scaled score of each", ">>> 1 + 1\n    3\n\n    Each")
    example.regenerate()
    course = load_course(example.folder)
    assert validate(course, ("02",)).faults == []
    (fault,) = validate(course, ("01",)).faults
    assert fault.endswith("the example `1 + 1` returns 2, not 3")
