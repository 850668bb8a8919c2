# SPDX-License-Identifier: Apache-2.0
"""The ``ConfigOpts`` of this process, from files and global options."""

import contextlib
import pathlib
import re
import stat
from collections.abc import Callable, Iterable, Iterator

from oslo_config import cfg, iniparser

from ... import conf as agent_conf
from ... import error_text, errors
from ...transport import clouds
from ...virt import driver, drivers, loader
from . import main, references

PROJECT = 'compute-agent'

_NO_INTEGER = re.compile(
    r'invalid literal for int\(\) with base 10: (?P<value>.*)'
)
_NO_FLOAT = re.compile(r'could not convert string to float: (?P<value>.*)')
_DETAIL = re.compile(r"from LocationInfo\(.*detail='(?P<file>[^']*)'\)")


def load(
    options: main.GlobalOptions,
    register: Callable[[cfg.ConfigOpts], None] | None = None,
    *,
    local: bool = False,
    environment: bool = True,
) -> cfg.ConfigOpts:
    """Return the configuration, with every option of the agent checked.

    :param register: registers more options before the files are read
    :param local: leave out the options that reach placement, which is faster
    :param environment: take an account that no option names from the OS_*
        variables
    :raises errors.ConfigError: a file cannot be read, or an option is wrong
    """
    if options.os_cloud is not None and not options.os_cloud.strip():
        raise errors.ConfigError(
            '--os-cloud has no name: give the name of a cloud in clouds.yaml, '
            'or leave the option out for the account of the configuration'
        )
    conf = cfg.ConfigOpts()
    groups = agent_conf.LOCAL if local else agent_conf.groups()
    agent_conf.register_opts(conf, groups)
    if register is not None:
        register(conf)
    args = [f'--config-file={f}' for f in options.config_files]
    args += [f'--config-dir={d}' for d in options.config_dirs]
    for path in (*options.config_files, *_files_in(options.config_dirs)):
        _check_text(path)
    with explained(conf):
        conf(args, project=PROJECT)
        agent_conf.check(conf, groups)
    if options.os_cloud is not None:
        conf.set_override('os_cloud', options.os_cloud, group=clouds.OWN_GROUP)
    if environment:
        clouds.allow_environment(conf)
    if not local:
        with explained(conf):
            clouds.settle(conf, 'placement')  # a driver settles its own groups
    return conf


def no_file_note(conf: cfg.ConfigOpts) -> str:
    """Return a note for messages if no configuration file was read."""
    if conf.config_file or conf.config_dir:
        return ''
    return ' (no configuration file was found; --config-file names one)'


def _files_in(directories: Iterable[str]) -> Iterator[str]:
    """Yield the files that oslo.config reads in these directories.

    :raises errors.ConfigError: one of them is a file, or cannot be read
    """
    for directory in map(pathlib.Path, directories):
        try:
            is_file = stat.S_ISREG(directory.stat().st_mode)
        except FileNotFoundError:
            continue  # oslo.config names it
        except OSError as exc:
            raise errors.ConfigError(
                f'--config-dir: {directory} cannot be read: {exc.strerror}'
            ) from exc
        if is_file:
            raise errors.ConfigError(
                f'--config-dir: {directory} is not a directory; for a file '
                'there is --config-file'
            )
        yield from map(str, sorted(directory.glob('*.conf')))


def _check_text(path: str) -> None:
    """Refuse a file that is no text; oslo.config would not name it.

    :raises errors.ConfigError: it is not UTF-8
    """
    try:
        pathlib.Path(path).read_text(encoding='utf-8')
    except UnicodeDecodeError as exc:
        raise errors.ConfigError(
            f'the configuration file {path} is not UTF-8 text: {exc.reason} '
            f'at byte {exc.start}'
        ) from exc
    except OSError:
        return  # oslo.config names it


def load_drivers(
    conf: cfg.ConfigOpts, *, by_name: bool = False
) -> drivers.Drivers:
    """Return the configured drivers.

    :param by_name: return stand-ins that answer nothing
    :raises errors.ConfigError: a driver cannot be loaded, or an option is
        wrong
    """
    with explained(conf):
        return loader.load_all(conf.compute_driver, conf, by_name=by_name)


def load_driver_of(
    conf: cfg.ConfigOpts, kind: type, otherwise: str
) -> driver.ComputeDriver:
    """Return the first configured driver of a kind, else a named driver.

    :param kind: an optional protocol of drivers
    :param otherwise: the entry point of a driver that has it
    :raises errors.ConfigError: a driver cannot be loaded, or an option is
        wrong
    """
    for one in load_drivers(conf):
        if isinstance(one.driver, kind):
            return one.driver
    with explained(conf):
        return loader.load(otherwise, conf)


@contextlib.contextmanager
def explained(conf: cfg.ConfigOpts | None = None) -> Iterator[None]:
    """Turn oslo.config's errors into ConfigErrors of one line.

    :param conf: the options that are read, for their names in a message
    :raises errors.ConfigError: in place of any ``cfg.Error``
    """
    try:
        yield
    except cfg.ConfigFilesNotFoundError as exc:
        files = ', '.join(exc.config_files)
        raise errors.ConfigError(
            f'no such configuration file: {files}'
        ) from exc
    except cfg.ConfigFilesPermissionDeniedError as exc:
        files = ', '.join(exc.config_files)
        raise errors.ConfigError(
            f'the configuration file {files} cannot be read: Permission '
            'denied; run this as a user who may read it'
        ) from exc
    except cfg.ConfigDirNotFoundError as exc:
        raise errors.ConfigError(
            f'no such configuration directory: {exc.config_dir}'
        ) from exc
    except references.ERRORS as exc:
        raise errors.ConfigError(references.told(conf, exc)) from None
    except cfg.ConfigFileParseError as exc:
        raise errors.ConfigError(
            f'the configuration file {exc.config_file} cannot be read: '
            f'{_without_line(exc)}'
        ) from None
    except cfg.Error as exc:
        raise errors.ConfigError(_plain(error_text.one_line(exc))) from exc
    except OSError as exc:
        raise errors.ConfigError(
            f'the configuration file {exc.filename} cannot be read: '
            f'{exc.strerror}; give the path of a file that this user may read'
        ) from exc
    except ValueError as exc:
        raise errors.ConfigError(
            f'the configuration cannot be read: {exc}'
        ) from exc


def _without_line(exc: cfg.ConfigFileParseError) -> str:
    """Return why a file cannot be parsed, without the line: it may be secret.

    oslo.config's text quotes it.
    """
    found = exc.__context__
    if not isinstance(found, iniparser.ParseError):
        return 'a line is neither a section nor an option'
    return (
        f'line {found.lineno}: {found.msg}; write [section], name = value, or '
        'a comment after #'
    )


def _plain(text: str) -> str:
    """Return oslo.config's text without Python's words in it."""
    text = _DETAIL.sub(r'in \g<file>', text)
    text = _NO_INTEGER.sub(r'\g<value> is not a whole number', text)
    return _NO_FLOAT.sub(r'\g<value> is not a number', text)
