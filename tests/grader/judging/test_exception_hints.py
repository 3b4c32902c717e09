"""What is said below an exception: what it may mean, and what to do about it."""

import re
from dataclasses import replace

import pytest
import torch  # noqa: F401  # what a layer is, is known only where torch is loaded

from grader.judging.exception_hints import exception_hints
from grader.judging.messages import does_not_run, explain_failure
from grader.sandbox.failures import CodeLine
from grader.testing.replies import Failure

SET_AT = CodeLine("heads.py", None, 70, "self.head = 1")
LEAF = (
    "This line changes in place a tensor that gradients are computed for. Make a new tensor "
    "instead; the values of a parameter are set inside `with torch.no_grad():`."
)
NO_MASK = (
    "`self.mask` may be None here. Is it set to what `register_buffer` returns? That sets the "
    "attribute by itself, and returns None."
)
NONE = "A value in this line is None. Does every function that it comes from end in a `return`?"
TUPLE = "A value in this line is a tuple of several values. Which of them is needed here?"


def raised(type_, message, **rest):
    """The message of an exception, without the calls."""
    return explain_failure(Failure("exception", type_, message=message, **rest), (), "Heads")


def hints(type_, message, line):
    """What is said of an exception that was raised in a line."""
    location = CodeLine("heads.py", None, 12, line)
    failure = Failure("exception", type_, message=message, location=location, own=True)
    return exception_hints(failure, "Heads")


def cases(text):
    """Cases in lines: one begins at the margin, and what is indented below belongs to it."""
    return [[line.strip() for line in case.splitlines()] for case in re.split(r"\n(?=\S)", text)]


STUB = "Are the parameters of Heads the same as in the stub?"
INIT = "Is `__init__` spelt exactly so, with two underscores on each side?"
UNSET = "Is `self.{}` set in `__init__`, before it is used, and `__init__` spelt exactly so?"


@pytest.mark.parametrize(
    ("type_", "message", "hints"),
    [
        (
            *("NotImplementedError", 'Module [Heads] is missing the required "forward" function'),
            ["Its `forward` was not found. Is the method's name spelt exactly `forward`?"],
        ),
        (
            *("AttributeError", "cannot assign module before Module.__init__() call"),
            ["`super().__init__()` has to come first in `__init__`."],
        ),
        ("TypeError", "Heads() takes no arguments", [STUB, INIT]),
        ("TypeError", "Heads.__init__() missing 1 required positional argument: 'd_in'", [STUB]),
        ("TypeError", "Heads.forward() got an unexpected keyword argument 'x'", [STUB]),
        ("TypeError", "Module.__init__() got an unexpected keyword argument 'd_k'", [INIT]),
        ("TypeError", "Heads.__init__() got an unexpected keyword argument 'd_k'", [STUB, INIT]),
        (
            *("TypeError", "Heads.forward() takes 1 positional argument but 2 were given"),
            [f"{STUB[:-1]}, with `self` first?"],
        ),
        ("AttributeError", "'Heads' object has no attribute 'W'", [UNSET.format("W")]),
        ("AttributeError", "'Tensor' object has no attribute 'W'", []),
        ("TypeError", "Dropout.forward() takes 2 positional arguments but 3 were given", []),
        ("TypeError", "sum() got an unexpected keyword argument 'axis'", []),
        ("TypeError", "unsupported operand type(s) for +", []),
        ("NotImplementedError", "later", []),
        ("ValueError", "takes no arguments", []),
    ],
)
def test_exceptions_that_beginners_meet_have_a_hint(type_, message, hints):
    """A misspelt method or another signature looks odd from outside, and is explained."""
    assert raised(type_, message) == "\n".join([f"It raised {type_}: {message}", *hints])


