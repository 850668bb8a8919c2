# SPDX-License-Identifier: Apache-2.0
"""``compute-agent resource provider trait`` and ``aggregate``.

The verbs list, add, set and remove are written once for all kinds of contents;
``report_client/api/content_kinds.py`` has the table of kinds, and
``provider_inventory.py`` the commands about inventories. The commands keep the
changes that other writers make at the same time.
"""

import abc
import argparse
import typing
from collections.abc import Collection, Sequence

from report_client.api import content_kinds
from report_client.api import providers as providers_api
from report_client.api.values import trait_names
from report_client.http.messages import codec

from ... import error_text
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
}

# --- list ---------------------------------------------------------------------


class ContentsList(listing.Listing):
    """A command that lists one kind of contents of a provider."""

    KIND: typing.ClassVar[Kind]

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the provider."""
        provider_change.add_provider(parser)

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Return the rows, and the generation as a note."""
        service = provider_change.providers(self)
        provider = service.find(parsed_args.provider)
        generation, rows = self.contents(service, provider)
        return rows, f'{provider} has generation {generation}', 0

    def contents(
        self,
        service: providers_api.Providers,
        provider: codec.ListedProvider,
    ) -> tuple[int, listing.Rows]:
        """Return the generation of the provider, and a row for each name."""
        generation, found = service.contents(provider, self.KIND)
        return generation, [(name,) for name in sorted(found)]


class ProviderTraitList(ContentsList):
    """List the traits of a provider; stderr has its generation."""

    COLUMNS = ('name',)
    KIND = Kind.TRAIT


class ProviderAggregateList(ContentsList):
    """List the aggregates of a provider; stderr has its generation."""

    COLUMNS = ('uuid',)
    KIND = Kind.AGGREGATE


# --- change -------------------------------------------------------------------


class Change(provider_change.ProviderItem):
    """A change of one kind of contents of a provider.

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

    @abc.abstractmethod
    def add_words(self, parser: argparse.ArgumentParser) -> None:
        """Add the names, as ``words``."""

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


class _Words(Change, provider_change.ProviderChange):
    """A change whose names are arguments."""

    def add_words(self, parser: argparse.ArgumentParser) -> None:
        """Add the argument for the names."""
        metavar, text = _ARGUMENTS[self.KIND.kind]
        parser.add_argument('words', nargs='+', metavar=metavar, help=text)
        command.take_words(parser, 'words')


class _Add(_Words):
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


class _Set(Change, provider_change.ProviderSetting):
    """A command that replaces all names of a provider, and lists them."""

    def add_words(self, parser: argparse.ArgumentParser) -> None:
        """Add the option for the names."""
        metavar, text = _ARGUMENTS[self.KIND.kind]
        parser.add_argument(
            f'--{self.KIND.noun}',
            action='append',
            default=[],
            dest='words',
            metavar=metavar,
            help=f'{text} May be repeated; without it, all are removed.',
        )

    def change(self, parsed_args: argparse.Namespace) -> provider_change.Done:
        """Replace the names."""
        return self._service.replace(
            parsed_args.found,
            self.KIND,
            parsed_args.words,
            create=parsed_args.create,
            generation=parsed_args.generation,
        )

    def rows_after(
        self,
        done: provider_change.Done,
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> Sequence[Sequence[typing.Any]]:
        """Return a row for each name."""
        return [(name,) for name in sorted(done.operation.names)]


class _Remove(_Words):
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
        return not_there(self.KIND, done, parsed_args.words)


def not_there(
    kind: content_kinds.ContentKind[typing.Any, typing.Any],
    done: provider_change.Done,
    words: Collection[str],
) -> Sequence[str]:
    """Return a remark for each of these names that a provider did not have."""
    if not kind.held:
        return ()
    operation, found = done.operation, []
    title = error_text.printable(operation.name)
    for name in sorted(set(words) - set(operation.before)):
        similar = trait_names.nearest(name, operation.before)
        hint = f'; did you mean {similar}?' if similar else ''
        found.append(f'{title} has no {kind.held} {name}{hint}')
    return found


class ProviderTraitAdd(_Add):
    """Add traits to a provider; its other traits stay."""

    KIND = content_kinds.TRAITS


class ProviderTraitRemove(_Remove):
    """Remove traits from a provider; the traits themselves still exist."""

    KIND = content_kinds.TRAITS


class ProviderTraitSet(_Set):
    """Replace all traits of a provider by these."""

    COLUMNS = ('name',)

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

    COLUMNS = ('uuid',)

    KIND = content_kinds.AGGREGATES
