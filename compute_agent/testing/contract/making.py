# SPDX-License-Identifier: Apache-2.0
"""Makes the driver of a world as the agent makes it: from a configuration.

The options go through a file, because some are registered only when others
were read.
"""

import difflib
import pathlib
from collections.abc import Iterable, Iterator

from oslo_config import cfg

from ... import conf as agent_conf
from ... import errors
from ...cmd.app import configuration
from ...conf import misspelled
from ...virt import driver as virt
from ...virt import loader
from . import watch
from . import world as worlds

#: A driver by the name of its entry point, or its class.
Driver = str | type[virt.ComputeDriver]

_FILE = 'contract.conf'


def driver_class(driver: Driver) -> type[virt.ComputeDriver]:
    """Return the class of a driver.

    :raises errors.ConfigError: no driver of this name can be imported, or it
        is neither a name nor a class
    """
    if not isinstance(driver, str | type):
        raise errors.ConfigError(
            f"driver = {driver!r}: write the name of the driver's entry point, "
            'or its class'
        )
    return loader.driver_class(driver) if isinstance(driver, str) else driver


def called(driver: Driver) -> str:
    """Return the name of a driver for messages."""
    return driver if isinstance(driver, str) else driver.__name__


def installed(driver: Driver) -> loader.Installed | None:
    """Return the entry point of a driver; None for a class."""
    name = driver.partition(':')[0] if isinstance(driver, str) else None
    return next((i for i in loader.installed() if i.name == name), None)


def make(
    driver: Driver, world: worlds.World, folder: pathlib.Path
) -> virt.ComputeDriver:
    """Return a new driver in this world.

    :param folder: for the configuration and the state of the agent
    :raises errors.ConfigError: the driver is refused, or an option is wrong
    """
    if world.make is not None:
        return world.make()
    configured(world, folder)
    return from_file(driver, folder)


def make_with(
    driver: Driver, conf: worlds.Conf, folder: pathlib.Path
) -> virt.ComputeDriver:
    """Return a new driver with other options than its world's.

    :raises errors.ConfigError: the driver is refused, or an option is wrong
    """
    return make(driver, worlds.World(conf=conf), folder)


def configured(world: worlds.World, folder: pathlib.Path) -> None:
    """Write the options of a world into the file of the folder."""
    text = '\n'.join([*_lines(world, folder), ''])
    (folder / _FILE).write_text(text, 'utf-8')


def from_file(driver: Driver, folder: pathlib.Path) -> virt.ComputeDriver:
    """Return a new driver, made from the options in the folder.

    :raises errors.ConfigError: the driver is refused, or an option is wrong
    """
    with watch.agent_runs(), configuration.explained():
        conf = _read(folder / _FILE)
        found = driver_class(driver)
    with configuration.explained(conf):
        made = loader.load_class(found, conf, called(driver))
    with watch.agent_runs():
        _check_options(conf, folder / _FILE)
    return made


def _check_options(conf: cfg.ConfigOpts, path: pathlib.Path) -> None:
    """Refuse options that nobody registered: they would have no effect.

    Call it after the driver is made, because drivers may register options
    then.

    :raises errors.ConfigError: a group or an option is not registered
    """
    known = _known(conf)
    for group, options in misspelled.read(path).items():
        if group not in known:
            raise errors.ConfigError(
                f'World.conf: there is no group [{group}]'
                f'{_meant(group, known)}'
            )
        for option in options:
            if option not in known[group]:
                raise errors.ConfigError(
                    f'World.conf: [{group}] has no option {option}'
                    f'{_meant(option, known[group])}'
                )


def _known(conf: cfg.ConfigOpts) -> dict[str, set[str]]:
    """Return the options of the agent and the driver, by group."""
    known = misspelled.registered(conf)
    every = [
        (group or 'DEFAULT', opt)
        for group, opts in agent_conf.list_opts()
        for opt in opts
    ]
    every += [
        (group.name if group else 'DEFAULT', info['opt'])
        for info, group in conf._all_opt_infos()  # noqa: SLF001 (no other way)
    ]
    for group, opt in every:
        known.setdefault(group, set()).add(opt.dest)
        for old in opt.deprecated_opts:
            name = (old.name or opt.name).replace('-', '_')
            known.setdefault(old.group or group, set()).add(name)
    return known


def _meant(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f' (did you mean {near[0]}?)' if near else ''


def _read(path: pathlib.Path) -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    agent_conf.register_opts(conf, agent_conf.LOCAL)
    with configuration.explained(conf):
        conf(
            [f'--config-file={path}'],
            project=configuration.PROJECT,
            default_config_files=[],
            default_config_dirs=[],
        )
    return conf


def _lines(world: worlds.World, folder: pathlib.Path) -> Iterator[str]:
    given = {group: dict(options) for group, options in world.conf.items()}
    given.setdefault('DEFAULT', {}).setdefault('state_path', folder)
    for group, options in given.items():
        yield f'[{group}]'
        for option, value in options.items():
            several = value if isinstance(value, tuple) else (value,)
            for one in several:
                yield f'{option} = {_text(option, one)}'


def _text(option: str, value: object) -> str:
    """Return a value as it stands in a file of oslo.config.

    :raises errors.ConfigError: the value has more than one line
    """
    text = ','.join(map(str, value)) if isinstance(value, list) else str(value)
    if text.splitlines() not in ([], [text]):
        raise errors.ConfigError(
            f'World.conf: the option {option} has a text of several lines: '
            'write it into a file of the test'
        )
    return text.replace('$', '$$')
