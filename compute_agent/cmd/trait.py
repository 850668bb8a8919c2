# SPDX-License-Identifier: Apache-2.0
"""``compute-agent trait``: the traits that placement knows.

A trait that cannot be changed does not stop a command that changes several. If
placement cannot be reached, the command stops.
"""

import abc
import argparse
import dataclasses
import importlib.metadata
import types
import typing
from collections.abc import Callable, Mapping, Sequence

from report_client import errors as placement_errors
from report_client.api import traits as traits_api
from report_client.api.values import trait_names

from .. import error_text, errors
from ..plan.history_entry import Entry, What
from ..tree import names
from .app import bulk, command, confirm, listing, progress, stdin_lines
from .wiring import host_history, placement


class TraitList(listing.Listing):
    """List the traits that placement knows, standard and custom.

    If several conditions are given, a trait must meet all of them.
    """

    COLUMNS = ('name',)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the conditions."""
        parser.add_argument(
            '--name',
            action='append',
            default=[],
            metavar='startswith:PREFIX|in:NAME,NAME',
            help='List traits whose name begins with this text, or those of '
            'these names that exist. May be repeated.',
        )
        use = parser.add_mutually_exclusive_group()
        use.add_argument(
            '--associated',
            action='store_true',
            default=None,
            help='List traits that a provider has.',
        )
        use.add_argument(
            '--not-associated',
            action='store_false',
            dest='associated',
            help='List traits that no provider has.',
        )

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Return one row for each trait."""
        prefixes, wanted = _conditions(parsed_args.name)
        found = _traits(self).names(
            starts_with=max(prefixes, key=len, default=None),
            name_in=wanted,
            associated=parsed_args.associated,
        )
        return (
            [(n,) for n in found if n.startswith(tuple(prefixes) or '')],
            None,
            0,
        )


def _conditions(texts: Sequence[str]) -> tuple[list[str], set[str] | None]:
    """Return the beginnings and the names that --name gives.

    :raises errors.ConfigError: a text has another form
    """
    prefixes: list[str] = []
    wanted: set[str] | None = None
    for text in texts:
        operator, colon, rest = text.partition(':')
        if not colon or operator not in {'startswith', 'in'}:
            raise errors.ConfigError(
                f'--name {error_text.excerpt(text)}: write startswith:PREFIX '
                'or in:NAME,NAME'
            )
        if operator == 'startswith':
            prefixes.append(rest)
        else:
            listed = {name.strip() for name in rest.split(',')}
            wanted = listed if wanted is None else wanted | listed
    return prefixes, wanted


