# SPDX-License-Identifier: Apache-2.0
"""The checks of the drivers, the operator's files, and this host's identity.

A driver's answer is the check of libvirt or Ironic behind it.
"""

import contextlib
import functools
from collections.abc import Sequence

from oslo_config import cfg

from ...identity import compute_id as compute_id_file
from ...identity import nova_root
from ...provider_config import files
from ...virt import answers, loader
from ...virt.driver import ComputeDriver
from ...virt.values import host_facts
from ..app import configuration
from ..wiring import agent_settings
from . import finding, nova_check
from .finding import Check, Finding

_FILES = 'do what the line says; until then, the agent goes on without them'


def checks(conf: cfg.ConfigOpts) -> list[Check]:
    """Return the checks."""
    named = [
        Check(name=f'driver {name}', run=functools.partial(driver, conf, name))
        for name in conf.compute_driver
    ]
    return [
        *named,
        Check(name='provider-config', run=lambda: provider_config(conf)),
        Check(name='compute_id', run=lambda: compute_id(conf)),
        Check(name='nova-compute', run=lambda: nova_check.check(conf)),
    ]


def driver(conf: cfg.ConfigOpts, name: str) -> Finding:
    """Report the nodes that a driver lists, and the files that it refused."""
    with configuration.explained(conf), contextlib.ExitStack() as stack:
        made = loader.load(name, conf)
        stack.callback(made.close)
        nodes = answers.node_names(
            type(made).__name__, made.get_available_nodes()
        )
        refused = _refused(made)
    if refused:
        return finding.warning('; '.join(refused), _FILES)
    if not nodes:
        return finding.warning(
            'it lists no node', 'check its options, if there should be some'
        )
    first = nodes[0] if len(nodes) == 1 else f'{len(nodes)} nodes'
    return finding.ok(f'it lists {first}')


def _refused(made: ComputeDriver) -> Sequence[str]:
    """Return a line for each file of facts or rules that is not in force."""
    if isinstance(made, host_facts.HostFacts):
        return made.host_facts().faults
    return ()


def provider_config(conf: cfg.ConfigOpts) -> Finding:
    """Report the operator's files of providers that are not in force."""
    location, given = agent_settings.provider_config_location(conf)
    try:
        _, lines = files.read(location, given=given)
    except files.Unreadable as exc:
        if given:
            raise
        lines = [str(exc)]
    if lines:
        return finding.warning('; '.join(lines), _FILES)
    return finding.ok(f'every file in {location} is in force')


def compute_id(conf: cfg.ConfigOpts) -> Finding:
    """Report the file with the uuid of this host."""
    mode = agent_settings.mode(conf)
    if mode is not None and mode.is_beside_nova:
        return _novas_id(conf)
    found = compute_id_file.existing_files(
        agent_settings.identity_directories(conf)
    )
    if not found:
        return finding.ok(
            'there is no compute_id file; a driver of one host makes it at '
            'the first start'
        )
    uuid = next(iter(found))
    return finding.ok(f'this host is {uuid}')


def _novas_id(conf: cfg.ConfigOpts) -> Finding:
    """Report the file of nova-compute, which the agent only reads."""
    file = nova_root.host_file(agent_settings.identity_directories(conf))
    if file.stray:
        return finding.warning(
            f'this host is {file.uuid}, by {file.path}; {file.stray} says '
            'something else and does not count',
            f'remove {file.stray}',
        )
    if file.unreadable and not file.uuid:
        return finding.ok(
            f'{"; ".join(file.unreadable)}; the root is found by its name'
        )
    if not file.uuid:
        return finding.ok(
            "nova's compute_id is not seen; the root is found by its name"
        )
    return finding.ok(f'this host is {file.uuid}, by {file.path}')
