# SPDX-License-Identifier: Apache-2.0
"""For driver authors: test a driver against a real placement, in process.

The extra ``testing`` has what this folder needs. A test imports this module
and nothing below it: ``from compute_agent import testing``. ``fixtures/`` has
the parts of such a test.

It may import anything of the agent, the embedded placement and the report
client. Of the product, only ``cmd/driver/`` imports it, inside functions.
"""

CONTRACT_VERSION = '1.0'
"""The version of the contract between the agent and a driver.

A new major version may fail a driver that passed; a new minor version adds
names or optional rules.
"""
