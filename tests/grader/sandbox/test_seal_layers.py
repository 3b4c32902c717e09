"""Tests of the seal's layers: Landlock's rights, and the probe that tries what holds."""

import os
import re
import struct
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from grader.judging import seal_probe
from grader.sandbox import seal
from grader.sessions.launchers import Seal, WarmParent

# Landlock.


@dataclass(slots=True)
class FakeKernel:
    """Takes Landlock's system calls of some version and writes down what it is told."""

    version: int
    refuses: int = 0
    rulesets: list[tuple[int, ...]] = field(default_factory=list)
    rules: list[tuple[int, str]] = field(default_factory=list)
    is_on: bool = False

    def syscall(self, number: int, *arguments: Any) -> int:
        """One call."""
        if number == self.refuses:
            return -1
        if number == seal.LANDLOCK_CREATE_RULESET:
            attributes, size, flags = arguments
            if flags == seal.LANDLOCK_VERSION_FLAG:
                return self.version
            self.rulesets.append(struct.unpack(f"{size // 8}Q", attributes[:size]))
            return os.open(os.devnull, os.O_RDONLY)
        if number == seal.LANDLOCK_ADD_RULE:
            access, descriptor = struct.unpack("=Qi", arguments[2])
            self.rules.append((access, str(Path(f"/proc/self/fd/{descriptor}").readlink())))
        else:
            self.is_on = True
        return 0


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeKernel]:
    """Makes a kernel of some version and puts it in the place of this one."""

    def make(version: int, refuses: int = 0) -> FakeKernel:
        made = FakeKernel(version, refuses)
        monkeypatch.setattr(seal, "LIBC", made)
        return made

    return make


TOLD = {
    1: (0x1FFF,),
    2: (0x3FFF,),
    3: (0x7FFF,),
    4: (0x7FFF, 3),
    5: (0xFFFF, 3),
    6: (0xFFFF, 3, 3),
    99: (0xFFFF, 3, 3),
}


@pytest.mark.parametrize(("version", "told"), TOLD.items())
def test_landlock_is_asked_for_all_that_a_kernel_knows(
    kernel: Callable[..., FakeKernel], version: int, told: tuple[int, ...]
) -> None:
    """Files always, TCP from version 4, signals and abstract sockets from version 6."""
    asked = kernel(version)
    seal.restrict_files([], [])
    assert (asked.rulesets, asked.is_on) == ([told], True)


def test_what_may_be_read_may_only_be_read(
    kernel: Callable[..., FakeKernel], tmp_path: Path
) -> None:
    """Nothing is run or written there; a file has no right that only folders have."""
    asked = kernel(6)
    file = tmp_path / "file"
    file.touch()
    seal.restrict_files([str(tmp_path), str(file), str(tmp_path / "missing")], [])
    folder = (seal.READ_FILE | seal.READ_DIR, str(tmp_path))
    assert asked.rules == [folder, (seal.READ_FILE, str(file))]


def test_where_may_be_written_nothing_is_run_and_no_device_made(
    kernel: Callable[..., FakeKernel], tmp_path: Path
) -> None:
    """Sockets, too, would lead out."""
    asked = kernel(6)
    seal.restrict_files([], [str(tmp_path)])
    ((access, _),) = asked.rules
    missing = 0xFFFF & ~access
    assert missing == (seal.EXECUTE | seal.MAKE_CHAR | seal.MAKE_SOCK | seal.MAKE_BLOCK)


def test_a_kernel_without_landlock_is_told_so(kernel: Callable[..., FakeKernel]) -> None:
    """Nothing is passed over in silence."""
    kernel(0)
    with pytest.raises(OSError, match=r"this kernel has no Landlock"):
        seal.restrict_files([], [])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (seal.LANDLOCK_ADD_RULE, "allowing /"),
        (seal.LANDLOCK_RESTRICT_SELF, "putting Landlock on"),
    ],
)
def test_a_rule_that_is_not_taken_is_an_error(
    kernel: Callable[..., FakeKernel], call: int, said: str
) -> None:
    """And the descriptor of the rules is closed."""
    kernel(6, refuses=call)
    before = {*Path("/proc/self/fd").iterdir()}
    with pytest.raises(OSError, match=said):
        seal.restrict_files(["/"], [])
    assert {*Path("/proc/self/fd").iterdir()} == before


def test_what_is_readable_is_python_and_the_sandbox(root: Path) -> None:
    """Neither the course, nor the folder one works in, nor the home."""
    found = [Path(path) for path in seal.readable_paths()]
    assert Path(sysconfig.get_paths()["purelib"]) in found
    for ours in (root / "solutions", root / "tests", Path.cwd(), Path.home()):
        assert not [path for path in found if ours.is_relative_to(path)]


