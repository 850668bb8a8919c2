# SPDX-License-Identifier: Apache-2.0
"""People are told what happened, once, and what they mistyped."""

import dataclasses

from planted.catalogue import plant

from compute_agent import error_text
from compute_agent.audit import peers
from compute_agent.cmd.app import commands, configuration
from compute_agent.cmd.doctor import placement_checks
from compute_agent.cmd.plan import masks, waiting
from compute_agent.conf import misplaced, misspelled, nova_files
from compute_agent.cycle import news
from compute_agent.cycle.departures import departed_nodes
from compute_agent.identity import identity
from compute_agent.state import state
from compute_agent.tree import alike
from drivers.ironic.nodes import staging
from report_client import errors as placement_errors
from report_client.api import allocations, provider_contents


@plant(
    error_text.without_request_ids,
    'a reason with another request id is another reason',
)
def _(_without_request_ids, text):
    return text


@plant(
    placement_checks.Asked._rivals,
    'the doctor takes marks that are replaced for a rival',
)
def _(rivals, self, own, _recorded):
    return rivals(self, own, state.State.in_memory().records)


@plant(news._log, 'each node of a mass has a line')
def _(_log, items):
    for item in items:
        news.LOG.log(item.level, '%s: %s', item.node, item.text)


@plant(waiting._parts, 'only the digest of all that waits is known')
def _(_parts, every):
    return [every]


@plant(masks.unmatched, 'a mask that matches no trait is not said')
def _(_unmatched, _masks, _results):
    return []


@plant(configuration._check_trust, 'anybody may write the configuration')
def _(_check_trust, _path, _called):
    return None


@plant(
    configuration._own_file,
    'of several agents, one that nobody named is asked',
)
def _(_own_file, _options):
    return []


@plant(misspelled.lines, 'a misspelled option is not said')
def _(_lines, _conf):
    return []


@plant(misplaced.lines, 'an option in a wrong group is not said')
def _(_lines, _conf, **_how):
    return []


@plant(nova_files.is_novas, "the agent logs into nova-compute's file")
def _(_is_novas, _path):
    return False


@plant(staging._check_required, 'a trait that no source gives is staged')
def _(_check_required, _target, _wanted, _elsewhere):
    return None


@plant(
    identity.HostName._settle,
    "the name of nova's service becomes the node's name",
)
def _(_settle, _self, node, _hypervisor):
    return node.name


@plant(
    placement_errors.NameTaken.by,
    'a name that is taken is said, but not by whom',
)
def _(_by, cls, _other, name, _uuid):
    return cls(f'Conflicting resource provider name: {name} already exists.')


@plant(
    departed_nodes.Departures.since,
    'nodes that moved are told once',
)
def _(since, self, nodes):
    return dataclasses.replace(since(self, nodes), moved=(), unknown=())


@plant(alike.reason, 'a node has a reason of its own by its name or amounts')
def _(_reason, _node, text):
    return text


# --- commands about providers ---------------------------------------------------


@plant(
    provider_contents.ProviderContents.set_inventory,
    'inventories that are set as a whole keep other classes',
)
def _(set_inventory, self, target, records, amend=None, **options):
    del amend
    return set_inventory(self, target, records, **options)


@plant(
    provider_contents.ProviderContents.set_inventory, 'a dry run is written'
)
def _(set_inventory, self, target, records, **options):
    return set_inventory(
        self, target, records, **{**options, 'dry_run': False}
    )


@plant(
    allocations.Allocations.replace,
    'allocations are replaced under a generation that nobody saw',
)
def _(replace, self, wanted, _before):
    found = self.show(wanted.uuid)
    return replace(self, wanted, found and found[0])


@plant(commands.Commands.advice, 'the words of others get no advice')
def _(_advice, _self, _words):
    return ''


@plant(peers._kind, 'bare-metal nodes are peers of hypervisors')
def _(_kind, _classes):
    return frozenset()
