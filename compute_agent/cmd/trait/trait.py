# SPDX-License-Identifier: Apache-2.0
"""``compute-agent trait``: the traits that placement knows (seed 000)."""

import argparse
import importlib.metadata
import types
import typing
from collections.abc import Callable, Mapping, Sequence

from ... import error_text
from ..app import command, confirm, listing
from . import trait_change

if typing.TYPE_CHECKING:
    from report_client.api import traits as traits_api

YES_NO = {'yes': True, 'no': False}


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
        found = trait_change.traits(self).names(
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
        from report_client.api import trait_names  # noqa: PLC0415 (quick --help)

        from ...tree import names, provider  # noqa: PLC0415

        name, service = parsed_args.name, trait_change.traits(self)
        if not service.exists(name):
            raise service.does_not_exist([name])
        holders = service.holders(name)
        kind = 'custom' if names.is_custom(name) else 'standard'
        here = (
            ''
            if trait_names.is_known_here(name)
            else (', though the os-traits here does not know it')
        )
        lines = [f'{name}: a {kind} trait{here}']
        lines += [
            f'  {provider.title(error_text.printable(r.name), r.uuid)} has it'
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


class TraitAdd(trait_change.TraitChange):
    """Create custom traits; those that are there already are said to be.

    Each that cannot be created is a line on stderr, and the exit code is 1.
    """

    VERB = 'add'

    def act(self, service: 'traits_api.Traits') -> Callable[[str], typing.Any]:
        """Return what creates a trait."""
        return service.add

    def told(
        self, found: trait_change.Outcome
    ) -> tuple[typing.Any, list[str]]:
        """Return which were added, and which were there."""
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
        return data, lines


class TraitRemove(trait_change.TraitChange):
    """Remove custom traits that no provider has.

    Each that cannot be removed is a line on stderr, and the exit code is 1.
    """

    VERB = 'remove'

    def act(self, service: 'traits_api.Traits') -> Callable[[str], typing.Any]:
        """Return what removes a trait."""
        return service.remove

    def told(
        self, found: trait_change.Outcome
    ) -> tuple[typing.Any, list[str]]:
        """Return which were removed, and which were not."""
        lines = [f'removed {name}' for name in found.done]
        return {'removed': list(found.done), 'kept': found.not_done}, lines


class TraitPrune(command.Report):
    """Remove the custom traits that no provider has.

    They are shown, and you are asked. A trait that an agent has created and
    is about to give to a provider can be among them: it creates it again.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the choice not to be asked."""
        parser = super().get_parser(prog_name)
        confirm.add(parser)
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Remove them if that is wanted; return which are gone."""
        from ...tree import names  # noqa: PLC0415 (quick --help)

        service = trait_change.traits(self)
        unused = service.names(names.CUSTOM_PREFIX, associated=False)
        if not unused:
            return _pruned(unused), 'every custom trait has a provider', 0
        plan = [f'{name}: no provider has it, so it goes' for name in unused]
        refused = confirm.refused(self, plan, yes=parsed_args.yes)
        if refused:
            return _pruned(unused), *refused
        found = trait_change.of_each(service.remove, unused)
        for why in found.failed.values():
            self.say(why)
        lines = [f'removed {name}' for name in found.done]
        lines += found.kept.values()
        data = _pruned(unused, list(found.done), found.not_done)
        return data, '\n'.join(lines) or None, 1 if found.failed else 0


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
        from report_client.api import trait_names  # noqa: PLC0415 (quick --help)

        from ...tree import names  # noqa: PLC0415

        known = trait_change.traits(self).names()
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
