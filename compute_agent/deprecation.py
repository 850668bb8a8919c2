# SPDX-License-Identifier: Apache-2.0
"""The version of the contract, and the marks of names that a later one removes.

``docs/drivers.md`` lists the names that drivers may use, and says when one of
them may go: after a release in which its use gives a ``DeprecationWarning``.
"""

import functools
import importlib
import typing
import warnings
from collections.abc import Callable, Mapping

CONTRACT_VERSION = '1.0'
"""The version of the contract between the agent and a driver.

A new major version may fail a driver that passed; a new minor version adds
names or optional rules.
"""

_Callable = typing.TypeVar('_Callable', bound=Callable[..., typing.Any])


def deprecated(
    *, since: str, instead: str
) -> Callable[[_Callable], _Callable]:
    """Return a decorator: each call of the function or method warns.

    :param since: the version of the contract that deprecates it
    :param instead: what to use, or to do, in its place
    """

    def decorate(function: _Callable) -> _Callable:
        @functools.wraps(function)
        def warning(*args: typing.Any, **how: typing.Any) -> typing.Any:
            _warn(function.__qualname__, since, instead)
            return function(*args, **how)

        return typing.cast(_Callable, warning)

    return decorate


def moved(
    module: str, names: Mapping[str, str], *, since: str
) -> Callable[[str], typing.Any]:
    """Return a module's ``__getattr__`` for names that it had before.

    :param module: the module's ``__name__``
    :param names: old name → ``module:name`` of the new one
    :param since: the version of the contract that deprecates them
    """

    def find(name: str) -> typing.Any:
        if name not in names:
            raise AttributeError(
                f'module {module!r} has no attribute {name!r}'
            )
        home, _, now = names[name].partition(':')
        _warn(f'{module}.{name}', since, f'{home}.{now}')
        return getattr(importlib.import_module(home), now)

    return find


def _warn(name: str, since: str, instead: str) -> None:
    """Warn the caller of the deprecated name's caller."""
    major = int(since.partition('.')[0]) + 1
    warnings.warn(
        f'{name} is deprecated since version {since} of the driver contract '
        f'and may be gone in {major}.0: use {instead}',
        DeprecationWarning,
        stacklevel=3,
    )