@pytest.mark.parametrize(
    ("wrote", "meant", "question"),
    [
        ("W_query", "self.W_query", "Did you mean self.W_query when you wrote W_query?"),
        ("sofmax", "softmax", "Did you mean softmax when you wrote sofmax?"),
        ("np", "import numpy as np", "Is `import numpy as np` missing?"),
    ],
)
def test_what_may_have_been_meant_is_asked(wrote, meant, question):
    """Instead of any other hint, and for a file that does not run as well."""
    message = "'Heads' object has no attribute 'x'"
    shown = f"It raised AttributeError: {message}\n{question}"
    assert raised("AttributeError", message, wrote=wrote, meant=meant) == shown
    failure = Failure("exception", "NameError", message="no", wrote=wrote, meant=meant)
    assert does_not_run("a.py", failure) == f"a.py does not run: NameError: no\n{question}"


@pytest.mark.parametrize(
    ("in_text", "said"),
    [
        ("", "`heads` is used here, but what is set is `head` (heads.py, line 70)."),
        ("heads", "as the exercise calls it; what is set is `head` (heads.py, line 70)."),
        ("head", "Did you mean head when you wrote heads?"),
    ],
)
def test_an_attribute_that_is_set_by_another_name_has_both_ends_shown(in_text, said):
    """The misspelling is never recommended."""
    failure = Failure("exception", "AttributeError", wrote="heads", meant="head", set_at=SET_AT)
    (hint,) = exception_hints(replace(failure, in_text=in_text), "Heads")
    assert hint.endswith(said)


LINEAR = "`{0}` is a layer, not a tensor: call it, `{0}(x)`, or take its matrix, `{0}.weight`."


@pytest.mark.parametrize(
    ("type_", "message", "line", "said"),
    [
        ("AttributeError", "'Linear' object has no attribute 'T'", "x @ self.W_query.T", LINEAR.replace("{0}", "self.W_query")),
        ("AttributeError", "'Linear' object has no attribute 'shape'", "a = source.W_key.shape[0]", LINEAR.replace("{0}", "source.W_key")),
        ("TypeError", "unsupported operand type(s) for @: 'Tensor' and 'Linear'", "q = x @ self.W_query", LINEAR.replace("{0}", "self.W_query")),
        ("TypeError", "unsupported operand type(s) for *=: 'Linear' and 'int'", "layer *= 2", LINEAR.replace("{0}", "layer")),
        ("TypeError", "unsupported operand type(s) for @: 'Dropout' and 'Tensor'", "q = self.dropout @ x", "`self.dropout` is a layer, not a tensor: call it, `self.dropout(x)`."),
        ("AttributeError", "'ModuleList' object has no attribute 'shape'", "heads.shape", None),
        ("TypeError", "linear(): argument 'input' (position 1) must be Tensor, not Linear", "f(x)", "A layer (nn.Linear) is not a tensor: call it with one."),
        ("TypeError", "unsupported operand type(s) for @: 'Tensor' and 'Linear'", "x @ self.W[0]", "A layer (nn.Linear) is not a tensor: call it with one."),
        ("TypeError", "unsupported operand type(s) for +: 'int' and 'builtin_function_or_method'", "return sum(p.numel for p in module.parameters())", "`numel` is a method: call it, `numel()`."),
        ("TypeError", "'method' object is not subscriptable", "self.size[0] + 1", "`size` is a method: call it, `size()`."),
        ("TypeError", "'method' object is not subscriptable", "f[0]", "A method is named here and not called: `()` is missing after its name."),
        ("TypeError", "'Tensor' object is not callable", "return q @ k.T()", "`.T` is written without `()`."),
        ("TypeError", "'torch.Size' object is not callable", "x.shape()", "`.shape` is written without `()`."),
        ("TypeError", "'Tensor' object is not callable", "return q(k)", None),
        ("TypeError", "sum() got an unexpected keyword argument 'axis'", "w.sum(axis=1, keep_dims=True)", "torch calls this argument `keepdim`."),
        ("RuntimeError", "a leaf Variable that requires grad is being used in an in-place operation.", "x /= 2", LEAF),
        ("RuntimeError", "a view of a leaf Variable that requires grad is being used in an in-place operation.", "x[0] = 2", LEAF),
        ("RuntimeError", "one of the variables needed for gradient computation has been modified by an inplace operation: [torch.FloatTensor [2]]", "", "A tensor was changed in place after something was computed from it, so that no gradient can flow back. Make a new tensor instead of changing that one."),
        ("AttributeError", "'NoneType' object has no attribute 'shape'", "x.shape", NONE),
        ("AttributeError", "'NoneType' object has no attribute 'shape'", "self.mask.shape[0]", NO_MASK),
        ("AttributeError", "'NoneType' object has no attribute 'shape'", "self.masks.shape[0]", NONE),
        ("TypeError", "matmul(): argument 'other' (position 2) must be Tensor, not NoneType", "x @ y", NONE),
        ("TypeError", "unsupported operand type(s) for /: 'tuple' and 'float'", "x / 2.0", TUPLE),
        ("TypeError", "expected Tensor as element 0 in argument 0, but got tuple", "torch.cat(x)", TUPLE),
        ("TypeError", "size(): argument 'size' must be tuple of ints, not Tensor", "x", None),
        ("AttributeError", "'Own' object has no attribute 'mask'", "self.mask", UNSET.format("mask")),
        ("AttributeError", "'Own' object has no attribute 'mask'", "other.mask", None),
        ("RecursionError", "maximum recursion depth exceeded", "f(x)", "A function calls itself again and again. Is it meant to call another one?"),
        ("TypeError", "heads.Head is not a Module subclass", "nn.ModuleList([Head])", "Layers are expected here that have been made. Is `(…)` missing after a class's name?"),
        ("EOFError", "EOF when reading a line", "input()", "Nobody is there to answer `input()`: all values come as arguments."),
        ("RuntimeError", "Boolean value of Tensor with more than one value is ambiguous", "self.dropout(w)", "A whole tensor is used as true or false here. Is it in an `if`, or is a layer's class called in place of the layer?"),
        ("NotImplementedError", "01_a/Heads: not attempted yet", "raise NotImplementedError", "The stub's `raise` still stands above your code: remove it."),
    ],
)  # fmt: skip
def test_what_python_and_torch_say_is_put_into_plain_words(type_, message, line, said):
    """With the name in the line where there is only one that it can be about."""
    assert hints(type_, message, line) == ([said] if said else [])


