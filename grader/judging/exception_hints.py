"""What an exception of the student's may mean, and what to do about it. Pure."""

from __future__ import annotations

import ast
import math
import re
import unicodedata
from collections.abc import Iterator

from grader.core.language import N_, _, paragraph
from grader.core.text import clean, location_words
from grader.sandbox.failures import REDUCTION, CodeLine, stub_exercise
from grader.sandbox.torch_later import has_torch, torch
from grader.testing.replies import Failure

SPELLING = N_("Is `__init__` spelt exactly so, with two underscores on each side?")

NO_MASK = N_(
    "`self.mask` may be None here. Is it set to what `register_buffer` returns? That sets the "
    "attribute by itself, and returns None."
)

RAISED = re.compile(r"(?:^|:\s*)(raise|assert)\b")
"""How code refuses a call by itself."""

NAME = r"((?:\w+\.)*\w+)"
"""A name, or an attribute of one, as it stands in a line."""

IMPORT_ERRORS = ("ModuleNotFoundError", "ImportError")

HINTS = (
    ("", "CUDA|NVIDIA", N_("The checks run on the CPU.")),
    (
        "NotImplementedError",
        r"Module \[Module(List|Dict)\]",
        N_("A list of layers cannot be called: call each of the layers in it."),
    ),
    (
        "NotImplementedError",
        "forward",
        N_("Its `forward` was not found. Is the method's name spelt exactly `forward`?"),
    ),
    (
        "",
        "cannot assign .*before Module.__init__",
        N_("`super().__init__()` has to come first in `__init__`."),
    ),
    ("TypeError", r"^Module\.__init__\(\) got an unexpected", SPELLING),
    (
        "RuntimeError",
        "a (view of a )?leaf Variable that requires grad",
        N_(
            "This line changes in place a tensor that gradients are computed for. Make a new tensor "
            "instead; the values of a parameter are set inside `with torch.no_grad():`."
        ),
    ),
    (
        "RuntimeError",
        "needed for gradient computation has been modified by an inplace operation",
        N_(
            "A tensor was changed in place after something was computed from it, so that no "
            "gradient can flow back. Make a new tensor instead of changing that one."
        ),
    ),
    (
        "",
        r"'NoneType'|not NoneType",
        N_(
            "A value in this line is None. Does every function that it comes from end in a "
            "`return`?"
        ),
    ),
    (
        "",
        r"'tuple'|not tuple|got tuple|torch\.return_types",
        N_("A value in this line is a tuple of several values. Which of them is needed here?"),
    ),
    (
        "RuntimeError",
        "Boolean value of Tensor",
        N_(
            "A whole tensor is used as true or false here. Is it in an `if`, or is a layer's class "
            "called in place of the layer?"
        ),
    ),
    (
        "TypeError",
        "is not a Module subclass",
        N_("Layers are expected here that have been made. Is `(…)` missing after a class's name?"),
    ),
    (
        "RecursionError",
        "",
        N_("A function calls itself again and again. Is it meant to call another one?"),
    ),
    (
        "EOFError",
        "",
        N_("Nobody is there to answer `input()`: all values come as arguments."),
    ),
)
"""The exception's type, "" for any; what is found in its message; what is said of it."""

