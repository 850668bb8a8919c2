# SPDX-License-Identifier: Apache-2.0
"""The driver that describes whatever a YAML file says."""
