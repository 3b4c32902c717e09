"""What is said below an exception: what it may mean, and what to do about it."""

import pytest

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


@pytest.mark.parametrize(
    ("type_", "message", "hints"),
    [
        (
            "NotImplementedError",
            'Module [Heads] is missing the required "forward" function',
            ["Its `forward` was not found. Is the method's name spelt exactly `forward`?"],
        ),
        (
            "AttributeError",
            "cannot assign module before Module.__init__() call",
            ["`super().__init__()` has to come first in `__init__`."],
        ),
        (
            "TypeError",
            "Heads() takes no arguments",
            [
                "Are the parameters of Heads the same as in the stub?",
                "Is `__init__` spelt exactly so, with two underscores on each side?",
            ],
        ),
        (
            "TypeError",
            "Heads.__init__() missing 1 required positional argument: 'd_in'",
            ["Are the parameters of Heads the same as in the stub?"],
        ),
        (
            "TypeError",
            "Heads.forward() got an unexpected keyword argument 'x'",
            ["Are the parameters of Heads the same as in the stub?"],
        ),
        (
            "AttributeError",
            "'Heads' object has no attribute 'W_query'",
            [
                "Is `self.W_query` set in `__init__`, before it is used, and `__init__` spelt exactly so?"
            ],
        ),
        (
            "TypeError",
            "Module.__init__() got an unexpected keyword argument 'num_heads'",
            ["Is `__init__` spelt exactly so, with two underscores on each side?"],
        ),
        (
            "TypeError",
            "Heads.__init__() got an unexpected keyword argument 'num_heads'",
            [
                "Are the parameters of Heads the same as in the stub?",
                "Is `__init__` spelt exactly so, with two underscores on each side?",
            ],
        ),
        (
            "TypeError",
            "Heads.forward() takes 1 positional argument but 2 were given",
            [
                "Are the parameters of Heads the same as in the stub, with `self` first?",
            ],
        ),
        ("AttributeError", "'Tensor' object has no attribute 'W_query'", []),
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


def test_an_argument_of_another_function_is_no_reason_to_doubt_the_stub():
    """A torch function that was called wrongly says nothing of the student's parameters."""
    message = "softmax() received an invalid combination of arguments - got (Tensor)"
    text = raised("TypeError", message, location=SET_AT, own=True)
    assert "as in the stub" not in text


@pytest.mark.parametrize(
    ("in_text", "said"),
    [
        ("", "`heads` is used here, but what is set is `head` ({0})."),
        ("heads", "`heads` is used here, as the exercise calls it; what is set is `head` ({0})."),
        ("head", "Did you mean head when you wrote heads?"),
    ],
)
def test_an_attribute_that_is_set_by_another_name_has_both_ends_shown(in_text, said):
    """The misspelling is never recommended."""
    failure = Failure(
        "exception", "AttributeError", wrote="heads", meant="head", set_at=SET_AT,
        in_text=in_text,
    )  # fmt: skip
    assert exception_hints(failure, "Heads") == [said.replace("{0}", "heads.py, line 70")]


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
        ("AttributeError", "'Own' object has no attribute 'mask'", "self.mask", "Is `self.mask` set in `__init__`, before it is used, and `__init__` spelt exactly so?"),
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


@pytest.mark.parametrize(
    ("meant", "said"),
    [
        (
            "__init__",
            "`def forward` stands inside `__init__` (heads.py, line 70): indent it as far as "
            "`def __init__`.",
        ),
        (
            "module",
            "`def forward` stands outside of its class (heads.py, line 70): indent it as far as "
            "the class's other methods.",
        ),
    ],
)
def test_a_forward_in_the_wrong_place_is_told_from_one_that_is_misspelt(meant, said):
    """It is there, but no method of its class."""
    message = 'Module [Heads] is missing the required "forward" function'
    told = raised("NotImplementedError", message, wrote="forward", meant=meant, set_at=SET_AT)
    assert told.splitlines()[1:] == [said]


@pytest.mark.parametrize(
    ("set_at", "said"),
    [
        (
            SET_AT,
            "`head` is a tuple of one value: there is a comma at the end of the line that sets it "
            "(heads.py, line 70).",
        ),
        (
            None,
            "`head` is a tuple of one value. Is there a comma at the end of the line that sets it, "
            "or of a `return`?",
        ),
    ],
)
def test_a_comma_too_many_is_told(set_at, said):
    """None of the values of a tuple of one is the one that is needed."""
    message = "'tuple' object is not callable"
    told = raised("TypeError", message, wrote="head", meant="head", set_at=set_at)
    assert told.splitlines()[1:] == [said]


@pytest.mark.parametrize(
    ("message", "rest", "hint"),
    [
        (
            "No module named 'nowhere.plots'",
            {},
            "nowhere.plots is not installed where this is graded, and no nowhere/plots.py was handed "
            "in beside this file.",
        ),
        (
            "No module named 'nowhere'",
            {"wrote": "plt", "meant": "plt", "set_at": SET_AT},
            "`plt` is used here, and its import failed (heads.py, line 70). nowhere is not installed "
            "where this is graded, and no nowhere.py was handed in beside this file.",
        ),
        (
            "cannot import name 'sin' from 'torch'",
            {"wrote": "sin", "meant": "sin", "set_at": SET_AT},
            "`sin` is used here, and its import failed (heads.py, line 70). Do without it, or leave "
            "out what needs it.",
        ),
    ],
)
@pytest.mark.parametrize("is_blocked", [False, True])
def test_an_import_that_failed_is_told_where_it_is_used(message, rest, hint, is_blocked):
    """Also where what is used is the head of another assignment."""
    type_ = "ModuleNotFoundError" if message.startswith("No module") else "ImportError"
    failure = Failure("exception", type_, message=message, **rest)
    if is_blocked:
        failure = Failure("blocked", message="It needs a head", loading=failure)
    assert explain_failure(failure, (), "Heads").splitlines()[-1] == hint


KEPT = "unless it is told `keepdim=True`."


@pytest.mark.parametrize(
    ("message", "line", "said"),
    [
        (
            "The size of tensor a (12) must match the size of tensor b (5) at non-singleton dimension 2",
            "x - x.mean(dim=-1)",
            KEPT,
        ),
        ("\"bitwise_xor_cpu\" not implemented for 'Float'", "x + x^3", "that is `**`."),
        ("unsupported operand type(s) for ^: 'float' and 'int'", "2.0 ^ 3", "that is `**`."),
        (
            "only one element tensors can be converted to Python scalars",
            "math.tanh(x)",
            "torch has one of that name for tensors.",
        ),
        ("index out of range in self", "self.wpe(tokens)", "Which numbers come in here?"),
        (
            "derivative for aten::floor_divide is not implemented",
            "w = scores // size**0.5",
            "`/` divides.",
        ),
        (
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
            "Int; but got torch.FloatTensor instead",
            "self.tokens(x)",
            "`max` along an axis gives values first, then positions.",
        ),
        ("float modulo", "if d_out % num_heads:", "is each argument of the call in its place?"),
        ("zip() argument 2 is shorter than argument 1", "zip(a, b, strict=True)", "long is each?"),
        (
            "Heads.__init__() takes 1 positional argument but 3 were given",
            "super().__init__(d_in, d_out)",
            "`super().__init__()`.",
        ),
        ("name 'y' is not defined", "y == x.repeat(2)", "what sets a name is `=`."),
        (
            "mean() received an invalid combination of arguments - got (keepdims=bool, axis=int, )",
            "mean = np.mean(x, axis=-1, keepdims=True)",
            "which take `dim` and `keepdim`.",
        ),
        (
            "repeat_interleave() received an invalid combination of arguments - got (Tensor, float)",
            "x.repeat_interleave(n / m)",
            "does it come from `/`, where `//` gives a whole number?",
        ),
        (
            "expected m1 and m2 to have the same dtype, but got: bool != float",
            "self.W_key(context)",
            "are all arguments in their place?",
        ),
    ],
)
def test_torchs_own_words_for_a_common_slip_are_explained(message, line, said):
    """Where line and message say it; the same message of another line is left as it is."""
    assert hints("RuntimeError", message, line)[-1].endswith(said)


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("only one element tensors can be converted to Python scalars", "float(x)"),
        ("name 'y' is not defined", "return y"),
    ],
)
def test_what_a_line_does_not_show_is_not_guessed(message, line):
    """The message alone has other causes."""
    assert hints("NameError", message, line) == []


