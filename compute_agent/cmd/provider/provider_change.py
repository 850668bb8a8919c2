# SPDX-License-Identifier: Apache-2.0
"""What the commands that change a provider share: who it is, what was done."""

import abc
import argparse
import typing

from ..app import command

if typing.TYPE_CHECKING:
    from report_client.api import providers as providers_api
    from report_client.http import codec
    from report_client.operations import operations as ops


def providers(asked: command.AgentCommand) -> 'providers_api.Providers':
    """Return the providers of the configured placement; none is asked for."""
    from report_client.api import providers as providers_api  # noqa: PLC0415 (quick --help)

    from ..wiring import placement  # noqa: PLC0415

    service = placement.placement_service(asked.conf())
    return providers_api.Providers(service)


class ProviderChange(command.Report):
    """A command that changes what one provider holds."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the provider."""
        parser = super().get_parser(prog_name)
        add_provider(parser)
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Return what was changed."""
        from report_client.api import optimistic_update  # noqa: PLC0415 (quick --help)
        from report_client.operations import operations  # noqa: PLC0415 (quick --help)
        from report_client.plan import render  # noqa: PLC0415 (quick --help)

        self.check(parsed_args)
        service = providers(self)
        one = service.find(parsed_args.provider)
        done = self.change(service, one, parsed_args)
        changed = optimistic_update.is_change(done)
        data = {**render.operation_data(done), 'changed': changed}
        if isinstance(done, operations.SetInventories):
            data['changed_classes'] = sorted(done.changed)
        for key in ('foreign', 'causes'):  # only an agent's record knows them
            del data[key]
        text = render.line(done)
        return data, text if changed else f'{text}: {render.NOTHING}', 0

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse what needs no placement to be found wrong."""

    @abc.abstractmethod
    def change(
        self,
        service: 'providers_api.Providers',
        one: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'ops.SetOperation':
        """Change the provider; return the operation that did it."""


def add_provider(parser: argparse.ArgumentParser) -> None:
    """Add the provider that a command is about."""
    parser.add_argument(
        'provider', metavar='PROVIDER', help='Its name, or its uuid.'
    )
