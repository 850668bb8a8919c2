# SPDX-License-Identifier: Apache-2.0
"""``compute-agent provider inventory``: how much a provider has."""

import argparse
import typing

from ..app import command
from . import provider_change

if typing.TYPE_CHECKING:
    from report_client.api import providers as providers_api
    from report_client.http import codec
    from report_client.operations import operations as ops

_OPTIONS = {
    'total': 'How many there are, in units of the class; new ones need it.',
    'reserved': 'How many of them are not for guests.',
    'min_unit': 'The least that one request can have.',
    'max_unit': 'The most that one request can have.',
    'step_size': 'What an amount must be a multiple of.',
    'allocation_ratio': 'How many times over it is given away.',
}


class ProviderInventorySet(provider_change.ProviderChange):
    """Set inventories of a provider, or some fields of them.

    What is not named stays: other classes, and other fields of a class that is
    there. A class that is new has placement's defaults where nothing is said.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the fields."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'fields',
            nargs='*',
            metavar='RC=TOTAL|RC:FIELD=VALUE',
            help='Fields of several classes at once, for example VCPU=8 '
            'VCPU:allocation_ratio=4 MEMORY_MB=16384.',
        )
        parser.add_argument(
            '--resource-class',
            metavar='RC',
            help='The class that the following options are about.',
        )
        for field, text in _OPTIONS.items():
            option = f'--{field.replace("_", "-")}'
            parser.add_argument(option, metavar='N', dest=field, help=text)
        parser.add_argument(
            '--create',
            action='store_true',
            help='Create the custom classes that placement does not know.',
        )
        return command.take_words(parser, 'fields')

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse what is no field."""
        _records(parsed_args)

    def change(
        self,
        service: 'providers_api.Providers',
        one: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'ops.SetOperation':
        """Set the fields."""
        return service.set_inventory(
            one, _records(parsed_args), create=parsed_args.create
        )


def _records(
    parsed_args: argparse.Namespace,
) -> dict[str, dict[str, int | float]]:
    """Return resource class → field → value, of all that was given.

    :raises errors.AgentError: nothing was, or it contradicts itself
    """
    from report_client.api import inventory_fields  # noqa: PLC0415 (quick --help)

    from ... import errors  # noqa: PLC0415

    rc = parsed_args.resource_class
    values = {field: getattr(parsed_args, field) for field in _OPTIONS}
    options = {f: value for f, value in values.items() if value is not None}
    words = list(parsed_args.fields)
    if rc is None and options:
        raise errors.ConfigError(
            f'--{next(iter(options)).replace("_", "-")} of which class? say '
            '--resource-class RC'
        )
    words += [f'{rc}:{field}={value}' for field, value in options.items()]
    if rc is not None and not options and words:
        raise errors.ConfigError(
            f'what of {rc:.60} is to be set? say --total N or another field, '
            'or leave out --resource-class: the words have classes of their '
            'own'
        )
    if not words:
        raise errors.ConfigError(
            'nothing is to be set: say RC=TOTAL, or --resource-class RC '
            '--total N'
        )
    return inventory_fields.parse(words)
