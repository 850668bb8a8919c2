# SPDX-License-Identifier: Apache-2.0
"""The ``ConfigOpts`` of this process, from files and global options."""

import contextlib
import os
import pathlib
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence

from oslo_config import cfg, iniparser

from ... import conf as agent_conf
from ... import error_text, errors, file_trust
from ...conf import compute_agent, default, misplaced, misspelled, nova_files
from ...transport import clouds
from ...virt import driver, drivers, loader
from . import main, signals

PROJECT = 'compute-agent'
_LARGEST = 16_000_000  # bytes of a file
#: Read by default, so that a command has the options of the service.
DIRECTORY = pathlib.Path('/etc/compute-agent/conf.d')
#: A file for each agent of a machine that has several.
AGENTS = DIRECTORY.with_name('agents')

_NO_INTEGER = re.compile(
    r'invalid literal for int\(\) with base 10: (?P<value>.*)'
)
_NO_FLOAT = re.compile(r'could not convert string to float: (?P<value>.*)')
_DETAIL = re.compile(r"from LocationInfo\(.*detail='(?P<file>[^']*)'\)")
# oslo.config's errors about a reference. The last one: an option that refers
# to itself.
_REFERENCES = (
    cfg.NoSuchOptError,
    cfg.TemplateSubstitutionError,
    RecursionError,
)


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
    _read(conf, files(options))
    with explained(conf):
        agent_conf.check(conf, groups)
    refuse_misplaced(conf)
    _keep_own_state(conf, options)
    if options.os_cloud is not None:
        conf.set_override('os_cloud', options.os_cloud, group=clouds.OWN_GROUP)
    if options.region is not None:
        clouds.lend(conf, options.region)
    if environment:
        clouds.allow_environment(conf)
    if not local:
        with explained(conf):
            clouds.settle(conf, 'placement')  # a driver settles its own groups
    return conf


def load_own(
    options: main.GlobalOptions, register: Callable[[cfg.ConfigOpts], None]
) -> cfg.ConfigOpts:
    """Return options that are not taken from nova's files, as the log's.

    :param register: registers them
    :raises errors.ConfigError: a file cannot be read
    """
    conf = cfg.ConfigOpts()
    default.register_opts(conf)  # a value may name one of them after a "$"
    register(conf)
    own = [
        f for f in files(options) if not nova_files.is_novas(pathlib.Path(f))
    ]
    _read(conf, own)
    return conf


def files(options: main.GlobalOptions) -> list[str]:
    """Return the configuration files in the order in which they are read.

    :raises errors.ConfigError: a directory cannot be read, or the machine has
        several agents and the options do not say which
    """
    named: Sequence[str] = options.config_files
    folders: Sequence[str] = options.config_dirs
    own = _own_file(options)
    if not named:
        named = cfg.find_config_files(project=PROJECT, prog=PROJECT)
        with contextlib.suppress(PermissionError):
            if not folders and DIRECTORY.is_dir():
                folders = [str(DIRECTORY)]
    return nova_files.first(dict.fromkeys([*named, *_files_in(folders), *own]))


def _own_file(options: main.GlobalOptions) -> list[str]:
    """Return the file of the agent that is meant, if the machine has several.

    :raises errors.ConfigError: the command line does not say which one
    """
    if options.agent is not None:
        return [str(AGENTS / f'{options.agent}.conf')]
    found = []
    if not options.config_files and not options.config_dirs:
        with contextlib.suppress(OSError):
            found = sorted(path.stem for path in AGENTS.glob('[!.]*.conf'))
    if found:
        raise errors.ConfigError(
            f'this machine has an agent for each file in {AGENTS}: name it '
            f'with --agent {" or ".join(found)}, or another configuration '
            'with --config-file or --config-dir'
        )
    return []


def _read(conf: cfg.ConfigOpts, paths: Iterable[str]) -> None:
    """Read files; a later one replaces what an earlier one sets."""
    args = []
    for path in paths:
        _check_text(path)
        args.append(f'--config-file={path}')
    with explained(conf):
        conf(
            args,
            project=PROJECT,
            default_config_files=[],
            default_config_dirs=[],
        )


def _keep_own_state(conf: cfg.ConfigOpts, options: main.GlobalOptions) -> None:
    """Keep the agent's state apart from nova-compute's and other agents'."""
    if conf.compute_agent.state_path:
        return
    file = nova_files.setting(conf, 'state_path')
    others = nova_files.is_novas(file) if file else bool(options.agent)
    if others:
        path = pathlib.Path(default.STATE_PATH, options.agent or '')
        conf.set_default('state_path', str(path), compute_agent.GROUP)


def refuse_misplaced(
    conf: cfg.ConfigOpts, *, everywhere: bool = False
) -> None:
    """Refuse an option of the agent in a group where it has no effect.

    :param everywhere: also in a group that is no driver's; they are registered
    :raises errors.SeveralMistakes: options in wrong groups, one line each
    """
    lines = misplaced.lines(conf, everywhere=everywhere)
    if lines:
        raise errors.SeveralMistakes(lines)


def no_file_note(conf: cfg.ConfigOpts) -> str:
    """Return a note for messages if no configuration file was read."""
    if conf.config_file:
        return ''
    return ' (no configuration file was found; --config-file names one)'


