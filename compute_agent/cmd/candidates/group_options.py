# SPDX-License-Identifier: Apache-2.0
"""Options that are placement's parameters, with or without a group's name.

``--required`` is for the unnamed group of a request for candidates,
``--required1`` and ``--required_NET`` are for named groups. There are too many
names to register an option for each, so the parser gets an option when it
occurs on the command line.
"""

import argparse
import re
import sys
import typing
from collections.abc import Callable, Iterator, Sequence

from report_client.api.values import provider_query, trait_query
from report_client.candidates import query
from report_client.candidates.query import Group

from ... import extra_specs

_DEST = 'of_groups'

_OPTIONS = {
    'resources': (
        'RC:AMOUNT,...',
        'Amounts in addition to those of the flavor.',
    ),
    'required': (
        'TRAIT,!TRAIT|in:TRAIT,TRAIT',
        'Required traits; "!" forbids a trait, "in:" requires at least one.',
    ),
    'member-of': (
        '[!]UUID|[!]in:UUID,UUID',
        'A required aggregate; "in:" requires at least one, "!" forbids.',
    ),
    'in-tree': (
        'PROVIDER',
        'A provider, by name or uuid, of the only tree to search.',
    ),
}
_OPTION = re.compile(f'--({"|".join(_OPTIONS)})([^=]*)(=.*)?', re.DOTALL)


class _Given(argparse.Action):
    """Stores options as (option, group, text), in their order."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: typing.Any,
        option_string: str | None = None,
    ) -> None:
        name = str(option_string).removeprefix('--')
        bare = next(option for option in _OPTIONS if name.startswith(option))
        given = (bare, name.removeprefix(bare), values)
        earlier = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*earlier, given])


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options; the help explains those of named groups."""
    group = parser.add_argument_group(
        'parameters of placement',
        'Each option may be repeated. It may end in the name of a group, '
        'whose options must all be met by a single provider. The name is a '
        'number (--required1), or 1 to 64 letters, digits, "_" and "-" '
        '(--required_NET).',
    )
    for name, (metavar, text) in _OPTIONS.items():
        _add(group, f'--{name}', metavar=metavar, help=text)

    def make(option: str) -> None:
        _add(group, option, help=argparse.SUPPRESS)

    _when_met(parser, make)


def refuse(parser: argparse.ArgumentParser, instead: str) -> None:
    """Refuse options of named groups, with a message that explains it.

    :param instead: the command that has groups
    """

    def fail(option: str) -> None:
        parser.error(
            f'{option}: this command has no groups, each condition applies '
            f'to a single provider; use "{instead}" for groups'
        )

    _when_met(parser, fail)


def _add(
    group: argparse._ArgumentGroup,
    option: str,
    **kwargs: typing.Any,
) -> None:
    group.add_argument(option, action=_Given, default=[], dest=_DEST, **kwargs)


def _when_met(
    parser: argparse.ArgumentParser, react: Callable[[str], None]
) -> None:
    """Call ``react`` with each option of a named group before parsing.

    The name may be invalid; ``groups`` checks it.
    """
    known = parser.parse_known_args

    def parse(
        args: Sequence[str] | None = None,
        namespace: argparse.Namespace | None = None,
    ) -> tuple[argparse.Namespace, list[str]]:
        words = sys.argv[1:] if args is None else list(args)
        found = [_OPTION.fullmatch(word) for word in words]
        options = [f'--{m[1]}{m[2]}' for m in found if m and m[2]]
        for option in dict.fromkeys(options):
            react(option)
        return known(words, namespace)

    setattr(parser, 'parse_known_args', parse)  # noqa: B010 (mypy: no method)


def groups(
    parsed_args: argparse.Namespace, find: Callable[[str], str]
) -> Iterator[query.Group]:
    """Yield a group for each option.

    :param find: returns the uuid of a provider, given by name or uuid
    :raises errors.InvalidName: an option is malformed
    """
    for option, suffix, text in getattr(parsed_args, _DEST):
        name = extra_specs.check_group(suffix)
        match option:
            case 'resources':
                amounts = provider_query.parse_resources([text])
                yield Group(name=name, resources=amounts)
            case 'required':
                traits = trait_query.TraitQuery.parse([text])
                yield Group(name=name, traits=traits)
            case 'member-of':
                member_of = provider_query.MemberOf.parse(text)
                yield Group(name=name, member_of=(member_of,))
            case _:
                yield Group(name=name, in_tree=find(text))
