# SPDX-License-Identifier: Apache-2.0
"""The checks of the configuration files and of the installed packages."""

import importlib.metadata
import pathlib
import stat

from oslo_config import cfg

from ...conf import misspelled, nova_files
from . import finding
from .finding import Check, Finding

# The packages of this distribution at the top level.
_OWN = ('compute_agent', 'drivers', 'report_client')
_GROUPS = ('placement', 'ironic')
_SECRETS = {'password', 'application_credential_secret', 'token'}
_DISTRIBUTION = 'compute-agent'


def checks(conf: cfg.ConfigOpts) -> list[Check]:
    """Return the checks."""
    return [
        Check(name='configuration', run=lambda: configuration(conf)),
        Check(name='packages', run=packages),
    ]


def configuration(conf: cfg.ConfigOpts) -> Finding:
    """Report the files that were read, and mistakes in them."""
    files = [pathlib.Path(path) for path in conf.config_file or ()]
    if not files:
        return finding.warning(
            'no configuration file was found',
            'name one with --config-file, or write '
            '/etc/compute-agent/compute-agent.conf',
        )
    lines = misspelled.lines(conf)
    if lines:
        return finding.warning('; '.join(lines), 'correct the names')
    open_to_all = [
        str(file)
        for file in files
        if file.stat().st_mode & stat.S_IROTH and _has_secret(file)
    ]
    if open_to_all:
        named = ' '.join(open_to_all)
        return finding.warning(
            f'everybody may read {named}, and a password is in it',
            f'run "chmod o-r {named}", {_give(open_to_all)}',
        )
    return finding.ok(f'read {", ".join(map(str, files))}')


def _give(paths: list[str]) -> str:
    """Return how the daemon's user goes on to read these files.

    nova.conf keeps its group, because nova-compute reads it.
    """
    if any(nova_files.is_novas(pathlib.Path(path)) for path in paths):
        return (
            "leave nova's file to its group, because nova-compute reads it, "
            "and add that group to the daemon's unit with "
            'SupplementaryGroups= (docs/service.md)'
        )
    return "and give the file to the group of the daemon's user"


def _has_secret(file: pathlib.Path) -> bool:
    """Return True if a file has a secret of an account."""
    sections = misspelled.read(file)
    return any(_SECRETS & {*sections.get(name, ())} for name in _GROUPS)


def packages() -> Finding:
    """Report other distributions with a top-level package of our names."""
    owners = importlib.metadata.packages_distributions()
    clashes = {
        name: others
        for name in _OWN
        if (others := sorted({*owners.get(name, ())} - {_DISTRIBUTION}))
    }
    if clashes:
        said = '; '.join(
            f'{", ".join(others)} installs a package {name}, too'
            for name, others in clashes.items()
        )
        return finding.failed(
            said, 'install the agent into a virtual environment of its own'
        )
    version = importlib.metadata.version(_DISTRIBUTION)
    return finding.ok(
        f'{_DISTRIBUTION} {version}, and no package of its names'
    )
