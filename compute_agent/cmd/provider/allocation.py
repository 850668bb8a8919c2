# SPDX-License-Identifier: Apache-2.0
"""``compute-agent resource provider allocation``: the claims of a consumer.

Nova, Ironic and others write allocations, and give them back. These commands
mend what one of them left behind.
"""

import argparse
import typing
from collections.abc import Iterator, Mapping, Sequence

from report_client import errors as placement_errors
from report_client.api import allocations as allocations_api
from report_client.api import providers as providers_api

from ... import error_text, errors
from ...plan import allocations as alloc
from ...plan.history_entry import Entry, What
from ...tree import names
from ..app import command, listing
from ..wiring import host_history, named_providers, placement

_PROVIDER = 'rp'


class _Allocations(listing.Listing):
    """A command about one consumer, which lists its allocations."""

    COLUMNS = (
        'resource_provider',
        'generation',
        'resources',
        'project_id',
        'user_id',
        'consumer_type',
    )
    SPARE = ('consumer_type', 'user_id', 'project_id')

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the consumer."""
        _add_consumer(parser)

    def listed(
        self, service: allocations_api.Allocations, uuid: str
    ) -> listing.Listed:
        """Return a row for each provider that the consumer uses."""
        found = service.show(uuid)
        if found is None:
            return [], f'consumer {uuid} has no allocations', 0
        consumer, generations = found
        rows = [
            (
                provider,
                generations[provider],
                dict(amounts),
                consumer.project_id,
                consumer.user_id,
                consumer.consumer_type or None,
            )
            for provider, amounts in consumer.allocations.items()
        ]
        return rows, None, 0


class AllocationShow(_Allocations):
    """Show what a consumer, such as a server, has allocated."""

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Return a row for each provider."""
        return self.listed(_service(self), parsed_args.consumer)


class AllocationSet(_Allocations):
    """Replace all allocations of a consumer, and list them.

    If another writer changes the consumer at the same time, nothing is
    written.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the consumer and its allocations."""
        super().add_options(parser)
        parser.add_argument(
            '--allocation',
            action='append',
            default=[],
            metavar='rp=PROVIDER,RC=AMOUNT,...',
            help='Amounts on one provider, by name or uuid. May be repeated; '
            'at least one is needed.',
        )
        parser.add_argument(
            '--project-id',
            metavar='PROJECT',
            help='The id of the project (default: that of the consumer).',
        )
        parser.add_argument(
            '--user-id',
            metavar='USER',
            help='The id of the user (default: that of the consumer).',
        )
        parser.add_argument(
            '--consumer-type',
            metavar='TYPE',
            help='The type, such as INSTANCE (default: that of the consumer).',
        )

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Replace the allocations; return a row for each provider."""
        asked = _parsed(parsed_args.allocation)
        uuid = names.check_uuid(parsed_args.consumer, 'consumer')
        providers = named_providers.providers_of(self.conf())
        parts = _named(providers.find_all(set(asked)), asked)
        service = _service(self)
        found = service.show(uuid)
        before = None if found is None else found[0]
        wanted = _wanted(parsed_args, uuid, parts, before)
        service.replace(wanted, before)
        _tell(self, What.ALLOCATED, uuid, wanted.allocations)
        return self.listed(service, uuid)


class AllocationUnset(_Allocations):
    """Remove some of a consumer's allocations, and list those that stay."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the consumer, and the allocations to remove."""
        super().add_options(parser)
        parser.add_argument(
            '--provider',
            action='append',
            default=[],
            metavar='PROVIDER',
            help='The provider that is freed, by name or uuid (default: all). '
            'May be repeated.',
        )
        parser.add_argument(
            '--resource-class',
            action='append',
            default=[],
            metavar='RC',
            help='The resource class that goes (default: all). May be '
            'repeated.',
        )

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Take them off; return a row for each provider that is left."""
        for rc in parsed_args.resource_class:
            names.check_symbol(rc, 'resource class')
        uuid = names.check_uuid(parsed_args.consumer, 'consumer')
        words = parsed_args.provider
        found = named_providers.providers_of(self.conf()).find_all(set(words))
        chosen = [_uuid(found[word], word) for word in words]
        service = _service(self)
        _, gone = service.remove(uuid, chosen, parsed_args.resource_class)
        _tell(self, What.FREED, uuid, gone)
        return self.listed(service, uuid)


class AllocationDelete(command.Report):
    """Take all allocations off a consumer."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the consumer."""
        _add_consumer(parser)

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Remove the allocations; return what they were."""
        uuid = names.check_uuid(parsed_args.consumer, 'consumer')
        before, gone = _service(self).remove(uuid)
        if before is None:
            raise placement_errors.DoesNotExist(
                f'consumer {uuid} has no allocations'
            )
        _tell(self, What.FREED, uuid, gone)
        data = {
            'consumer': uuid,
            'allocations': {key: dict(part) for key, part in gone.items()},
        }
        lines = [f'deleted the allocations of consumer {uuid}']
        lines += [
            f'  {provider}: {_amounts(part)}'
            for provider, part in gone.items()
        ]
        return data, '\n'.join(lines), 0


def _add_consumer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'consumer',
        metavar='CONSUMER',
        help='The uuid of the consumer, such as that of a server in nova.',
    )


def _service(asking: command.AgentCommand) -> allocations_api.Allocations:
    """Return the API for allocations; it sends no request yet."""
    return allocations_api.Allocations(
        placement.placement_service(asking.conf())
    )


def _parsed(texts: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return provider → resource class → amount of the options.

    :raises errors.ConfigError: no amount is given, or one is malformed
    """
    found: dict[str, dict[str, int]] = {}
    for text in texts:
        terms = [_term(part, text) for part in text.split(',')]
        providers = [value for key, value in terms if key == _PROVIDER]
        if len(providers) != 1 or len(terms) == 1:
            raise errors.ConfigError(
                f'--allocation {error_text.excerpt(text)} needs a provider '
                'and amounts: write rp=PROVIDER,RC=AMOUNT'
            )
        part = found.setdefault(providers[0], {})
        for rc, value in terms:
            if rc == _PROVIDER:
                continue
            amount = _amount(value, text)
            if part.setdefault(rc, amount) != amount:
                raise errors.ConfigError(
                    f'{rc} of {providers[0]} is asked for as {part[rc]} and '
                    f'as {amount}: keep one'
                )
        allocations_api.check_amounts(part)
    if not found:
        raise errors.ConfigError(
            'there is nothing to set: add --allocation rp=PROVIDER,RC=AMOUNT; '
            '"resource provider allocation delete" takes all off'
        )
    return found