LINE_HINTS = (
    (
        r"must match the existing size",
        "",
        N_(
            "A tensor is spread to another shape here: lined up from the last axis, each of its sizes has "
            "to be the one asked for, or 1."
        ),
    ),
    (r"bitwise_xor|for \^=?:", r"\^", N_("`^` is no power in Python: that is `**`.")),
    (
        r"only one element tensors|Tensor with \d+ elements cannot be converted|only length-1 arrays",
        r"\bmath\.\w+\(",
        N_("A function of `math` takes a single number: torch has one of that name for tensors."),
    ),
    (
        r"^index out of range in self",
        "",
        N_(
            "An `nn.Embedding` is asked for a row that it does not have: with n rows, their numbers are 0 "
            "to n - 1. Which numbers come in here?"
        ),
    ),
    (
        r"^zip\(\) argument \d+ is (shorter|longer)",
        "",
        N_("`zip` goes through several things here that are not equally long: how long is each?"),
    ),
    (
        r"Can't call numpy\(\) on Tensor|received an invalid combination of arguments",
        r"\bnp\.\w+\(",
        N_(
            "A function of NumPy gets a tensor here, and passes no gradients on: torch has functions of "
            "its own, which take `dim` and `keepdim`."
        ),
    ),
    (
        r"^float modulo|modulo by zero|division by zero",
        "",
        N_(
            "The number that is divided by is 0 here: where does it come from, and is each argument of the "
            "call in its place?"
        ),
    ),
    (
        r"floor_divide",
        "//",
        N_("`//` rounds down to a whole number, and no gradient flows through it: `/` divides."),
    ),
    (
        r"'indices' to have one of the following scalar types: Long, Int",
        "",
        N_(
            "Whole numbers, such as positions, are needed here, and other numbers come. `argmax` gives the "
            "position of the largest value; `max` along an axis gives values first, then positions."
        ),
    ),
    (r"^name '(\w+)' is not defined", r"\w+ *==", N_("`==` compares: what sets a name is `=`.")),
    (
        r"got \(.*\bfloat\b|'float' object cannot be interpreted",
        "",
        N_(
            "A whole number is needed here, and a float is given: does it come from `/`, where `//` "
            "gives a whole number?"
        ),
    ),
    (
        r"same dtype, but got: (\w+ )?(bool|int|long)",
        "",
        N_(
            "Truth values or whole numbers stand here in place of features: are all arguments in their "
            "place?"
        ),
    ),
    (
        r"__init__\(\) takes 1 positional argument",
        r"\bsuper\([^)]*\)\.__init__\(",
        N_(
            "What this class builds on is made without arguments, as `nn.Module` is: "
            "`super().__init__()`."
        ),
    ),
)
"""What is found in an exception's message and in its line; what is said of it."""

MEANT_SIGNS = {
    **dict.fromkeys("×·∗⋅", "*"),
    **dict.fromkeys("−–—", "-"),
    **dict.fromkeys("“”„«»", '"'),
    **dict.fromkeys("‘’", "'"),
    **dict(zip("、。【】「」", ",.[][]", strict=True)),
    "÷": "/",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
}
"""What Python has for signs that it does not know."""

LOGICAL = {ast.And: ("and", "&"), ast.Or: ("or", "|"), ast.Not: ("not", "~")}
"""Python's words for truth values, and its signs for tensors of them."""

WITH_OPERATOR = (ast.BinOp, ast.AugAssign)

PRODUCT = re.compile(r"\b(matmul|bmm|einsum)\(")
"""Products of matrices that are functions."""


SYNTAX_HINTS = (
    (
        r"",
        r"<{7} |={7}$|>{7} ",
        N_(
            "This is a mark of Git's: it has left two versions of these lines. Keep one of them, and "
            "remove the lines that begin with `<<<<<<<`, `=======` and `>>>>>>>`."
        ),
    ),
    (
        r"invalid non-printable character",
        r"",
        N_(
            "A character here looks like a space, or like nothing, and is neither: delete it, and type "
            "a space where one is needed."
        ),
    ),
    (
        r"",
        r"\{\\rtf|<!DOCTYPE|<html",
        N_("This is no plain text: save the file as plain text, not as a formatted one."),
    ),
    (
        r"invalid character",
        r"",
        N_(
            "Python does not know this character. Does it come from a word processor, a web page or an "
            "input method? Type it anew."
        ),
    ),
    (r"'return' outside function$", r"", N_("Is your code indented below `def`?")),
)
"""How the message begins, and the line, "" for any; what is said of a file that does not run."""


def syntax_hints(failure: Failure) -> list[str]:
    """What is said below a line that keeps a file from running."""
    found = re.match(r"invalid (?:non-printable )?character .*U\+([0-9A-F]+)", failure.message)
    sign = chr(int(found[1], 16)) if found else ""
    if words := _wide_hint(sign):
        return [words]
    if sign in MEANT_SIGNS:
        words = _("Python does not know the sign {sign}: write `{meant}`.")
        return [words.format(sign=sign, meant=MEANT_SIGNS[sign])]
    return [
        _(hint)
        for message, text, hint in SYNTAX_HINTS
        if re.match(message, failure.message) and re.match(text, failure.text)
    ]


