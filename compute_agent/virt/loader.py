# SPDX-License-Identifier: Apache-2.0
"""Find drivers by their entry points and check them against the contract.

A driver that breaks the contract is refused when it is loaded, not in the
middle of a cycle. The message names the driver, its class and its
distribution. Only the configured drivers are imported. A driver is named by
its entry point, or as ``NAME:TARGET`` if its class takes a target
(``ComputeDriver.for_target``).
"""

import dataclasses
import difflib
import importlib.metadata
import inspect
import re
import sys
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from oslo_config import cfg
from stevedore import driver as stevedore_driver

from .. import error_text, errors
from ..deprecation import CONTRACT_VERSION
from . import driver as virt
from . import drivers, failures, long_calls

if sys.version_info >= (3, 14):
    import annotationlib

NAMESPACE = 'compute_agent.drivers'
_VERSION = re.compile(r'\d{1,4}\.\d{1,4}')

# The calls the agent makes, with stand-ins for their arguments.
_CALLS: Mapping[str, tuple[object, ...]] = {
    'subscribe': ('wake',),
    'reload': (),
    'close': (),
    'get_available_nodes': (),
    'changes': ('since',),
    'get_nodenames_by_uuid': (),
    'get_titles': (),
    'metrics': (),
    'node_exists': ('node',),
    'facts': ('node',),
    'update_provider_tree': ('tree', 'node'),
    'get_inventory': ('node',),
    'get_traits': ('node',),
    'get_available_resource': ('node',),
}
_DESCRIBING = (
    'update_provider_tree',
    'get_inventory',
    'get_available_resource',
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """One entry point of the group, which may or may not load."""

    name: str
    target: str
    distribution: str
    version: str

    def __str__(self) -> str:
        return f'{self.target} of {self.distribution} {self.version}'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """One driver as ``[DEFAULT] compute_driver`` names it.

    :ivar target: the text after the colon; empty without a colon
    """

    entry: Installed
    target: str

    @property
    def name(self) -> str:
        """The name, as the option has it."""
        return _named(self.entry.name, self.target)

    def __str__(self) -> str:
        return f'driver {self.name} ({self.entry})'


def installed() -> list[Installed]:
    """Return the installed drivers, sorted by name, without importing any."""
    points = importlib.metadata.entry_points(group=NAMESPACE)
    distributions = {id(point.dist): point.dist for point in points}
    # A distribution parses its whole metadata for each question about it.
    known = {key: _facts(dist) for key, dist in distributions.items()}
    found = set[Installed]()
    for point in points:
        name, version = known[id(point.dist)]
        found.add(
            Installed(
                name=point.name,
                target=point.value,
                distribution=name,
                version=version,
            )
        )
    return sorted(found, key=lambda i: (i.name, i.distribution))


def _facts(dist: importlib.metadata.Distribution | None) -> tuple[str, str]:
    """Return the name and the version of a distribution."""
    if dist is None:
        return 'unknown', ''
    metadata = dist.metadata
    return metadata['Name'], metadata['Version']


def load_all(
    names: Sequence[str], conf: cfg.ConfigOpts, *, by_name: bool = False
) -> drivers.Drivers:
    """Return the drivers of these names, with their options registered.

    A driver keeps its name whichever of its entry points is given.

    :param by_name: return only stand-ins, which have the names of the drivers
        and answer nothing; the values of options do not matter to them
    :raises errors.ConfigError: as for ``load``; a driver is named twice, or
        none is
    """
    every = installed()
    if not names:
        raise errors.ConfigError(
            '[DEFAULT] compute_driver names no driver; installed drivers: '
            f'{_listed(every)}'
        )
    chosen: dict[str, _Choice] = {}
    for choice in [_find(name, every) for name in names]:
        plain = _named(_plain_name(choice.entry, every), choice.target)
        if plain in chosen:
            raise errors.ConfigError(
                f'[DEFAULT] compute_driver names the driver {plain} twice '
                f'({", ".join(names)}): name each driver once'
            )
        chosen[plain] = choice
    make = _stand_in if by_name else _load
    return drivers.Drivers(
        {plain: make(choice, conf) for plain, choice in chosen.items()}
    )


def load(name: str, conf: cfg.ConfigOpts) -> virt.ComputeDriver:
    """Return the driver of that name, with its options registered.

    :param name: of its entry point, or ``NAME:TARGET``
    :raises errors.ConfigError: no driver or several have this name, it cannot
        be imported, it breaks the contract, it does not take the target, or
        one of its options is wrong
    """
    return _load(_find(name, installed()), conf)


def load_class(
    driver_class: type[virt.ComputeDriver],
    conf: cfg.ConfigOpts,
    name: str = '',
) -> virt.ComputeDriver:
    """Return a driver of a class that needs no entry point.

    :param name: the name of the driver in messages; by default the class's
        name
    :raises errors.ConfigError: it breaks the contract, or one of its options
        is wrong
    """
    name = name or driver_class.__name__
    _check(f'driver {name}', driver_class)
    return _made(f'driver {name}', name, driver_class, conf)


def driver_class(name: str) -> type[virt.ComputeDriver]:
    """Return the class of the driver of that name.

    :raises errors.ConfigError: as for ``load``
    """
    return _class(_find(name, installed()))


class _StandIn(virt.ComputeDriver):
    """A driver that is only known by name."""

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> typing.Self:  # noqa: ARG003
        """Return a stand-in; it uses no option."""
        return cls()

    def get_available_nodes(self) -> Sequence[str]:
        """Refuse to answer.

        :raises errors.DriverError: always
        """
        raise errors.DriverError('the driver was not started')


def _stand_in(choice: _Choice, conf: cfg.ConfigOpts) -> virt.ComputeDriver:
    """Return a stand-in whose class has the name of the driver's class."""
    driver_class = _class(choice)
    _register(choice.name, driver_class, conf)
    stand_in: type[_StandIn] = type(
        driver_class.__name__,
        (_StandIn,),
        {'__module__': driver_class.__module__},
    )
    return stand_in()


def _load(choice: _Choice, conf: cfg.ConfigOpts) -> virt.ComputeDriver:
    return _made(str(choice), choice.name, _class(choice), conf)


def _made(
    title: str,
    name: str,
    driver_class: type[virt.ComputeDriver],
    conf: cfg.ConfigOpts,
) -> virt.ComputeDriver:
    _register(name, driver_class, conf)
    try:
        with long_calls.watched(driver_class.__name__, 'from_conf'):
            made: object = driver_class.from_conf(conf)
    except (errors.AgentError, cfg.Error):
        raise
    except failures.caught() as exc:
        raise errors.ConfigError(
            f'{title} cannot be created: {failures.text(exc, "from_conf")}'
        ) from exc
    if not isinstance(made, virt.ComputeDriver):
        raise errors.ConfigError(
            f'{title} cannot be created: from_conf() returned '
            f'{error_text.excerpt(made)}; it must return the driver, as in '
            'return cls(conf)'
        )
    return made


def _class(choice: _Choice) -> type[virt.ComputeDriver]:
    """Return the class of a driver, for its target if it has one.

    :raises errors.ConfigError: the class breaks the contract, takes no target,
        or not this one
    """
    driver_class = _import(choice.entry)
    _check(str(choice), driver_class)
    try:
        chosen = driver_class.for_target(choice.target)
    except errors.ConfigError as exc:
        raise errors.ConfigError(
            f'[DEFAULT] compute_driver = {choice.name}: {exc}'
        ) from exc
    except failures.caught() as exc:
        raise errors.ConfigError(
            f'{choice} failed: {failures.text(exc, "for_target")}'
        ) from exc
    _check(f'for_target() of {choice}', chosen)
    return chosen


def _check(title: str, driver_class: object) -> None:
    found = problems(driver_class)
    if found:
        raise errors.ConfigError(
            f'{title} breaks the driver contract: {"; ".join(found)}'
        )


def _register(
    name: str, driver_class: type[virt.ComputeDriver], conf: cfg.ConfigOpts
) -> None:
    try:
        driver_class.register_opts(conf)
    except cfg.DuplicateOptError as exc:
        raise errors.ConfigError(
            f'driver {name} cannot be used with the others in [DEFAULT] '
            f'compute_driver: the option {exc.opt_name} means something else '
            'to one of them'
        ) from exc
    except cfg.Error:
        raise
    except failures.caught() as exc:
        raise errors.ConfigError(
            f'driver {name} failed: {failures.text(exc, "register_opts")}'
        ) from exc


def _named(name: str, target: str) -> str:
    return f'{name}:{target}' if target else name


def _find(text: str, every: Sequence[Installed]) -> _Choice:
    name, _, target = text.partition(':')
    found = [driver for driver in every if driver.name == name]
    if not found:
        close = difflib.get_close_matches(name, [d.name for d in every], n=1)
        meant = f' (did you mean {close[0]!r}?)' if close else ''
        raise errors.ConfigError(
            f'[DEFAULT] compute_driver: no driver {name!r} is installed'
            f'{meant}; installed drivers: {_listed(every)}'
        )
    if len(found) > 1:
        rivals = ' and '.join(str(driver) for driver in found)
        raise errors.ConfigError(
            f'[DEFAULT] compute_driver: several drivers are named {name!r}: '
            f'{rivals}; uninstall all except one'
        )
    return _Choice(entry=found[0], target=target)


def _listed(every: Sequence[Installed]) -> str:
    return ', '.join(sorted({driver.name for driver in every})) or 'none'


def _plain_name(found: Installed, every: Sequence[Installed]) -> str:
    """Return the shortest name of a driver, such as ``libvirt``."""
    names = (
        each.name
        for each in every
        if (each.target, each.distribution)
        == (found.target, found.distribution)
    )
    return min(names, key=lambda name: (len(name), name))


def _import(found: Installed) -> type[virt.ComputeDriver]:
    try:
        manager: Any = stevedore_driver.DriverManager(NAMESPACE, found.name)
    except failures.caught() as exc:
        raise errors.ConfigError(
            f'driver {found.name} ({found}) cannot be imported: '
            f'{failures.text(exc, "its import")}'
        ) from exc
    loaded: type[virt.ComputeDriver] = manager.driver
    return loaded


# --- the contract, without calling the class ------------------------------------


def problems(driver_class: object) -> list[str]:
    """Return the ways in which a class breaks the contract."""
    base = f'{virt.ComputeDriver.__module__}.{virt.ComputeDriver.__name__}'
    if not isinstance(driver_class, type):
        return [f'{driver_class!r} is not a class']
    if not issubclass(driver_class, virt.ComputeDriver):
        return [f'it is not a subclass of {base}']
    found = [
        f'{method} is missing'
        for method in sorted(driver_class.__abstractmethods__)
    ]
    if not any(_overrides(driver_class, method) for method in _DESCRIBING):
        found.append(f'it has none of {", ".join(_DESCRIBING)}')
    found += _version_problems(driver_class.contract_version)
    for method, arguments in _CALLS.items():
        signature = _signature(getattr(driver_class, method))
        try:
            signature.bind('self', *arguments)
        except TypeError:
            found.append(
                f'{method}{signature} cannot be called with '
                f'{len(arguments)} arguments'
            )
    return found


def _version_problems(needed: object) -> list[str]:
    """Return why a driver needs another contract version; empty if none."""
    if needed == '':
        return []
    if not isinstance(needed, str) or not _VERSION.fullmatch(needed):
        return [
            (
                f'contract_version {error_text.excerpt(needed)} is no version: '
                f"write such as '{CONTRACT_VERSION}'"
            )
        ]
    major, minor = map(int, needed.split('.'))
    has_major, has_minor = map(int, CONTRACT_VERSION.split('.'))
    if major == has_major and minor <= has_minor:
        return []
    what = (
        'compute-agent'
        if (major, minor) > (has_major, has_minor)
        else 'driver'
    )
    return [
        (
            f'it needs version {needed} of the contract, and this agent has '
            f'{CONTRACT_VERSION}: install a newer version of the {what}'
        )
    ]


def _signature(method: Callable[..., object]) -> inspect.Signature:
    """Return a method's signature.

    Its annotations may name what only type checkers import: since Python 3.14
    that is no error before somebody asks for their values.
    """
    if sys.version_info >= (3, 14):
        return inspect.signature(
            method, annotation_format=annotationlib.Format.STRING
        )
    return inspect.signature(method)


def _overrides(driver_class: type[virt.ComputeDriver], method: str) -> bool:
    own = getattr(driver_class, method)
    return own is not getattr(virt.ComputeDriver, method)