class TraitShow(listing.Record):
    """Show a trait that placement knows, and with --long who has it."""

    COLUMNS = ('name',)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the trait."""
        parser.add_argument(
            'name', metavar='NAME', help='The name of the trait.'
        )
        parser.add_argument(
            '--long',
            action='store_true',
            help='Show its kind, and the providers that have it, too.',
        )

    def columns(self, parsed_args: argparse.Namespace) -> tuple[str, ...]:
        """Return the columns."""
        more = ('kind', 'providers') if parsed_args.long else ()
        return self.COLUMNS + more

    def record(
        self, parsed_args: argparse.Namespace
    ) -> Mapping[str, typing.Any]:
        """Return the name of the trait, its kind and its providers."""
        name, service = parsed_args.name, _traits(self)
        if not service.exists(name):
            raise service.does_not_exist([name])
        if not trait_names.is_known_here(name):
            self.say(
                f'{name}: a standard trait that the os-traits library '
                'installed here does not know'
            )
        if not parsed_args.long:
            return {'name': name}
        return {
            'name': name,
            'kind': 'custom' if names.is_custom(name) else 'standard',
            'providers': [str(row) for row in service.holders(name)],
        }


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """The outcome for each trait.

    :ivar done: trait → the result of the change
    :ivar kept: trait → the reason why placement refused the change
    :ivar failed: trait → the error that prevented the change, or left its
        outcome unknown
    """

    done: dict[str, typing.Any]
    kept: dict[str, str]
    failed: dict[str, str]

    @property
    def not_done(self) -> dict[str, str]:
        """Trait → reason, for every trait that was not changed."""
        return {**self.kept, **self.failed}


class _TraitChange(command.Report):
    """A command that changes each of several custom traits."""

    VERB: typing.ClassVar[str]

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the names."""
        parser.add_argument(
            'names',
            nargs='+',
            metavar='NAME',
            help='The name of a custom trait, such as CUSTOM_GOLD. "-" reads '
            'names from standard input, one or more on each line.',
        )
        command.take_words(parser, 'names')

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Change the traits; change none if one of the names is invalid."""
        wanted = _wanted(self, parsed_args.names)
        self._check(wanted)
        act = self.act(_traits(self))
        with progress.bar(self.app.stderr, f'trait {self.VERB}') as advance:

            def counted(name: str) -> typing.Any:
                try:
                    return act(name)
                finally:
                    advance(len(wanted))

            found = _of_each(counted, list(wanted))
        for name, why in found.not_done.items():
            self.say(f'{wanted[name]}{why}')
        _tell(self, found)
        data, lines = self.told(found)
        text = '\n'.join(lines) if wanted else bulk.NO_LINES
        return data, text or None, 1 if found.not_done else 0

    def _check(self, wanted: Mapping[str, str]) -> None:
        """Check the names.

        :param wanted: name → its line, for messages, or ''
        :raises errors.AgentError: a name is invalid
        """
        mistakes = []
        for name, line in wanted.items():
            try:
                trait_names.check_custom(name, self.VERB)
            except errors.InvalidName as exc:
                if not line:
                    raise
                mistakes.append(f'{line}{exc}')
        stdin_lines.refuse(mistakes)

    @abc.abstractmethod
    def act(self, service: traits_api.Traits) -> Callable[[str], typing.Any]:
        """Return the function that changes a trait."""

    @abc.abstractmethod
    def told(self, found: _Outcome) -> tuple[typing.Any, list[str]]:
        """Return the outcome as data, and a line for each changed trait."""


class TraitCreate(_TraitChange):
    """Create custom traits; existing ones are reported and kept.

    If a trait cannot be created, the command prints a line on stderr, goes on
    with the others, and exits with 1.
    """

    VERB = 'create'

    def act(self, service: traits_api.Traits) -> Callable[[str], typing.Any]:
        """Return the function that creates a trait."""
        return service.add

    def told(self, found: _Outcome) -> tuple[typing.Any, list[str]]:
        """Return the created and the existing traits."""
        lines = [
            f'created {name}' if new else f'{name} already exists'
            for name, new in found.done.items()
        ]
        data: list[dict[str, typing.Any]] = [
            {'name': name, 'created': new} for name, new in found.done.items()
        ]
        data += [
            {'name': name, 'created': None, 'error': why}
            for name, why in found.not_done.items()
        ]
        return data, lines


class TraitDelete(_TraitChange):
    """Delete custom traits that no provider has.

    If a trait cannot be deleted, the command prints a line on stderr, goes on
    with the others, and exits with 1.
    """

    VERB = 'delete'

    def act(self, service: traits_api.Traits) -> Callable[[str], typing.Any]:
        """Return the function that deletes a trait."""
        return service.remove

    def told(self, found: _Outcome) -> tuple[typing.Any, list[str]]:
        """Return the deleted and the kept traits."""
        lines = [f'deleted {name}' for name in found.done]
        return {'deleted': list(found.done), 'kept': found.not_done}, lines


class TraitPrune(command.Report):
    """Delete all custom traits that no provider has.

    The command lists them, and asks. An agent may just have created one of
    them in order to add it to a provider; it then creates the trait again.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the option --yes."""
        confirm.add_option(parser)

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Delete them after confirmation; return the deleted ones."""
        service = _traits(self)
        unused = service.names(names.CUSTOM_PREFIX, associated=False)
        if not unused:
            return _pruned(unused), 'every custom trait is in use', 0
        plan = [f'{name}: no provider has it; delete it' for name in unused]
        refused = confirm.refused(self, plan, yes=parsed_args.yes)
        if refused:
            return _pruned(unused), *refused
        found = _of_each(service.remove, unused)
        for why in found.failed.values():
            self.say(why)
        _tell(self, found)
        lines = [f'deleted {name}' for name in found.done]
        lines += found.kept.values()
        data = _pruned(unused, list(found.done), found.not_done)
        return data, '\n'.join(lines) or None, 1 if found.failed else 0


