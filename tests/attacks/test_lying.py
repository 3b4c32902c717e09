"""Attacks by values that lie about what they are: what travels is judged, nothing else."""

import pytest


@pytest.fixture
def launcher(without_namespaces):
    """What travels does not depend on namespaces."""
    return without_namespaces


NOT_DOUBLED = (5.6, {"double": "passed failed failed"}, "wrong")
NO_SHAPE = (5, {"double": "failed blocked blocked"}, "wrong")

RIGHT_SHAPE = {
    "not a number": "torch.full_like(x, float('nan'))",
    "infinities": "torch.full_like(x, float('inf'))",
    "the argument": "x",
    "zeros": "torch.zeros_like(x)",
    "one that is expanded": "torch.zeros(1, 1).expand(x.shape)",
    "negative strides": "torch.flip(x + x, (0, 1))",
    "a conjugate view": "torch.conj(torch.complex(x, x)).imag",
    "a right one with a single wrong value": "torch.cat([(x + x).flatten()[:-1], x.new_ones(1)]).reshape(x.shape)",
    "a right one that is off by little": "x + x + 2e-5",
    "a subclass that equals everything": "x.as_subclass(Equal)",
    "a parameter": "nn.Parameter(x)",
}

OTHER = {
    "an empty tensor": "x[:0]",
    "an empty tensor of the right width": "torch.empty(0, 4)",
    "a shape that can be broadcast": "(x + x)[:1]",
    "a single value": "(x + x).sum()",
    "no axes": "torch.tensor(0.0)",
    "one axis too many": "(x + x)[None]",
    "the axes swapped": "(x + x).T",
    "float64": "(x + x).double()",
    "float16": "(x + x).half()",
    "bfloat16": "(x + x).bfloat16()",
    "complex numbers": "(x + x).to(torch.complex64)",
    "whole numbers": "(x + x).long()",
    "truths": "torch.ones_like(x, dtype=torch.bool)",
    "a sparse tensor": "(x + x).to_sparse()",
    "a tensor without memory": "(x + x).to('meta')",
    "a quantized tensor": "torch.quantize_per_tensor(x + x, 0.1, 0, torch.qint8)",
    "an array": "(x + x).numpy()",
    "an array of objects": "__import__('numpy').array([None])",
    "a huge set": "set(range(10**6))",
    "huge bytes": "bytes(100 * 2**20)",
    "a list of rows": "(x + x).tolist()",
    "a list of tensors": "list(x + x)",
    "nothing": "None",
    "true": "True",
    "a text": "'2 * x'",
    "a huge number": "10 ** 5000",
    "an object that equals everything": "Everything()",
    "a class": "Everything",
    "a module": "torch",
    "a function": "double",
    "a generator": "(row for row in x + x)",
    "a mapping without end": "Endless()",
    "a list that lies about its length": "Lying(x)",
    "a list that holds itself": "itself()",
    "a list a thousand deep": "deep(1000)",
    "a number that lies": "Number(7)",
    "an array of text": "__import__('numpy').array(['2 * x'])",
    "a moment that is none": "__import__('numpy').datetime64('NaT')",
    "a frame": "__import__('pandas').DataFrame((x + x).numpy())",
    "a frame that equals everything": "frame(__import__('pandas').DataFrame)",
    "an endless generator": "iter(int, 1)",
    "an instance that calls itself a tensor": "type('Tensor', (), {'__module__': 'torch'})()",
}

LIARS = """
class Equal(torch.Tensor):
    shape = property(lambda self: torch.Size([2, 4]))

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), options=None):
        if "eq" in str(function) or "close" in str(function):
            return True
        with torch._C.DisableTorchFunctionSubclass():
            return function(*arguments, **(options or {}))

    def __eq__(self, other):
        return True

    __hash__ = torch.Tensor.__hash__


class Everything:
    shape, dtype, ndim, __hash__ = (2, 4), torch.float32, 2, object.__hash__

    def __eq__(self, other):
        return True

    def __getattr__(self, name):
        return self

    def __call__(self, *_, **__):
        return self

    __class__ = torch.Tensor


class Endless(__import__("collections").abc.Mapping):
    __len__ = lambda self: 1
    __getitem__ = lambda self, key: 1
    __iter__ = lambda self: iter(int, 1)
    items = lambda self: zip(iter(int, 1), iter(int, 1))


class Lying(list):
    __len__ = lambda self: 2**62
    __iter__ = lambda self: iter(int, 1)
    __eq__ = lambda self, other: True


class Number(float):
    __float__ = lambda self: 0.0
    __eq__ = lambda self, other: True
    __sub__ = __rsub__ = lambda self, other: 0.0
    __repr__ = lambda self: "2 * x"


def itself():
    made = []
    made.append(made)
    return made


def frame(base):
    members = {"__eq__": lambda self, other: True, "__len__": lambda self: 2**62}
    return type("Tensor", (base,), {**members, "__hash__": None})({"x": [1]})


def deep(depth):
    made = None
    for _ in range(depth):
        made = [made]
    return made
"""


def lie(value):
    """An answer of `double` in place of the right one."""
    return f"{LIARS}\n\ndef double(x):\n    return {value}\n"


@pytest.mark.parametrize("value", RIGHT_SHAPE.values(), ids=RIGHT_SHAPE.keys())
def test_wrong_values_of_the_right_shape_are_wrong(attack, value):
    """Whatever they say about themselves."""
    assert attack(lie(value)) == NOT_DOUBLED


@pytest.mark.parametrize("value", OTHER.values(), ids=OTHER.keys())
def test_what_is_no_tensor_of_the_right_kind_is_refused(attack, value):
    """Whatever it says about itself."""
    assert attack(lie(value)) == NO_SHAPE


@pytest.mark.parametrize(
    "value",
    [
        "torch.nan * x.sum()",
        "Number(0)",
        "Everything()",
        "True",
        "str(x.sum().item())",
        "x.sum() * torch.ones(2)",
        "torch.complex(x.sum(), x.sum())",
        "[x.sum().item()]",
        "10 ** 1000",
        "float('inf')",
    ],
)
def test_what_is_not_the_right_number_is_wrong(attack, value):
    """Where a number is expected."""
    verdict = attack(f"{LIARS}\n\ndef total(x):\n    return {value}\n")
    assert verdict == (6, {"total": "failed blocked"}, "wrong")


@pytest.mark.parametrize(
    "class_",
    [
        "class Layer(nn.Module):\n    def __init__(self, *_):\n        pass\n",
        "class Layer:\n    def __new__(cls, *_):\n        return 7\n",
        "class Layer(nn.Linear):\n    named_parameters = lambda self, **_: iter([])\n",
        "class Layer(nn.Linear):\n    __class__ = nn.Linear\n    __dict__ = {}\n",
    ],
)
def test_a_layer_that_is_none_is_none(attack, class_):
    """It has no weight of the right name, or is not even an instance."""
    score, lost, _ = attack(class_)
    assert (score, list(lost)) == (5, ["Layer"])


def test_a_layer_that_pretends_to_be_loaded_is_found_out(attack):
    """The values that come out are those of other parameters."""
    verdict = attack(
        """
        patch("torch_later", "module_state.load", lambda *_: {"report": {}, "not_given": []})
        """
    )
    assert verdict == (7.4, {"Layer": "passed failed passed"}, "wrong")
