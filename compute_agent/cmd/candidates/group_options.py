# SPDX-License-Identifier: Apache-2.0
"""Options that are placement's parameters, each of them for a group.

The options before the first ``--group NAME`` are those of the unnamed group,
those behind it are the group's. A single provider must meet a named group.
"""

import argparse
import typing
from collections.abc import Callable, Iterator

from report_client.api.values import provider_query, trait_query
from report_client.candidates.values import query

from ... import extra_specs

_DEST = 'of_groups'
_GROUP = '--group'

_OPTIONS = {
    '--resource': (
        'RC=AMOUNT',
        'An amount, in addition to those of the flavor.',
    ),
    '--required': (
        'TRAIT[,TRAIT]',
        'A required trait, or several with commas of which one is enough.',
    ),
    '--forbidden': ('TRAIT', 'A forbidden trait.'),
    '--member-of': (
        'UUID[,UUID]',
        'A required aggregate, or several with commas of which one is enough.',
    ),
    '--not-member-of': ('UUID[,UUID]', 'Forbidden aggregates.'),
    '--in-tree': (
        'PROVIDER',
        'A provider, by name or uuid, of the only tree to search.',
    ),
}


class _Given(argparse.Action):
    """Stores options as (option, text), in their order."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: typing.Any,
        option_string: str | None = None,
    ) -> None:
        earlier = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*earlier, (option_string, values)])


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options; the help explains those of named groups."""
    group = parser.add_argument_group(
        'parameters of placement',
        'Each option may be repeated. Those that follow --group NAME belong '
        'to that group, and a single provider must meet all of them. The name '
        'is 1 to 64 letters, digits, "_" and "-".',
    )
    given = {**_OPTIONS, _GROUP: ('NAME', 'Begin a group.')}
    for option, (metavar, text) in given.items():
        group.add_argument(
            option,
            action=_Given,
            default=[],
            dest=_DEST,
            metavar=metavar,
            help=text,
        )


def has_groups(parsed_args: argparse.Namespace) -> bool:
    """Return True if an option begins a group."""
    return any(option == _GROUP for option, _ in getattr(parsed_args, _DEST))


def groups(
    parsed_args: argparse.Namespace, find: Callable[[str], str]
) -> Iterator[query.Group]:
    """Yield a group for each option.

    :param find: returns the uuid of a provider, given by name or uuid
    :raises errors.InvalidName: an option is malformed
    """
    name = ''
    for option, text in getattr(parsed_args, _DEST):
        if option == _GROUP:
            name = extra_specs.check_group(text or ' ')
            continue
        yield _group(name, option, text, find)


def _group(
    name: str, option: str, text: str, find: Callable[[str], str]
) -> query.Group:
    """Return the group that one option describes."""
    match option:
        case '--resource':
            amounts = provider_query.parse_resources([text])
            return query.Group(name=name, resources=amounts)
        case '--required':
            traits = trait_query.TraitQuery.of_options([text])
            return query.Group(name=name, traits=traits)
        case '--forbidden':
            traits = trait_query.TraitQuery.of_options([], [text])
            return query.Group(name=name, traits=traits)
        case '--in-tree':
            return query.Group(name=name, in_tree=find(text))
        case _:
            member = provider_query.MemberOf.of_option(
                text, forbidden=option == '--not-member-of'
            )
            return query.Group(name=name, member_of=(member,))
