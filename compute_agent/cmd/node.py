# SPDX-License-Identifier: Apache-2.0
"""``compute-agent node``: requested traits to a node and back.

It needs the driver alone; placement is not asked.
"""

import argparse
import typing

from .app import command

if typing.TYPE_CHECKING:
    from ..virt import requested as virt


class _NodeCommand(command.Report):
    """A command that is about one node of the driver's."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the node and its instance."""
        parser = super().get_parser(prog_name)
        parser.add_argument('node', help='Its name, or its uuid.')
        parser.add_argument(
            '--instance',
            metavar='UUID',
            help='The instance that holds the node. Without this option a '
            'node that has one is left alone.',
        )
        parser.add_argument(
            '--dry-run',
            action='store_true',
            help='Only say what would be done.',
        )
        return parser

    def driver(self) -> 'virt.RequestedTraits':
        """Return the configured driver.

        :raises errors.ConfigError: it has no nodes to tell anything
        """
        from .. import errors  # noqa: PLC0415 (quick --help)
        from ..virt import requested as virt  # noqa: PLC0415
        from .app import configuration  # noqa: PLC0415

        conf = configuration.load(self.app.global_options, local=True)
        driver = configuration.load_driver(conf)
        if not isinstance(driver, virt.RequestedTraits):
            raise errors.ConfigError(
                f'driver {conf.compute_driver} hands no requested traits to '
                'its nodes; [DEFAULT] compute_driver = ironic does'
            )
        return driver


class NodeStage(_NodeCommand):
    """Hand a node the traits and capabilities that a request asks for.

    Ironic checks them when it deploys the node. Those that are traits of the
    node in Ironic are sent; the others are placement's to decide. The node
    must be available, and what it has is kept; "node unstage" undoes it.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the request."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--property',
            action='append',
            default=[],
            dest='properties',
            metavar='KEY=VALUE',
            help="A flavor's extra spec: trait:NAME=required or =forbidden, "
            'capabilities:NAME=VALUE. May be repeated.',
        )
        parser.add_argument(
            '--image-property',
            action='append',
            default=[],
            dest='image_properties',
            metavar='KEY=VALUE',
            help="An image's property: trait:NAME=required, or "
            'traits_required=NAME,NAME. May be repeated.',
        )
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Return what was handed over."""
        from .. import errors, extra_specs  # noqa: PLC0415 (quick --help)

        given = {
            '--property': parsed_args.properties,
            '--image-property': parsed_args.image_properties,
        }
        if not any(given.values()):
            raise errors.ConfigError(
                'nothing is requested: say --property trait:NAME=required, '
                'or --image-property'
            )
        wanted = extra_specs.parse(
            *(
                [extra_specs.pair(text, option) for text in texts]
                for option, texts in given.items()
            )
        )
        staging = self.driver().stage(
            parsed_args.node,
            wanted,
            parsed_args.instance,
            dry_run=parsed_args.dry_run,
        )
        return _reported(staging, dry_run=parsed_args.dry_run)


class NodeUnstage(_NodeCommand):
    """Take back exactly what "node stage" handed to a node.

    What others set there since stays. Nothing staged is fine as well.
    """

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Return what was taken back."""
        staging = self.driver().unstage(
            parsed_args.node, parsed_args.instance, dry_run=parsed_args.dry_run
        )
        return _reported(staging, dry_run=parsed_args.dry_run)


def _reported(
    staging: 'virt.Staging', *, dry_run: bool
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
        'ignored': list(staging.ignored),
        'notes': list(staging.notes),
    }
    before = ['a dry run, nothing was sent; it would be:'] if dry_run else []
    return data, '\n'.join([*before, *staging.lines]), 0
