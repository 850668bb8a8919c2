# SPDX-License-Identifier: Apache-2.0
"""Options that are placement's own parameters, with or without a number.

``--required`` is for the unnamed group of a request for candidates,
``--required1`` to ``--required9`` are for named ones.
"""

import argparse
import typing
from collections.abc import Callable, Iterator

if typing.TYPE_CHECKING:
    from report_client import candidates_query

NUMBERS = '123456789'
_DEST = 'of_groups'

_OPTIONS = {
    'resources': (
        'RC:AMOUNT,...',
        'Amounts, besides those of the flavor.',
    ),
    'required': (
        'TRAIT,!TRAIT|in:TRAIT,TRAIT',
        'Traits that it has; with "!" that it lacks; "in:" one of these.',
    ),
    'member-of': (
        '[!]UUID|[!]in:UUID,UUID',
        'The aggregate that it is in, or one of these; with "!" in none.',
    ),
    'in-tree': ('PROVIDER', 'One of the tree that it is in, by name or uuid.'),
}


class _Given(argparse.Action):
    """Keeps an option with its number and its text, in their order."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: typing.Any,
        option_string: str | None = None,
    ) -> None:
        name = str(option_string).removeprefix('--')
        bare = name.rstrip(NUMBERS)
        before = getattr(namespace, self.dest)
        one = (bare, name.removeprefix(bare), values)
        setattr(namespace, self.dest, [*before, one])


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options; those with a number are in the help by a word."""
    group = parser.add_argument_group(
        'parameters of placement',
        'Each may be repeated, and with a number (--required1) be that of a '
        'group which a single provider must meet.',
    )
    for name, (metavar, text) in _OPTIONS.items():
        for number in ('', *NUMBERS):
            group.add_argument(
                f'--{name}{number}',
                action=_Given,
                default=[],
                dest=_DEST,
                metavar=metavar,
                help=argparse.SUPPRESS if number else text,
            )


def groups(
    parsed_args: argparse.Namespace, find: Callable[[str], str]
) -> 'Iterator[candidates_query.Group]':
    """Yield what each of the options asks for, as a group of its own.

    :param find: returns the uuid of a provider, given by name or uuid
    :raises errors.InvalidName: one is malformed
    """
    from report_client import (  # noqa: PLC0415 (quick --help)
        provider_query,
        trait_query,
    )
    from report_client.candidates_query import Group  # noqa: PLC0415

    for option, number, text in getattr(parsed_args, _DEST):
        match option:
            case 'resources':
                amounts = provider_query.parse_resources([text])
                yield Group(name=number, resources=amounts)
            case 'required':
                query = trait_query.TraitQuery.parse([text])
                yield Group(name=number, traits=query)
            case 'member-of':
                one = provider_query.MemberOf.parse(text)
                yield Group(name=number, member_of=(one,))
            case _:
                yield Group(name=number, in_tree=find(text))
