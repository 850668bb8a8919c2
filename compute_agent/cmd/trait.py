# SPDX-License-Identifier: Apache-2.0
"""``compute-agent trait``: the traits that placement knows (seed 000)."""

import argparse
import dataclasses
import importlib.metadata
import types
import typing
from collections.abc import Callable, Mapping, Sequence

from . import command, listing

if typing.TYPE_CHECKING:
    from report_client import traits as traits_api

YES_NO = {'yes': True, 'no': False}


def _traits(asked: command.AgentCommand) -> 'traits_api.Traits':
    """Return the traits of the configured placement; nothing is asked yet."""
    from report_client import traits as traits_api  # noqa: PLC0415 (quick --help)

    from . import wiring  # noqa: PLC0415

    return traits_api.Traits(wiring.placement_service(asked.conf()))


def _add_names(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument(
        'names', nargs='+', metavar='NAME', help='It begins with CUSTOM_.'
    )
    return command.take_words(parser, 'names')


class TraitList(listing.Listing):
    """List the traits that placement knows, standard and custom.

    Conditions hold together.
    """

    COLUMNS = ('Name',)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the conditions."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--starts-with',
            metavar='PREFIX',
            help='Those whose name begins so, to the letter.',
        )
        parser.add_argument(
            '--name-in',
            action='append',
            metavar='NAME,NAME',
            help='Of these names those that exist. May be repeated.',
        )
        parser.add_argument(
            '--associated',
            choices=YES_NO,
            help='Those that some provider has, or that none has.',
        )
        return parser

    def rows(
        self, parsed_args: argparse.Namespace
    ) -> tuple[listing.Rows, str | None, int]:
        """Return one row for each trait."""
        wanted = parsed_args.name_in
        if wanted is not None:
            some = (part for text in wanted for part in text.split(','))
            wanted = {name.strip() for name in some}
        associated = parsed_args.associated
        found = _traits(self).names(
            starts_with=parsed_args.starts_with,
            name_in=wanted,
            associated=None if associated is None else YES_NO[associated],
        )
        return [(name,) for name in found], None, 0


class TraitShow(command.Report):
    """Show whether placement knows a trait, and which providers have it."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the trait."""
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='The trait.')
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Return what is known of the trait."""
        from report_client import trait_names  # noqa: PLC0415 (quick --help)

        from .. import names, provider  # noqa: PLC0415

        name, service = parsed_args.name, _traits(self)
        if not service.exists(name):
            raise service.not_found([name])
        holders = service.holders(name)
        kind = 'custom' if names.is_custom(name) else 'standard'
        here = (
            ''
            if trait_names.is_known_here(name)
            else (', though the os-traits here does not know it')
        )
        lines = [f'{name}: a {kind} trait{here}']
        lines += [
            f'  {provider.title(command.printable(r.name), r.uuid)} has it'
            for r in holders
        ]
        if not holders:
            lines.append('  no provider has it')
        data = {
            'name': name,
            'kind': kind,
            'providers': [{'name': r.name, 'uuid': r.uuid} for r in holders],
        }
        return data, '\n'.join(lines), 0


class TraitAdd(command.Report):
    """Create custom traits; those that are there already are said to be.

    Each that cannot be created is a line on stderr, and the exit code is 1.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the names."""
        parser = super().get_parser(prog_name)
        return _add_names(parser)

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Create the traits; nothing is, if a name among them is none."""
        from report_client import trait_names  # noqa: PLC0415 (quick --help)

        wanted = list(dict.fromkeys(parsed_args.names))
        for name in wanted:
            trait_names.check_custom(name, 'add')
        found = _each(_traits(self).add, wanted)
        for why in found.not_done.values():
            self.say(why)
        lines = [
            f'added {name}' if new else f'{name} was there'
            for name, new in found.done.items()
        ]
        data: list[dict[str, typing.Any]] = [
            {'name': name, 'added': new} for name, new in found.done.items()
        ]
        data += [
            {'name': name, 'added': None, 'error': why}
            for name, why in found.not_done.items()
        ]
        return data, '\n'.join(lines) or None, 1 if found.not_done else 0