def _wide_hint(sign: str) -> str:
    """For a full-width character, as input methods of Chinese and Japanese type it; "" for any other."""
    if not sign or unicodedata.east_asian_width(sign) not in "FW":
        return ""
    meant = MEANT_SIGNS.get(sign) or unicodedata.normalize("NFKC", sign)
    if meant == " ":
        return _(
            "There is a full-width space here, as an input method types it: switch the input method off, "
            "and type an ordinary space in its place."
        )
    if not meant.isascii():
        return _(
            "`{sign}` is a full-width character, as an input method types it: switch the input method "
            "off, and type what Python has for it."
        ).format(sign=sign)
    words = _(
        "`{sign}` is a full-width character, as an input method types it: switch the input method "
        "off, and type `{meant}` in its place."
    )
    return words.format(sign=sign, meant=meant)


def exception_hints(failure: Failure, name: str) -> list[str]:
    """What is said below an exception that beginners meet.

    Args:
        failure: the exception.
        name: the exercise's short name.
    """
    if failure.type == "NotImplementedError" and stub_exercise(failure.message):
        return [_("The stub's `raise` still stands above your code: remove it.")]
    if failure.type == "NotImplementedError" and failure.wrote == "forward":
        return [_misplaced(failure)]
    if failure.type in IMPORT_ERRORS:
        return [_not_imported(failure)]
    if failure.wrote and failure.wrote == failure.meant:
        return [_tuple_of_one(failure)]
    if found := _layer_hint(failure) or (failure.meant and proposal(failure)):
        return [found]
    if found := _bracket_hint(failure):
        return [found]
    if "'NoneType'" in failure.message and re.search(r"\bself\.mask\b", failure.text):
        return [_(NO_MASK)]
    if found := _own_raise(failure) or _sizes_of_view(failure) or _truth_hint(failure):
        return [found]
    if re.search(r"must match the size of tensor b", failure.message):
        return list(_sizes_hints(failure))
    for pattern, text, hint in LINE_HINTS:
        if re.search(pattern, failure.message) and re.search(text, failure.text):
            return [_(hint)]
    for type_, pattern, hint in HINTS:
        if type_ in ("", failure.type) and re.search(pattern, failure.message):
            return [_(hint)]
    return list(_signature_hints(failure, name))


def _own_raise(failure: Failure) -> str:
    """For a `raise` of the student's that a check should not lead to; "" for anything else."""
    is_refusal = failure.own and failure.type != "SystemExit"
    refused = RAISED.search(failure.text.strip())
    if not is_refusal or refused is None:
        return ""
    if refused[1] == "assert" and failure.type != "AssertionError":
        return ""
    if failure.called is not None:
        return _(
            "Code of yours refuses what other code of yours calls it with: are these the right values, "
            "in the right order, and is what is compared right?"
        )
    return _(
        "This line of yours refuses the call, which should work: what is compared in it or before "
        "it, and which values does that have here?"
    )


def _sizes_of_view(failure: Failure) -> str:
    """For sizes that a tensor cannot take on; "" for anything else."""
    found = re.search(r"shape '\[([\d, ]+)\]' is invalid for input of size (\d+)", failure.message)
    if found is None:
        return ""
    sizes, count = [int(size) for size in found[1].split(",")], int(found[2])
    words = _(
        "The sizes asked for here hold {wanted} numbers together, and the tensor has {count}. Which of "
        "these sizes is another one than you expect?"
    )
    return words.format(wanted=math.prod(sizes), count=count)


def _truth_hint(failure: Failure) -> str:
    """For `and`, `or` and `not` between tensors; "" for anything else, and for a condition."""
    if "Boolean value of Tensor" not in failure.message:
        return ""
    nodes = _nodes(failure.text)
    kinds = [type(node.op) for node in nodes if isinstance(node, ast.BoolOp | ast.UnaryOp)]
    signs = [LOGICAL[kind] for kind in kinds if kind in LOGICAL]
    if not signs or any(isinstance(node, ast.IfExp | ast.Compare | ast.Assert) for node in nodes):
        return ""
    words = _("`{word}` does not work element by element: `{sign}` does.")
    return words.format(word=signs[0][0], sign=signs[0][1])


