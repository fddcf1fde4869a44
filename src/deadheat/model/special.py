"""scipy's special functions, imported at the first call: `import scipy.special` takes twice as long as numpy itself."""

from typing import Any


def __getattr__(name: str) -> Any:
    import scipy.special

    function = getattr(scipy.special, name)
    globals()[name] = function
    return function