class TraitRemove(command.Report):
    """Remove custom traits that no provider has.

    Each that cannot be removed is a line on stderr, and the exit code is 1.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the names."""
        parser = super().get_parser(prog_name)
        return _add_names(parser)

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Remove the traits; none is, if a name among them is none."""
        from report_client import trait_names  # noqa: PLC0415 (quick --help)

        wanted = list(dict.fromkeys(parsed_args.names))
        for name in wanted:
            trait_names.check_custom(name, 'remove')
        found = _each(_traits(self).remove, wanted)
        kept = found.not_done
        for why in kept.values():
            self.say(why)
        lines = [f'removed {name}' for name in found.done]
        data = {'removed': list(found.done), 'kept': kept}
        return data, '\n'.join(lines) or None, 1 if kept else 0


class TraitPrune(command.Report):
    """Remove the custom traits that no provider has.

    They are shown, and you are asked. A trait that an agent has created and
    is about to give to a provider can be among them: it creates it again.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the choice not to be asked."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--yes',
            action='store_true',
            help='Do not ask. Needed where there is no terminal.',
        )
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Remove them if that is wanted; return which are gone."""
        from .. import names  # noqa: PLC0415 (quick --help)

        service = _traits(self)
        unused = service.names(names.CUSTOM_PREFIX, associated=False)
        what = f'{len(unused)} custom trait{"s" * (len(unused) != 1)}'
        if not unused:
            return _pruned(unused), 'every custom trait has a provider', 0
        if not parsed_args.yes and not self.app.stdin.isatty():
            self.say(f'no provider has these {what}: --yes removes them')
            return _pruned(unused), '\n'.join(unused), 1
        if not parsed_args.yes and not self._agreed(unused, what):
            return _pruned(unused), 'nothing was removed', 0
        found = _each(service.remove, unused)
        for why in found.failed.values():
            self.say(why)
        lines = [f'removed {name}' for name in found.done]
        lines += found.kept.values()
        data = _pruned(unused, list(found.done), found.not_done)
        return data, '\n'.join(lines) or None, 1 if found.failed else 0

    def _agreed(self, unused: Sequence[str], what: str) -> bool:
        """Show the traits and ask, at the terminal."""
        self.app.stderr.write('\n'.join([*unused, f'remove these {what}? ']))
        self.app.stderr.write('[y/N] ')
        self.app.stderr.flush()
        return self.app.stdin.readline().strip().lower() in {'y', 'yes'}


class TraitSyncCheck(listing.Listing):
    """Compare the standard traits of the os-traits here with placement's.

    Rows are the traits that one of the two lacks. Exit code 0: there is none,
    2: there are, 1: an error. Placement takes its standard traits from its own
    os-traits when it starts: upgrade that, and start it again.
    """

    COLUMNS = ('Name', 'Missing in')

    def rows(
        self,
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> tuple[listing.Rows, str | None, int]:
        """Return one row for each trait that differs."""
        from report_client import trait_names  # noqa: PLC0415 (quick --help)

        from .. import names  # noqa: PLC0415

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
    """Return what became of the unused traits, as data."""
    return {
        'unused': list(unused),
        'removed': list(removed),
        'kept': dict(kept),
    }


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
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


def _each(act: Callable[[str], typing.Any], some: Sequence[str]) -> _Outcome:
    """Do something with each trait; stop where placement is away."""
    from report_client import errors  # noqa: PLC0415 (quick --help)

    from .. import errors as agent_errors  # noqa: PLC0415

    found = _Outcome(done={}, kept={}, failed={})
    for number, name in enumerate(some, 1):
        try:
            found.done[name] = act(name)
        except (errors.InUse, errors.NotFound) as exc:
            found.kept[name] = str(exc)
        except (agent_errors.Unavailable, agent_errors.ConfigError) as exc:
            found.failed[name] = f'{name}: {exc}'
            for later in some[number:]:
                found.failed[later] = f'{later}: not tried'
            break
        except agent_errors.AgentError as exc:
            found.failed[name] = f'{name}: {exc}'
    return found
