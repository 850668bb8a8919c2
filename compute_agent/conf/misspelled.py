# SPDX-License-Identifier: Apache-2.0
"""Groups and options in the configuration files that look misspelled.

oslo.config ignores what it does not know, and nova.conf has many groups and
options of nova's own. So a group is named only if it is near to one of ours,
and an option in a shared group only if it is very near. In ``[compute_agent]``
every unknown option is named. ``cmd/`` logs the lines.
"""

import difflib
import pathlib
from collections.abc import Iterable, Iterator, Mapping

from oslo_config import cfg, iniparser

from . import compute_agent, list_opts

_NEAR = 0.8  # of two names of groups, as difflib measures it
_VERY_NEAR = 0.9  # of two names of options
_SHORTEST = 5  # characters; shorter names are near to too many others
# Nova's own options, or former ones, that are very near to ours.
_OF_NOVA = {
    'cpu_model',
    'disk_allocation_ratio',
    'initial_disk_allocation_ratio',
    'instances_path_share',
    'os_region_name',
    'resource_provider_association_refresh',
}


def lines(conf: cfg.ConfigOpts) -> list[str]:
    """Return a line for each group and option that looks misspelled.

    :param conf: with the options of the driver registered
    """
    known = registered(conf)
    return [
        f'{path}: {line}'
        for path in files(conf)
        for line in _of_file(read(path), known)
    ]


def _of_file(
    sections: Mapping[str, Iterable[str]], known: Mapping[str, set[str]]
) -> Iterator[str]:
    by_small = {group.lower(): group for group in known}
    for group, options in sections.items():
        if group in known:
            for option in options:
                yield from _of_option(group, option, known[group])
        elif near := _nearest(group.lower(), by_small, _NEAR):
            yield (
                f'[{group}] is no group of this agent, so its options have no '
                f'effect; did you mean [{by_small[near]}]?'
            )


def _of_option(group: str, option: str, known: set[str]) -> Iterator[str]:
    if option in known or option in _OF_NOVA:
        return
    is_own = group == compute_agent.GROUP
    current = known - _former()
    near = _nearest(option, current, _NEAR if is_own else _VERY_NEAR)
    if near or is_own:
        advice = f'; did you mean {near}?' if near else ''
        yield f'[{group}] {option} is no option, and has no effect{advice}'


def _nearest(name: str, known: Iterable[str], least: float) -> str | None:
    if len(name) < _SHORTEST:
        return None
    near = difflib.get_close_matches(name, known, n=1, cutoff=least)
    return near[0] if near else None


def registered(conf: cfg.ConfigOpts) -> dict[str, set[str]]:
    """Return the options by group, also those of accounts not used yet."""
    groups = {
        name
        for name in conf
        if isinstance(conf[name], cfg.ConfigOpts.GroupAttr)
    }
    former = _former()
    return {
        'DEFAULT': set(conf) - groups,
        **{
            group: former.union(conf[group], _of_account(conf[group]))
            for group in groups
        },
    }


def _former() -> set[str]:
    """Return the names that options had before; they still work."""
    return {
        old.name.replace('-', '_')
        for _, opts in list_opts()
        for opt in opts
        for old in opt.deprecated_opts
        if old.name
    }


def _of_account(group: cfg.ConfigOpts.GroupAttr) -> set[str]:
    """Return the options of the authentication plugin of a group.

    keystoneauth registers them when the account is used, and a command that
    describes no node does not use that of the driver.
    """
    plugin = group.auth_type if 'auth_type' in group else None
    if not plugin:
        return set()
    from ..transport import session_options  # noqa: PLC0415 (slow)

    return session_options.of_plugin(plugin)


def files(conf: cfg.ConfigOpts) -> Iterator[pathlib.Path]:
    """Yield the files that the configuration was read from."""
    yield from map(pathlib.Path, conf.config_file or ())
    for directory in conf.config_dir or ():
        yield from sorted(pathlib.Path(directory).glob('*.conf'))


class _Names(iniparser.BaseParser):
    """Collects the names of options by section."""

    def __init__(self) -> None:
        super().__init__()
        self.section = ''
        self.found: dict[str, list[str]] = {}

    def new_section(self, section: str) -> None:
        """Begin a section."""
        self.section = section
        self.found.setdefault(section, [])

    def assignment(self, key: str, _value: object) -> None:
        """Note an option."""
        name = key.strip().replace('-', '_')
        section = self.found.setdefault(self.section, [])
        if name not in section:
            section.append(name)


def read(path: pathlib.Path) -> dict[str, list[str]]:
    """Return the options of a file by section.

    A file that oslo.config refuses, or that is gone, has none.
    """
    parser = _Names()
    try:
        text = path.read_text(encoding='utf-8')
        parser.parse(text.splitlines(keepends=True))
    except (OSError, UnicodeDecodeError, iniparser.ParseError):
        return {}
    return parser.found
