# SPDX-License-Identifier: Apache-2.0
"""``compute-agent resource provider inventory``.

The commands keep the changes that other writers make at the same time, except
that "set" without --amend replaces all that a provider has, as it says.
"""

import argparse
import re
import typing
from collections.abc import Collection, Iterable, Mapping, Sequence

from report_client import errors as placement_errors
from report_client.api import content_kinds, provider_contents
from report_client.api import providers as providers_api
from report_client.api.values import provider_query
from report_client.http.messages import codec

from ... import error_text, errors
from ...tree import inventory, names
from ...tree.assertion import Kind
from ..app import bulk, listing
from . import provider_change
from . import provider_contents as contents_commands

_OPTIONS = {
    'allocation_ratio': 'The overcommit factor.',
    'min_unit': 'The smallest amount of one allocation.',
    'max_unit': 'The largest amount of one allocation.',
    'reserved': 'The part of the total that is not available to guests.',
    'step_size': 'Every allocation must be a multiple of this amount.',
    'total': 'The amount, in units of the class.',
}
FIELDS = tuple(_OPTIONS)


def _values(record: inventory.Inventory) -> tuple[typing.Any, ...]:
    return tuple(getattr(record, field) for field in FIELDS)


class ProviderInventoryList(contents_commands.ContentsList):
    """List the inventories of a provider; stderr has its generation.

    "used" is the allocated amount. The amount that can be allocated is
    (total - reserved) * allocation_ratio.
    """

    COLUMNS = ('resource_class', *FIELDS, 'used')
    SPARE = ('step_size', 'min_unit', 'max_unit')
    KIND = Kind.INVENTORY

    def contents(
        self,
        service: providers_api.Providers,
        provider: codec.ListedProvider,
    ) -> tuple[int, listing.Rows]:
        """Return the generation, and a row for each inventory."""
        found = service.used_inventories(provider)
        return found.generation, [
            (rc, *_values(record), found.used.get(rc, 0))
            for rc, record in sorted(found.inventories.items())
        ]


class ProviderInventoryShow(listing.Record):
    """Show the inventory of one resource class of a provider."""

    COLUMNS = (*FIELDS, 'used')

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the provider and the class."""
        provider_change.add_provider(parser)
        parser.add_argument(
            'resource_class', metavar='RC', help='The resource class.'
        )

    def record(
        self, parsed_args: argparse.Namespace
    ) -> Mapping[str, typing.Any]:
        """Return the fields of the inventory."""
        rc = names.check_symbol(parsed_args.resource_class, 'resource class')
        service = provider_change.providers(self)
        provider = service.find(parsed_args.provider)
        found = service.used_inventories(provider)
        if rc not in found.inventories:
            raise placement_errors.DoesNotExist(
                f'{provider} has no inventory of {rc}'
            )
        values = _values(found.inventories[rc])
        return {
            **dict(zip(FIELDS, values, strict=True)),
            'used': found.used.get(rc, 0),
        }


class ProviderInventoryDelete(provider_change.ProviderChange):
    """Delete inventories of a provider: these classes, or all of them.

    The command refuses a class that is allocated, and names the consumers;
    then nothing is deleted.
    """

    def add_item(self, parser: argparse.ArgumentParser) -> None:
        """Add the classes."""
        super().add_item(parser)
        parser.add_argument(
            '--resource-class',
            action='append',
            default=[],
            dest='words',
            metavar='RC',
            help='The resource class (default: all). May be repeated.',
        )

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse an argument that is no resource class."""
        super().check(parsed_args)
        content_kinds.INVENTORIES.check(parsed_args.words)

    def change(self, parsed_args: argparse.Namespace) -> provider_change.Done:
        """Delete the inventories."""
        found = parsed_args.found
        words = parsed_args.words or self._service.inventories(found)
        return self._service.remove(
            found,
            content_kinds.INVENTORIES,
            words,
            generation=parsed_args.generation,
        )

    def notes(
        self, done: provider_change.Done, parsed_args: argparse.Namespace
    ) -> Sequence[str]:
        """Return a remark for each class that the provider did not have."""
        return contents_commands.not_there(
            content_kinds.INVENTORIES, done, parsed_args.words
        )