NO_FORWARD = ("NotImplementedError", 'Module [Heads] is missing the required "forward" function')
OF_TUPLE = ("TypeError", "'tuple' object is not callable")
NO_MODULE = ("ModuleNotFoundError", "No module named 'nowhere'")
NO_NAME = ("ImportError", "cannot import name 'sin' from 'torch'")


@pytest.mark.parametrize(
    ("failed", "wrote", "meant", "said"),
    [
        (NO_FORWARD, "forward", "__init__", "stands inside `__init__` (heads.py, line 70): indent"),
        (
            NO_FORWARD,
            "forward",
            "module",
            "stands outside of its class (heads.py, line 70): indent",
        ),
        (OF_TUPLE, "head", "head", "at the end of the line that sets it (heads.py, line 70)."),
        (
            NO_MODULE,
            "plt",
            "plt",
            "`plt` is used here, and its import failed (heads.py, line 70). no",
        ),
        (
            NO_NAME,
            "sin",
            "sin",
            "failed (heads.py, line 70). Do without it, or leave out what needs",
        ),
    ],
)
def test_what_is_wrong_in_another_line_is_told_with_that_line(failed, wrote, meant, said):
    """A forward in the wrong place, a comma too many, an import that failed."""
    told = raised(*failed, wrote=wrote, meant=meant, set_at=SET_AT)
    assert said in told.splitlines()[1]


def test_a_comma_too_many_is_told_where_its_line_is_not_known():
    """None of the values of a tuple of one is the one that is needed."""
    told = raised(*OF_TUPLE, wrote="head", meant="head")
    assert "Is there a comma at the end of the line that sets it, or of a `return`?" in told


