"""Runs student code and replies to requests about it with data, never with objects.

It runs beside student code: it holds no secret and gives no verdict.
"""

import random
import re
import sys
import types
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from grader.sandbox import libraries, together
from grader.sandbox.arguments import argument_of, is_changed, leaf_of
from grader.sandbox.failures import describe_failure, stub_exercise
from grader.sandbox.limits import import_packages
from grader.sandbox.loader import Loader
from grader.sandbox.placeholders import NotImported
from grader.sandbox.plain_data import seed_numpy, type_name
from grader.sandbox.reached import reaches
from grader.sandbox.statements import empty_body, hides_code
from grader.sandbox.torch_later import has_torch, is_module, meter, module_state, tensors
from grader.sandbox.watching import parameter_names, written_into
from grader.sandbox.wire import Frame, Packer, RemoteObject, Unpacker, WireFault
from grader.sandbox.work_folder import NoFolder, files_in, work_folder

NOTE = "_note_what_is_asked"
"""What the program of a given test calls with a number, and the values to report."""

OF_TORCH = "nn."
"""How names begin that are of `torch.nn` and not of the student's file."""

NOTHING_COUNTED = {
    **dict.fromkeys(("multiplications", "largest", "saved", "operations"), 0),
    "unknown": ["Python"],
}
"""The cost of a call where torch is not even imported: nothing of it is counted."""


class Missing(Exception):
    """A name the student was to define is not there."""


class NotAttempted(Exception):
    """A constant's stub is still there; the one argument is its `Failure`."""


