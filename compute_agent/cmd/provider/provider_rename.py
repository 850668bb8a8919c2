# SPDX-License-Identifier: Apache-2.0
"""``compute-agent provider rename``: a host that is called otherwise now."""

import argparse
import typing
from collections.abc import Sequence

from ... import error_text, errors
from ...tree.node import Node
from ..app import command, confirm
from . import provider_change

if typing.TYPE_CHECKING:
    from report_client.http import codec


class ProviderRename(command.Report):
    """Give a provider another name; uuid, parent and contents stay.

    For a node of this agent the new name is what its driver calls it, so that
    the agent goes on with it. What this agent created has the name that its
    driver gave it, and goes on under no other. It is shown first, and you are
    asked.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the provider and its name."""
        parser = super().get_parser(prog_name)
        provider_change.add_provider(parser)
        parser.add_argument(
            'name',
            nargs='?',
            metavar='NEW_NAME',
            help='Its new name (default: what the driver calls the node).',
        )
        confirm.add(parser)
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Rename the provider; return its names."""
        from report_client.api import providers  # noqa: PLC0415 (quick --help)

        from ...state import lock  # noqa: PLC0415
        from ...tree import names  # noqa: PLC0415
        from ..wiring import agent as wiring  # noqa: PLC0415
        from ..wiring import placement  # noqa: PLC0415

        conf = self.conf()
        with (
            lock.hold(wiring.state_path(conf)),
            wiring.agent(conf, looking=True) as agent,
        ):
            service = providers.Providers(placement.placement_service(conf))
            one = service.find(parsed_args.provider)
            nodes = agent.tracker.nodes()
            name = _new_name(one, nodes, parsed_args.name)
            names.check_provider_name(name)
            record = agent.state.records.record([one.uuid], '')
            created = one.uuid in record.created
            if created:
                _check_not_derived(one, name)
            data = {'uuid': one.uuid, 'old_name': one.name, 'name': name}
            if name == one.name:
                return data, f'{_title(one)} is called that already', 0
            service.check_free(name)
            plan = _plan(one, name, service.tree(one))
            if created and not _is_derived(one, name):
                plan.append(_CREATED)
            refused = confirm.refused(self, plan, yes=parsed_args.yes)
            if refused is not None:
                return {**data, 'name': one.name}, *refused
            service.rename(one, name)
        return (
            data,
            f'renamed {_title(one)} to {error_text.printable(name)}',
            0,
        )


def _new_name(
    one: 'codec.ListedProvider', nodes: Sequence[Node], wanted: str | None
) -> str:
    """Return what a provider is to be called.

    :raises errors.ConfigError: nobody says, or the driver says another name
    """
    node = next((n for n in nodes if n.uuid == one.uuid), None)
    if node is None and wanted is None:
        raise errors.ConfigError(
            f'{_title(one)} is no node of this agent: say its NEW_NAME'
        )
    if node is None or wanted == node.name:
        return str(wanted)
    if wanted is not None:
        raise errors.ConfigError(
            f'the driver calls this node {node.name}, and would not write it '
            f'as {wanted}: call it so there first (for a host: [DEFAULT] host)'
        )
    return node.name


_CREATED = (
    '  this agent created it, and its driver names it: if the driver calls it '
    'otherwise, it gets that name again, or nothing of its node is written'
)


def _check_not_derived(one: 'codec.ListedProvider', name: str) -> None:
    """Refuse to take the name away that a provider's uuid was derived from.

    :raises errors.ConfigError: it would be; its driver knows it by that
    """
    if name != one.name and _is_derived(one, one.name):
        raise errors.ConfigError(
            f'the driver calls this provider {one.name}, and would not go on '
            f'with it as {name}: call it so there, and the agent makes it '
            'under that name'
        )


def _is_derived(one: 'codec.ListedProvider', name: str) -> bool:
    """Whether it is the child that a driver made of this name, and no uuid."""
    from ...tree import provider_tree  # noqa: PLC0415 (quick --help)

    above = one.parent_uuid
    derived = above and provider_tree.derived_uuid(above, name)
    return derived == one.uuid


def _plan(
    one: 'codec.ListedProvider',
    name: str,
    tree: Sequence['codec.ListedProvider'],
) -> list[str]:
    """Return what will be done, and what others will see of it."""
    below = sorted(row.name for row in tree if row.parent_uuid == one.uuid)
    lines = [
        f'rename provider {_title(one)} to {name}',
        '  who looks for it by name (nova, neutron, scripts) needs the new one',
        '  its uuid, place, contents and allocations stay',
    ]
    if below:
        lines.append(f'  its children keep their names: {", ".join(below)}')
    return lines


def _title(one: 'codec.ListedProvider') -> str:
    from ...tree import provider  # noqa: PLC0415 (quick --help)

    return provider.title(error_text.printable(one.name), one.uuid)
