# SPDX-License-Identifier: Apache-2.0
"""The names in a new driver's package, and the checks that they are free.

All follow from the driver's name. ``driver_new.py`` calls this module.
"""

import dataclasses
import importlib.metadata
import importlib.util
import re
import typing
import uuid

from oslo_config import cfg
from oslo_log import log

from ... import conf as agent_conf
from ... import error_text, errors
from ...virt import loader

_NAME = re.compile(r'[a-z][a-z0-9]*(_[a-z0-9]+)*')
_LONGEST = 40


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names in one package.

    :ivar name: the entry point, and the group of the driver's options
    :ivar distribution: the name for pip, and of the folder
    :ivar package: the name that Python imports
    :ivar class_name: the beginning of the names of its classes
    """

    name: str
    distribution: str
    package: str
    class_name: str

    @classmethod
    def of(cls, name: str) -> typing.Self:
        """Return the names that follow from a driver's name.

        :raises errors.ConfigError: the name is not valid
        """
        if not _NAME.fullmatch(name) or len(name) > _LONGEST:
            raise errors.ConfigError(
                f'{error_text.excerpt(name)} cannot be the name of a driver: '
                'use lower-case letters, digits and single underscores, at '
                f'most {_LONGEST} characters, with a letter first, such as '
                'rack_power'
            )
        return cls(
            name=name,
            distribution=f'{name.replace("_", "-")}-driver',
            package=f'{name}_driver',
            class_name=''.join(map(str.capitalize, name.split('_'))),
        )

    def example_uuid(self, node: int) -> str:
        """Return the uuid of a node in the example; no two drivers share it."""
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f'{self.name} {node}'))


def check_free(names: Names) -> None:
    """Refuse names that are in use here.

    :raises errors.ConfigError: a driver, an option of the agent, a Python
        package or a distribution has one of the names
    """
    for problem in (_driver, _option, _package, _distribution):
        found = problem(names)
        if found:
            raise errors.ConfigError(f'{found}; choose another name')


def _driver(names: Names) -> str:
    for one in loader.installed():
        if one.name == names.name:
            return f'a driver {names.name} is installed already: {one}'
    return ''


def _option(names: Names) -> str:
    """Name an option or a group that the driver's group would hide."""
    conf = cfg.ConfigOpts()
    agent_conf.register_opts(conf, agent_conf.groups())
    log.register_options(conf)
    if names.name in conf:
        return (
            f'the agent has options under the name {names.name}, which the '
            f'group [{names.name}] of the driver would hide'
        )
    return ''


def _package(names: Names) -> str:
    if importlib.util.find_spec(names.package) is None:
        return ''
    return f'a Python package {names.package} is installed already'


def _distribution(names: Names) -> str:
    try:
        version = importlib.metadata.version(names.distribution)
    except importlib.metadata.PackageNotFoundError:
        return ''
    return f'{names.distribution} {version} is installed already'
