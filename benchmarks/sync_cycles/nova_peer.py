# SPDX-License-Identifier: Apache-2.0
"""nova-compute's report client as the measured process.

It runs in nova's environment: ``nova_peer.py CONFIG NODES TREE_SIZE``;
``agents.py`` starts it. For each node it makes the calls of nova 34's resource
tracker (``ResourceTracker._update_to_placement``): it reads the subtree and
its allocations, edits the tree as a driver would, and updates placement.
Everything else of nova-compute is left out.
"""

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] = '1'  # before nova is there

from nova import conf, context  # type: ignore[import-not-found]
from nova.scheduler.client import (  # type: ignore[import-not-found]
    report,
)

from . import child, cloud


def serve(config: str, nodes: int, tree_size: int) -> None:
    """Run a cycle for each order."""
    conf.CONF([], project='nova', default_config_files=[config])
    client = report.SchedulerReportClient()
    admin = context.get_admin_context()

    def prepare(order: child.Order) -> Callable[[], object]:
        source = cloud.listing(nodes, tree_size, order.change)
        if order.is_stale:
            client._association_refresh_time.clear()  # noqa: SLF001 (300 s on)
        return functools.partial(_cycle, client, admin, source)

    child.serve(prepare)


def _cycle(
    client: report.SchedulerReportClient, admin: Any, source: str
) -> None:
    for node in cloud.parse(source):
        tree = client.get_provider_subtree_and_ensure_root(
            admin, node['uuid'], name=node['name']
        )
        client.get_allocations_for_provider_tree(admin, node['name'])
        _describe(tree, node)
        client.update_from_provider_tree(admin, tree)


def _describe(tree: Any, node: cloud.Provider) -> None:
    for one in (node, *node['children']):
        if not tree.exists(one['name']):
            tree.new_child(one['name'], node['name'], uuid=one['uuid'])
        traits = cloud.reported_traits(one, is_root=one is node)
        tree.update_traits(one['name'], traits)
        tree.update_inventory(one['name'], one['inventory'])
    tree.update_aggregates(node['name'], node['aggregates'])


if __name__ == '__main__':
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
