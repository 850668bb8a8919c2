# SPDX-License-Identifier: Apache-2.0
"""The drivers that ship; reached through their entry points only."""
