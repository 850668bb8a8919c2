# SPDX-License-Identifier: Apache-2.0
"""``compute-agent provider inventory``: set a provider's inventories."""

import argparse
import typing

from ..app import command
from . import provider_change

if typing.TYPE_CHECKING:
    from report_client.api import providers as providers_api
    from report_client.http import codec
    from report_client.operations import operations as ops

_OPTIONS = {
    'total': 'The amount, in units of the class; required for a new class.',
    'reserved': 'The part of the total that is not available to guests.',
    'min_unit': 'The smallest amount of one allocation.',
    'max_unit': 'The largest amount of one allocation.',
    'step_size': 'Every allocation must be a multiple of this amount.',
    'allocation_ratio': 'The overcommit factor.',
}


class ProviderInventorySet(provider_change.ProviderChange):
    """Set inventories of a provider, or single fields of them.

    Other classes stay, and so do the other fields of a class that the provider
    already has. In a new class, fields that are not given have placement's
    defaults.
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
            help='The resource class for the options below.',
        )
        for field, text in _OPTIONS.items():
            option = f'--{field.replace("_", "-")}'
            parser.add_argument(option, metavar='N', dest=field, help=text)
        parser.add_argument(
            '--create',
            action='store_true',
            help='Create custom resource classes that do not exist yet.',
        )
        return command.take_words(parser, 'fields')

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse an argument that is not a field."""
        _records(parsed_args)

    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'ops.SetOperation':
        """Set the fields."""
        return service.set_inventory(
            provider, _records(parsed_args), create=parsed_args.create
        )


def _records(
    parsed_args: argparse.Namespace,
) -> dict[str, dict[str, int | float]]:
    """Return resource class → field → value, from arguments and options.

    :raises errors.AgentError: there are none, or they contradict each other
    """
    from report_client.api import inventory_fields  # noqa: PLC0415 (quick --help)

    from ... import errors  # noqa: PLC0415

    rc = parsed_args.resource_class
    values = {field: getattr(parsed_args, field) for field in _OPTIONS}
    options = {f: value for f, value in values.items() if value is not None}
    words = list(parsed_args.fields)
    if rc is None and options:
        raise errors.ConfigError(
            f'--{next(iter(options)).replace("_", "-")} needs a resource '
            'class: add --resource-class RC'
        )
    words += [f'{rc}:{field}={value}' for field, value in options.items()]
    if rc is not None and not options and words:
        raise errors.ConfigError(
            f'--resource-class {rc:.60} needs a field: add --total N or '
            'another field, or leave --resource-class out, because RC=TOTAL '
            'names the class itself'
        )
    if not words:
        raise errors.ConfigError(
            'there is nothing to set: add RC=TOTAL, or --resource-class RC '
            '--total N'
        )
    return inventory_fields.parse(words)