REFUSED = (
    "This line of yours refuses the call, which should work: what is compared in it or before it, and "
    "which values does that have here?"
)


def test_a_refusal_of_a_call_of_ones_own_leads_to_that_call() -> None:
    """The line that refuses may be right, and what it is called with wrong."""
    line = CodeLine("heads.py", None, 4, 'raise ValueError("too long")')
    called = CodeLine("block.py", None, 9, "self.heads = Heads(3, 7)")
    failure = Failure("exception", "ValueError", location=line, own=True, called=called)
    assert exception_hints(failure, "Block") == [
        "Code of yours refuses what other code of yours calls it with: are these the right values, in "
        "the right order, and is what is compared right?"
    ]


BY_ZERO = (
    "The number that is divided by is 0 here: where does it come from, and is each argument of the call "
    "in its place?"
)

SIZES = (
    "The sizes asked for here hold 60 numbers together, and the tensor has 240. Which of these sizes "
    "is another one than you expect?"
)


@pytest.mark.parametrize(
    ("type_", "message", "line", "told"),
    [
        ("ValueError", "too long", 'raise ValueError("too long")', [REFUSED]),
        ("AssertionError", "", "assert d_out % num_heads == 0", [REFUSED]),
        ("ZeroDivisionError", "float modulo", "assert d_out % num_heads == 0", [BY_ZERO]),
        ("ValueError", "too long", 'if n > 4: raise ValueError("too long")', [REFUSED]),
        ("ValueError", "too many values to unpack (expected 2)", "a, raised = x.shape", []),
        (
            "RuntimeError",
            "shape '[2, 5, 3, 2]' is invalid for input of size 240",
            "x = x.view(b, n, self.num_heads, self.head_dim)",
            [SIZES],
        ),
    ],
)
def test_sizes_and_refusals_lead_to_what_they_depend_on(
    type_: str, message: str, line: str, told: list[str]
) -> None:
    """A `raise` of the student's own, and a shape that a tensor cannot take on."""
    assert hints(type_, message, line) == told


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


