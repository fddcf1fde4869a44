"""A digest of what an object is made of, the same in every process that makes the same object.

Numbers and arrays count by their bytes, containers by their elements, functions by their code and by what they refer
to, in modules of the user's too, other objects by what pickle would take apart. Addresses, line numbers, file names and
the order of sets do not count. What comes with Python and with installed packages counts by its name. A module of the
user's that a function imports when it is called counts by its files.
"""

import copyreg
import functools
import os
import sys
import types
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from typing import Any

import numpy as np

from deadheat.runtime.references import (
    all_names,
    global_names,
    imported_names,
    is_foreign,
    is_library,
    sources,
    used_part,
)

BLOCK = 1 << 24  # bytes of an array that are hashed at a time, and copied where they do not lie in one piece
SCALARS = {type(None), bool, float, complex, str, range, type(Ellipsis), type(NotImplemented)}
ACCESSORS = (property, classmethod, staticmethod, functools.cached_property)
PARTS_OF_ACCESSORS = ("fget", "fset", "fdel", "__func__", "func")
UNSEEN = (types.MemberDescriptorType, types.GetSetDescriptorType)  # in classes: they say where fields lie
# In classes: where they stand, what they are called, and what Python or dataclasses derive from the rest.
DERIVED = {
    "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__annotate__",
    "__annotate_func__", "__annotations_cache__", "__firstlineno__", "__static_attributes__", "__match_args__",
    "__dataclass_fields__", "__dataclass_params__", "__abstractmethods__", "_abc_impl", "__orig_bases__",
    "__parameters__", "__slotnames__", "__hash__", "_is_protocol", "__type_params__",
}  # fmt: skip


class Structure:
    """Takes objects apart. omitted: the types of those that cannot be, of which only the type counts."""

    def __init__(self) -> None:
        self.omitted: set[str] = set()
        self._digests: dict[int, tuple[Any, bytes]] = {}  # by identity, with the object, so that it is not used again
        self._above: list[int] = []  # objects that are being taken apart, which may refer to themselves

    def digest(self, thing: Any) -> bytes:
        """What tells the object from others."""
        if type(thing) in SCALARS:
            return _joined(type(thing).__name__, repr(thing).encode())
        if type(thing) is int:
            return _joined("int", hex(thing).encode())  # Python refuses to write large ones in decimal digits
        if type(thing) in (bytes, bytearray):
            return _joined("bytes", thing)
        key = id(thing)
        if key in self._digests:
            return self._digests[key][1]
        if key in self._above:
            return _joined("cycle", str(len(self._above) - self._above.index(key)).encode())
        self._above.append(key)
        try:
            value = self._composite(thing)
        finally:
            self._above.pop()
        self._digests[key] = thing, value
        return value

    def _composite(self, thing: Any) -> bytes:
        if isinstance(thing, np.ndarray):
            return self._array(thing)
        if type(thing) in (list, tuple):
            return self._ordered(type(thing).__name__, thing)
        if type(thing) is dict:
            return _joined("dict", *(self._ordered("item", pair) for pair in thing.items()))
        if isinstance(thing, (set, frozenset)):  # which pickle takes apart in any order
            rest = () if type(thing) in (set, frozenset) else (type(thing), getattr(thing, "__dict__", None))
            return _joined(type(thing).__name__, *sorted(map(self.digest, thing)), *map(self.digest, rest))
        if any(thing is generator for generator in _generators_of_all()):
            return _joined("generator of all", type(thing).__name__.encode())
        if isinstance(thing, types.ModuleType):
            return self._module(thing)
        if is_library(thing):
            return _joined("name", f"{thing.__module__}.{thing.__qualname__}".encode())
        if isinstance(thing, types.FunctionType):
            return self._function(thing)
        if isinstance(thing, types.CodeType):
            return self._code(thing)
        if isinstance(thing, type):
            return self._class(thing)
        if isinstance(thing, ACCESSORS):
            return self._ordered(type(thing).__name__, (getattr(thing, part, None) for part in PARTS_OF_ACCESSORS))
        plain = _as_arrays(thing)
        return self._object(thing) if plain is None else self._ordered(type(thing).__name__, plain)

    def _ordered(self, tag: str, parts: Iterable[Any]) -> bytes:
        return _joined(tag, *map(self.digest, parts))

    def _array(self, array: np.ndarray[Any, Any]) -> bytes:
        kind = "ndarray" if isinstance(array, np.memmap) else type(array).__name__
        head = f"{kind} {array.dtype} {array.shape}"
        if array.dtype.hasobject:
            return self._ordered(head, array.ravel().tolist())
        rest: list[Any] = [array.mask] if isinstance(array, np.ma.MaskedArray) else []
        if type(array).__module__.partition(".")[0] != "numpy":  # a subclass, with attributes of its own
            rest.append(getattr(array, "__dict__", None))
        return _joined(head, *_contents(np.asarray(array)), *map(self.digest, rest))

    def _function(self, function: types.FunctionType) -> bytes:
        """Its code, its attributes, and the values that it sees beside its arguments."""
        code, around = function.__code__, function.__globals__
        cells = [_cell_value(cell) for cell in function.__closure__ or ()]
        seen = {name: around[name] for name in sorted(global_names(code)) if name in around}
        imported = [(name, sources(name)) for name in sorted(imported_names(code, around.get("__package__")))]
        defaults, keywords = function.__defaults__ or (), function.__kwdefaults__ or {}
        names = all_names(code)
        beside = [
            used_part(value, names) for value in (*defaults, *keywords.values(), *cells, *seen.values(), *imported)
        ]
        return self._ordered("function", (code, [*keywords], [*seen], beside, vars(function)))

    def _module(self, module: types.ModuleType) -> bytes:
        """A module of which nobody says what is used: one of the user's counts by its files."""
        if is_foreign(module):
            return _joined("module", module.__name__.encode())
        files = sources(module.__name__)
        if not files:
            self.omitted.add("module")
        return self._ordered("module", (module.__name__, files))

    def _code(self, code: types.CodeType) -> bytes:
        counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
        return self._ordered("code", (code.co_code, code.co_exceptiontable, code.co_consts, code.co_names, counts))

    def _class(self, kind: type) -> bytes:
        """A class of the user's: its name, its bases, its methods and its constants."""
        is_dataclass = "__dataclass_params__" in vars(kind)
        fields = {
            name: value
            for name, value in vars(kind).items()
            if name not in DERIVED and not isinstance(value, UNSEEN) and not (is_dataclass and _is_generated(value))
        }
        return self._ordered("class", (kind.__name__, kind.__bases__, fields))

    def _object(self, thing: Any) -> bytes:
        """By what pickle makes of it; by what it wraps, where a library has compiled or cached a function."""
        try:
            for name in ("__wrapped__", "py_func"):
                wrapped = getattr(thing, name, None)
                if isinstance(wrapped, types.FunctionType) and is_library(type(thing)):
                    return self._ordered(type(thing).__name__, (wrapped,))
            reduce = copyreg.dispatch_table.get(type(thing))
            parts = thing.__reduce_ex__(4) if reduce is None else reduce(thing)
        except Exception:  # a lock, a file, a generator
            self.omitted.add(type(thing).__name__)
            return self._ordered("omitted", (type(thing),))
        if isinstance(parts, str):
            return _joined("name", f"{getattr(thing, '__module__', '')}.{parts}".encode())
        make, arguments, state, elements, items = (*parts, None, None, None)[:5]
        rest = state, None if elements is None else list(elements), None if items is None else dict(items)
        return self._ordered("object", (type(thing), make, arguments, *rest))