@dataclass(slots=True)
class Servant:
    """One submission, loaded, and the instances made from it.

    Args:
        loader: the files of the submission, each loaded when it is first needed.
        drain: returns what student code has printed since the last call.
        first: instances are numbered from here, again after each `forget`.
        interactive: let Ctrl-C through, where a person sits in front of this process.
        instances: the student's objects that the trusted side can refer to, by number.
        anew: for each, what its last call has set among its plain attributes.
        helpers: the functions that checks brought along, by their text.
    """

    loader: Loader = field(default_factory=Loader)
    drain: Callable[[], str] = str
    first: int = 0
    interactive: bool = False
    instances: dict[int, object] = field(default_factory=dict)
    anew: dict[int, list[str]] = field(default_factory=dict)
    helpers: dict[str, Any] = field(default_factory=dict)

    def reply(self, frame: Frame) -> Frame:
        """Reply to one request; whatever student code raises becomes part of the reply."""
        packer = Packer(self._refer)
        if frame.header.get("fresh"):
            self.instances.clear()
        try:
            header = self._dispatch(frame, packer)
        except Missing as error:
            header = {"failure": {"kind": "missing", "message": str(error)}}
        except NoFolder:
            header = {"failure": {"kind": "no_folder"}}
        except NotAttempted as error:
            header = {"failure": error.args[0].as_stub().header()}
        except BaseException as error:
            if self.interactive and isinstance(error, KeyboardInterrupt):
                raise
            packer = Packer()
            failure = describe_failure(error, self.loader.find_cell)
            if isinstance(error, NotImplementedError) and failure.own and not hides_code(error):
                failure = failure.as_stub()
            header = {"failure": failure.header()}
        header["output"] = self.drain()
        return Frame(header, packer.payload())

    def _dispatch(self, frame: Frame, packer: Packer) -> dict[str, Any]:
        request = frame.header
        match request.get("verb"):
            case "sources":
                if request.get("instead"):
                    self._forget_all()
                known = {name: request.get(name) for name in ("awaited", "lent", "answered")}
                self.loader.add(request["sources"], **known)
                for key, cell, statement, why in request.get("stops", ()):
                    self.loader.stops[key, cell, statement] = why
                return {}
            case "file":
                path = Path(request["path"])
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(frame.payload)
                if (folder := str(Path.cwd())) not in sys.path:
                    sys.path.append(folder)
                return {}
            case "open":
                return self.loader.open(request["source"]).header()
            case "get":
                value = self._named(request)
                return {"value": packer.pack(value), "parameters": parameter_names(value)}
            case "observe":
                return self._observe(request, packer)
            case "call":
                unpacker = Unpacker(
                    frame.payload,
                    lambda found: self._instance(found.number),
                    find=lambda name: self._named({"source": request["source"], "name": name}),
                )
                return self._call(request, unpacker, packer)
            case "state":
                packer.shapes_only = not request.get("values", True)
                instance = self._instance(request["instance"])
                shared = module_state.shared_parameters(instance, self.instances.values())
                classes = self._classes(instance, request)
                anew = self.anew.get(request["instance"], [])
                known = {"shared": shared, "classes": classes, "anew": anew}
                return {**module_state.state(instance, packer.pack), **known}
            case "load":
                values = Unpacker(frame.payload).unpack(request["values"])
                return module_state.load(self._instance(request["instance"]), values)
            case "reaches":
                namespace = self.loader.open(request["source"]).namespace
                return {"reaches": reaches(namespace, request["names"], request["wanted"])}
            case "answer":
                from grader.sandbox.answered import answer  # it needs torch

                return answer(self._named(request), request, frame.payload, packer)
            case together.TOGETHER:
                replies = together.in_turn(frame, self.reply)
                packer.chunks.append(replies.payload)
                return replies.header
            case "forget":
                self.instances.clear()
                return {}
            case verb:
                raise WireFault(f"no such verb: {verb}")

    def _forget_all(self) -> None:
        """Serve other files from here on, as if there had been none.

        Raises:
            WireFault: when the libraries are not as they were, which the others would see.
        """
        if not libraries.are_as_before():
            raise WireFault("a library was changed")
        self.loader.forget()
        self.instances.clear()
        self.anew.clear()
        self.helpers.clear()
        if has_torch():
            tensors.begin_anew()

    # What a request names.

    def _named(self, request: Mapping[str, Any]) -> object:
        if request["name"].startswith(OF_TORCH):
            return module_state.of_torch(request["name"].removeprefix(OF_TORCH))
        opened = self.loader.open(request["source"])
        if "class" in request:
            opened.classes.choose(request["name"], request["class"])
        try:
            value = opened.namespace[request["name"]]
        except KeyError:
            # So did a constant's stub once: it raised where the constant would be.
            for failure in opened.failures:
                if (stub_exercise(failure.message) or "").endswith(f"/{request['name']}"):
                    raise NotAttempted(failure) from None
            raise Missing(request["name"]) from None
        if isinstance(value, NotImported):
            raise value.error()
        if isinstance(value, NotImplementedError):
            raise NotAttempted(describe_failure(value, self.loader.find_cell))
        return value

    def _target(self, request: Mapping[str, Any]) -> object:
        """What a request names; a function that the check brought along knows nothing of the file."""
        if "helper" not in request:
            return self._named(request)
        name, text = request["helper"]
        if text not in self.helpers:
            namespace: dict[str, Any] = {"__name__": "helper"}
            exec(compile(text, f"<{name}>", "exec"), namespace)
            self.helpers[text] = namespace[name]
        return self.helpers[text]

    def _instance(self, number: int) -> object:
        try:
            return self.instances[number]
        except KeyError:
            raise WireFault(f"no instance {number}") from None

    def _classes(self, instance: object, request: Mapping[str, Any]) -> dict[str, str]:
        """For each part of a module, the name that its class has in the file that is asked for."""
        if not is_module(instance) or "source" not in request:
            return {}
        names = self.loader.open(request["source"]).classes.names()
        return module_state.class_names(instance, names)

    def _refer(self, value: object) -> RemoteObject | None:
        if isinstance(value, type):
            return RemoteObject(0, "class", value.__name__)
        if isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodType):
            return RemoteObject(0, "function", value.__name__)
        for number, known in self.instances.items():
            if known is value:
                return _reference(number, value)
        return self._keep(value) if is_module(value) else None

    def _keep(self, instance: object) -> RemoteObject:
        number = self.first + len(self.instances) + 1
        self.instances[number] = instance
        return _reference(number, instance)

    def _observe(self, request: Mapping[str, Any], packer: Packer) -> dict[str, Any]:
        """Run the program of a given test among the names of a file, which it leaves as they were.

        The modules that it names are left as they were, too: some tests take functions out of them.
        """
        namespace, program = self.loader.open(request["source"]).namespace, request["program"]
        words = dict.fromkeys([request["name"], *re.findall(r"\b[^\W\d]\w*", program)])
        for name in words:
            if name == request["name"] or isinstance(namespace.get(name), NotImplementedError):
                self._named({**request, "name": name})
        values = [namespace.get(name, sys.modules.get(name)) for name in words]
        modules = [vars(value) for value in values if isinstance(value, types.ModuleType)]
        held = [dict(module) for module in modules]
        observed: list[list[Any]] = []

        def note(number: int, *values: object) -> None:
            observed.append([number, [packer.pack(value) for value in values]])

        before = dict(namespace)
        namespace[NOTE] = note
        if "numpy" in sys.modules:
            import_packages(["numpy.random"])  # the test may draw from it where no file does
        _seed(request["seed"])
        try:
            exec(compile(program, "<test>", "exec"), namespace)
        finally:
            namespace.clear()
            namespace.update(before)
            for module, names in zip(modules, held, strict=True):
                module.update(names)
        return {"observed": observed}

    # The verb `call`.

    def _call(
        self, request: Mapping[str, Any], unpacker: Unpacker, packer: Packer
    ) -> dict[str, Any]:
        instance = request.get("instance")
        target = self._target(request) if instance is None else self._instance(instance)
        asked = _asked(target, request)
        arguments = {
            str(name): unpacker.unpack(node)
            for name, node in [*enumerate(request["args"]), *request["kwargs"].items()]
        }
        cotangent = unpacker.unpack(request.get("cotangent"))
        files = unpacker.unpack(request.get("files"))
        has_cotangent = cotangent is not None
        leaves = {name: leaf_of(value, has_cotangent) for name, value in arguments.items()}
        given = {name: argument_of(leaf) for name, leaf in leaves.items()}
        if request.get("training") is not None and is_module(target):
            target.train(request["training"])
        if request.get("seed") is not None:
            _seed(request["seed"])
        before = _loose_parts(target) if instance is not None else []
        operations = tensors.Operations() if request.get("operations") else None
        is_metered = request.get("meter") and has_torch()
        chance = tensors.chance() if request.get("chance") and has_torch() else None
        folder = nullcontext() if files is None else work_folder(files)
        counted = meter.metered() if is_metered else nullcontext()
        with folder as place, operations or nullcontext(), counted as cost:
            value = self.invoke(asked, given, len(request["args"]))
            written = {} if place is None else files_in(place)
        if request.get("first") and isinstance(value, tuple | list) and value:
            value = value[0]
        if instance is not None:
            known = {id(part) for _name, part in before}
            now = _loose_parts(target)
            self.anew[instance] = [name for name, part in now if id(part) not in known]
        header: dict[str, Any] = {"value": packer.pack(value)}
        if chance is not None:
            header["drew"] = tensors.chance() != chance
        node = header["value"]
        stays = node == {"unsupported": type_name(value)}
        is_record = "method" in request and isinstance(node, dict) and "record" in node
        if stays or is_record:
            packer.clear()
            header["value"] = packer.pack(self._keep(value))  # an iterator, another instance
        if operations is not None:
            header["operations"] = operations.counts
        if request.get("meter"):
            header["cost"] = cost.header() if cost is not None else NOTHING_COUNTED
        if value is None and (body := empty_body(asked)):
            header["body"] = body
        header["changed"] = [name for name in given if is_changed(arguments[name], given[name])]
        if header["changed"]:
            header["writes"] = self._writes(asked, header["changed"])
        if has_cotangent:
            header["gradients"] = packer.pack(
                module_state.gradients(value, cotangent, target, leaves)
            )
        if files is not None:
            header["files"] = packer.pack(written)
        return header

    def _writes(self, target: object, changed: list[str]) -> list[list[Any]]:
        """The parameters that were changed, each with the line that did it, where it is known."""
        found = []
        with suppress(Exception):  # it looks at the student's objects
            for argument in changed:
                name, line = written_into(target, argument, self.loader.find_cell)
                found.append([name, asdict(line) if line else None])
        return found

    def invoke(self, target: object, given: dict[str, Any], positional: int) -> object:
        """Call what the student wrote."""
        args = [given[str(index)] for index in range(positional)]
        kwargs = {name: value for name, value in given.items() if not name.isdigit()}
        if isinstance(target, type):
            return self._keep(target(*args, **kwargs))
        if not callable(target) and hasattr(target, "forward"):
            return target.forward(*args, **kwargs)
        return target(*args, **kwargs)  # type: ignore[operator]


