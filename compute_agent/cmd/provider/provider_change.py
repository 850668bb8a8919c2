# SPDX-License-Identifier: Apache-2.0
"""Base class of the commands that change the contents of one provider."""

import abc
import argparse
import typing

from ... import errors
from ..app import command

if typing.TYPE_CHECKING:
    from report_client.api import providers as providers_api
    from report_client.http import codec
    from report_client.operations import operations as ops

    from ...ownership import adoption
    from ..wiring.agent import Agent


def providers(asking: command.AgentCommand) -> 'providers_api.Providers':
    """Return the API for providers; it sends no request yet."""
    from report_client.api import providers as providers_api  # noqa: PLC0415 (quick --help)

    from ..wiring import placement  # noqa: PLC0415

    service = placement.placement_service(asking.conf())
    return providers_api.Providers(service)


class ProviderChange(command.Report):
    """A command that changes the contents of one provider."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the provider."""
        parser = super().get_parser(prog_name)
        add_provider(parser)
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Change the provider; return the operation that did it."""
        from report_client.api import optimistic_update  # noqa: PLC0415 (quick --help)
        from report_client.operations import operations  # noqa: PLC0415 (quick --help)
        from report_client.plan import render  # noqa: PLC0415 (quick --help)

        self.check(parsed_args)
        service = providers(self)
        provider = service.find(parsed_args.provider)
        done = self.change(service, provider, parsed_args)
        changed = optimistic_update.is_change(done)
        data = {**render.operation_data(done), 'changed': changed}
        if isinstance(done, operations.SetInventories):
            data['changed_classes'] = sorted(done.changed)
        for key in ('causes', 'foreign'):  # only an agent's plan has them
            data.pop(key, None)
        text = render.line(done)
        return data, text if changed else f'{text}: {render.NOTHING}', 0

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse wrong arguments before any request is sent."""

    @abc.abstractmethod
    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'ops.SetOperation':
        """Change the provider; return the operation that did it."""


def add_provider(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names the provider."""
    parser.add_argument(
        'provider',
        metavar='PROVIDER',
        help='The name or uuid of the provider.',
    )


def refuse_novas_root(
    agent: 'Agent', provider: 'adoption.ListedProvider'
) -> None:
    """Refuse to take over or rename a root that nova-compute reports.

    :raises errors.Refused: the agent is a companion, and this is its node
    """
    if not agent.current.value.is_companion or provider.parent_uuid:
        return
    for node in agent.tracker.nodes():
        if provider.uuid == node.uuid or provider.name == node.name:
            raise errors.Refused(
                f"{node} is nova-compute's with [compute_agent] mode = "
                'companion, and is neither adopted nor renamed; set mode = '
                'owner first if this agent should report it'
            )
