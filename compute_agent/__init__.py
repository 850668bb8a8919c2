# SPDX-License-Identifier: Apache-2.0
"""The compute agent: it makes placement match the drivers' descriptions."""
