# SPDX-License-Identifier: Apache-2.0
"""``compute-agent resource provider rename``: follow a host that has a new name.

``compute_agent/ownership/adoption.py`` has the rules.
"""

import argparse
from collections.abc import Sequence

from report_client.http.messages import codec

from ... import error_text
from ...ownership import adoption
from ...plan.history_entry import Entry, What
from ...state.database import lock
from ...tree import names
from ..app import command, confirm
from ..wiring import agent_settings, named_providers
from ..wiring.opening import open_agent
from . import nova_roots, provider_change

_CREATED = (
    '  this agent created it under the name that its driver uses: if the '
    'driver does not use the new name, the agent renames it back, or writes '
    'nothing for its node'
)


class ProviderRename(command.Report):
    """Rename a provider; uuid, parent and contents stay.

    A node of this agent can only get the name that its driver uses, so that
    the agent continues with it. A provider that this agent created has the
    name that the driver gave it; the agent does not continue with it under
    another name. The command shows what it will do, and asks.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the provider and its new name."""
        provider_change.add_provider(parser)
        parser.add_argument(
            'name',
            nargs='?',
            metavar='NEW_NAME',
            help='The new name (default: the name that the driver uses for '
            'the node).',
        )
        confirm.add_option(parser)

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Rename the provider; return its names."""
        conf = self.conf()
        with (
            lock.hold_as_owner(agent_settings.state_path(conf)),
            open_agent(conf, read_only=True) as agent,
        ):
            service = named_providers.providers_of(conf)
            provider = service.find(parsed_args.provider)
            nova_roots.refuse(agent, provider)
            name = adoption.new_name(
                provider, agent.tracker.nodes(), parsed_args.name
            )
            names.check_provider_name(name)
            created = agent.state.records.record([provider.uuid], '').created
            adoption.check_created(provider, name, created)
            data = {
                'uuid': provider.uuid,
                'old_name': provider.name,
                'name': name,
            }
            if name == provider.name:
                return data, f'{provider} already has that name', 0
            service.check_free(name)
            plan = _plan(provider, name, service.tree(provider))
            if provider.uuid in created and not adoption.is_derived(
                provider, name
            ):
                plan.append(_CREATED)
            refused = confirm.refused(self, plan, yes=parsed_args.yes)
            if refused is not None:
                return {**data, 'name': provider.name}, *refused
            service.rename(provider, name)
        entry = Entry(
            what=What.MOVED,
            uuid=provider.uuid,
            provider=provider.name,
            text=f'renamed to {name}',
        )
        provider_change.tell(self, provider, [entry])
        new = error_text.printable(name)
        return data, f'renamed {provider} to {new}', 0


def _plan(
    provider: codec.ListedProvider,
    name: str,
    tree: Sequence[codec.ListedProvider],
) -> list[str]:
    """Return lines about the rename and its effect on other programs."""
    children = sorted(
        row.name for row in tree if row.parent_uuid == provider.uuid
    )
    lines = [
        f'rename provider {provider} to {name}',
        '  clients that use its name (nova, neutron, scripts) need the new one',
        '  its uuid, parent, contents and allocations stay',
    ]
    if children:
        lines.append(f'  its children keep their names: {", ".join(children)}')
    return lines
