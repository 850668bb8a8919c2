# SPDX-License-Identifier: Apache-2.0
"""A node that nova-compute reports: what an agent beside it leaves alone."""

from planted.catalogue import plant

from compute_agent.cycle.node import node_checks
from compute_agent.identity import compute_id, nova_compute, nova_root
from compute_agent.ownership import nova_traits, takeover
from compute_agent.ownership.beside_nova import companion, given_up, reporter
from compute_agent.ownership.record import Record


@plant(
    node_checks.RootChecks.check_missing_root,
    'a companion creates the root of nova-compute',
)
def _(_check, _self, _node, _seen, _orders):
    return


@plant(companion._novas, "a companion asserts nova's traits")
def _(_novas, _names):
    return frozenset()


@plant(
    companion._Confinement._confine_root,
    "a companion sets the complete list of the root's traits",
)
def _(_confine_root, _self, _root, _kind):
    return


@plant(
    companion._Confinement._refuse_inventory,
    'a companion writes inventory of the root',
)
def _(_refuse_inventory, _self, _root):
    return


@plant(
    nova_root.host_file, 'a compute_id of the agent itself blocks a companion'
)
def _(_host_file, directories):
    for uuid, (path, *_) in compute_id.existing_files(directories).items():
        return nova_root.HostFile(uuid=uuid, path=str(path))
    return nova_root.HostFile()


@plant(companion.is_own, "a companion writes to nova's children")
def _(_is_own, _tree, _record, _uuid):
    return True


@plant(
    given_up.given_up,
    "an owner that becomes a companion removes what is nova's",
)
def _(_given_up, _record, _node_uuid, _providers):
    return Record()


@plant(
    takeover._only_added_to,
    "an owner takes nova's root because it added a trait to it",
)
def _(_only_added_to, _record, _root):
    return False


@plant(
    nova_compute.NovaCompute.reason_to_wait,
    'an owner creates the root where nova-compute runs',
)
def _(_reason_to_wait, _self, _uuid):
    return ''


@plant(
    nova_traits.is_nova_computes, "a reporter asserts nova-compute's traits"
)
def _(_is_nova_computes, _trait):
    return False


@plant(
    given_up.given_up_by_reporter,
    "an owner that becomes a reporter removes what is nova's",
)
def _(_given_up, _record, _node_uuid, _providers):
    return Record()


@plant(
    node_checks.ReporterChecks.reason_to_wait,
    'a reporter writes where nova-compute reports',
)
def _(_reason_to_wait, _self, _node):
    return ''


@plant(
    reporter.undone,
    'a reporter goes on where nova-compute undoes its work',
)
def _(_undone, _node_uuid, _restored, *, is_host):
    return frozenset()
