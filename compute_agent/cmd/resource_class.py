# SPDX-License-Identifier: Apache-2.0
"""``compute-agent resource class``: the classes that placement knows."""

import argparse
import typing
from collections.abc import Mapping, Sequence

from report_client.api import resource_classes

from ..plan.history_entry import Entry, What
from ..tree import names
from .app import bulk, command, listing
from .wiring import host_history, placement


class ResourceClassList(listing.Listing):
    """List the resource classes that placement knows."""

    COLUMNS = ('name',)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the condition."""
        parser.add_argument(
            '--custom',
            action='store_true',
            help='List the custom classes only.',
        )

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Return one row for each class."""
        found = _classes(self).names()
        custom = parsed_args.custom
        rows = [(rc,) for rc in found if not custom or names.is_custom(rc)]
        return rows, None, 0


class ResourceClassShow(listing.Record):
    """Show a resource class that placement knows."""

    COLUMNS = ('name',)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the class."""
        parser.add_argument(
            'name', metavar='NAME', help='The name of the class.'
        )

    def record(
        self, parsed_args: argparse.Namespace
    ) -> Mapping[str, typing.Any]:
        """Return the name, if placement knows it."""
        name, service = parsed_args.name, _classes(self)
        if not service.exists(name):
            raise service.does_not_exist(service.unknown([name]))
        return {'name': name}


class _CustomClass(bulk.BulkReport):
    """A command about one custom class, or one for each line of stdin."""

    VERB: typing.ClassVar[str]

    _service: resource_classes.ResourceClasses

    def add_item(self, parser: argparse.ArgumentParser) -> None:
        """Add the class."""
        parser.add_argument(
            'name',
            metavar='NAME',
            help='The name of a custom class, such as CUSTOM_GOLD. "-" reads '
            'names from standard input, one on each line.',
        )

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse a name that no custom class can have."""
        resource_classes.check_custom(parsed_args.name, self.VERB)

    def prepare(self, items: Sequence[argparse.Namespace]) -> bulk.Mistakes:
        """Open the API; placement itself refuses what is impossible."""
        self._service = _classes(self)
        return [None] * len(items)

    def tell(self, what: What, name: str) -> None:
        """Add to the history on this host what was done to a class."""
        host_history.add(
            self.conf(), self.actor, [Entry(what=what, text=name)]
        )


class ResourceClassCreate(_CustomClass):
    """Create a custom resource class; an existing one is reported and kept."""

    VERB = 'create'

    def act(self, parsed_args: argparse.Namespace) -> bulk.Outcome:
        """Create the class."""
        name = parsed_args.name
        new = self._service.add(name)
        if new:
            self.tell(What.NEW_CLASS, name)
        text = f'created {name}' if new else f'{name} already exists'
        return bulk.Outcome(data={'name': name, 'created': new}, text=text)


class ResourceClassSet(ResourceClassCreate):
    """Create a custom resource class, or check that it exists."""

    VERB = 'set'


class ResourceClassDelete(_CustomClass):
    """Delete a custom resource class of which no provider has inventory."""

    VERB = 'delete'

    def act(self, parsed_args: argparse.Namespace) -> bulk.Outcome:
        """Delete the class."""
        name = parsed_args.name
        self._service.remove(name)
        self.tell(What.DROPPED_CLASS, name)
        return bulk.Outcome(data={'name': name}, text=f'deleted {name}')


def _classes(
    asking: command.AgentCommand,
) -> resource_classes.ResourceClasses:
    """Return the API for resource classes; it sends no request yet."""
    service = placement.placement_service(asking.conf())
    return resource_classes.ResourceClasses(service)
