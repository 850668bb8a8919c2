# SPDX-License-Identifier: Apache-2.0
"""``compute-agent trait``: the traits that placement knows."""

import argparse
import importlib.metadata
import types
import typing
from collections.abc import Callable, Mapping, Sequence

from ..app import command, confirm, listing
from . import trait_change

if typing.TYPE_CHECKING:
    from report_client.api import traits as traits_api

YES_NO = {'yes': True, 'no': False}


class TraitList(listing.Listing):
    """List the traits that placement knows, standard and custom.

    If several conditions are given, a trait must meet all of them.
    """

    COLUMNS = ('Name',)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the conditions."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--starts-with',
            metavar='PREFIX',
            help='List traits whose name begins with this text, in this case.',
        )
        parser.add_argument(
            '--name-in',
            action='append',
            metavar='NAME,NAME',
            help='List those of these names that exist. May be repeated.',
        )
        parser.add_argument(
            '--associated',
            choices=YES_NO,
            help='List traits that a provider has (yes), or that none has (no).',
        )
        return parser

    def rows(
        self, parsed_args: argparse.Namespace
    ) -> tuple[listing.Rows, str | None, int]:
        """Return one row for each trait."""
        wanted = parsed_args.name_in
        if wanted is not None:
            listed = (name for text in wanted for name in text.split(','))
            wanted = {name.strip() for name in listed}
        associated = parsed_args.associated
        found = trait_change.traits(self).names(
            starts_with=parsed_args.starts_with,
            name_in=wanted,
            associated=None if associated is None else YES_NO[associated],
        )
        return [(name,) for name in found], None, 0


class TraitShow(command.Report):
    """Show if placement knows a trait, and which providers have it."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the trait."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'name', metavar='NAME', help='The name of the trait.'
        )
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Return the kind of the trait and its providers."""
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
            else ', which the os-traits library installed here does not know'
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


class TraitAdd(trait_change.TraitChange):
    """Create custom traits; existing ones are reported and kept.

    If a trait cannot be created, the command prints a line on stderr, goes on
    with the others, and exits with 1.
    """

    VERB = 'add'

    def act(self, service: 'traits_api.Traits') -> Callable[[str], typing.Any]:
        """Return the function that creates a trait."""
        return service.add

    def told(
        self, found: trait_change.Outcome
    ) -> tuple[typing.Any, list[str]]:
        """Return the added and the existing traits."""
        lines = [
            f'added {name}' if new else f'{name} already exists'
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

    If a trait cannot be removed, the command prints a line on stderr, goes on
    with the others, and exits with 1.
    """

    VERB = 'remove'

    def act(self, service: 'traits_api.Traits') -> Callable[[str], typing.Any]:
        """Return the function that deletes a trait."""
        return service.remove

    def told(
        self, found: trait_change.Outcome
    ) -> tuple[typing.Any, list[str]]:
        """Return the removed and the kept traits."""
        lines = [f'removed {name}' for name in found.done]
        return {'removed': list(found.done), 'kept': found.not_done}, lines


class TraitPrune(command.Report):
    """Remove all custom traits that no provider has.

    The command lists them, and asks. An agent may just have created one of
    them in order to add it to a provider; it then creates the trait again.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the option --yes."""
        parser = super().get_parser(prog_name)
        confirm.add_option(parser)
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Delete them after confirmation; return the deleted ones."""
        from ...tree import names  # noqa: PLC0415 (quick --help)

        service = trait_change.traits(self)
        unused = service.names(names.CUSTOM_PREFIX, associated=False)
        if not unused:
            return _pruned(unused), 'every custom trait is in use', 0
        plan = [f'{name}: no provider has it; remove it' for name in unused]
        refused = confirm.refused(self, plan, yes=parsed_args.yes)
        if refused:
            return _pruned(unused), *refused
        found = trait_change.of_each(service.remove, unused)
        for why in found.failed.values():
            self.say(why)
        trait_change.tell(self, found)
        lines = [f'removed {name}' for name in found.done]
        lines += found.kept.values()
        data = _pruned(unused, list(found.done), found.not_done)
        return data, '\n'.join(lines) or None, 1 if found.failed else 0


class TraitSyncCheck(listing.Listing):
    """Compare the standard traits of the installed os-traits with placement's.

    Each row is a trait that one of the two does not have. Exit code 0: no
    difference, 2: differences, 1: an error. Placement reads the standard
    traits from its own os-traits library when it starts: upgrade the library
    there, and restart placement.
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
    """Return the unused, the deleted and the kept traits, as data."""
    return {
        'unused': list(unused),
        'removed': list(removed),
        'kept': dict(kept),
    }
