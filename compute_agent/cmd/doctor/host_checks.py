# SPDX-License-Identifier: Apache-2.0
"""The checks of the drivers and of the identity of this host.

A driver's answer is the check of libvirt or Ironic behind it.
"""

import contextlib
import functools

from oslo_config import cfg

from ...identity import compute_id as compute_id_file
from ...virt import loader
from ..app import configuration
from ..wiring import agent_settings
from . import finding, nova_check
from .finding import Check, Finding


def checks(conf: cfg.ConfigOpts) -> list[Check]:
    """Return the checks."""
    named = [
        Check(name=f'driver {name}', run=functools.partial(driver, conf, name))
        for name in conf.compute_driver
    ]
    return [
        *named,
        Check(name='compute_id', run=lambda: compute_id(conf)),
        Check(name='nova-compute', run=lambda: nova_check.check(conf)),
    ]


def driver(conf: cfg.ConfigOpts, name: str) -> Finding:
    """Report the nodes that a driver lists."""
    with configuration.explained(conf), contextlib.ExitStack() as stack:
        made = loader.load(name, conf)
        stack.callback(made.close)
        nodes = list(made.get_available_nodes())
    if not nodes:
        return finding.warning(
            'it lists no node', 'check its options, if there should be some'
        )
    first = nodes[0] if len(nodes) == 1 else f'{len(nodes)} nodes'
    return finding.ok(f'it lists {first}')


def compute_id(conf: cfg.ConfigOpts) -> Finding:
    """Report the file with the uuid of this host."""
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
