# SPDX-License-Identifier: Apache-2.0
"""``compute-agent provider inventory``: the inventories of one provider."""

import argparse
import typing
from collections.abc import Sequence

from ... import errors
from ..app import command, listing
from . import provider_change, provider_contents

if typing.TYPE_CHECKING:
    from report_client.api import providers as providers_api
    from report_client.http import codec

_OPTIONS = {
    'total': 'The amount, in units of the class; required for a new class.',
    'reserved': 'The part of the total that is not available to guests.',
    'min_unit': 'The smallest amount of one allocation.',
    'max_unit': 'The largest amount of one allocation.',
    'step_size': 'Every allocation must be a multiple of this amount.',
    'allocation_ratio': 'The overcommit factor.',
}


class ProviderInventoryList(provider_contents.ProviderContents):
    """List the inventories of a provider; stderr has its generation.

    "Used" is the allocated amount. The amount that can be allocated is
    (total - reserved) * allocation ratio.
    """

    COLUMNS = (
        'Resource class',
        'Total',
        'Reserved',
        'Min unit',
        'Max unit',
        'Step size',
        'Allocation ratio',
        'Used',
    )

    def contents(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
    ) -> tuple[int, listing.Rows]:
        """Return one row for each inventory."""
        found = service.used_inventories(provider)
        return found.generation, [
            (
                rc,
                *(getattr(one, field) for field in _OPTIONS),
                found.used.get(rc, 0),
            )
            for rc, one in sorted(found.inventories.items())
        ]


class ProviderInventorySet(provider_change.ProviderChange):
    """Set inventories of a provider, or single fields of them.

    Other classes stay, and so do the other fields of a class that the provider
    already has. In a new class, fields that are not given have placement's
    defaults.
    """

    def add_item(
        self, parser: argparse.ArgumentParser
    ) -> argparse.ArgumentParser:
        """Return the parser with the fields."""
        parser = super().add_item(parser)
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
        super().check(parsed_args)
        _records(parsed_args)

    def unknown_names(
        self,
        service: 'providers_api.Providers',
        items: Sequence[argparse.Namespace],
    ) -> Sequence[errors.AgentError | None]:
        """Return for each item the classes that placement does not know."""
        named = [_records(item) for item in items]
        missing = service.unknown_classes(set().union(*named))
        return [
            provider_change.unknown(
                'resource class', missing, records, create=item.create
            )
            for item, records in zip(items, named, strict=True)
        ]

    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'provider_change.Done':
        """Set the fields."""
        return service.set_inventory(
            provider,
            _records(parsed_args),
            create=parsed_args.create,
            generation=parsed_args.generation,
        )


class ProviderInventoryRemove(provider_change.ProviderChange):
    """Remove inventories from a provider; its other classes stay.

    The command refuses a class that is allocated, and names the consumers.
    """

    def add_item(
        self, parser: argparse.ArgumentParser
    ) -> argparse.ArgumentParser:
        """Return the parser with the classes."""
        parser = super().add_item(parser)
        parser.add_argument(
            'classes',
            nargs='+',
            metavar='RC',
            help='The name of a resource class.',
        )
        return command.take_words(parser, 'classes')

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse an argument that is not the name of a class."""
        super().check(parsed_args)
        from ...tree import names  # noqa: PLC0415 (quick --help)

        for rc in parsed_args.classes:
            names.check_symbol(rc, 'resource class')

    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'provider_change.Done':
        """Remove the classes."""
        return service.remove_inventory(
            provider, parsed_args.classes, generation=parsed_args.generation
        )

    def notes(
        self, done: 'provider_change.Done', parsed_args: argparse.Namespace
    ) -> Sequence[str]:
        """Return the classes of which the provider had no inventory."""
        return provider_change.not_there(
            done, 'inventory of', parsed_args.classes
        )


def _records(
    parsed_args: argparse.Namespace,
) -> dict[str, dict[str, int | float]]:
    """Return resource class → field → value, from arguments and options.

    :raises errors.AgentError: there are none, or they contradict each other
    """
    from report_client.api import inventory_fields  # noqa: PLC0415 (quick --help)

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
