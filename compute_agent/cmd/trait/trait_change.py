# SPDX-License-Identifier: Apache-2.0
"""Base class of the commands that change several traits, one by one.

A trait that cannot be changed does not stop the command. If placement cannot
be reached, the command stops.
"""

import abc
import argparse
import dataclasses
import typing
from collections.abc import Callable, Mapping, Sequence

from ... import errors
from ..app import bulk, command, progress, stdin_lines

if typing.TYPE_CHECKING:
    from report_client.api import traits as traits_api


def traits(asking: command.AgentCommand) -> 'traits_api.Traits':
    """Return the API for traits; it sends no request yet."""
    from report_client.api import traits as traits_api  # noqa: PLC0415 (quick --help)

    from ..wiring import placement  # noqa: PLC0415

    service = placement.placement_service(asking.conf())
    return traits_api.Traits(service)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
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


class TraitChange(command.Report):
    """A command that changes each of several custom traits."""

    VERB: typing.ClassVar[str]

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the names."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'names',
            nargs='+',
            metavar='NAME',
            help='The name of a custom trait, such as CUSTOM_GOLD. "-" reads '
            'names from standard input, one or more on each line.',
        )
        return command.take_words(parser, 'names')

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Change the traits; change none if one of the names is invalid."""
        wanted = _wanted(self, parsed_args.names)
        self._check(wanted)
        act = self.act(traits(self))
        with progress.bar(self.app.stderr, f'trait {self.VERB}') as advance:

            def counted(name: str) -> typing.Any:
                try:
                    return act(name)
                finally:
                    advance(len(wanted))

            found = of_each(counted, list(wanted))
        for name, why in found.not_done.items():
            self.say(f'{wanted[name]}{why}')
        tell(self, found)
        data, lines = self.told(found)
        text = '\n'.join(lines) if wanted else bulk.NO_LINES
        return data, text or None, 1 if found.not_done else 0

    def _check(self, wanted: Mapping[str, str]) -> None:
        """Check the names.

        :param wanted: name → its line, for messages, or ''
        :raises errors.AgentError: some are invalid
        """
        from report_client.api import trait_names  # noqa: PLC0415 (quick --help)

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
    def act(self, service: 'traits_api.Traits') -> Callable[[str], typing.Any]:
        """Return the function that changes a trait."""

    @abc.abstractmethod
    def told(self, found: Outcome) -> tuple[typing.Any, list[str]]:
        """Return the outcome as data, and a line for each changed trait."""


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


def tell(asking: command.AgentCommand, found: Outcome) -> None:
    """Add to the history on this host which traits a command changed.

    A new trait has the outcome True, a removed one None; a trait that existed
    before has False.
    """
    from ...plan.history_entry import Entry, What  # noqa: PLC0415 (quick --help)
    from ..wiring import host_history  # noqa: PLC0415

    entries = [
        Entry(
            what=What.NEW_TRAIT if outcome else What.DROPPED_TRAIT, text=name
        )
        for name, outcome in found.done.items()
        if outcome is not False
    ]
    if entries:
        host_history.add(asking.conf(), asking.actor, entries)


def of_each(act: Callable[[str], typing.Any], names: Sequence[str]) -> Outcome:
    """Change each trait; stop if placement cannot be reached."""
    from report_client import errors as placement_errors  # noqa: PLC0415 (quick --help)

    found = Outcome(done={}, kept={}, failed={})
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