# What is not supported.


@pytest.mark.parametrize(
    ("machine", "supported"),
    [
        ("linux x86_64", True),
        ("linux aarch64", True),
        ("linux riscv64", False),
        ("linux i686", False),
        ("darwin arm64", False),
        ("win32 AMD64", False),
    ],
)
def test_systems_that_can_be_sealed(
    monkeypatch: pytest.MonkeyPatch, machine: str, supported: bool
) -> None:
    """Linux on two architectures; the filter's numbers are known for no other."""
    system, kind = machine.split()
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(seal.platform, "machine", lambda: kind)
    assert seal.is_supported() is supported


# The probe.

REFUSED = {
    **{attempt: "refused" for attempts in seal_probe.LAYERS.values() for attempt in attempts},
    "memory": "out of memory",
}


@pytest.fixture
def probed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets the probe answer as told, with and without namespaces."""

    def make(with_them: Any, without: Any) -> None:
        def tried(_: WarmParent, seal: Seal) -> Any:
            return with_them if seal.namespaces else without

        monkeypatch.setattr(seal_probe, "_attempt", tried)

    return make


@pytest.mark.slow
def test_this_machine_is_examined_by_trying() -> None:
    """Every required layer holds where these tests run, and says what it refused."""
    layers = [layer for layer in seal_probe.examine() if layer.is_required]
    assert all(layer.holds for layer in layers)
    assert {layer.name: layer.detail for layer in layers} == {
        name: f"refused: {', '.join(attempts)}" for name, attempts in seal_probe.LAYERS.items()
    }


@pytest.mark.parametrize(
    ("with_them", "without", "granted"),
    [
        ({**REFUSED, "process id": 1}, "must not be asked", True),
        ("unshare: Operation not permitted", {**REFUSED, "process id": 4711}, False),
    ],
)
def test_namespaces_are_used_where_they_are_granted(
    probed: Callable[..., None], with_them: Any, without: Any, granted: bool
) -> None:
    """The other layers are enough, and the record of the run says what was there.

    The probe is the first process of its namespace.
    """
    probed(with_them, without)
    launcher = seal_probe.sealed_launcher()
    launcher.close()
    assert launcher.seal == Seal(sealed=True, namespaces=granted)
    layers = ("sealed", "child process", "limits", "landlock", "seccomp")
    assert launcher.isolation == (*layers, *(["namespaces"] if granted else []))


LAYER_OF = [(name, attempt) for name, attempts in seal_probe.LAYERS.items() for attempt in attempts]


@pytest.mark.parametrize(("name", "attempt"), LAYER_OF, ids=[attempt for _, attempt in LAYER_OF])
def test_a_layer_that_does_not_hold_is_refused_by_name(
    probed: Callable[..., None], name: str, attempt: str
) -> None:
    """One attempt that succeeds is enough, and the sentence says what to do."""
    probed({**REFUSED, attempt: "allowed", "process id": 1}, None)
    with pytest.raises(seal_probe.CannotSealError) as caught:
        seal_probe.sealed_launcher()
    assert str(caught.value) == (
        f"This machine cannot seal student code ({name}: a sealed child could still: {attempt}). "
        "`grader doctor` shows every layer. Grade on Linux 5.13 or newer, or say "
        "`--isolation process` to grade without a seal: only code that you trust, or on a machine "
        "that you can lose."
    )


@pytest.mark.parametrize("attempt", [attempt for _, attempt in LAYER_OF])
def test_an_attempt_that_says_nothing_counts_as_allowed(
    probed: Callable[..., None], attempt: str
) -> None:
    """What was not tried does not hold."""
    probed({**{key: REFUSED[key] for key in REFUSED if key != attempt}, "process id": 1}, None)
    (broken,) = [layer for layer in seal_probe.examine() if not layer.holds]
    assert broken.detail == f"a sealed child could still: {attempt}"


NO_SECCOMP = "putting seccomp on: Invalid argument"


@pytest.mark.parametrize(
    ("module", "name", "found", "said"),
    [
        (seal_probe, "_attempt", NO_SECCOMP, "sealed child: putting seccomp on: Invalid"),
        (seal, "landlock_version", 0, "(Landlock): this kernel has no Landlock"),
        (seal, "is_supported", False, "only Linux on x86-64 and Arm64 can seal"),
    ],
)
def test_what_cannot_seal_is_refused(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, found: Any, said: str
) -> None:
    """With the reason that the kernel gave; elsewhere nothing is even started."""
    monkeypatch.setattr(module, name, lambda *_: found)
    with pytest.raises(seal_probe.CannotSealError, match=re.escape(said)):
        seal_probe.sealed_launcher()
