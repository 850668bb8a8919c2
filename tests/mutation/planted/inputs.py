# SPDX-License-Identifier: Apache-2.0
"""What a driver, a tree, an operator's file and Ironic let in."""

import contextlib
import logging

from planted.catalogue import plant, together
from variants import Constant

from compute_agent import errors, file_trust
from compute_agent.cmd.app import output
from compute_agent.cycle.describing import describe as describing
from compute_agent.provider_config import files
from compute_agent.provider_config.values import merge
from compute_agent.testing.fixtures import cycles
from compute_agent.tree import assertion, hierarchy, inventory, set_aside
from compute_agent.virt import answers, failures, long_calls
from drivers.host.facts import fact
from drivers.ironic.nodes import describe, instance_info, node, staging
from drivers.libvirt.capabilities import compute_findings

LOG = logging.getLogger('compute_agent.variant')
HEAVY = ('properties', 'extra', 'driver_info', 'driver_internal_info')

# --- a driver -----------------------------------------------------------------


@plant(failures.caught, 'a cancelled task of a driver ends the cycle')
def _(_caught):
    return (Exception, SystemExit)


@plant(file_trust.distrust, 'anybody may write the files that are read')
def _(_distrust, _found, _path):
    return ''


@plant(file_trust._is_read_only, 'each mount counts as read-only')
def _(_is_read_only, _path):
    return True


@plant(fact._excess, 'a value of any size reaches the library of the rules')
def _(_excess, _value):
    return ''


@plant(answers.existence, 'a wrong answer of a driver is taken silently')
def _(_existence, _driver, found):
    return found


@plant(output.Out.alone, 'a driver prints among the results')
def _(_alone, _self):
    return contextlib.nullcontext()


@plant(long_calls.LongCalls._tell, 'a call of a driver that hangs is not said')
def _(_tell, _self, ended):
    ended.wait()


@plant(
    cycles._check_names,
    'a misspelt standard name passes the tests of a driver',
)
def _(_check_names, _driver, _results):
    pass


# --- a tree -------------------------------------------------------------------


@plant(
    set_aside.TreeSetAside.is_created_here,
    "the children of others go with the driver's",
)
def _(_is_created_here, _self, _uuid):
    return True


@plant(
    inventory._offers_nothing, 'a wrong value for the tree is taken silently'
)
def _(_offers_nothing, _made):
    return ''


@plant(describing._said_of, 'the text of a NotImplementedError is lost')
def _(_said_of, _exc):
    return ''


@plant(hierarchy.Hierarchy.insert, 'a name may be there twice')
def _(_insert, self, member):
    if member.uuid in self._members:
        raise errors.TreeError(f'Provider {member.uuid} already exists')
    self._members[member.uuid] = member
    self._uuids[member.name] = member.uuid
    if member.parent is not None:
        self._members[member.parent].children.append(member.uuid)


@plant(
    hierarchy.Hierarchy.replace, 'what is right of a wrong input is taken over'
)
def _(_replace, self, given):
    """Put members in as their parents are found; stop when none is."""
    waiting = list(given)
    while waiting:
        ready = [
            m for m in waiting if m.parent is None or m.parent in self._members
        ]
        if not ready:
            raise errors.TreeError('would be in a cycle')
        for member in ready:
            waiting.remove(member)
            self.insert(member)
    return []


@plant(
    hierarchy.check_records, 'no inventory at all is taken for an empty one'
)
def _(_check, records, _now=None):
    return {rc: dict(records[rc]) for rc in records or ()}


# --- operators' files ---------------------------------------------------------


@plant(merge.merge, 'what a file once gave is never taken back')
def _(do_merge, tree, node_uuid, record, *args, **how):
    found = do_merge(tree, node_uuid, record, *args, **how)
    for (uuid, kind), held in record.claims.items():
        for source in held:
            here = source.startswith('file:') and tree.exists(uuid)
            if here and kind is assertion.Kind.TRAIT:
                with tree.asserting(source):
                    tree.keep_traits(uuid)
    return found


@plant(files.ProviderConfigFiles.reload, 'files are read at the start alone')
def _(reload, self, *args):
    if not self._tried:
        reload(self, *args)


@plant(merge.merge, "a class that is there is the driver's")
def _(do_merge, tree, *args, **how):
    classes = {
        c for u in tree.get_provider_uuids() for c in tree.data(u).inventory
    }
    if 'CUSTOM_FPGA' in classes:
        raise errors.DriverError('CUSTOM_FPGA is owned by the driver')
    return do_merge(tree, *args, **how)


@plant(merge.merge, 'each node warns of what is of another')
def _(do_merge, tree, *args, **how):
    if not tree.exists('node-2'):
        LOG.warning('there is no provider node-2')
    return do_merge(tree, *args, **how)


# --- Ironic -------------------------------------------------------------------

together(
    'whole nodes are listed',
    Constant(node, FIELDS=(*node.FIELDS, *HEAVY)),
)


@plant(describe._set_traits, 'a trait too many is noticed later')
def _(_set_traits, tree, one, _manner):
    """Set the node's traits, but only those nobody has changed yet."""
    there = tree.baseline.get(one.uuid)
    wanted = node.reported(one)
    if there is None or not set(wanted) <= there.traits:
        tree.update_traits(one.uuid, wanted)


@plant(describe._set_traits, "Ironic's traits are a node's only ones")
def _(_set_traits, tree, one, _manner):
    tree.update_traits(one.uuid, node.reported(one))


@plant(describe._reserve, 'a node without a class stays to be had')
def _(_reserve, tree, one, _there, _problem):
    tree.note(f'{one.called} has no resource class in Ironic')
    tree.keep_inventory(one.uuid)


@plant(
    staging._check_kept, 'others may have requested traits that the node lacks'
)
def _(_check_kept, _target, _kept):
    return None


@plant(staging.stage, 'a node is told traits that only placement has')
def _(_stage, target, wanted, instance_uuid=None, elsewhere=None):
    del instance_uuid, elsewhere
    after = target.info.with_staged(
        {
            instance_info.TRAITS: dict.fromkeys(wanted.required),
            instance_info.CAPABILITIES: {},
        }
    )
    patch = target.info.patch(after)
    report = staging._report_of_stage(
        target, wanted, tuple(wanted.required), changed=True
    )
    return staging.Change(patch=patch, staging=report)


# --- libvirt ------------------------------------------------------------------


@plant(
    compute_findings._by_options_alone,
    'a host without libvirt can do what nova can',
)
def _(_by_options_alone, known):
    return (
        *compute_findings._constants(),
        *compute_findings._image_types(known.options),
        *compute_findings._by_options(known),
    )