class TraitSyncCheck(listing.Listing):
    """Compare the standard traits of the installed os-traits with placement's.

    Each row is a trait that either placement or os-traits lacks. Exit code 0:
    no difference, 2: differences, 1: an error. Placement reads the standard
    traits from its own os-traits library when it starts: upgrade the library
    there, and restart placement.
    """

    COLUMNS = ('name', 'missing_in')

    def rows(
        self,
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> listing.Listed:
        """Return one row for each trait that differs."""
        known = _traits(self).names()
        there = {name for name in known if not names.is_custom(name)}
        here = trait_names.standard()
        rows = [(name, 'placement') for name in sorted(here - there)]
        rows += [(name, 'os-traits here') for name in sorted(there - here)]
        version = importlib.metadata.version('os-traits')
        note = (
            f'os-traits {version} here has {len(here)} standard traits, '
            f'placement {len(there)}: {len(rows) or "no"} '
            f'difference{"s" * (len(rows) != 1)}'
        )
        return rows, note, 2 if rows else 0


def _pruned(
    unused: Sequence[str],
    removed: Sequence[str] = (),
    kept: Mapping[str, str] = types.MappingProxyType({}),
) -> dict[str, typing.Any]:
    """Return the unused, the deleted and the kept traits, as data."""
    return {
        'unused': list(unused),
        'deleted': list(removed),
        'kept': dict(kept),
    }


def _traits(asking: command.AgentCommand) -> traits_api.Traits:
    """Return the API for traits; it sends no request yet."""
    service = placement.placement_service(asking.conf())
    return traits_api.Traits(service)


def _wanted(
    asking: command.AgentCommand, words: Sequence[str]
) -> dict[str, str]:
    """Return the names, each with its line of standard input, or ''."""
    wanted = {word: '' for word in words if word != stdin_lines.STDIN}
    if stdin_lines.STDIN in words:
        for line in stdin_lines.read(asking):
            for name in line.words:
                wanted.setdefault(name, line.mistake(''))
    return wanted


def _tell(asking: command.AgentCommand, found: _Outcome) -> None:
    """Add to the history on this host which traits a command changed.

    A new trait has the outcome True, a deleted one None; a trait that existed
    before has False.
    """
    entries = [
        Entry(
            what=What.NEW_TRAIT if outcome else What.DROPPED_TRAIT, text=name
        )
        for name, outcome in found.done.items()
        if outcome is not False
    ]
    if entries:
        host_history.add(asking.conf(), asking.actor, entries)


def _of_each(
    act: Callable[[str], typing.Any], names: Sequence[str]
) -> _Outcome:
    """Change each trait; stop if placement cannot be reached."""
    found = _Outcome(done={}, kept={}, failed={})
    for number, name in enumerate(names, 1):
        try:
            found.done[name] = act(name)
        except (placement_errors.InUse, placement_errors.DoesNotExist) as exc:
            found.kept[name] = str(exc)
        except (errors.Unavailable, errors.ConfigError) as exc:
            found.failed[name] = f'{name}: {exc}'
            for later in names[number:]:
                found.failed[later] = f'{later}: not tried'
            break
        except errors.AgentError as exc:
            found.failed[name] = f'{name}: {exc}'
    return found