@pytest.mark.parametrize("is_blocked", [False, True])
def test_an_import_that_failed_is_told_where_it_is_used(is_blocked):
    """Also where what is used is the head of another assignment."""
    message = "No module named 'nowhere.plots'"
    failure = Failure("exception", "ModuleNotFoundError", message=message)
    if is_blocked:
        failure = Failure("blocked", message="It needs a head", loading=failure)
    assert explain_failure(failure, (), "Heads").splitlines()[-1] == (
        "nowhere.plots is not installed where this is graded, and no nowhere/plots.py was handed "
        "in beside this file."
    )


TORCH_SAYS = """\
The size of tensor a (12) must match the size of tensor b (5) at non-singleton dimension 2
    x - x.mean(dim=-1)  ->  unless it is told `keepdim=True`.
"bitwise_xor_cpu" not implemented for 'Float'
    x + x^3  ->  that is `**`.
unsupported operand type(s) for ^: 'float' and 'int'
    2.0 ^ 3  ->  that is `**`.
only one element tensors can be converted to Python scalars
    math.tanh(x)  ->  torch has one of that name for tensors.
only one element tensors can be converted to Python scalars
    float(x)
index out of range in self
    self.wpe(tokens)  ->  Which numbers come in here?
derivative for aten::floor_divide is not implemented
    w = scores // size**0.5  ->  `/` divides.
'indices' to have one of the following scalar types: Long, Int; but got torch.FloatTensor
    self.tokens(x)  ->  `max` along an axis gives values first, then positions.
float modulo
    if d_out % num_heads:  ->  is each argument of the call in its place?
zip() argument 2 is shorter than argument 1
    zip(a, b, strict=True)  ->  long is each?
Heads.__init__() takes 1 positional argument but 3 were given
    super().__init__(d_in, d_out)  ->  `super().__init__()`.
name 'y' is not defined
    y == x.repeat(2)  ->  what sets a name is `=`.
name 'y' is not defined
    return y
mean() received an invalid combination of arguments - got (keepdims=bool, axis=int, )
    mean = np.mean(x, axis=-1, keepdims=True)  ->  which take `dim` and `keepdim`.
repeat_interleave() received an invalid combination of arguments - got (Tensor, float)
    x.repeat_interleave(n / m)  ->  does it come from `/`, where `//` gives a whole number?
expected m1 and m2 to have the same dtype, but got: bool != float
    self.W_key(context)  ->  are all arguments in their place?
shape '[2, 5, 3, 2]' is invalid for input of size 240
    x = x.view(b, n, self.num_heads, self.head_dim)  ->  hold 60 numbers together, and the tensor has 240.
The expanded size of the tensor (6) must match the existing size (1) at dimension 0.
    rows.expand(6, 2)  ->  each of its sizes has to be the one asked for, or 1.
Boolean value of Tensor with more than one value is ambiguous
    return padding and causal  ->  `and` does not work element by element: `&` does.
Boolean value of Tensor with more than one value is ambiguous
    return not mask  ->  `not` does not work element by element: `~` does.
Boolean value of Tensor with more than one value is ambiguous
    return x if mask or hidden else y  ->  is a layer's class called in place of the layer?"""


@pytest.mark.parametrize(("message", "line"), cases(TORCH_SAYS))
def test_torchs_own_words_for_a_common_slip_are_explained(message, line):
    """Where line and message say it; the same message of another line is left as it is."""
    line, _arrow, said = line.partition("  ->  ")
    found = hints("RuntimeError", message, line)
    assert said in found[-1] if said else found == []


REFUSED = "This line of yours refuses the call, which should work: what is compared in it"


