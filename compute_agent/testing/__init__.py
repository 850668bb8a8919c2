# SPDX-License-Identifier: Apache-2.0
"""For driver authors: test a driver against a real placement, in process.

The extra ``testing`` has what this folder needs. A test imports this module
and nothing below it: ``from compute_agent import testing``. A name's module is
imported when the name is first used, so a test run that does not use this
package does not pay for it. Begin with ``fixtures/placement.py``.

It may import anything of the agent, the embedded placement and the report
client. Of the product, only ``cmd/driver/`` imports it, inside functions.
"""

import importlib
import typing

from ..deprecation import CONTRACT_VERSION as CONTRACT_VERSION

if typing.TYPE_CHECKING:
    from .contract.capability import Capability as Capability
    from .contract.world import World as World
    from .fixtures.cycles import Operation as Operation
    from .fixtures.cycles import agent_on as agent_on
    from .fixtures.cycles import assert_plan as assert_plan
    from .fixtures.cycles import assert_providers as assert_providers
    from .fixtures.cycles import assert_synced as assert_synced
    from .fixtures.cycles import plan_of as plan_of
    from .fixtures.cycles import sync as sync
    from .fixtures.placement import HOST_UUID as HOST_UUID
    from .fixtures.placement import Placement as Placement
    from .fixtures.recorded_hosts import RecordedHost as RecordedHost
    from .fixtures.recorded_hosts import recorded_host as recorded_host
    from .fixtures.recorded_hosts import recorded_hosts as recorded_hosts
    from .fixtures.recorded_hosts import save_host as save_host
    from .fixtures.recorded_hosts import write_host as write_host
    from .fixtures.trees import describe as describe
    from .fixtures.trees import plain_tree as plain_tree
    from .fixtures.trees import tree as tree
    from .suite import DriverContract as DriverContract
    from .values.seam import Fault as Fault
    from .values.seam import Seam as Seam

# Public name → its module. A test compares them with the imports above.
_MODULES = {
    'Capability': 'contract.capability',
    'DriverContract': 'suite',
    'Fault': 'values.seam',
    'HOST_UUID': 'fixtures.placement',
    'Operation': 'fixtures.cycles',
    'Placement': 'fixtures.placement',
    'RecordedHost': 'fixtures.recorded_hosts',
    'Seam': 'values.seam',
    'World': 'contract.world',
    'agent_on': 'fixtures.cycles',
    'assert_plan': 'fixtures.cycles',
    'assert_providers': 'fixtures.cycles',
    'assert_synced': 'fixtures.cycles',
    'describe': 'fixtures.trees',
    'plain_tree': 'fixtures.trees',
    'plan_of': 'fixtures.cycles',
    'recorded_host': 'fixtures.recorded_hosts',
    'recorded_hosts': 'fixtures.recorded_hosts',
    'save_host': 'fixtures.recorded_hosts',
    'sync': 'fixtures.cycles',
    'tree': 'fixtures.trees',
    'write_host': 'fixtures.recorded_hosts',
}


def __getattr__(name: str) -> typing.Any:
    """Return a public name, importing its module."""
    if name not in _MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    module = importlib.import_module(f'.{_MODULES[name]}', __name__)
    return getattr(module, name)


def __dir__() -> list[str]:
    """Return the public names."""
    return ['CONTRACT_VERSION', *_MODULES]
