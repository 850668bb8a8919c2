# SPDX-License-Identifier: Apache-2.0
"""``compute-agent node``: stage the requested traits on a node, or unstage.

The commands need only the driver; they send placement no request. What they
changed in Ironic is an entry of the history on this host.
"""

import argparse
import functools
import typing
from collections.abc import Callable

from oslo_config import cfg

from .. import errors, extra_specs
from ..plan import history_entry as entry
from ..provider_config import files
from ..virt.driver import Existence
from ..virt.values import requested as virt
from .app import command, configuration
from .candidates import request_options
from .wiring import agent_settings, host_history


class _NodeCommand(command.Report):
    """A command about one node of the driver."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the node and its instance."""
        parser.add_argument('node', help='The name or uuid of the node.')
        parser.add_argument(
            '--instance',
            metavar='UUID',
            help='The instance that has the node. Without this option, the '
            'command refuses a node that has an instance.',
        )
        parser.add_argument(
            '--dry-run',
            action='store_true',
            help='Print what would be done, and do nothing.',
        )

    def local_conf(self) -> cfg.ConfigOpts:
        """Return the configuration; the options of placement are not read."""
        return configuration.load(self.app.global_options, local=True)

    def driver(self, conf: cfg.ConfigOpts, node: str) -> virt.RequestedTraits:
        """Return the driver that stages requested traits on a node.

        If several drivers can, that is the one that has the node.

        :raises errors.ConfigError: no driver can stage requested traits
        """
        every = configuration.load_drivers(conf)
        found = [
            one
            for one in every
            if isinstance(one.driver, virt.RequestedTraits)
        ]
        if not found:
            raise errors.ConfigError(
                f'driver {", ".join(conf.compute_driver)} cannot stage '
                'requested traits on its nodes; [DEFAULT] compute_driver = '
                'ironic can'
            )
        chosen = found[0]
        if len(found) > 1:
            yes = Existence.YES
            having = (o for o in found if o.driver.node_exists(node) is yes)
            chosen = next(having, chosen)
        return typing.cast('virt.RequestedTraits', chosen.driver)

    def carry_out(
        self,
        conf: cfg.ConfigOpts,
        kind: str,
        change: Callable[[], virt.Staging],
        *,
        dry_run: bool,
    ) -> virt.Staging:
        """Have the driver change the node, and tell the history on this host.

        :param kind: the name of the kind of the entry
        :param change: calls the driver
        """
        try:
            staging = change()
        except virt.Unconfirmed as exc:
            self._tell(conf, kind, exc.staging, 'UNCONFIRMED')
            raise
        if staging.changed and not dry_run:
            self._tell(conf, kind, staging, 'DONE')
        return staging

    def _tell(
        self,
        conf: cfg.ConfigOpts,
        kind: str,
        staging: virt.Staging,
        result: str,
    ) -> None:
        """Add a change in Ironic to the history, with the name of a result."""
        made = entry.Entry(
            what=entry.What[kind],
            node_uuid=staging.uuid,
            uuid=staging.uuid,
            provider=staging.name or staging.uuid,
            result=entry.Result[result],
            text=staging.text(entry.LONGEST_TEXT),
        )
        host_history.add(conf, self.actor, [made])


class NodeStage(_NodeCommand):
    """Tell a node which traits and capabilities a request asks for.

    Ironic checks them when it deploys the node. The command sends those that
    are traits of the node in Ironic; those of the driver only matter to
    placement. It refuses a trait that the node has neither in Ironic nor in
    placement. The node must be available, and its other values stay. "node
    unstage" takes the traits back.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the request."""
        super().add_options(parser)
        request_options.add_flavor(
            parser,
            "A flavor's extra spec: trait:NAME=required or =forbidden, "
            'or capabilities:NAME=VALUE. May be repeated.',
            'A YAML or JSON file with extra_specs, or the output of '
            '"openstack flavor show -f json", as "allocation candidate list" takes it.',
        )

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Return the staged traits and capabilities."""
        _check_given(parsed_args)
        requested, _ = request_options.extra_specs_of(parsed_args)
        _check_asks(requested, parsed_args.flavor)
        conf, dry_run = self.local_conf(), parsed_args.dry_run
        driver = self.driver(conf, parsed_args.node)
        change = functools.partial(
            driver.stage,
            parsed_args.node,
            requested,
            parsed_args.instance,
            elsewhere=_traits_of_files(conf),
            dry_run=dry_run,
        )
        staging = self.carry_out(conf, 'STAGED', change, dry_run=dry_run)
        return _reported(staging, dry_run=dry_run)


def _check_given(parsed_args: argparse.Namespace) -> None:
    """Refuse a command line without a request.

    :raises errors.ConfigError: the command line has no request
    """
    given = (parsed_args.properties, parsed_args.image_properties)
    if parsed_args.flavor is None and not any(given):
        raise errors.ConfigError(
            'the request is empty: add --property trait:NAME=required, '
            '--image-property or --flavor'
        )


def _check_asks(requested: extra_specs.ExtraSpecs, flavor: str | None) -> None:
    """Refuse a flavor that has nothing to stage.

    :raises errors.ConfigError: the flavor asks for no trait and no capability
    """
    if flavor is not None and not (requested.traits or requested.capabilities):
        raise errors.ConfigError(
            f'--flavor {flavor}: it asks for no trait and no capability, so '
            'there is nothing to stage; "node unstage" takes back what was '
            'staged'
        )


class NodeUnstage(_NodeCommand):
    """Take back from a node exactly what "node stage" put there.

    Values that other clients have set since then stay. It is not an error if
    nothing is staged.
    """

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Return the traits and capabilities that were taken back."""
        conf, dry_run = self.local_conf(), parsed_args.dry_run
        change = functools.partial(
            self.driver(conf, parsed_args.node).unstage,
            parsed_args.node,
            parsed_args.instance,
            dry_run=dry_run,
        )
        staging = self.carry_out(conf, 'UNSTAGED', change, dry_run=dry_run)
        return _reported(staging, dry_run=dry_run)


def _traits_of_files(conf: cfg.ConfigOpts) -> frozenset[str]:
    """Return the traits that the operator's files give to any provider.

    :raises errors.ConfigError: a file has a mistake
    """
    location, given = agent_settings.provider_config_location(conf)
    try:
        entries, _ = files.read(location, given=given)
    except files.Unreadable:
        if given:
            raise
        return frozenset()
    return entries.traits


def _reported(
    staging: virt.Staging, *, dry_run: bool
) -> tuple[dict[str, typing.Any], str, int]:
    data = {
        'node': staging.uuid,
        'name': staging.name,
        'summary': staging.summary,
        'changed': staging.changed,
        'dry_run': dry_run,
        'traits': list(staging.traits),
        'placement_only': list(staging.placement_only),
        'capabilities': dict(staging.capabilities),
        'kept': list(staging.kept),
        'ignored': list(staging.ignored),
        'notes': list(staging.notes),
    }
    header = ['a dry run, nothing was sent; it would be:'] if dry_run else []
    return data, '\n'.join([*header, *staging.lines]), 0
