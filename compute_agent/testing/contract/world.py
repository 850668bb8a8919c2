# SPDX-License-Identifier: Apache-2.0
"""A world: the options that a driver is made with, and its sources.

The author writes one; each rule gets a fresh one.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from ... import errors
from ...virt import driver as virt
from ..values import plain, seam

Conf = Mapping[str, Mapping[str, object]]
_FUNCTIONS = ('make', 'change', 'nodes', 'reshape', 'reported', 'event')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One world of a driver.

    :ivar conf: group → option → value; a tuple is an option that is given
        several times
    :ivar seams: the functions through which the driver asks the outside world
    :ivar make: makes the driver instead of ``from_conf``; for drivers whose
        sources no option names
    :ivar change: alters the world so that the description of a node changes
    :ivar nodes: makes the world have this number of nodes: always the first
        ones of the same row
    :ivar reshape: alters the world so that inventory moves to another provider
    :ivar reported: replaces ``reshape`` for a driver that reshapes only what
        an older agent reported: it makes the world of that agent, and returns
        its providers and allocations as plain data
    :ivar event: makes the source tell its listeners of a change
    :ivar expected: providers as plain data, which placement must have for the
        world as it begins, each amount in the unit of its resource class. Data
        that is left out is not compared
    :ivar is_shared: True if another process sees the same world, because the
        options name files or servers; determinism is then tried with other
        hash seeds
    """

    conf: Conf = dataclasses.field(default_factory=dict)
    seams: Sequence[seam.Seam] = ()
    make: Callable[[], virt.ComputeDriver] | None = None
    change: Callable[[], object] | None = None
    nodes: Callable[[int], object] | None = None
    reshape: Callable[[], object] | None = None
    reported: Callable[[], plain.Data] | None = None
    event: Callable[[], object] | None = None
    expected: plain.Data | None = None
    is_shared: bool = False

    def __post_init__(self) -> None:
        """Refuse values of another type.

        :raises errors.ConfigError: a field has a value of another type
        """
        _check_conf(self.conf)
        _check_expected(self.expected)
        if not _is_list(self.seams) or not all(
            isinstance(one, seam.Seam) for one in self.seams
        ):
            raise errors.ConfigError(
                f'World.seams = {self.seams!r}: write a list of testing.Seam'
            )
        for field in _FUNCTIONS:
            value = getattr(self, field)
            if value is not None and not callable(value):
                raise errors.ConfigError(
                    f'World.{field} = {value!r}: write a function, or None'
                )


def checked(world: object) -> World:
    """Return what the fixture ``world`` returned.

    :raises errors.ConfigError: the fixture returned something else
    """
    if not isinstance(world, World):
        raise errors.ConfigError(
            f'the fixture world returned {world!r}: return a testing.World'
        )
    return world


def _check_conf(conf: object) -> None:
    if not isinstance(conf, Mapping):
        raise errors.ConfigError(
            f'World.conf = {conf!r}: write {{group: {{option: value}}}}'
        )
    for group, options in conf.items():
        if not isinstance(group, str) or not isinstance(options, Mapping):
            raise errors.ConfigError(
                f'World.conf: {group!r} has {options!r}: write '
                '{group: {option: value}}'
            )
        for option in options:
            if not isinstance(option, str):
                raise errors.ConfigError(
                    f'World.conf: [{group}] has {option!r}: write the name '
                    'of an option'
                )


def _check_expected(expected: plain.Data | None) -> None:
    """Refuse an expectation that is no plain data.

    :raises errors.ConfigError: the expectation is no plain data
    """
    try:
        plain.read({} if expected is None else expected)
    except errors.TreeError as exc:
        raise errors.ConfigError(f'World.expected: {exc}') from exc


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