@pytest.mark.parametrize(
    ("type_", "line", "told"),
    [
        ("ValueError", 'raise ValueError("too long")', REFUSED),
        ("AssertionError", "assert d_out % num_heads == 0", REFUSED),
        (
            "ZeroDivisionError",
            "assert d_out % num_heads == 0",
            "The number that is divided by is 0",
        ),
        ("ValueError", 'if n > 4: raise ValueError("too long")', REFUSED),
        ("ValueError", "a, raised = x.shape", ""),
    ],
)
def test_a_refusal_leads_to_what_it_depends_on(type_, line, told):
    """A `raise` of the student's own, and no other line."""
    message = "float modulo" if type_ == "ZeroDivisionError" else "too many values to unpack"
    found = hints(type_, message, line)
    assert found[0].startswith(told) if told else found == []


def test_a_refusal_of_a_call_of_ones_own_leads_to_that_call() -> None:
    """The line that refuses may be right, and what it is called with wrong."""
    line = CodeLine("heads.py", None, 4, 'raise ValueError("too long")')
    called = CodeLine("block.py", None, 9, "self.heads = Heads(3, 7)")
    failure = Failure("exception", "ValueError", location=line, own=True, called=called)
    (hint,) = exception_hints(failure, "Block")
    assert hint.startswith(
        "Code of yours refuses what other code of yours calls it with: are these"
    )


WIDE = (
    "is a full-width character, as an input method types it: switch the input method off, and type "
)


@pytest.mark.parametrize(
    ("sign", "said"),
    [
        ("\u00a0", "A character here looks like a space, or like nothing, and is neither: delete it, and type a space where one is needed."),
        ("\u3000", "There is a full-width space here, as an input method types it: switch the input method off, and type an ordinary space in its place."),
        ("\uff08", f"`\uff08` {WIDE}`(` in its place."),
        ("\uff0c", f"`\uff0c` {WIDE}`,` in its place."),
        ("\u3002", f"`\u3002` {WIDE}`.` in its place."),
        ("\u3012", f"`\u3012` {WIDE}what Python has for it."),
        ("\u201c", 'Python does not know the sign \u201c: write `"`.'),
    ],
)  # fmt: skip
def test_a_character_that_python_does_not_know_is_named_with_what_types_it(sign, said):
    """Python names no more than its number."""
    with pytest.raises(SyntaxError) as error:
        compile(f"return {sign}a", "heads.py", "exec")
    failure = Failure("exception", "SyntaxError", message=str(error.value.msg))
    assert does_not_run("heads.py", failure).splitlines()[-1] == said


LINED_UP = "The sizes of two tensors are lined up from the last axis, and have to be"
LOST = "A sum, a mean or a maximum loses its axis unless it is told `keepdim=True`."
PRODUCT = "A matrix product takes the last two axes for matrices. The axes before them"


@pytest.mark.parametrize(
    ("line", "set_at", "told"),
    [
        ("return e / e.sum(dim=-1)", "", [LINED_UP, LOST]),
        ("return e / total", "total = e.sum(dim=-1)", [LINED_UP, LOST]),
        ("return e / total", "total = e.sum(dim=-1, keepdim=True)", [LINED_UP]),
        ("return padding & causal", "", [LINED_UP]),
        ("scores = queries @ keys.transpose(1, -1)", "", [PRODUCT]),
        ("scores = torch.matmul(queries, keys)", "", [PRODUCT]),
        ("scores = queries @ keys + mask", "", []),
    ],
)
def test_sizes_that_do_not_go_together_are_explained_by_what_is_between_them(line, set_at, told):
    """Only where something takes an axis away is `keepdim` named."""
    message = "The size of tensor a (5) must match the size of tensor b (2) at dimension 0"
    at, before = (
        CodeLine("heads.py", None, number, text) for number, text in ((7, line), (6, set_at))
    )
    failure = Failure("exception", "RuntimeError", message=message, location=at)
    failure = replace(failure, set_at=before if set_at else None)
    found = exception_hints(failure, "Heads")
    assert len(found) == len(told)
    assert all(hint.startswith(start) for hint, start in zip(found, told, strict=True))
