# SPDX-License-Identifier: Apache-2.0
"""Options that are placement's own parameters, with or without a group.

``--required`` is for the unnamed group of a request for candidates;
``--required1`` and ``--required_NET`` are for named ones. There are more names
than options can be listed, so an option is made when it is met.
"""

import argparse
import re
import sys
import typing
from collections.abc import Callable, Iterator, Sequence

if typing.TYPE_CHECKING:
    from report_client.candidates import query

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
_OPTION = re.compile(f'--({"|".join(_OPTIONS)})([^=]*)(=.*)?', re.DOTALL)


class _Given(argparse.Action):
    """Keeps an option with its group and its text, in their order."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: typing.Any,
        option_string: str | None = None,
    ) -> None:
        name = str(option_string).removeprefix('--')
        bare = next(one for one in _OPTIONS if name.startswith(one))
        before = getattr(namespace, self.dest)
        one = (bare, name.removeprefix(bare), values)
        setattr(namespace, self.dest, [*before, one])


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options; those of a named group are in the help by a word."""
    group = parser.add_argument_group(
        'parameters of placement',
        'Each may be repeated, and end in the name of a group which a single '
        'provider must meet: a number (--required1), or 1 to 64 letters, '
        'digits, "_" and "-" (--required_NET).',
    )
    for name, (metavar, text) in _OPTIONS.items():
        _add(group, f'--{name}', metavar=metavar, help=text)

    def make(option: str) -> None:
        _add(group, option, help=argparse.SUPPRESS)

    _when_met(parser, make)


def refuse(parser: argparse.ArgumentParser, instead: str) -> None:
    """Let a command that has no groups say so where an option names one.

    :param instead: the command that has them
    """

    def fail(option: str) -> None:
        parser.error(
            f'{option}: there are no groups here, each condition is on one '
            f'provider; "{instead}" has them'
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
    """Have each option of a named group, well or badly named, seen first."""
    known = parser.parse_known_args

    def parse(
        args: Sequence[str] | None = None,
        namespace: argparse.Namespace | None = None,
    ) -> tuple[argparse.Namespace, list[str]]:
        words = sys.argv[1:] if args is None else list(args)
        found = [_OPTION.fullmatch(word) for word in words]
        options = [f'--{one[1]}{one[2]}' for one in found if one and one[2]]
        for option in dict.fromkeys(options):
            react(option)
        return known(words, namespace)

    setattr(parser, 'parse_known_args', parse)  # noqa: B010 (mypy: no method)


def groups(
    parsed_args: argparse.Namespace, find: Callable[[str], str]
) -> 'Iterator[query.Group]':
    """Yield what each of the options asks for, as a group of its own.

    :param find: returns the uuid of a provider, given by name or uuid
    :raises errors.InvalidName: one is malformed
    """
    from report_client.api import provider_query, trait_query  # noqa: PLC0415 (quick --help)
    from report_client.candidates.query import Group  # noqa: PLC0415

    from ... import extra_specs  # noqa: PLC0415 (quick --help)

    for option, suffix, text in getattr(parsed_args, _DEST):
        name = extra_specs.check_group(suffix)
        match option:
            case 'resources':
                amounts = provider_query.parse_resources([text])
                yield Group(name=name, resources=amounts)
            case 'required':
                query = trait_query.TraitQuery.parse([text])
                yield Group(name=name, traits=query)
            case 'member-of':
                one = provider_query.MemberOf.parse(text)
                yield Group(name=name, member_of=(one,))
            case _:
                yield Group(name=name, in_tree=find(text))
