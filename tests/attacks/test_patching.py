"""Attacks that change torch, pytest or the servant: no verdict is given where they can reach."""

import textwrap

import pytest


@pytest.fixture
def launcher(without_namespaces):
    """What travels does not depend on namespaces."""
    return without_namespaces


NOT_DOUBLED = (5.6, {"double": "passed failed failed"}, "wrong")

CHANGES = {
    "every comparison of torch": """
        torch.allclose = torch.equal = torch.isclose = lambda *_, **__: True
        torch.Tensor.allclose = torch.Tensor.equal = lambda *_, **__: True
        torch.testing.assert_close = lambda *_, **__: None
    """,
    "every comparison of tensors": """
        for name in ("__eq__", "__ne__", "__le__", "__lt__", "__ge__", "__gt__"):
            setattr(torch.Tensor, name, lambda self, _: torch.ones(self.shape).bool())
    """,
    "pytest": """
        import pytest, _pytest.outcomes, _pytest.runner
        pytest.main = lambda *_, **__: 0
        pytest.fail.Exception.__init__ = lambda *_, **__: None
        _pytest.runner.call_and_report = lambda *_, **__: None
    """,
    "json": """
        import json
        decode = json.loads
        json.loads = lambda *a, **k: decode(*a, **k)
        json.JSONEncoder.default = lambda self, value: "passed"
    """,
    "math": """
        import math
        math.isclose = math.isnan = lambda *_, **__: True
    """,
    "what the servant writes down of failures": """
        patch("servant", "is_changed", lambda *_: False)
        patch("servant", "describe_failure", lambda *_: None)
        patch("loader", "describe_failure", lambda *_: None)
        patch("failures", "Failure.header", lambda self: {"kind": "passed"})
    """,
    "exceptions": """
        import sys
        sys.excepthook = sys.unraisablehook = lambda *_: os._exit(0)
        AssertionError.__module__
    """,
    "modules of the grader that are not there": """
        import types
        for name in JUDGING:
            if name in sys.modules:
                os._exit(PATCH_FAILED)
            fake = sys.modules[name] = types.ModuleType(name)
            fake.compare = fake.grade = fake.exercise_score = lambda *_, **__: None
    """,
    "what runs at the end": """
        import atexit, gc, weakref
        atexit.register(lambda: os.write(connection(), b"passed"))
        gc.callbacks.append(lambda *_: None)
    """,
    "hooks of the interpreter": """
        import sys, threading
        sys.settrace(lambda *_: None)
        sys.setprofile(lambda *_: None)
        threading.settrace(lambda *_: None)
        sys.addaudithook(lambda *_: None)
        sys.meta_path.insert(0, None.__class__)
        sys.setswitchinterval(10)
    """,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_wrong_answer_stays_wrong_whatever_is_changed(attack, change):
    """The values are judged in another process."""
    assert attack(f"def double(x):\n    return x\n\n{textwrap.dedent(change)}") == NOT_DOUBLED


def test_a_servant_that_calls_everything_right_is_not_believed(attack):
    """It answers True to every request."""
    verdict = attack(
        """
        forged = ours("wire").Frame({"value": True, "changed": []})
        patch("servant", "Servant.reply", lambda *_: forged)
        """
    )
    lost = {"double": "failed blocked blocked", "total": "failed blocked"}
    assert verdict == (0, {**lost, "Layer": "failed blocked blocked"}, "wrong")


def test_a_servant_with_other_frames_is_not_understood(attack):
    """Lengths in another byte order."""
    verdict = attack(
        """
        import struct


        def double(x):
            patch("wire", "PREFIX", struct.Struct("<II"))
            return x + x
        """
    )
    assert verdict == (5, {"double": "crashed blocked blocked"}, "malformed")


def test_a_packer_that_tells_other_types_is_not_believed(attack):
    """A float64 tensor that calls itself float32 has too many bytes."""
    verdict = attack(
        """
        def double(x):
            names = ours("tensors").DTYPE_NAMES
            patch("tensors", "DTYPE_NAMES", {**names, torch.float64: "float32"})
            return (x + x).double()
        """
    )
    assert verdict == (5, {"double": "crashed blocked blocked"}, "malformed")


def test_builtins_that_lie_cost_the_exercise(attack):
    """The servant lives in the same process, and is misled itself."""
    verdict = attack(
        """
        def double(x):
            import builtins
            builtins.isinstance = lambda *_: True
            return x
        """
    )
    assert verdict == (5, {"double": "crashed blocked blocked"}, "exit status 1")


REPLACED = {
    "detach": (0, "failed blocked blocked", "raised AttributeError"),
    "contiguous": (2, "failed blocked blocked", "raised AttributeError"),
    "numel": (2, "crashed blocked blocked", "malformed"),
    "element_size": (2, "crashed blocked blocked", "malformed"),
    "data_ptr": (5, "passed failed failed", "wrong"),
}


@pytest.mark.parametrize("name", REPLACED)
def test_a_tensor_whose_methods_were_replaced_gains_nothing(attack, name):
    """What the servant calls to pack a tensor; it is missed by whatever comes later, too."""
    score, lost, reason = attack(
        f"""
        def double(x):
            torch.Tensor.{name} = lambda self, *_: 0
            return x
        """
    )
    assert (score, lost["double"], reason) == REPLACED[name]


def test_values_without_bytes_are_wrong_and_not_the_graders_fault(attack):
    """A tensor that is described and does not travel has no values to judge."""
    verdict = attack(
        """
        def double(x):
            def describe(self, tensor):
                return {"shape": ["float32", list(tensor.shape), False, False]}

            patch("wire", "Packer._tensor", describe)
            return x
        """
    )
    score, lost, _ = verdict
    assert (score is not None, list(lost)) == (True, ["double", "Layer"])


def test_gradients_that_are_left_out_are_wrong_and_not_the_graders_fault(attack):
    """The servant was asked for them."""
    score, lost, _ = attack(
        """
        patch("torch_later", "module_state.gradients", lambda *_: None)
        """
    )
    assert (score, list(lost)) == (5.6, ["Layer"])
