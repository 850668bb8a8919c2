# SPDX-License-Identifier: Apache-2.0
"""The ``ConfigOpts`` of this process, from files and global options."""

import contextlib
import re
from collections.abc import Callable, Iterator

from oslo_config import cfg

from ... import conf as agent_conf
from ... import errors
from ...virt import driver as virt
from ...virt import loader
from . import main

PROJECT = 'compute-agent'

_DETAIL = re.compile(r"from LocationInfo\(.*detail='(?P<file>[^']*)'\)")


def load(
    options: main.GlobalOptions,
    register: Callable[[cfg.ConfigOpts], None] | None = None,
    *,
    local: bool = False,
) -> cfg.ConfigOpts:
    """Return the configuration, with every option of the agent checked.

    :param register: registers more options before the files are read
    :param local: leave out the options that reach placement, which is faster
    :raises errors.ConfigError: a file cannot be read, or an option is wrong
    """
    conf = cfg.ConfigOpts()
    groups = agent_conf.LOCAL if local else agent_conf.groups()
    agent_conf.register_opts(conf, groups)
    if register is not None:
        register(conf)
    args = [f'--config-file={f}' for f in options.config_files]
    args += [f'--config-dir={d}' for d in options.config_dirs]
    with explained():
        conf(args, project=PROJECT)
        agent_conf.check(conf, groups)
    return conf


def load_driver(conf: cfg.ConfigOpts) -> virt.ComputeDriver:
    """Return the configured driver.

    :raises errors.ConfigError: the driver cannot be loaded, or an option is
        wrong
    """
    with explained():
        return loader.load(conf.compute_driver, conf)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Turn oslo.config's errors into ConfigErrors of one line.

    :raises errors.ConfigError: in place of any ``cfg.Error``
    """
    try:
        yield
    except cfg.ConfigFilesNotFoundError as exc:
        files = ', '.join(exc.config_files)
        raise errors.ConfigError(
            f'no such configuration file: {files}'
        ) from exc
    except cfg.Error as exc:
        text = ' '.join(str(exc).split())
        raise errors.ConfigError(_DETAIL.sub(r'in \g<file>', text)) from exc
    except (OSError, ValueError) as exc:
        raise errors.ConfigError(
            f'the configuration cannot be read: {exc}'
        ) from exc
