# SPDX-License-Identifier: Apache-2.0
"""The drivers of one agent, in the order of ``[DEFAULT] compute_driver``.

Each driver is a source of its own: a name that one of them reports is not
another's. The first driver that has a node describes the node's root; the
others add to its tree. ``loader.py`` makes a ``Drivers`` of the option.
"""

import dataclasses
import functools
import threading
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent import futures

from .. import errors
from ..tree import assertion
from . import answers, failures, long_calls
from .driver import ComputeDriver
from .values.changes import Changes

CLOSING = 10.0  # seconds for close(); then the agent ends without the driver

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

    @property
    def node_filter(self) -> Mapping[str, str] | None:
        """The options that choose the driver's nodes; None for one host."""
        with failures.asking(self.class_name, 'node_filter'):
            found = self.driver.node_filter
            return answers.node_filter(self.class_name, found)

    def nodes(self) -> list[str]:
        """Return the names of all nodes that the driver describes now."""
        with long_calls.watched(self.class_name, 'get_available_nodes'):
            found = self.driver.get_available_nodes()
        return answers.node_names(self.class_name, found)

    def nodenames_by_uuid(self) -> Mapping[str, str]:
        """Return provider uuid → node name, as far as the driver can tell."""
        call = 'get_nodenames_by_uuid'
        with failures.asking(self.class_name, call):
            with long_calls.watched(self.class_name, call):
                found = self.driver.get_nodenames_by_uuid()
            return answers.names_by_uuid(self.class_name, found)

    def titles(self) -> Mapping[str, str]:
        """Return node name → title, as far as the driver has one."""
        with failures.asking(self.class_name, 'get_titles'):
            with long_calls.watched(self.class_name, 'get_titles'):
                found = self.driver.get_titles()
            return answers.texts(self.class_name, 'get_titles', found)

    def hypervisor_hostnames(self) -> Mapping[str, str]:
        """Return node name → nova's name, where the two may differ."""
        call = 'get_hypervisor_hostnames'
        with long_calls.watched(self.class_name, call):
            found = self.driver.get_hypervisor_hostnames()
        return answers.texts(self.class_name, call, found)

    @property
    def tells_changes(self) -> bool:
        """True if the driver can tell which of its nodes may have changed."""
        return type(self.driver).changes is not ComputeDriver.changes

    def changes(self, since: typing.Any) -> Changes | None:
        """Return the nodes that may have changed; None if any node may have.

        :param since: as for ``ComputeDriver.changes``
        :raises errors.AgentError: the driver cannot tell now
        """
        with failures.asking(self.class_name, 'changes'):
            with long_calls.watched(self.class_name, 'changes'):
                found = self.driver.changes(since)
            if found is None:
                return None
            if not isinstance(found, Changes):
                raise TypeError(
                    f'no Changes, but {type(found).__name__}: give '
                    'Changes(names=[...], since=...), or None for all nodes'
                )
            if isinstance(found.names, str):
                raise TypeError(
                    f'one text as the names: {found.names!r}; give a list'
                )
            names = frozenset(found.names)
            if not all(isinstance(name, str) for name in names):
                raise TypeError('a name that is no text: give str() of it')
            return Changes(names=names, since=found.since)

    def metrics(self) -> Mapping[str, float]:
        """Return the numbers that the driver gives for the metrics.

        :raises errors.AgentError: the driver cannot tell, or its answer is
            wrong
        """
        with failures.asking(self.class_name, 'metrics'):
            with long_calls.watched(self.class_name, 'metrics'):
                found = self.driver.metrics()
            return answers.metrics(self.class_name, found)

    def close(self) -> None:
        """Have the driver release what it holds.

        :raises errors.DriverError: the driver fails, or does not return in
            time
        """
        closed = futures.Future[None]()

        def close() -> None:
            try:
                self.driver.close()
            except BaseException as exc:  # noqa: BLE001 (raised below)
                closed.set_exception(exc)
            else:
                closed.set_result(None)

        threading.Thread(target=close, name='close', daemon=True).start()
        with failures.asking(self.class_name, 'close'):
            try:
                closed.result(CLOSING)
            except TimeoutError as exc:
                if closed.done():
                    raise  # the driver's own
                raise errors.DriverError(
                    f'{self.class_name} failed in close: it did not return '
                    f'within {CLOSING:g} s; the process ends without it'
                ) from exc


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

    @property
    def filters(self) -> Sequence[tuple[str, Mapping[str, str] | None]]:
        """Each driver's name in ``compute_driver``, and its node filter."""
        return [(one.called, one.node_filter) for one in self._drivers]

    @property
    def may_have_many(self) -> bool:
        """True if a driver may describe several nodes."""
        return any(chosen is not None for _, chosen in self.filters)

    def subscribe(self, wake: Callable[[NamedDriver], object]) -> None:
        """Have ``wake`` called when a description of a driver may have changed.

        It is called with that driver, from any thread.
        """
        for one in self._drivers:
            with (
                failures.asking(one.class_name, 'subscribe'),
                long_calls.watched(one.class_name, 'subscribe'),
            ):
                one.driver.subscribe(functools.partial(wake, one))

    def reload(self) -> None:
        """Have each driver read its own files again.

        :raises errors.ConfigError: a file has a mistake; the files of the
            other drivers are in force
        """
        mistakes = []
        for one in self._drivers:
            try:
                with (
                    failures.asking(one.class_name, 'reload'),
                    long_calls.watched(one.class_name, 'reload'),
                ):
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
    """Return the union of these mappings; earlier mappings win."""
    found: dict[str, _Value] = {}
    for part in parts:
        found = {**part, **found}
    return found
