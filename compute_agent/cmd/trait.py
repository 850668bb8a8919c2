# SPDX-License-Identifier: Apache-2.0
"""``compute-agent trait``: the traits that placement knows (seed 000)."""

import argparse
import importlib.metadata
import types
import typing
from collections.abc import Mapping, Sequence

from . import command, listing

if typing.TYPE_CHECKING:
    from report_client import traits as traits_api

YES_NO = {'yes': True, 'no': False}


def _traits(asked: command.AgentCommand) -> 'traits_api.Traits':
    """Return the traits of the configured placement; nothing is asked yet."""
    from report_client import traits as traits_api  # noqa: PLC0415 (quick --help)

    from . import wiring  # noqa: PLC0415

    return traits_api.Traits(wiring.placement_service(asked.conf()))


def _add_names(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'names', nargs='+', metavar='NAME', help='It begins with CUSTOM_.'
    )


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
            f'  {provider.title(r.name, r.uuid)} has it' for r in holders
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
    """Create custom traits; those that are there already are said to be."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the names."""
        parser = super().get_parser(prog_name)
        _add_names(parser)
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Create the traits; nothing is, if a name among them is none."""
        from report_client import trait_names  # noqa: PLC0415 (quick --help)

        wanted = list(dict.fromkeys(parsed_args.names))
        for name in wanted:
            trait_names.check_custom(name, 'add')
        service = _traits(self)
        added = {name: service.add(name) for name in wanted}
        lines = [
            f'added {name}' if new else f'{name} was there'
            for name, new in added.items()
        ]
        data = [{'name': n, 'added': new} for n, new in added.items()]
        return data, '\n'.join(lines), 0


class TraitRemove(command.Report):
    """Remove custom traits that no provider has.

    Each that cannot be removed is a line on stderr, and the exit code is 1.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the names."""
        parser = super().get_parser(prog_name)
        _add_names(parser)
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Remove the traits; none is, if a name among them is none."""
        from report_client import trait_names  # noqa: PLC0415 (quick --help)

        wanted = list(dict.fromkeys(parsed_args.names))
        for name in wanted:
            trait_names.check_custom(name, 'remove')
        removed, kept = _remove(_traits(self), wanted)
        for why in kept.values():
            _say(self, why)
        lines = [f'removed {name}' for name in removed]
        data = {'removed': removed, 'kept': kept}
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
            _say(self, f'no provider has these {what}: --yes removes them')
            return _pruned(unused), '\n'.join(unused), 1
        if not parsed_args.yes and not self._agreed(unused, what):
            return _pruned(unused), 'nothing was removed', 0
        removed, kept = _remove(service, unused)
        lines = [*(f'removed {name}' for name in removed), *kept.values()]
        return _pruned(unused, removed, kept), '\n'.join(lines), 0

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


def _say(asked: command.AgentCommand, text: str) -> None:
    asked.app.stderr.write(f'compute-agent: {" ".join(text.split())}\n')


def _remove(
    service: 'traits_api.Traits', some: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """Remove traits; return those that are gone, and why others are not."""
    from report_client import errors  # noqa: PLC0415 (quick --help)

    removed, kept = [], {}
    for name in some:
        try:
            service.remove(name)
        except (errors.InUse, errors.NotFound) as exc:
            kept[name] = str(exc)
        else:
            removed.append(name)
    return removed, kept
