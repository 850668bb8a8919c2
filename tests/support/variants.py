# SPDX-License-Identifier: Apache-2.0
"""Variants of this agent: the agent with one defect planted.

A test that passes for the agent and fails for a variant is known to notice
that defect. A ``Variant`` names the parts it replaces as Python objects, never
by a string of their names or their source, so a tool that renames a part
renames it here too, and a part that is gone is an error at import. The two
catalogues use it: the planted defects (``tests/mutation/planted``) and the bad
drivers (``tests/contract/bad_drivers``).
"""

import collections.abc
import contextlib
import functools
import inspect
import sys
import types
import typing

import pytest

PACKAGES = frozenset({'compute_agent', 'drivers', 'report_client'})

_Function: typing.TypeAlias = collections.abc.Callable[..., typing.Any]
_Class = typing.TypeVar('_Class', bound=type)
_Place: typing.TypeAlias = tuple[object, str]

# The exception with which alone a test may notice a defect, in its stash.
NOTICES_BY = pytest.StashKey[type[BaseException]]()


class BrokenPlantError(AssertionError):
    """A substitute does not fit the part that it replaces."""


class Plant:
    """A part of the product and its substitute.

    A function or class is replaced in every module of the product that holds
    it, however that module imported it; a method, in its class.

    :param part: a function, class, method, class method or property
    :param substitute: stands in its place; a plain function stands for a
        class method as well, and then receives the class
    """

    def __init__(self, part: object, substitute: object) -> None:
        self.part = part
        owner, name = _places_of(part)[0]  # an error at import if it is gone
        self.substitute = _in_the_manner_of(
            inspect.getattr_static(owner, name), substitute
        )

    def plant(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Put the substitute in place until the end of the test."""
        for owner, name in _places_of(self.part):
            monkeypatch.setattr(owner, name, self.substitute)


class Constant:
    """Constants of a module and their substitutes."""

    def __init__(
        self, module: types.ModuleType, **substitutes: object
    ) -> None:
        for name in substitutes:
            getattr(module, name)  # an error at import if it is gone
        self._module = module
        self._substitutes = substitutes

    def plant(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Put the substitutes in place until the end of the test."""
        for name, substitute in self._substitutes.items():
            monkeypatch.setattr(self._module, name, substitute)


class Variant:
    """This agent with a defect planted.

    :ivar says: the defect in a few words
    :ivar in_runs: True if the random runs of ``tests/stateful`` must find it
    :ivar in_fleets: True if those of its fleets must
    :ivar broken: errors of the substitutes themselves, which prove nothing
    """

    def __init__(
        self,
        says: str,
        *plants: Plant | Constant,
        in_runs: bool = False,
        in_fleets: bool = False,
    ) -> None:
        self.says = says
        self.in_runs = in_runs
        self.in_fleets = in_fleets
        self.broken: list[Exception] = []
        self._plants = plants

    def __repr__(self) -> str:
        return f'<Variant: {self.says}>'

    def plant(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Put the substitutes in place until the end of the test."""
        self.broken.clear()
        for each in self._plants:
            each.plant(monkeypatch)

    def check(self) -> None:
        """Make sure that each substitute did what it was written for.

        :raises BrokenPlantError: one does not fit its part any more
        """
        if self.broken:
            exc = self.broken[0]
            raise BrokenPlantError(
                f'{self.says}: the substitute itself failed, mend it: '
                f'{type(exc).__name__}: {exc}'
            ) from exc


class Catalogue:
    """Variants by what they say, each said once."""

    def __init__(self) -> None:
        self.variants: dict[str, Variant] = {}

    def plant(
        self, part: object, says: str, **found_by: bool
    ) -> collections.abc.Callable[[_Function], _Function]:
        """Make the decorated function a variant's substitute for a part.

        It receives the original before the arguments of the part itself.

        :param found_by: as for ``Variant``
        """

        def take(substitute: _Function) -> _Function:
            wrapper, broken = _wrapped(original_of(part), substitute)
            self.together(says, Plant(part, wrapper), **found_by)
            self.variants[says].broken = broken
            return substitute

        return take

    def stand_in(
        self, part: type, says: str
    ) -> collections.abc.Callable[[_Class], _Class]:
        """Make the decorated class a variant's substitute for a class."""

        def take(substitute: _Class) -> _Class:
            self.together(says, Plant(part, substitute))
            return substitute

        return take

    def together(
        self, says: str, *plants: Plant | Constant, **found_by: bool
    ) -> None:
        """Enter a variant that replaces several parts."""
        if says in self.variants:
            raise ValueError(f'two variants are called {says!r}')
        self.variants[says] = Variant(says, *plants, **found_by)


def original_of(part: object) -> _Function:
    """Return the function or class that a part is made of."""
    if isinstance(part, property):
        part = part.fget
    found = getattr(part, '__func__', part)
    if not callable(found):
        raise TypeError(f'{part!r} is no function, class, method or property')
    return typing.cast(_Function, found)


def _places_of(part: object) -> list[_Place]:
    """Return where the product holds a part: owners and attribute names."""
    function = original_of(part)
    module = sys.modules[function.__module__]
    *path, name = function.__qualname__.split('.')
    if path:
        return [(functools.reduce(getattr, path, module), name)]
    packages = {*PACKAGES, function.__module__.partition('.')[0]}
    return [
        (holder, held_as)
        for module_name, holder in sorted(sys.modules.items())
        if module_name.partition('.')[0] in packages
        for held_as, value in list(vars(holder).items())
        if value is function
    ]


def _in_the_manner_of(original: object, substitute: object) -> object:
    """Return a function as the kind of attribute that it replaces."""
    if not isinstance(substitute, types.FunctionType):
        return substitute
    if isinstance(original, classmethod | staticmethod | property):
        return type(original)(substitute)
    return substitute


def _wrapped(
    original: _Function, substitute: _Function
) -> tuple[_Function, list[Exception]]:
    """Return a function that calls the substitute, and its own errors."""
    broken: list[Exception] = []
    files = {__file__, inspect.getfile(substitute)}

    @functools.wraps(original)
    def planted(*args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        try:
            return substitute(original, *args, **kwargs)
        except (AttributeError, NameError, TypeError) as exc:
            if _innermost_file(exc) in files:
                broken.append(exc)
            raise

    return planted, broken


def _innermost_file(exc: Exception) -> str:
    trace = exc.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_filename if trace is not None else ''


@contextlib.contextmanager
def replaced(
    part: object, substitute: object
) -> collections.abc.Iterator[None]:
    """Replace a part inside of a substitute, for a short time.

    Only for substitutes that one thread runs.
    """
    with pytest.MonkeyPatch.context() as monkeypatch:
        Plant(part, substitute).plant(monkeypatch)
        yield