def _files_in(directories: Iterable[str]) -> Iterator[str]:
    """Yield the files in these directories, sorted by their names.

    :raises errors.ConfigError: one of them is missing or a file, or cannot be
        read
    """
    for directory in map(pathlib.Path, directories):
        try:
            _check_trust(directory, f'--config-dir: {directory}')
            found = sorted(directory.glob('[!.]*.conf'))
            next(directory.iterdir(), None)  # raises; glob would hide it
        except FileNotFoundError as exc:
            raise errors.ConfigError(
                f'no such configuration directory: {directory}'
            ) from exc
        except NotADirectoryError as exc:
            raise errors.ConfigError(
                f'--config-dir: {directory} is not a directory; for a file '
                'there is --config-file'
            ) from exc
        except OSError as exc:
            raise errors.ConfigError(
                f'--config-dir: {directory} cannot be read: {exc.strerror}'
            ) from exc
        yield from map(str, found)


def _check_text(path: str) -> None:
    """Refuse a file that is no text, or that everybody may write.

    oslo.config would not name the first, and would read a device without end.

    :raises errors.ConfigError: it is not UTF-8, no regular file, or not
        trusted
    """
    try:
        _check_trust(pathlib.Path(path), f'the configuration file {path}')
        file_trust.read(path, _LARGEST, named=True).decode()
    except file_trust.Refused as exc:
        if path != os.devnull:
            raise errors.ConfigError(
                f'the configuration file {path} is not read: {exc.strerror}'
            ) from exc
    except UnicodeDecodeError as exc:
        raise errors.ConfigError(
            f'the configuration file {path} is not UTF-8 text: {exc.reason} '
            f'at byte {exc.start}'
        ) from exc
    except OSError:
        return  # oslo.config names it


def _check_trust(path: pathlib.Path, called: str) -> None:
    """Refuse a file or a directory that everybody may write.

    :raises errors.ConfigError: everybody may write the file or the directory
    :raises OSError: it cannot be read
    """
    found = path.stat()
    problem = file_trust.everybody_may_write(found, path)
    if problem and not stat.S_ISCHR(found.st_mode):  # /dev/null
        raise errors.ConfigError(f'{called} is not read: {problem}')


def load_drivers(
    conf: cfg.ConfigOpts, *, by_name: bool = False
) -> drivers.Drivers:
    """Return the configured drivers.

    :param by_name: return stand-ins that answer nothing
    :raises errors.ConfigError: a driver cannot be loaded, or an option is
        wrong
    """
    with explained(conf), signals.kept():
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
    with explained(conf), signals.kept():
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
        raise errors.ConfigError(_denied([*exc.config_files])) from exc
    except _REFERENCES as exc:
        raise errors.ConfigError(_wrong_reference(conf, exc)) from None
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


def _denied(paths: Sequence[str]) -> str:
    """Return a line about files that this user may not read."""
    line = (
        f'the configuration file {", ".join(paths)} cannot be read: Permission '
        'denied; run this as a user who may read it'
    )
    if any(nova_files.is_novas(pathlib.Path(path)) for path in paths):
        line += (
            ", or, for the daemon, add nova's group with SupplementaryGroups= "
            'in its unit (docs/service.md)'
        )
    return line


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


def _wrong_reference(conf: cfg.ConfigOpts | None, exc: Exception) -> str:
    """Return a message for one of ``_REFERENCES``; it has no part of a value.

    oslo.config replaces ``$name`` in a value by the value of the option
    ``name``. Its error says which name it did not find, and that may be the
    rest of a password. This message names the option with the value instead.

    :param conf: the options that were read, or None if they are unknown
    """
    named = (
        [_option_named(conf, *found) for found in _wrong_options(conf)]
        if conf
        else []
    )
    if conf is not None and not named:  # the cause is no single value
        return error_text.one_line(exc)
    options = ' and '.join(named) or 'a value in the configuration'
    verb = 'have' if len(named) > 1 else 'has'
    return (
        f'{options} {verb} a "$", and what follows it is not the name of '
        'another option: write "$$" for each "$" of the value'
    )


def _wrong_options(conf: cfg.ConfigOpts) -> Iterator[tuple[str, str]]:
    """Yield the group and the name of each option that cannot be read."""
    groups = [name for name in conf if _is_group(conf, name)]
    for name in conf:
        if name not in groups and _fails(conf, name):
            yield 'DEFAULT', name
    for group in groups:
        for name in conf[group]:
            if _fails(conf[group], name):
                yield group, name


def _is_group(conf: cfg.ConfigOpts, name: str) -> bool:
    with contextlib.suppress(ValueError, *_REFERENCES):
        return isinstance(conf[name], cfg.ConfigOpts.GroupAttr)
    return False


def _fails(
    options: cfg.ConfigOpts | cfg.ConfigOpts.GroupAttr, name: str
) -> bool:
    """Return True if the reference in a value cannot be replaced."""
    try:
        options[name]
    except _REFERENCES:
        return True
    except ValueError:  # about something else
        return False
    return False


def _option_named(conf: cfg.ConfigOpts, group: str, name: str) -> str:
    """Return an option with the file that sets it, if that is known."""
    setting = [
        path
        for path in misspelled.files(conf)
        if name in misspelled.read(path).get(group, ())
    ]
    # The last file counts.
    place = f' in {error_text.printable(str(setting[-1]))}' if setting else ''
    return f'[{group}] {name}{place}'