def _generators_of_all() -> list[Any]:
    """Those behind the functions of `random` and `numpy.random`: every process has drawn other numbers from them."""
    places = (("random", "_inst"), ("numpy.random.mtrand", "_rand"))
    return [getattr(sys.modules.get(module), name, None) for module, name in places]


def _joined(tag: str, *parts: bytes) -> bytes:
    """One digest of a tag and of parts of any length."""
    whole = blake2b(f"{tag} {[len(part) for part in parts]}".encode(), digest_size=32)
    for part in parts:
        whole.update(part)
    return whole.digest()


def _contents(array: np.ndarray[Any, Any]) -> list[bytes]:
    """Digests of the elements in their order, some rows at a time; of large arrays on all cores."""
    if array.nbytes == 0:
        return []
    table = array.reshape(1) if array.ndim == 0 else array
    rows = max(BLOCK * len(table) // table.nbytes, 1)
    blocks = [table[first : first + rows] for first in range(0, len(table), rows)]
    if len(blocks) == 1:
        return [_content(blocks[0])]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(_content, blocks))


def _content(block: np.ndarray[Any, Any]) -> bytes:
    return blake2b(np.ascontiguousarray(block).reshape(-1).view(np.uint8).data, digest_size=32).digest()


def _as_arrays(thing: Any) -> tuple[Any, ...] | None:
    """A sparse matrix or a dense tensor as plain arrays; None for other objects. Imports nothing that is not in use."""
    sparse, torch = sys.modules.get("scipy.sparse"), sys.modules.get("torch")
    if sparse is not None and sparse.issparse(thing):
        if thing.format in ("csr", "csc", "bsr"):
            return thing.format, thing.shape, thing.data, thing.indices, thing.indptr
        entries = thing.tocoo()
        return thing.format, thing.shape, entries.data, entries.row, entries.col
    if torch is not None and isinstance(thing, torch.Tensor) and thing.layout == torch.strided:
        flat = thing.detach().cpu().contiguous().reshape(-1)
        content = flat.view(torch.uint8).numpy() if flat.numel() else b""  # numpy has no bfloat16
        return str(thing.dtype), tuple(thing.shape), thing.requires_grad, content
    return None


def _cell_value(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that was not yet assigned
        return None


def _is_generated(value: Any) -> bool:
    """Whether dataclasses wrote it, from the fields."""
    function = getattr(value, "__wrapped__", value)
    return isinstance(function, types.FunctionType) and function.__code__.co_filename == "<string>"
