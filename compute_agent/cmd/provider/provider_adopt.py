# SPDX-License-Identifier: Apache-2.0
"""``compute-agent provider adopt``: what another made becomes this agent's.

Two cases. A provider in a tree of this agent counts as created by it from now
on. And a provider that has the name of this host, under another uuid, is this
host as it was before it was installed anew: the host takes that uuid.
"""

import argparse
import typing

from ..app import command, confirm
from . import provider_change


class ProviderAdopt(command.Report):
    """Make a provider this agent's, that another created.

    One of a node's tree, or one that stands alone, counts as created by this
    agent. One that has the name of this host, under another uuid, gives the
    host its uuid: the host was installed anew. It is shown first, and you are
    asked.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the provider."""
        parser = super().get_parser(prog_name)
        provider_change.add_provider(parser)
        parser.add_argument(
            '--subtree', action='store_true', help='And all below it.'
        )
        parser.add_argument(
            '--node',
            metavar='NODE',
            help='The node, by name or uuid, that a provider belongs to which '
            'stands alone (default: the only one).',
        )
        confirm.add(parser)
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Adopt the provider; return what was adopted."""
        from report_client.api import providers  # noqa: PLC0415 (quick --help)

        from ...state import lock  # noqa: PLC0415
        from ..wiring import agent as wiring  # noqa: PLC0415
        from ..wiring import placement  # noqa: PLC0415 (quick --help)
        from . import adoption, host_adoption  # noqa: PLC0415

        conf = self.conf()
        with (
            lock.hold(wiring.state_path(conf)),
            wiring.agent(conf, looking=False) as agent,
        ):
            service = providers.Providers(placement.placement_service(conf))
            case = adoption.Case(
                agent=agent,
                service=service,
                one=service.find(parsed_args.provider),
                nodes=agent.tracker.nodes(),
                places=wiring.identity_places(conf),
            )
            found = host_adoption.of(case) or adoption.of(
                case, parsed_args.node, subtree=parsed_args.subtree
            )
            refused = found.plan and confirm.refused(
                self, found.plan, yes=parsed_args.yes
            )
            if refused:
                return {**found.data, 'adopted': []}, *refused
            return found.data, found.act(), 0
