# SPDX-License-Identifier: Apache-2.0
"""A driver of nova's harms nothing, and is reported as nova reports it."""

import concurrent.futures
import threading
import uuid as uuidlib

from planted.catalogue import plant

from compute_agent import errors
from compute_agent.virt import driver as virt
from drivers.nova import driver, novas_tree, process, tracker


@plant(novas_tree._completed, 'a field that a driver of nova omits is reset')
def _(_completed, record, _now):
    return dict(record)


@plant(
    novas_tree.PciTree.new_child,
    'a PCI device of nova has another uuid each time',
)
def _(_new_child, self, name, parent, **_how):
    return self._tree.new_child(name, parent, uuid=str(uuidlib.uuid4()))


@plant(
    tracker.ResourceTracker.capabilities,
    'the capabilities of a driver of nova are no traits',
)
def _(_capabilities, _self, **_how):
    return {}


@plant(
    tracker.ResourceTracker._resources,
    'PCI devices that a driver of nova does not tell are gone',
)
def _(resources, self, nodename):
    try:
        return resources(self, nodename)
    except errors.DriverError:
        return {'pci_passthrough_devices': '[]'}


@plant(
    process.NoConductor.object_class_action_versions,
    "what nova's conductor would know is taken for nothing",
)
def _(ask, self, context, name, method, *more):
    try:
        return ask(self, context, name, method, *more)
    except self._refusal:
        return []


@plant(process._refuse_identity, "nova's code makes the host's identity")
def _(_refuse_identity, _uuid):
    return None


@plant(process._spawn, 'a thread of nova keeps the process from ending')
def _(_spawn, func, *args):
    future = concurrent.futures.Future()
    threading.Thread(target=lambda: future.set_result(func(*args))).start()
    return future


@plant(
    driver._refuse_power_management,
    "nova's libvirt driver powers down the CPUs of guests",
)
def _(_refuse, _target, _conf):
    return None


@plant(
    driver.NovaDriver.node_exists,
    'a node that a driver of nova lists no more is gone',
)
def _(_node_exists, _self, _nodename):
    return virt.Existence.NO
