# SPDX-License-Identifier: Apache-2.0
"""``compute-agent probe``: the drivers' findings, without placement."""

import argparse
import dataclasses
import textwrap
import typing
from collections.abc import Sequence

from oslo_config import cfg

from .. import errors
from ..identity import compute_id, identity
from ..tree import node as node_module
from ..tree.node import Node
from ..virt.drivers import Drivers, NamedDriver
from ..virt.values import finding as virt
from .app import command, configuration
from .wiring import agent_settings


class Probe(command.Report):
    """Show what the driver finds on each node, and the traits it derives.

    Each trait is printed with the fact behind it and the source of the fact.
    Then follow the traits that the driver cannot decide, with the reason, and
    the facts that have no trait.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the nodes and the option for absent traits."""
        command.add_nodes(parser, 'Probe only these nodes.')
        parser.add_argument(
            '--driver',
            metavar='NAME',
            help='Show the findings of this driver only.',
        )
        parser.add_argument(
            '--all',
            action='store_true',
            help='Also show the absent traits.',
        )
        parser.add_argument(
            '--raw',
            action='store_true',
            help='With -f json or yaml, also print the texts that the driver '
            'read: files of the kernel, answers of libvirt, options. UUIDs, '
            "MAC addresses, serial numbers and the host's names are replaced.",
        )

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Return the findings of each node."""
        conf = configuration.load(self.app.global_options, local=True)
        drivers = configuration.load_drivers(conf)
        showing = _showing(drivers, parsed_args.driver)
        probed = [
            _Probed(driver=one, node=node)
            for one in showing
            for node in _nodes(one, drivers, conf)
        ]
        selected = node_module.selected(
            dict.fromkeys(p.node for p in probed), parsed_args.nodes
        )
        found = [
            (each, each.findings())
            for node in selected
            for each in probed
            if each.node == node
        ]
        data = [
            {
                'node': each.node.called,
                'name': each.node.name,
                'driver': each.driver.name,
                'findings': [finding_data(f) for f in findings],
                **(_raw(each) if parsed_args.raw else {}),
            }
            for each, findings in found
        ]
        texts = [
            _text(
                each.node.called
                + f' ({each.driver.title})' * drivers.are_several,
                findings,
                absent=parsed_args.all,
            )
            for each, findings in found
        ]
        return data, '\n\n'.join(texts) if texts else 'no nodes', 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Probed:
    """A node, and a driver that gives evidence about it."""

    driver: NamedDriver
    node: Node

    def findings(self) -> Sequence[virt.Finding]:
        driver = typing.cast('virt.Evidence', self.driver.driver)
        return driver.evidence(self.node.name)


def _showing(drivers: Drivers, name: str | None) -> list[NamedDriver]:
    """Return the drivers that give evidence, or the one of this name.

    :raises errors.ConfigError: no driver gives evidence, or none has the name
    """
    chosen = [one for one in drivers if name in {None, one.name}]
    names = ', '.join(one.name for one in drivers)
    if not chosen:
        raise errors.ConfigError(
            f'--driver: this agent has no driver {name!r}; it has {names}'
        )
    found = [one for one in chosen if isinstance(one.driver, virt.Evidence)]
    if not found:
        raise errors.ConfigError(
            f'driver {", ".join(one.name for one in chosen)} gives no '
            'evidence for its traits; "compute-agent plan" shows what the '
            'agent would write'
        )
    return found


def _nodes(
    one: NamedDriver, drivers: Drivers, conf: cfg.ConfigOpts
) -> list[Node]:
    """Return a driver's nodes; a host has no uuid before its first cycle."""
    listed = one.nodes()
    by_uuid, titles = one.nodenames_by_uuid(), drivers.titles()
    uuids = {name: uuid for uuid, name in by_uuid.items()}
    if identity.has_host_uuid(listed, by_uuid):
        directories = agent_settings.identity_directories(conf)
        uuids[listed[0]] = compute_id.known_host_uuid(directories)
    return [
        Node(uuid=uuids.get(name, name), name=name, title=titles.get(name, ''))
        for name in listed
    ]


def _raw(each: _Probed) -> dict[str, dict[str, str]]:
    driver = each.driver.driver
    if not isinstance(driver, virt.RawEvidence):
        raise errors.ConfigError(
            f'{each.driver.title} keeps no texts behind its evidence; leave '
            'out --raw, or choose another driver with --driver'
        )
    return {'raw': dict(driver.raw_evidence(each.node.name))}


def finding_data(finding: virt.Finding) -> dict[str, typing.Any]:
    """Return a finding as data for JSON or YAML."""
    return {
        'provider': finding.provider,
        'trait': finding.trait,
        'found': finding.found.value,
        'fact': finding.fact,
        'sources': list(finding.sources),
        'reason': finding.reason,
    }


def _text(node: str, findings: Sequence[virt.Finding], *, absent: bool) -> str:
    by_provider: dict[str, list[virt.Finding]] = {'': []}
    for found in findings:
        by_provider.setdefault(found.provider, []).append(found)
    return '\n'.join(
        _of_provider(provider or node, of_it, absent=absent)
        for provider, of_it in by_provider.items()
    )


def _of_provider(
    name: str, findings: Sequence[virt.Finding], *, absent: bool
) -> str:
    """Return the text about the node's own provider, or one below it."""
    titles = {
        virt.Found.PRESENT: 'traits',
        virt.Found.UNKNOWN: 'unknown, left as they are in placement',
        virt.Found.ABSENT: 'absent',
    }
    blocks = [name]
    for found, title in titles.items():
        matching = [
            f for f in findings if f.trait is not None and f.found is found
        ]
        if not matching or (found is virt.Found.ABSENT and not absent):
            continue
        width = max(len(str(f.trait)) for f in matching)
        lines = [f'  {title} ({len(matching)})']
        lines += [f'    {_line(f, width)}' for f in matching]
        blocks.append('\n'.join(lines))
    facts = [f.fact for f in findings if f.trait is None]
    if facts:
        blocks.append(
            f'  without a trait ({len(facts)})\n'
            + textwrap.fill(
                ' '.join(facts),
                76,
                initial_indent='    ',
                subsequent_indent='    ',
            )
        )
    return '\n'.join(blocks)


def _line(finding: virt.Finding, width: int) -> str:
    seen = f'  [{", ".join(finding.sources)}]' if finding.sources else ''
    reason = f'  {finding.reason}' if finding.reason else ''
    return f'{finding.trait!s:{width}}  {finding.fact}{seen}{reason}'.rstrip()
