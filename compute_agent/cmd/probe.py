# SPDX-License-Identifier: Apache-2.0
"""``compute-agent probe``: the driver's findings, without placement."""

import argparse
import typing
from collections.abc import Sequence

from ..tree import node as node_module
from ..tree.node import Node
from .app import command

if typing.TYPE_CHECKING:
    from oslo_config import cfg

    from ..virt import finding as virt
    from ..virt.driver import ComputeDriver


class Probe(command.Report):
    """Show what the driver finds on each node, and the traits it derives.

    Each trait is printed with the fact behind it and the source of the fact.
    Then follow the traits that the driver cannot decide, with the reason, and
    the facts that have no trait.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the nodes and the option for absent traits."""
        parser = super().get_parser(prog_name)
        command.add_nodes(parser, 'Probe only these nodes.')
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
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Return the findings of each node."""
        from .. import errors  # noqa: PLC0415 (quick --help)
        from ..virt import finding as virt  # noqa: PLC0415
        from .app import configuration  # noqa: PLC0415

        conf = configuration.load(self.app.global_options, local=True)
        driver = configuration.load_driver(conf)
        if not isinstance(driver, virt.Evidence):
            raise errors.ConfigError(
                f'driver {conf.compute_driver} gives no evidence for its '
                'traits; "compute-agent plan" shows what the agent would write'
            )
        nodes = node_module.selected(_nodes(driver, conf), parsed_args.nodes)
        found = [(n.name, n.called, driver.evidence(n.name)) for n in nodes]
        data = [
            {
                'node': title,
                'name': name,
                'findings': [finding_data(f) for f in findings],
                **(_raw(driver, name) if parsed_args.raw else {}),
            }
            for name, title, findings in found
        ]
        texts = [
            _text(title, findings, absent=parsed_args.all)
            for _, title, findings in found
        ]
        return data, '\n\n'.join(texts) if texts else 'no nodes', 0


def _nodes(driver: 'ComputeDriver', conf: 'cfg.ConfigOpts') -> list[Node]:
    """Return the driver's nodes; a host has no uuid before its first cycle."""
    from ..identity import identity  # noqa: PLC0415 (quick --help)
    from .wiring import agent_settings  # noqa: PLC0415

    listed = list(driver.get_available_nodes())
    by_uuid, titles = driver.get_nodenames_by_uuid(), driver.get_titles()
    uuids = {name: uuid for uuid, name in by_uuid.items()}
    if identity.has_host_uuid(listed, by_uuid):
        directories = agent_settings.identity_directories(conf)
        uuids[listed[0]] = identity.known_host_uuid(directories)
    return [
        Node(uuid=uuids.get(name, name), name=name, title=titles.get(name, ''))
        for name in listed
    ]


def _raw(driver: 'virt.Evidence', nodename: str) -> dict[str, dict[str, str]]:
    from .. import errors  # noqa: PLC0415 (quick --help)
    from ..virt import finding as virt  # noqa: PLC0415

    if not isinstance(driver, virt.RawEvidence):
        raise errors.ConfigError(
            'the driver keeps no texts behind its evidence; leave out --raw'
        )
    return {'raw': dict(driver.raw_evidence(nodename))}


def finding_data(finding: 'virt.Finding') -> dict[str, typing.Any]:
    """Return a finding as data for JSON or YAML."""
    return {
        'provider': finding.provider,
        'trait': finding.trait,
        'found': finding.found.value,
        'fact': finding.fact,
        'sources': list(finding.sources),
        'reason': finding.reason,
    }


def _text(
    node: str, findings: Sequence['virt.Finding'], *, absent: bool
) -> str:
    by_provider: dict[str, list[virt.Finding]] = {'': []}
    for found in findings:
        by_provider.setdefault(found.provider, []).append(found)
    return '\n'.join(
        _of_provider(provider or node, of_it, absent=absent)
        for provider, of_it in by_provider.items()
    )


def _of_provider(
    name: str, findings: Sequence['virt.Finding'], *, absent: bool
) -> str:
    """Return the text about the node's own provider, or one below it."""
    import textwrap  # noqa: PLC0415

    from ..virt import finding as virt  # noqa: PLC0415

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


def _line(finding: 'virt.Finding', width: int) -> str:
    seen = f'  [{", ".join(finding.sources)}]' if finding.sources else ''
    reason = f'  {finding.reason}' if finding.reason else ''
    return f'{finding.trait!s:{width}}  {finding.fact}{seen}{reason}'.rstrip()
