# SPDX-License-Identifier: Apache-2.0
"""``compute-agent resource provider trait``, ``inventory`` and ``aggregate``.

The verbs list, add, set and remove are written once for all kinds of contents;
``report_client/api/content_kinds.py`` has the table of kinds. The commands
keep the changes that other writers make at the same time.
"""

import argparse
import re
import typing
from collections.abc import Collection, Iterable, Sequence

from report_client.api import content_kinds
from report_client.api import providers as providers_api
from report_client.api.values import trait_names
from report_client.http.messages import codec

from ... import error_text, errors
from ...tree import inventory, names
from ...tree.assertion import Kind
from ..app import bulk, command, listing
from . import provider_change

# The names of a kind as arguments: the word in the usage, and the help.
_ARGUMENTS = {
    Kind.TRAIT: ('TRAIT', 'The name of a trait.'),
    Kind.AGGREGATE: (
        'UUID',
        'The uuid of an aggregate; placement has no names for them.',
    ),
    Kind.INVENTORY: ('RC', 'The name of a resource class.'),
}
# The key of a kind in the bodies of placement's API.
_KEYS = {
    Kind.TRAIT: 'traits',
    Kind.AGGREGATE: 'aggregates',
    Kind.INVENTORY: 'inventories',
}
_OPTIONS = {
    'total': 'The amount, in units of the class; required for a new class.',
    'reserved': 'The part of the total that is not available to guests.',
    'min_unit': 'The smallest amount of one allocation.',
    'max_unit': 'The largest amount of one allocation.',
    'step_size': 'Every allocation must be a multiple of this amount.',
    'allocation_ratio': 'The overcommit factor.',
}

# --- list ---------------------------------------------------------------------


class _List(listing.Listing):
    """A command that lists one kind of contents of a provider."""

    KIND: typing.ClassVar[Kind]

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the provider."""
        provider_change.add_provider(parser)

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Return the rows, and the generation as a note."""
        service = provider_change.providers(self)
        provider = service.find(parsed_args.provider)
        self._generation, rows = self.contents(service, provider)
        return rows, f'{provider} has generation {self._generation}', 0

    def as_data(
        self, rows: list[dict[str, typing.Any]]
    ) -> dict[str, typing.Any]:
        """Return the rows and the generation, as placement's API names them."""
        found = (
            rows
            if self.KIND is Kind.INVENTORY
            else [name for row in rows for name in row.values()]
        )
        return {
            _KEYS[self.KIND]: found,
            'resource_provider_generation': self._generation,
        }

    def contents(
        self,
        service: providers_api.Providers,
        provider: codec.ListedProvider,
    ) -> tuple[int, listing.Rows]:
        """Return the generation of the provider, and a row for each name."""
        generation, found = service.contents(provider, self.KIND)
        return generation, [(name,) for name in sorted(found)]


class ProviderTraitList(_List):
    """List the traits of a provider; stderr, JSON and YAML have its generation."""

    COLUMNS = ('Name',)
    KIND = Kind.TRAIT


class ProviderAggregateList(_List):
    """List the aggregates of a provider; stderr, JSON and YAML have its generation."""

    COLUMNS = ('UUID',)
    KIND = Kind.AGGREGATE


class ProviderInventoryList(_List):
    """List the inventories of a provider; stderr, JSON and YAML have its generation.

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
    KIND = Kind.INVENTORY

    def contents(
        self,
        service: providers_api.Providers,
        provider: codec.ListedProvider,
    ) -> tuple[int, listing.Rows]:
        """Return the generation, and a row for each inventory."""
        found = service.used_inventories(provider)
        return found.generation, [
            (
                rc,
                *(getattr(record, field) for field in _OPTIONS),
                found.used.get(rc, 0),
            )
            for rc, record in sorted(found.inventories.items())
        ]


# --- change -------------------------------------------------------------------


class _Change(provider_change.ProviderChange):
    """A command that changes one kind of contents of a provider.

    :cvar CREATES: True if names that placement does not know may be created
    """

    KIND: typing.ClassVar[content_kinds.ContentKind[typing.Any, typing.Any]]
    CREATES: typing.ClassVar[bool] = True

    @property
    def creates(self) -> bool:
        """True if the command has the option --create."""
        return self.CREATES and self.KIND.registry is not None

    def add_item(self, parser: argparse.ArgumentParser) -> None:
        """Add the names, and the option to create them."""
        super().add_item(parser)
        self.add_words(parser)
        parser.set_defaults(create=False)
        if self.creates:
            parser.add_argument(
                '--create',
                action='store_true',
                help=f'Create custom {self.KIND.plural} that do not exist yet.',
            )
        command.take_words(parser, 'words')

    def add_words(self, parser: argparse.ArgumentParser) -> None:
        """Add the argument for the names."""
        metavar, text = _ARGUMENTS[self.KIND.kind]
        parser.add_argument('words', nargs='+', metavar=metavar, help=text)

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse an argument that is not a name of this kind."""
        super().check(parsed_args)
        self.KIND.check(parsed_args.words)

    def given(self, item: argparse.Namespace) -> Collection[str]:
        """Return the names that placement must know."""
        words: list[str] = item.words
        return words

    def unknown_names(
        self, items: Sequence[argparse.Namespace]
    ) -> bulk.Mistakes:
        """Return for each item the names that placement does not know."""
        if not self.creates:
            return super().unknown_names(items)
        named = {name for item in items for name in self.given(item)}
        missing = self._service.unknown(self.KIND, named)
        return [
            provider_change.unknown(
                self.KIND, missing, self.given(item), create=item.create
            )
            for item in items
        ]