def _sizes_hints(failure: Failure) -> Iterator[str]:
    """For two tensors whose sizes do not go together: the rule of what is between them."""
    nodes = _nodes(failure.text)
    operators = {isinstance(n.op, ast.MatMult) for n in nodes if isinstance(n, WITH_OPERATOR)}
    if operators == {True} or PRODUCT.search(failure.text):
        if operators <= {True}:
            yield _(
                "A matrix product takes the last two axes for matrices. The axes before them are lined up, "
                "and have to be equal, or 1."
            )
        return
    if True in operators:
        return
    yield _(
        "The sizes of two tensors are lined up from the last axis, and have to be equal there, or 1."
    )
    kept = [line for line in (failure.text, failure.set_at and failure.set_at.text) if line]
    if any(REDUCTION.search(line) and "keepdim" not in line for line in kept):
        yield _("A sum, a mean or a maximum loses its axis unless it is told `keepdim=True`.")


def _nodes(line: str) -> list[ast.AST]:
    """The parts of a line of code; none where it is not a whole statement."""
    try:
        return [*ast.walk(ast.parse(line.strip()))]
    except SyntaxError:
        return []


def place_words(line: CodeLine | None, file: str = "") -> str:
    """Where a line is, in words; the file alone where no line is known.

    Args:
        line: the line.
        file: its path as it was handed in; by default the one that the line says.
    """
    file = clean(file or (line.file if line else ""), 120)
    return location_words(file, line.cell, line.line) if line else file


def proposal(failure: Failure) -> str:
    """What may have been meant by a name that is not known."""
    if failure.meant.startswith(("import ", "from ")):
        return _("Is `{statement}` missing?").format(statement=failure.meant)
    wrote, meant = clean(failure.wrote, 80), clean(failure.meant, 120)
    if failure.set_at is None or failure.in_text == meant:
        question = _("Did you mean {name} when you wrote {similar}?")
        return question.format(name=meant, similar=wrote)
    sentence = _("`{wrote}` is used here, but what is set is `{meant}` ({place}).")
    if wrote == meant:
        sentence = _("`{wrote}` is used here, above the line that defines it ({place}).")
    if failure.in_text:
        sentence = _(
            "`{wrote}` is used here, as the exercise calls it; what is set is `{meant}` ({place})."
        )
    return sentence.format(wrote=wrote, meant=meant, place=place_words(failure.set_at))


def _misplaced(failure: Failure) -> str:
    """Where the `forward` stands that a module lacks."""
    sentence = _(
        "`def forward` stands inside `{method}` ({place}): indent it as far as `def {method}`."
    )
    if failure.meant == "module":
        sentence = _(
            "`def forward` stands outside of its class ({place}): indent it as far as the class's "
            "other methods."
        )
    return sentence.format(method=clean(failure.meant, 80), place=place_words(failure.set_at))


def _not_imported(failure: Failure) -> str:
    """Which import failed, and what there is to do about it."""
    found = re.match(r"No module named '([\w.]+)'", failure.message)
    module = clean(found[1], 80) if found else ""
    advice = _("Do without it, or leave out what needs it.")
    if module:
        sentence = _(
            "{module} is not installed where this is graded, and no {file} was handed in beside "
            "this file."
        )
        advice = sentence.format(module=module, file=f"{module.replace('.', '/')}.py")
    if failure.set_at is None:
        return advice
    used = _("`{name}` is used here, and its import failed ({place}).")
    used = used.format(name=clean(failure.wrote, 80), place=place_words(failure.set_at))
    return paragraph((used, advice))


def _tuple_of_one(failure: Failure) -> str:
    """Which value is a tuple of one, and where the comma is that makes it one."""
    sentence = _(
        "`{name}` is a tuple of one value. Is there a comma at the end of the line that sets it, or "
        "of a `return`?"
    )
    if failure.set_at is not None:
        sentence = _(
            "`{name}` is a tuple of one value: there is a comma at the end of the line that sets it "
            "({place})."
        )
    return sentence.format(name=clean(failure.wrote, 80), place=place_words(failure.set_at))