LINED_UP = (
    "The sizes of two tensors are lined up from the last axis, and have to be equal there, or 1."
)
LOST = "A sum, a mean or a maximum loses its axis unless it is told `keepdim=True`."
PRODUCT = "A matrix product takes the last two axes for matrices. The axes before them are lined up, and have to be equal, or 1."
TAKEN_ON = "A tensor is spread to another shape here: lined up from the last axis, each of its sizes has to be the one asked for, or 1."


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
    message = (
        "The size of tensor a (5) must match the size of tensor b (2) at non-singleton dimension 0"
    )
    failure = Failure(
        "exception", "RuntimeError", message=message, location=CodeLine("heads.py", None, 7, line),
        set_at=CodeLine("heads.py", None, 6, set_at) if set_at else None,
    )  # fmt: skip
    assert exception_hints(failure, "Heads") == told


def test_a_shape_that_a_tensor_cannot_be_spread_to_is_explained():
    """There are not two tensors that are lined up."""
    message = "The expanded size of the tensor (6) must match the existing size (1) at non-singleton dimension 0"
    assert hints("RuntimeError", message, "rows.expand(6, 2)") == [TAKEN_ON]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("return padding and causal", "`and` does not work element by element: `&` does."),
        ("return not mask", "`not` does not work element by element: `~` does."),
        ("return x if mask or hidden else y", "A whole tensor is used as true or false here."),
        ("self.dropout(w)", "A whole tensor is used as true or false here."),
    ],
)
def test_pythons_words_between_tensors_are_told_from_a_condition(line, told):
    """What is written for them works element by element."""
    message = "Boolean value of Tensor with more than one value is ambiguous"
    (said,) = hints("RuntimeError", message, line)
    assert said.startswith(told)