def _term(part: str, text: str) -> tuple[str, str]:
    key, equals, value = part.strip().partition('=')
    if not (key and equals and value):
        raise errors.ConfigError(
            f'{error_text.excerpt(part)} in --allocation '
            f'{error_text.excerpt(text)} is no KEY=VALUE'
        )
    return key, value


def _amount(value: str, text: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 20):
        raise errors.ConfigError(
            f'{error_text.excerpt(value)} in --allocation '
            f'{error_text.excerpt(text)} is no whole number'
        )
    return int(value)


def _uuid(found: providers_api.Found, word: str) -> str:
    """Return a provider's uuid; for a deleted one, the uuid must be given.

    :raises errors.AgentError: a word that is no uuid names no provider
    """
    if not isinstance(found, errors.AgentError):
        return found.uuid
    if names.is_uuid(word):
        return word.lower()
    raise found


def _named(
    found: Mapping[str, providers_api.Found],
    asked: Mapping[str, Mapping[str, int]],
) -> dict[str, Mapping[str, int]]:
    """Return the amounts by the uuids of the providers.

    :raises errors.AgentError: a provider does not exist, or is named twice
    """
    parts: dict[str, Mapping[str, int]] = {}
    for word, amounts in asked.items():
        row = found[word]
        if isinstance(row, errors.AgentError):
            raise row
        if row.uuid in parts:
            raise errors.ConfigError(
                f'{row} is given by name and by uuid: keep one'
            )
        parts[row.uuid] = amounts
    return parts


def _wanted(
    parsed_args: argparse.Namespace,
    uuid: str,
    parts: alloc.Parts,
    before: alloc.Consumer | None,
) -> alloc.Consumer:
    """Return the consumer with the new allocations.

    :raises errors.ConfigError: the consumer is new, and no project and user
        are given
    """
    project = parsed_args.project_id or (before and before.project_id)
    user = parsed_args.user_id or (before and before.user_id)
    if not project or not user:
        raise errors.ConfigError(
            f'consumer {uuid} is new: add --project-id and --user-id'
        )
    kept = before.consumer_type if before else ''
    return alloc.Consumer(
        uuid=uuid,
        project_id=project,
        user_id=user,
        generation=0,
        allocations=parts,
        consumer_type=parsed_args.consumer_type
        or (kept if kept != _UNKNOWN else ''),
    )


_UNKNOWN = 'unknown'  # placement's word for a consumer without a type


def _tell(
    asking: command.AgentCommand,
    what: What,
    consumer: str,
    parts: alloc.Parts,
) -> None:
    """Add to the history on this host what a consumer got or lost."""
    entries = [*_entries(what, consumer, parts)]
    if entries:
        host_history.add(asking.conf(), asking.actor, entries)


def _entries(what: What, consumer: str, parts: alloc.Parts) -> Iterator[Entry]:
    for uuid, amounts in sorted(parts.items()):
        yield Entry(
            what=what,
            uuid=uuid,
            text=f'consumer {consumer}: {_amounts(amounts)}',
        )


def _amounts(part: Mapping[str, typing.Any]) -> str:
    return ', '.join(f'{rc}={part[rc]}' for rc in sorted(part))
