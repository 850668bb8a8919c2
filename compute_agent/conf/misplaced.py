# SPDX-License-Identifier: Apache-2.0
"""Options of the agent in a group that lacks them, where they have no effect.

With ``mode`` in ``[DEFAULT]`` a companion would be an owner, and oslo.config
says nothing. So ``cmd/`` refuses the file. A name counts if nova does not have
it, and in ``[compute_agent]`` also a name of ``[DEFAULT]`` or ``[compute]``.
"""

from collections.abc import Iterable, Iterator, Mapping

from oslo_config import cfg

from . import compute, compute_agent, default, misspelled, nova_files

_OWN = compute_agent.GROUP


def lines(conf: cfg.ConfigOpts, *, everywhere: bool = False) -> list[str]:
    """Return a line for each misplaced option; it names the right group.

    :param everywhere: look in the groups that nobody registered, too, but not
        in nova's files, which have many of them
    """
    known = misspelled.registered(conf)
    homes = _homes()
    found = []
    for path in misspelled.files(conf):
        sections: Mapping[str, Iterable[str]] = misspelled.read(path)
        if not everywhere or nova_files.is_novas(path):
            sections = {g: o for g, o in sections.items() if g in known}
        found += [
            f'{path}: [{group}] {option} has no effect: it is an option of '
            f'[{home}]; write it there'
            for group, option, home in _of_file(sections, homes)
            if option not in known.get(group, ())
        ]
    return found


def _of_file(
    sections: Mapping[str, Iterable[str]], homes: Mapping[str, str]
) -> Iterator[tuple[str, str, str]]:
    """Yield group, option and right group of each option that has another."""
    for group, options in sections.items():
        for option in options:
            home = homes.get(option, group)
            if home != group and _OWN in {home, group}:
                yield group, option, home


def _homes() -> dict[str, str]:
    """Return the group of each option; [DEFAULT] counts before the agent's."""
    return {
        opt.dest: group
        for module in (compute_agent, compute, default)
        for group, opts in module.list_opts()
        for opt in opts
    }