def _is_layer(name: str) -> bool:
    """Whether a class of torch's makes layers; a list of layers cannot be called."""
    kind = getattr(torch.nn, name, None)
    if not isinstance(kind, type) or not issubclass(kind, torch.nn.Module):
        return False
    return kind.forward is not torch.nn.Module.forward


def _layer_hint(failure: Failure) -> str:
    """For a layer that is used as if it were a tensor; "" for anything else."""
    if not has_torch():
        return ""
    kind, place = "", ""
    if found := re.search(r"'(\w+)' object has no attribute '(\w+)'", failure.message):
        is_tensors = hasattr(torch.Tensor, found[2])
        kind, place = found[1] if is_tensors else "", rf"{NAME}\.{found[2]}\b"
    elif found := re.search(
        r"operand type\(s\) for (\S+?)=?: '(\w+)' and '(\w+)'", failure.message
    ):
        sign = re.escape(found[1])
        kind, place = found[2], rf"{NAME}\s*{sign}"
        if not _is_layer(kind):
            kind, place = found[3], rf"{sign}=?\s*{NAME}(?![\w(.\[])"
    elif found := re.search(r"(?:not|but got) (\w+)$", failure.message):
        kind, place = found[1], ""
    if not _is_layer(kind):
        return ""
    names = re.findall(place, failure.text) if place else []
    if len(set(names)) != 1:
        return _("A layer ({kind}) is not a tensor: call it with one.").format(kind=f"nn.{kind}")
    words = _("`{layer}` is a layer, not a tensor: call it, `{layer}(x)`.")
    if kind == "Linear":
        words = _(
            "`{layer}` is a layer, not a tensor: call it, `{layer}(x)`, or take its matrix, "
            "`{layer}.weight`."
        )
    return words.format(layer=clean(names[0], 80))


def _bracket_hint(failure: Failure) -> str:
    """For a method without `()`, or what is none with `()`; "" for anything else."""
    text = failure.text
    if re.search(r"\b(builtin_function_or_method|method_descriptor)\b|'method'", failure.message):
        names = [
            name
            for name in re.findall(r"\.(\w+)\b(?!\s*[(.])", text)
            if has_torch() and callable(getattr(torch.Tensor, name, None))
        ]
        if len(set(names)) != 1:
            return _("A method is named here and not called: `()` is missing after its name.")
        return _("`{name}` is a method: call it, `{name}()`.").format(name=names[0])
    called = re.findall(r"\.(T|mT|shape|dtype|data|grad)\(", text)
    if failure.message.endswith("object is not callable") and len(set(called)) == 1:
        return _("`.{name}` is written without `()`.").format(name=called[0])
    return ""


def _signature_hints(failure: Failure, name: str) -> Iterator[str]:
    """Questions on what is called with other arguments than it takes, or was never set."""
    message, text = failure.message, failure.text
    is_its_own = re.match(rf"{re.escape(name)}(\.\w+)?\(\)", message)
    lacks = re.search(r"'(\w+)' object has no attribute '(\w+)'", message)
    if lacks and (lacks[1] == name or f"self.{lacks[2]}" in text):
        words = _(
            "Is `self.{name}` set in `__init__`, before it is used, and `__init__` spelt exactly so?"
        )
        yield words.format(name=clean(lacks[2], 80))
    if re.search(r"\bkeep_dims\b", text):
        yield _("torch calls this argument `keepdim`.")
    if failure.type != "TypeError" or failure.own or not is_its_own or "argument" not in message:
        return
    count = re.search(r"\.\w+\(\) takes (\d+) positional arguments? but (\d+)", message)
    words = _("Are the parameters of {name} the same as in the stub?")
    if count and int(count[2]) == int(count[1]) + 1:
        words = _("Are the parameters of {name} the same as in the stub, with `self` first?")
    yield words.format(name=name)
    is_inits = "__init__() takes 1 positional" in message or "__init__() got an" in message
    if "takes no arguments" in message or is_inits:
        yield _(SPELLING)