def _asked(target: Any, request: Mapping[str, Any]) -> Any:
    """What a request calls: the target, a method of it, or what reads an attribute or the next values."""
    if "take" in request:
        return lambda: list(islice(target, request["take"]))
    if "method" not in request:
        return target
    if request.get("reads"):
        return partial(getattr, target, request["method"])
    return _method(target, request["method"])


def _seed(seed: int) -> None:
    """Have Python's, numpy's and torch's random numbers begin anew."""
    random.seed(seed)
    seed_numpy(seed)
    if has_torch():
        tensors.set_seed(seed)


def _method(instance: object, name: str) -> Callable[..., object]:
    """A method of an instance; Python's own, such as `__len__`, through its class, as Python does."""
    if not name.isidentifier():
        raise WireFault("a method has no name")
    if name.startswith("__") and name.endswith("__"):
        return types.MethodType(getattr(type(instance), name), instance)
    method: Callable[..., object] = getattr(instance, name)
    return method


def _reference(number: int, value: object) -> RemoteObject:
    return RemoteObject(number, "module" if is_module(value) else "instance", type(value).__name__)


def _loose_parts(instance: object) -> list[tuple[str, object]]:
    """The tensors and modules in plain attributes of an instance, by name."""
    parts = module_state.loose_parts(instance) if has_torch() else ()
    return [(name, part) for name, part, _put in parts]
