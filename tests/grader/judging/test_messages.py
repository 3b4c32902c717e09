"""The whole messages a student reads when a result is not the expected one."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.core.records import CodeLocation
from grader.course.printed_tensors import Printed
from grader.judging.messages import call_lines, clean, explain_difference, show
from grader.sandbox.failures import CodeLine
from grader.sandbox.wire import RemoteObject, Unsupported
from grader.testing.compare import Difference
from grader.testing.judge import Judge, Mismatch
from grader.testing.student import Call


def message(expected, actual, *, calls=(), **options):
    """The message of a judgement that did not hold."""
    with pytest.raises(Mismatch) as caught:
        Judge(list(calls))(actual, expected, **options)
    return explain_difference(caught.value.difference, caught.value.calls).text


DOT = Call("dot", (torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])), {})


def test_a_wrong_vector_is_shown_beside_the_expected_one():
    """What was called, where it first differs, both tensors in full, and the hint."""
    calls = [Call("scores", (torch.ones(2), torch.ones(4, 3)), {"scale": 0.5})]
    expected = torch.tensor([0.5, 1.25, -2.0])
    assert message(expected, expected * 2, calls=calls, axes=("token",)) == (
        "scores(torch.ones(2), torch.ones(4, 3), scale=0.5)\n"
        "The result: 3 of 3 values differ, the first at token 0: "
        "expected 0.5000, received 1.0000.\n"
        "expected\n"
        "    tensor([ 0.5000,  1.2500, -2.0000])\n"
        "received\n"
        "    tensor([ 1.0000,  2.5000, -4.0000])\n"
        "Every value is 2 times the expected one."
    )


@pytest.mark.parametrize(
    ("what", "said", "shown"),
    [
        ("", "out_proj is a tensor", "out_proj is a tensor."),
        ("", "no mask is there", "No mask is there."),
        ("num_heads", "expected 12", "num_heads: expected 12."),
        ("the heads", "expected 12", "The heads: expected 12."),
    ],
)
def test_a_name_begins_a_sentence_as_it_is_written(what, said, shown):
    """It is code; other words begin with a capital."""
    assert explain_difference(Difference(what, None, None, said), ()).text == shown


def test_names_that_differ_in_capital_letters_are_told_so():
    """Nobody sees it."""
    text = message({"num_heads": 1}, {"Num_heads": 1}, what="its names")
    assert text.endswith("Only the capital letters differ, and they count.")


def test_a_printed_tensor_is_shown_with_its_source():
    """Where the expected value is printed somewhere, the message says so."""
    tensor = torch.tensor([[0.5], [1.5]])
    printed = Printed("T99", "value", ("000 cell 28",), "", tensor, source="the book's")
    text = message(printed, torch.tensor([[0.5], [1.0]]), what="the context")
    assert "expected (the book's)\n    tensor([[0.5000],\n            [1.5000]])\n" in text
    assert text.endswith("It differs only at row 1.")


def test_a_wrong_number_is_shown_in_one_line():
    """A single number needs no table."""
    assert message(torch.tensor(11.0), torch.tensor(7.5), calls=[DOT]) == (
        "dot(tensor([1., 2.]), tensor([3., 4.]))\nThe result: expected 11.0000, received 7.5000."
    )


def test_nothing_returned_is_asked_for_a_return():
    """Without a tensor received."""
    text = message(torch.tensor([1.0, 2.0]), None)
    assert "received None" in text
    assert text.endswith("    tensor([1., 2.])\nDoes your function end in a `return`?")


def test_large_tensors_are_not_shown():
    """Up to 49 values are shown; a larger result is shown by its first difference alone."""
    small, large = torch.ones(7, 7), torch.ones(50)
    assert "received\n" in message(small, small * 2)
    assert "tensor(" not in message(large, large * 2)
    text = message(torch.ones(2), torch.ones(50))
    assert text.endswith("received (50,).\nexpected\n    tensor([1., 1.])")


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (None, "What changed is `x`."),
        (CodeLine("a.py", None, 3, "x /= 2"), "What changed is `x`:\n  at a.py:3\n    x /= 2"),
    ],
)
def test_an_argument_that_was_changed_is_named(at, shown):
    """Where a property of the call is judged; values have a message of their own."""
    call = replace(DOT, writes=(("x", at),))
    with pytest.raises(Mismatch) as caught:
        Judge([call]).that(False, "It changed its argument in place")
    text = explain_difference(caught.value.difference, caught.value.calls).text
    assert text.endswith(f"\nIt changed its argument in place.\n{shown}")
    handed_in = CodeLocation("01_first/a.py", 3)
    text = explain_difference(caught.value.difference, caught.value.calls, handed_in).text
    assert text.endswith(shown.replace("a.py", "01_first/a.py"))
    assert "What changed" not in message(torch.tensor(1.0), torch.tensor(2.0), calls=[call])


def test_tensors_are_shown_without_what_belongs_to_gradients():
    """A parameter reads like the tensor it holds."""
    assert show(torch.nn.Parameter(torch.tensor([1.0]))) == "tensor([1.])"
    assert show(torch.tensor([1.0], requires_grad=True) * 2) == "tensor([2.])"


# What was called.


MADE = Call("Heads", (3, 2), {"dropout": 0.5})
HEADS = RemoteObject(1, "module", "Heads")


@pytest.mark.parametrize(
    ("calls", "shown"),
    [
        pytest.param((), [], id="nothing"),
        pytest.param((DOT, Call("f", ("x",), {"k": None})), ["f('x', k=None)"], id="the last"),
        pytest.param(
            (MADE, Call("Heads", (torch.ones(2, 6, 3),), {}, is_forward=True)),
            ["model = Heads(3, 2, dropout=0.5)", "model(torch.ones(2, 6, 3))"],
            id="a forward, and what made its model",
        ),
        pytest.param(
            (MADE, Call("Other", (1,), {}, is_forward=True)), ["model(1)"], id="another model's"
        ),
        pytest.param((Call("CONFIG", (), {}),), ["CONFIG"], id="looked up"),
        pytest.param(
            (Call("f", (torch.arange(6.0).reshape(2, 3), torch.arange(7.0), HEADS, [1] * 99), {}),),
            [
                "f(tensor([[0., 1., 2.], [3., 4., 5.]]), <tensor (7,)>, <Heads>, "
                f"{repr([1] * 99)[:60]}… (cut))"
            ],
            id="short, by shape, by class, cut",
        ),
    ],
)
def test_what_was_called_is_shown(calls, shown):
    """The last call, its arguments short; of a forward also how its model was made."""
    assert call_lines(calls) == shown


# Text that is not ours.


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nof two lines", "plain\ttext\nof two lines"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\rb\x00c\x07d\x08e\x0bf\x0cg", "a\\x0db\\x00c\\x07d\\x08e\\x0bf\\x0cg"),
        ("\x7f\x80\x9b\x9f", "\\x7f\\x80\\x9b\\x9f"),
        ("\u2028\u2029", "\\x2028\\x2029"),
        ("\u202eevil\u202c\u2066\u2069", "\\x202eevil\\x202c\\x2066\\x2069"),
        ("äöü ≤ 🙂", "äöü ≤ 🙂"),
        ("a\ud800b", "a\\ud800b"),
    ],
)
def test_control_characters_are_escaped(text, shown):
    """Nothing a student writes moves the cursor, colours a terminal or turns text around."""
    assert clean(text) == shown


def test_text_is_cut_to_size():
    """A long text ends where its limit is, and says so."""
    assert clean("x" * 600) == "x" * 600
    assert clean("x" * 601) == "x" * 600 + "… (cut)"
    assert clean("abcdef", 3) == "abc… (cut)"


@settings(max_examples=100)
@given(st.text(), st.integers(min_value=1, max_value=50))
def test_cleaned_text_is_short_and_harmless(text, limit):
    """Whatever the text, what is left has a bounded size and no control characters."""
    shown = clean(text, limit)
    assert len(shown) <= limit + len("… (cut)")
    assert all(character in "\t\n" or character >= " " for character in shown)
    assert not set(shown) & set(map(chr, range(0x7F, 0xA0)))


NASTY = "\x1b[31m" + "x" * 5_000


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (torch.ones(2), Unsupported(NASTY)),
        (torch.ones(2), RemoteObject(1, "module", NASTY)),
        (torch.ones(2), RemoteObject(0, NASTY, "x")),
        (3, NASTY),
        ({}, {NASTY: 1}),
        ([1], [Unsupported(NASTY)]),
    ],
    ids=["type", "class", "kind", "text", "key", "entry"],
)
def test_no_value_of_a_student_writes_its_own_message(expected, actual):
    """Names and texts from the student's process are escaped and cut in every message."""
    text = message(expected, actual)
    assert "\x1b" not in text
    assert len(text) < 1_000


def test_the_class_of_an_argument_is_escaped_too():
    """An instance handed to another call is named by its class, which the student chose."""
    (line,) = call_lines((Call("copy", (RemoteObject(1, "module", NASTY),), {}),))
    assert "\x1b" not in line
    assert len(line) < 1_000


@pytest.mark.parametrize(
    ("earlier", "shown"),
    [
        ((), ["model(7)"]),
        ((1, 1), ["model(5)", "model(5)", "model(7)"]),
        ((1,) * 4, ["model(5)", "model(5)", "# and again, 2 ×", "model(7)"]),
        ((2,), ["model(7)"]),
    ],
    ids=["none", "two", "many", "another instance"],
)
def test_what_an_instance_was_called_with_before_is_shown(earlier, shown):
    """Its failure may depend on it, and the lines are there to be run."""
    made = Call("Heads", (3,), {}, instance=1)
    before = (Call("Heads", (5,), {}, is_forward=True, instance=number) for number in earlier)
    last = Call("Heads", (7,), {}, is_forward=True, instance=1)
    assert call_lines((made, *before, last)) == ["model = Heads(3)", *shown]
