# SPDX-License-Identifier: Apache-2.0
"""Base classes of the commands that change the contents of one provider."""

import abc
import argparse
import dataclasses
import re
import typing
from collections.abc import Iterable, Mapping, Sequence

from report_client import errors as placement_errors
from report_client.api import content_kinds, provider_contents
from report_client.api import providers as providers_api
from report_client.api.values import trait_names
from report_client.http.messages import codec
from report_client.plan import render

from ... import errors
from ...plan.history_entry import Entry
from ...plan.operations import operations
from ...tree import names as tree_names
from ..app import bulk, command
from ..wiring import host_history, named_providers

Done = provider_contents.Change[typing.Any]

NOTHING = render.NOTHING

_GENERATION = re.compile('[0-9]{1,18}')


def providers(asking: command.AgentCommand) -> providers_api.Providers:
    """Return the API for providers; it sends no request yet."""
    return named_providers.providers_of(asking.conf())


class ProviderItem(bulk.Items):
    """A command about one provider, or about one for each line of stdin."""

    _service: providers_api.Providers

    def add_item(self, parser: argparse.ArgumentParser) -> None:
        """Add the provider."""
        add_provider(parser, lines=True)

    def prepare(self, items: Sequence[argparse.Namespace]) -> bulk.Mistakes:
        """Find the providers of the items, and names that do not exist."""
        self._service = providers(self)
        found = self._service.find_all({item.provider for item in items})
        mistakes: list[errors.AgentError | None] = []
        for item in items:
            item.found = found[item.provider]
            missing = isinstance(item.found, errors.AgentError)
            mistakes.append(item.found if missing else None)
        if len(items) == 1 or any(mistakes):
            return mistakes
        return self.unknown_names(items)

    def unknown_names(
        self, items: Sequence[argparse.Namespace]
    ) -> bulk.Mistakes:
        """Return for each of several items the names that do not exist."""
        return [None] * len(items)


