# SPDX-License-Identifier: Apache-2.0
"""What the commands that change traits share: several, one after the other.

One that cannot be changed does not stop the others; placement that is away
does.
"""

import abc
import argparse
import dataclasses
import typing
from collections.abc import Callable, Sequence

from ..app import command

if typing.TYPE_CHECKING:
    from report_client.api import traits as traits_api


def traits(asked: command.AgentCommand) -> 'traits_api.Traits':
    """Return the traits of the configured placement; nothing is asked yet."""
    from report_client.api import traits as traits_api  # noqa: PLC0415 (quick --help)

    from ..wiring import placement  # noqa: PLC0415

    service = placement.placement_service(asked.conf())
    return traits_api.Traits(service)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of each of some traits.

    :ivar done: what the act returned
    :ivar kept: why it was not done, where placement has a reason
    :ivar failed: why it was not done, or may not be, for an error
    """

    done: dict[str, typing.Any]
    kept: dict[str, str]
    failed: dict[str, str]

    @property
    def not_done(self) -> dict[str, str]:
        """Why it was not done, of all that it was not."""
        return {**self.kept, **self.failed}


class TraitChange(command.Report):
    """A command that does the same with each of several custom traits."""

    VERB: typing.ClassVar[str]

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the names."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'names', nargs='+', metavar='NAME', help='It begins with CUSTOM_.'
        )
        return command.take_words(parser, 'names')

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Do it with the traits; with none, if a name among them is none."""
        from report_client.api import trait_names  # noqa: PLC0415 (quick --help)

        wanted = list(dict.fromkeys(parsed_args.names))
        for name in wanted:
            trait_names.check_custom(name, self.VERB)
        found = of_each(self.act(traits(self)), wanted)
        for why in found.not_done.values():
            self.say(why)
        data, lines = self.told(found)
        return data, '\n'.join(lines) or None, 1 if found.not_done else 0

    @abc.abstractmethod
    def act(self, service: 'traits_api.Traits') -> Callable[[str], typing.Any]:
        """Return what is done with each trait."""

    @abc.abstractmethod
    def told(self, found: Outcome) -> tuple[typing.Any, list[str]]:
        """Return what became of them as data, and of those done as lines."""


def of_each(act: Callable[[str], typing.Any], some: Sequence[str]) -> Outcome:
    """Do something with each trait; stop where placement is away."""
    from report_client import errors  # noqa: PLC0415 (quick --help)

    from ... import errors as agent_errors  # noqa: PLC0415

    found = Outcome(done={}, kept={}, failed={})
    for number, name in enumerate(some, 1):
        try:
            found.done[name] = act(name)
        except (errors.InUse, errors.DoesNotExist) as exc:
            found.kept[name] = str(exc)
        except (agent_errors.Unavailable, agent_errors.ConfigError) as exc:
            found.failed[name] = f'{name}: {exc}'
            for later in some[number:]:
                found.failed[later] = f'{later}: not tried'
            break
        except agent_errors.AgentError as exc:
            found.failed[name] = f'{name}: {exc}'
    return found