class _Set(contents_commands.Change):
    """A command that sets inventories of a provider."""

    KIND = content_kinds.INVENTORIES

    def given(self, item: argparse.Namespace) -> Collection[str]:
        """Return the resource classes."""
        classes: Collection[str] = item.records
        return classes


class ProviderInventorySet(_Set, provider_change.ProviderSetting):
    """Set the inventories of a provider, and list them.

    Without --amend these are all that the provider has: other classes are
    deleted, and fields that are not given have placement's defaults. With
    --amend, other classes stay, and so do the other fields of a class.
    """

    COLUMNS = ('resource_class', *FIELDS)
    SPARE = ('step_size', 'min_unit', 'max_unit')

    _rows: Sequence[Sequence[typing.Any]]

    def add_words(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments for the fields, and for what stays."""
        parser.add_argument(
            '--resource',
            action='append',
            default=[],
            dest='words',
            metavar='RC=TOTAL|RC:FIELD=VALUE',
            help='A field of a class, for example VCPU=8 or '
            'VCPU:allocation_ratio=4. May be repeated; the fields are '
            f'{", ".join(FIELDS)}.',
        )
        parser.add_argument(
            '--amend',
            action='store_true',
            help='Keep the other classes, and the other fields of these.',
        )
        parser.add_argument(
            '--aggregate',
            action='store_true',
            help='PROVIDER is the uuid of an aggregate: set the inventories '
            'of all providers in it.',
        )
        parser.add_argument(
            '--dry-run',
            action='store_true',
            help='List the inventories, and write nothing.',
        )

    def columns(self, parsed_args: argparse.Namespace) -> tuple[str, ...]:
        """Return the columns; for an aggregate, the provider is the first."""
        several = getattr(parsed_args, 'aggregate', False)
        return (('resource_provider',) if several else ()) + self.COLUMNS

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse an argument that is not a field; keep the records."""
        provider_change.check_generation(parsed_args)
        parsed_args.records = parse_fields(parsed_args.words)
        if parsed_args.aggregate and parsed_args.generation is not None:
            raise errors.ConfigError(
                '--generation is that of one provider: leave it or '
                '--aggregate out'
            )

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Set the inventories; return those that there are then."""
        if not getattr(parsed_args, 'aggregate', False):
            return super().rows(parsed_args)
        self.check(parsed_args)
        member = provider_query.MemberOf.of_option(parsed_args.provider)
        query = provider_query.ProviderQuery(member_of=(member,))
        self._service = provider_change.providers(self)
        members = self._service.list_providers(query)
        if not members:
            raise placement_errors.DoesNotExist(
                f'no provider is in aggregate {parsed_args.provider}'
            )
        rows: list[Sequence[typing.Any]] = []
        failed = 0
        for found in members:
            parsed_args.found = found
            try:
                outcome = self.act(parsed_args)
            except (errors.Unavailable, errors.ConfigError):
                raise
            except errors.AgentError as exc:
                self.say(str(exc))
                failed += 1
                continue
            self.say(outcome.text)
            rows += [(found.uuid, *row) for row in outcome.rows]
        note = f'{failed} of {len(members)} providers failed'
        return rows, note if failed else None, int(failed > 0)

    def act(self, parsed_args: argparse.Namespace) -> bulk.Outcome:
        """Set the inventories, or say what would be set."""
        outcome = super().act(parsed_args)
        if not parsed_args.dry_run:
            return outcome
        text = f'not written (--dry-run): {outcome.text}'
        return bulk.Outcome(
            data={**outcome.data, 'dry_run': True},
            text=text.removesuffix(f': {provider_change.NOTHING}'),
            rows=outcome.rows,
        )

    def change(self, parsed_args: argparse.Namespace) -> provider_change.Done:
        """Set the fields."""
        amend = provider_contents.Amend
        return self._service.set_inventory(
            parsed_args.found,
            parsed_args.records,
            amend=amend.FIELDS if parsed_args.amend else amend.NOTHING,
            create=parsed_args.create,
            generation=parsed_args.generation,
            dry_run=parsed_args.dry_run,
        )

    def rows_after(
        self,
        done: provider_change.Done,
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> Sequence[Sequence[typing.Any]]:
        """Return a row for each inventory."""
        return [
            (rc, *_values(record))
            for rc, record in sorted(done.operation.inventories.items())
        ]


class ProviderInventoryClassSet(_Set, provider_change.ProviderRecord):
    """Set the inventory of one resource class; other classes stay.

    Fields that are not given have placement's defaults.
    """

    COLUMNS = FIELDS

    def add_words(self, parser: argparse.ArgumentParser) -> None:
        """Add the class and its fields."""
        parser.add_argument(
            'resource_class', metavar='RC', help='The resource class.'
        )
        for field, text in _OPTIONS.items():
            parser.add_argument(
                f'--{field}',
                metavar='N',
                required=field == TOTAL,
                help=text,
            )

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse a value that is no number; keep the record."""
        provider_change.check_generation(parsed_args)
        rc = parsed_args.resource_class
        values = {field: getattr(parsed_args, field) for field in FIELDS}
        parsed_args.records = parse_fields(
            f'{rc}:{field}={value}'
            for field, value in values.items()
            if value is not None
        )

    def change(self, parsed_args: argparse.Namespace) -> provider_change.Done:
        """Set the fields."""
        return self._service.set_inventory(
            parsed_args.found,
            parsed_args.records,
            amend=provider_contents.Amend.CLASSES,
            create=parsed_args.create,
            generation=parsed_args.generation,
        )

    def fields_after(
        self, done: provider_change.Done, parsed_args: argparse.Namespace
    ) -> Mapping[str, typing.Any]:
        """Return the fields of the class."""
        record = done.operation.inventories[parsed_args.resource_class]
        return dict(zip(FIELDS, _values(record), strict=True))


# --- fields of inventories: VCPU=8 VCPU:reserved=1 ----------------------------

TOTAL = 'total'
RATIO = 'allocation_ratio'
_WORD = re.compile(r'(?P<rc>[^:=]*)(:(?P<field>[^=]*))?=(?P<value>.*)')

# Plain digits only: int() and float() accept much more.
_WHOLE = re.compile(r'-?[0-9]+')
_DECIMAL = re.compile(r'-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?')
_LONGEST_RATIO = 60  # characters
_LONGEST_WHOLE = len(str(-inventory.MAX_INT))

Number = int | float


def parse_fields(words: Iterable[str]) -> dict[str, dict[str, Number]]:
    """Return resource class → field → number.

    A number with too many digits for placement is refused here.
    ``compute_agent.tree.inventory`` checks ranges, because it knows the whole
    record.

    :param words: each is ``RC=TOTAL`` or ``RC:FIELD=VALUE``
    :raises errors.InvalidName: a word has another form, or a field is given
        twice
    """
    records: dict[str, dict[str, Number]] = {}
    for word in names.check_collection(words):
        parts = _WORD.fullmatch(word)
        if parts is None:
            raise errors.InvalidName(
                f'{error_text.excerpt(word)} is not a field of an inventory: write '
                'RC=TOTAL or RC:FIELD=VALUE, for example VCPU=8 '
                'VCPU:reserved=1'
            )
        rc = names.check_symbol(parts['rc'], 'resource class')
        field = TOTAL if parts['field'] is None else parts['field']
        fields = records.setdefault(rc, {})
        if field in fields:
            raise errors.InvalidName(f'{rc}:{field} is given twice: keep one')
        fields[field] = _number(rc, field, parts['value'])
    return records


def _number(rc: str, field: str, text: str) -> Number:
    """Return the value of a field.

    :raises errors.InvalidName: an inventory has no such field, or the value is
        not a number
    """
    if field not in inventory.FIELDS:
        raise errors.InvalidName(
            f'{rc}: an inventory has no {error_text.excerpt(field)}; it has '
            f'{", ".join(sorted(inventory.FIELDS))}'
        )
    form, kind = _DECIMAL, 'number'
    longest = _LONGEST_RATIO
    if field != RATIO:
        form, kind = _WHOLE, 'whole number'
        longest = _LONGEST_WHOLE
    if not form.fullmatch(text):
        raise errors.InvalidName(
            f'{rc}: {field} {error_text.excerpt(text)} is not a {kind}'
        )
    if len(text) > longest:
        raise errors.InvalidName(
            f'{rc}: {field} {error_text.excerpt(text)} is longer than any {kind} that '
            'placement takes'
        )
    return float(text) if field == RATIO else int(text)