class _Changing(ProviderItem):
    """A change of the contents of a provider."""

    def add_item(self, parser: argparse.ArgumentParser) -> None:
        """Add the provider and its generation."""
        super().add_item(parser)
        parser.add_argument(
            '--generation',
            metavar='N',
            help='Write only if the provider still has this generation, as '
            '"resource provider show" prints it. Without this option, a '
            'change of another writer at the same time is kept, and the '
            'command tries again.',
        )

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse wrong arguments before any request is sent."""
        check_generation(parsed_args)

    def act(self, parsed_args: argparse.Namespace) -> bulk.Outcome:
        """Change the provider; return the operation that did it."""
        done = self.changed(parsed_args)
        asked = parsed_args.generation is not None
        data, text = told(done, with_generation=asked)
        return bulk.Outcome(
            data=data,
            text=text,
            notes=self.notes(done, parsed_args),
            rows=self.rows_after(done, parsed_args),
        )

    def changed(self, parsed_args: argparse.Namespace) -> Done:
        """Change the provider, and tell the history."""
        try:
            done = self.change(parsed_args)
        except placement_errors.DoesNotExist as exc:
            raise placement_errors.DoesNotExist(
                f'{exc}{create_hint(exc.missing)}'
            ) from exc
        if done.is_change:
            entries = render.history_entries(done.operation)
            tell(self, parsed_args.found, entries)
        return done

    @abc.abstractmethod
    def change(self, parsed_args: argparse.Namespace) -> Done:
        """Change the provider; return the operation that did it."""

    def notes(
        self,
        done: Done,  # noqa: ARG002
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> Sequence[str]:
        """Return remarks about a change, such as names that were not there."""
        return ()

    def rows_after(
        self,
        done: Done,  # noqa: ARG002
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> Sequence[Sequence[typing.Any]]:
        """Return the contents after the change, for a listing."""
        return ()


class ProviderChange(_Changing, bulk.BulkReport):
    """A change of the contents of a provider, which prints what it did."""


class ProviderSetting(_Changing, bulk.BulkListing):
    """A change of the contents of a provider, which lists them after it."""


class ProviderRecord(_Changing, bulk.BulkRecord):
    """A change of the contents of a provider, which shows the fields after it."""

    def one(self, parsed_args: argparse.Namespace) -> bulk.Outcome:
        """Act on the item of the command line, and say what was done."""
        outcome = super().one(parsed_args)
        self.say(outcome.text)
        return bulk.Outcome(data=self.fields, text=outcome.text)

    def changed(self, parsed_args: argparse.Namespace) -> Done:
        """Change the provider; keep its fields."""
        done = super().changed(parsed_args)
        self.fields = dict(self.fields_after(done, parsed_args))
        return done

    @abc.abstractmethod
    def fields_after(
        self, done: Done, parsed_args: argparse.Namespace
    ) -> Mapping[str, typing.Any]:
        """Return a value for each column, after the change."""


def unknown(
    kind: content_kinds.ContentKind[typing.Any, typing.Any],
    missing: Mapping[str, str],
    names: Iterable[str],
    *,
    create: bool,
) -> errors.AgentError | None:
    """Return the error for names that placement does not know.

    :param missing: names that it does not know → a suggestion, or ''
    :param create: custom names are created
    """
    lacking = sorted(set(names) & set(missing))
    impossible = trait_names.not_creatable(lacking, create=create)
    if not impossible:
        return None
    one = len(impossible) == 1
    return placement_errors.DoesNotExist(
        f'placement knows no {kind.noun if one else kind.plural} '
        f'{", ".join(impossible)}{missing[impossible[0]] if one else ""}'
        f'{create_hint(impossible)}'
    )


def create_hint(missing: Sequence[str]) -> str:
    """Return the end of a message: the names that --create would create."""
    custom = [name for name in missing if tree_names.is_custom(name)]
    if not custom:
        return ''
    if len(custom) < len(missing):
        return f'; --create creates {", ".join(custom)}'
    return f'; --create creates {"it" if len(custom) == 1 else "them"}'


def tell(
    asking: command.AgentCommand,
    provider: codec.ListedProvider,
    entries: Iterable[Entry],
) -> None:
    """Add to the history on this host what a command did to a provider."""
    of_node = [
        dataclasses.replace(entry, node_uuid=provider.root_uuid)
        for entry in entries
    ]
    host_history.add(asking.conf(), asking.actor, of_node)


def told(
    done: Done, *, with_generation: bool
) -> tuple[dict[str, typing.Any], str]:
    """Return a change as data and as text.

    :param with_generation: say the new generation in the text, too
    """
    data = {
        **render.operation_data(done.operation),
        'changed': done.is_change,
        'generation': done.generation,
    }
    if isinstance(done.operation, operations.SetInventories):
        data['changed_classes'] = sorted(done.operation.changed)
    for key in ('causes', 'foreign'):  # only an agent's plan has them
        data.pop(key, None)
    text = render.line(done.operation)
    if not done.is_change:
        text += f': {render.NOTHING}'
    return (
        data,
        f'{text}; generation {done.generation}' if with_generation else text,
    )


def check_generation(parsed_args: argparse.Namespace) -> None:
    """Turn the generation into a number.

    :raises errors.ConfigError: the text is no generation
    """
    text = parsed_args.generation
    if text is None:
        return
    if not _GENERATION.fullmatch(text):
        raise errors.ConfigError(
            f'--generation {text:.60}: a generation is a whole number, which '
            '"resource provider show" prints'
        )
    parsed_args.generation = int(text)


def add_provider(
    parser: argparse.ArgumentParser, *, lines: bool = False
) -> None:
    """Add the argument that names the provider.

    :param lines: "-" reads items from standard input
    """
    text = (
        'The name or uuid of the provider, or of a node that the driver calls '
        'by another name, as Ironic does.'
    )
    if lines:
        text += (
            ' "-" reads lines from standard input; each line takes the place '
            'of the "-".'
        )
    parser.add_argument('provider', metavar='PROVIDER', help=text)
