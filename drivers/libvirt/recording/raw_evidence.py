# SPDX-License-Identifier: Apache-2.0
"""Everything that the description of a host read, as a recorded host.

It describes the host once more, from sources that remember their answers. The
options of nova.conf that differ from their defaults become the nova.conf of
the recording, without those that name this host or a connection.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from oslo_config import cfg

from compute_agent import errors
from compute_agent.tree import provider_tree
from compute_agent.virt import driver

from .. import sources
from . import recorder, redaction

NOVA_CONF = 'nova.conf'

_UUID = '00000000-0000-4000-8000-000000000000'
_PRIVATE = frozenset({'connection_uri'})
# Options of the agent that the driver reads, too.
_OF_AGENT = (
    'instances_path',
    'ram_allocation_ratio',
    'reserved_host_cpus',
    'reserved_host_disk_mb',
    'reserved_host_memory_mb',
)

Make = Callable[[sources.Sources], driver.ComputeDriver]


def of_host(
    asked: sources.Sources,
    make: Make,
    options: str,
    hostnames: Iterable[str],
) -> dict[str, str]:
    """Return path → text of all that a driver on this host reads.

    A description that ends with an error is recorded as far as it came.

    :param options: the text of the recording's nova.conf
    :param hostnames: the names of the host, which are replaced
    """
    recording = recorder.Recorder(asked)
    with contextlib.suppress(errors.DriverError):
        _describe(make(recording.sources))
    texts = recording.texts()
    texts[NOVA_CONF] = options
    return redaction.redacted(texts, hostnames)


def _describe(again: driver.ComputeDriver) -> None:
    tree = provider_tree.ProviderTree()
    (name,) = again.get_hypervisor_hostnames().values()
    tree.new_root(name, _UUID)
    again.update_provider_tree(tree, name)


def as_nova_conf(
    conf: cfg.ConfigOpts, groups: Mapping[str, list[cfg.Opt]]
) -> str:
    """Return the options that are not at their defaults, as a nova.conf."""
    agents = {name: conf[name] for name in _OF_AGENT}
    lines = {
        'DEFAULT': [
            f'{name} = {value}'
            for name, value in agents.items()
            if value is not None
        ]
    }
    for group, opts in groups.items():
        values = conf if group == 'DEFAULT' else conf[group]
        lines.setdefault(group, []).extend(
            line
            for opt in opts
            if opt.dest not in _PRIVATE
            for line in _lines(opt, values[opt.dest])
        )
    return '\n'.join(
        '\n'.join([f'[{group}]', *found, ''])
        for group, found in sorted(lines.items())
        if found
    )


def _lines(opt: cfg.Opt, value: Any) -> Iterator[str]:
    if value == opt.default or value is None:
        return
    if isinstance(opt, cfg.ListOpt):
        yield f'{opt.dest} = {", ".join(map(str, value))}'
    elif opt.multi:
        yield from (f'{opt.dest} = {one}' for one in value)
    else:
        yield f'{opt.dest} = {value}'
