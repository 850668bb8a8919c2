# SPDX-License-Identifier: Apache-2.0
"""The class that ``nova:MODULE.CLASS`` names, as nova-compute names it.

The module is one below ``nova.virt``, as in nova's own option, or any other
module with a class of nova's interface. Each mistake is a ``ConfigError`` that
says what to write or to install. ``driver.py`` calls it.
"""

import difflib
import importlib
import importlib.util
import pkgutil
import sys
import types
import typing
from collections.abc import Iterable

from compute_agent import error_text, errors

NAMESPACE = 'nova.virt'
FORM = 'nova:MODULE.CLASS with a module below nova.virt'
EXAMPLE = 'nova:ironic.IronicDriver'


class Named(typing.NamedTuple):
    """A target in its two parts."""

    module: str
    name: str


def parse(target: str) -> Named:
    """Return the module and the class of a target.

    :raises errors.ConfigError: the target lacks the module or the class
    """
    module, _, name = target.rpartition('.')
    if all(part.isidentifier() for part in (*module.split('.'), name)):
        return Named(module, name)
    raise errors.ConfigError(
        f"the driver nova runs one of nova's classes: write {FORM}, such as "
        f'{EXAMPLE}'
    )


def require_nova() -> None:
    """Do nothing if nova is installed.

    :raises errors.ConfigError: nova is not installed
    """
    if importlib.util.find_spec('nova') is None:
        raise errors.ConfigError(
            'nova is not installed where this agent runs: install it there '
            f'with "{sys.executable} -m pip install nova"'
        )


def find(target: str) -> type:
    """Return the class of a target.

    :raises errors.ConfigError: the class does not exist, cannot be imported,
        or does not have nova's interface
    """
    module, name = parse(target)
    found = getattr(_module(module), name, None)
    if found is None:
        known = _drivers(_module(module))
        raise errors.ConfigError(
            f'{_module(module).__name__} has no class {name}'
            f'{_meant(name, known)}; its drivers: {", ".join(known) or "none"}'
        )
    if not isinstance(found, type) or not issubclass(found, _interface()):
        base = _interface()
        raise errors.ConfigError(
            f'{_module(module).__name__}.{name} is not a subclass of '
            f'{base.__module__}.{base.__name__}'
        )
    return found


def _module(name: str) -> types.ModuleType:
    """Return the module below nova's, or else the module of that name.

    :raises errors.ConfigError: neither module exists, or it cannot be imported
    """
    for path in (f'{NAMESPACE}.{name}', name):
        try:
            return importlib.import_module(path)
        except ModuleNotFoundError as exc:
            if exc.name and f'{path}.'.startswith(f'{exc.name}.'):
                continue  # the missing module is this one
            raise _broken(path, exc) from exc
        except Exception as exc:
            raise _broken(path, exc) from exc
    known = _modules()
    raise errors.ConfigError(
        f'neither {NAMESPACE}.{name} nor {name} is a module'
        f'{_meant(name, known)}; the modules of {NAMESPACE} with drivers are '
        'packages such as fake, ironic and libvirt'
    )


def _broken(path: str, exc: Exception) -> errors.ConfigError:
    return errors.ConfigError(
        f'{path} cannot be imported: {type(exc).__name__}: '
        f'{error_text.one_line(exc)}'
    )


def _interface() -> type:
    base: type = importlib.import_module(f'{NAMESPACE}.driver').ComputeDriver
    return base


def _drivers(module: types.ModuleType) -> list[str]:
    """Return the names of the module's classes of nova's interface."""
    return sorted(
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, _interface())
    )


def _modules() -> list[str]:
    path = importlib.import_module(NAMESPACE).__path__
    return sorted(found.name for found in pkgutil.iter_modules(path))


def _meant(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f' (did you mean {close[0]}?)' if close else ''
