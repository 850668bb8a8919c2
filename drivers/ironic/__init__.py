# SPDX-License-Identifier: Apache-2.0
"""The driver that describes the bare-metal nodes of an Ironic."""