class _Add(_Change):
    """A command that adds names to a provider."""

    def change(self, parsed_args: argparse.Namespace) -> provider_change.Done:
        """Add the names."""
        return self._service.add(
            parsed_args.found,
            self.KIND,
            parsed_args.words,
            create=parsed_args.create,
            generation=parsed_args.generation,
        )


class _Set(_Change):
    """A command that replaces all names of a provider."""

    def change(self, parsed_args: argparse.Namespace) -> provider_change.Done:
        """Replace the names."""
        return self._service.replace(
            parsed_args.found,
            self.KIND,
            parsed_args.words,
            create=parsed_args.create,
            generation=parsed_args.generation,
        )


class _Remove(_Change):
    """A command that removes names from a provider."""

    CREATES = False

    def change(self, parsed_args: argparse.Namespace) -> provider_change.Done:
        """Remove the names."""
        return self._service.remove(
            parsed_args.found,
            self.KIND,
            parsed_args.words,
            generation=parsed_args.generation,
        )

    def notes(
        self, done: provider_change.Done, parsed_args: argparse.Namespace
    ) -> Sequence[str]:
        """Return a remark for each name that the provider did not have."""
        if not self.KIND.held:
            return ()
        operation, found = done.operation, []
        title = error_text.printable(operation.name)
        for name in sorted(set(parsed_args.words) - set(operation.before)):
            similar = trait_names.nearest(name, operation.before)
            hint = f'; did you mean {similar}?' if similar else ''
            found.append(f'{title} has no {self.KIND.held} {name}{hint}')
        return found


class ProviderTraitAdd(_Add):
    """Add traits to a provider; its other traits stay."""

    KIND = content_kinds.TRAITS


class ProviderTraitRemove(_Remove):
    """Remove traits from a provider; the traits themselves still exist."""

    KIND = content_kinds.TRAITS


class ProviderTraitSet(_Set):
    """Replace all traits of a provider by these."""

    KIND = content_kinds.TRAITS


class ProviderTraitDelete(provider_change.ProviderChange):
    """Remove all traits from a provider."""

    def change(self, parsed_args: argparse.Namespace) -> provider_change.Done:
        """Remove every trait."""
        return self._service.clear_traits(
            parsed_args.found, generation=parsed_args.generation
        )


class ProviderAggregateAdd(_Add):
    """Add a provider to aggregates; it stays in its other aggregates."""

    KIND = content_kinds.AGGREGATES


class ProviderAggregateRemove(_Remove):
    """Remove a provider from aggregates; it stays in its others."""

    KIND = content_kinds.AGGREGATES


class ProviderAggregateSet(_Set):
    """Replace all aggregates of a provider by these."""

    KIND = content_kinds.AGGREGATES


class ProviderInventoryDelete(_Remove):
    """Delete inventories of a provider; its other classes stay.

    The command refuses a class that is allocated, and names the consumers.
    """

    KIND = content_kinds.INVENTORIES


class ProviderInventorySet(_Change):
    """Set inventories of a provider, or single fields of them.

    Other classes stay, and so do the other fields of a class that the provider
    already has. In a new class, fields that are not given have placement's
    defaults.
    """

    KIND = content_kinds.INVENTORIES

    def add_words(self, parser: argparse.ArgumentParser) -> None:
        """Add the fields, as words and as options for one class."""
        parser.add_argument(
            'words',
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

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse an argument that is not a field; keep the records."""
        provider_change.check_generation(parsed_args)
        parsed_args.records = parse_fields(_fields(parsed_args))

    def given(self, item: argparse.Namespace) -> Collection[str]:
        """Return the resource classes."""
        classes: Collection[str] = item.records
        return classes

    def change(self, parsed_args: argparse.Namespace) -> provider_change.Done:
        """Set the fields."""
        return self._service.set_inventory(
            parsed_args.found,
            parsed_args.records,
            create=parsed_args.create,
            generation=parsed_args.generation,
        )


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


def _fields(parsed_args: argparse.Namespace) -> list[str]:
    """Return the fields of the arguments, and of the options, as words.

    :raises errors.ConfigError: there are none, or they contradict each other
    """
    rc = parsed_args.resource_class
    values = {field: getattr(parsed_args, field) for field in _OPTIONS}
    options = {f: value for f, value in values.items() if value is not None}
    words = list(parsed_args.words)
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
    return words


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
