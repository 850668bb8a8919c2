# SPDX-License-Identifier: Apache-2.0
"""The drivers of one agent, in the order of ``[DEFAULT] compute_driver``.

Each driver is a source of its own: a name that one of them reports is not
another's. The first driver that has a node describes the node's root; the
others add to its tree. ``loader.py`` makes a ``Drivers`` of the option.
"""

import dataclasses
import typing
from collections.abc import Callable, Iterator, Mapping

from .. import errors
from ..tree import assertion
from . import failures
from .driver import ComputeDriver

_Value = typing.TypeVar('_Value')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NamedDriver:
    """One driver of an agent.

    :ivar name: the name of its entry point; empty for a driver without one
    :ivar source: its name as a source of assertions
    """

    name: str
    source: str
    driver: ComputeDriver

    @property
    def reference(self) -> str:
        """The driver's class as ``module:Class``, as the state keeps it."""
        return f'{type(self.driver).__module__}:{self.class_name}'

    @property
    def class_name(self) -> str:
        """The name of the driver's class."""
        return type(self.driver).__name__

    @property
    def called(self) -> str:
        """The driver's name in ``compute_driver``, or else its class."""
        return self.name or self.class_name

    @property
    def title(self) -> str:
        """The driver in the words of messages."""
        return assertion.title(self.source)

    def nodenames_by_uuid(self) -> Mapping[str, str]:
        """Return provider uuid → node name, as far as the driver can tell."""
        with failures.asking(self.class_name, 'get_nodenames_by_uuid'):
            return self.driver.get_nodenames_by_uuid()

    def titles(self) -> Mapping[str, str]:
        """Return node name → title, as far as the driver has one."""
        with failures.asking(self.class_name, 'get_titles'):
            return self.driver.get_titles()

    def close(self) -> None:
        """Have the driver release what it holds."""
        with failures.asking(self.class_name, 'close'):
            self.driver.close()


class Drivers:
    """The drivers of one agent; at least one."""

    def __init__(self, named: Mapping[str, ComputeDriver]) -> None:
        several = len(named) > 1
        self._drivers = tuple(
            NamedDriver(
                name=name,
                source=f'{assertion.DRIVER_PREFIX}{name}'
                if several
                else assertion.DRIVER,
                driver=driver,
            )
            for name, driver in named.items()
        )

    @classmethod
    def only(cls, driver: ComputeDriver) -> typing.Self:
        """Return a single driver that has no entry point."""
        return cls({'': driver})

    def __iter__(self) -> Iterator[NamedDriver]:
        return iter(self._drivers)

    def __len__(self) -> int:
        return len(self._drivers)

    @property
    def are_several(self) -> bool:
        """True if messages have to name the driver."""
        return len(self._drivers) > 1

    @property
    def first(self) -> ComputeDriver:
        """The first driver."""
        return self._drivers[0].driver

    @property
    def sources(self) -> frozenset[str]:
        """The names of the drivers as sources."""
        return frozenset(one.source for one in self._drivers)

    @property
    def references(self) -> frozenset[str]:
        """The classes of the drivers, each as ``module:Class``."""
        return frozenset(one.reference for one in self._drivers)

    def subscribe(self, wake: Callable[[], object]) -> None:
        """Have each driver call ``wake`` when a description may have changed."""
        for one in self._drivers:
            with failures.asking(one.class_name, 'subscribe'):
                one.driver.subscribe(wake)

    def reload(self) -> None:
        """Have each driver read its own files again.

        :raises errors.ConfigError: a file has a mistake; the files of the
            other drivers are in force
        """
        mistakes = []
        for one in self._drivers:
            try:
                with failures.asking(one.class_name, 'reload'):
                    one.driver.reload()
            except errors.ConfigError as exc:
                mistakes.append(
                    f'{one.title}: {exc}' if self.are_several else str(exc)
                )
        if mistakes:
            raise errors.ConfigError('; '.join(mistakes))

    def nodenames_by_uuid(self) -> dict[str, str]:
        """Return provider uuid → node name, as far as a driver can tell."""
        return merged(one.nodenames_by_uuid() for one in self._drivers)

    def titles(self) -> dict[str, str]:
        """Return node name → title, as far as a driver has one."""
        return merged(one.titles() for one in self._drivers)


def merged(
    parts: typing.Iterable[Mapping[str, _Value]],
) -> dict[str, _Value]:
    """Return the union of these mappings; the first one's values count."""
    found: dict[str, _Value] = {}
    for part in parts:
        found = {**part, **found}
    return found
