# SPDX-License-Identifier: Apache-2.0
"""The agent with a driver that does not know the uuid of its only node.

The fake driver gives the uuids of its nodes. Without them, the agent finds the
node as it finds a hypervisor's: by nova's file or by its name in placement.
"""

import sys

from compute_agent.cmd.app import start
from drivers.fake import driver

setattr(driver.FakeDriver, 'get_nodenames_by_uuid', lambda _self: {})  # noqa: B010
sys.exit(start.main())
