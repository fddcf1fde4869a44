"""What a function refers to beside its arguments, in modules: what is used of the user's, and whose a module is."""

import dis
import functools
import importlib.util
import sys
import sysconfig
import types
from pathlib import Path
from typing import Any

OWN = __name__.partition(".")[0]
STANDARD = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))


def is_library(thing: Any) -> bool:
    """Whether it can be imported by its name from what is installed: then its name says what it is."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or module not in sys.modules:
        return False
    found: Any = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is thing and _is_installed(module)


def is_foreign(module: types.ModuleType) -> bool:
    """Whether a module is not the user's."""
    return sys.modules.get(module.__name__) is module and _is_installed(module.__name__)


@functools.cache
def _is_installed(module: str) -> bool:
    if module.partition(".")[0] == OWN:
        return True
    if module == "__main__":
        return False
    file = getattr(sys.modules[module], "__file__", None)
    if file is None:
        return module in sys.builtin_module_names or module.partition(".")[0] in sys.stdlib_module_names
    return _is_in_library(Path(file))


def _is_in_library(path: Path) -> bool:
    packages = {"site-packages", "dist-packages"} & set(path.parts)
    return bool(packages) or any(folder in path.parents for folder in STANDARD)


def global_names(code: types.CodeType) -> set[str]:
    """The names that a function, and those within it, look up in their module."""
    names = {str(i.argval) for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return names.union(*map(global_names, _inner(code)))


def all_names(code: types.CodeType) -> set[str]:
    """All names that a function, and those within it, may look up anywhere: attributes of modules among them."""
    return set(code.co_names).union(*map(all_names, _inner(code)))


def _inner(code: types.CodeType) -> list[types.CodeType]:
    return [const for const in code.co_consts if isinstance(const, types.CodeType)]


def used_part(value: Any, names: set[str], above: tuple[types.ModuleType, ...] = ()) -> Any:
    """Of a module of the user's, what a function with these names may use of it; anything else as it is."""
    if not isinstance(value, types.ModuleType) or is_foreign(value):
        return value
    if value in above:  # a module that imports the one that it is imported by
        return value.__name__
    parts = {name: vars(value)[name] for name in sorted(names) if name in vars(value)}
    return {name: used_part(part, names, (*above, value)) for name, part in parts.items()} or value


def imported_names(code: types.CodeType, package: str | None) -> set[str]:
    """The modules that some code imports when it runs, in functions within it too. package: of relative imports."""
    steps = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
    modules = set()
    for place, step in enumerate(steps):
        if step.opname == "IMPORT_NAME":
            level = steps[place - 2].argval  # an import is told how many dots there are, and then which names
            name = "." * level + str(step.argval)
            modules.add(importlib.util.resolve_name(name, package) if level and package else name)
    return modules.union(*(imported_names(inner, package) for inner in _inner(code)))


def sources(module: str) -> list[bytes]:
    """The files of the user's that an import of a module would run; of a package, all. Nothing is imported for it."""
    waiting, contents = [module.partition(".")[0]], dict[str, list[bytes]]()
    while waiting:
        name = waiting.pop()
        if name not in contents:
            contents[name] = [file.read_bytes() for file in _own_files(name)]
            further = set().union(*(_imports_of_source(content) for content in contents[name]))
            waiting += [each.partition(".")[0] for each in further]
    return [content for name in sorted(contents) for content in contents[name]]


def _imports_of_source(content: bytes) -> set[str]:
    try:
        return imported_names(compile(content, "<module>", "exec", dont_inherit=True), None)
    except (SyntaxError, ValueError):  # not for this version of Python
        return set()


def _own_files(module: str) -> list[Path]:
    """The Python files of a module or package of the user's; none of one that is installed, or not to be found."""
    try:
        spec = importlib.util.find_spec(module) if module and module != OWN else None
    except (ImportError, ValueError):  # of a module that was made by hand
        return []
    if spec is None or spec.origin is None or _is_in_library(Path(spec.origin)) or not Path(spec.origin).is_file():
        return []
    origin = Path(spec.origin)
    return sorted(origin.parent.rglob("*.py")) if spec.submodule_search_locations else [origin]
