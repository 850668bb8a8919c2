# SPDX-License-Identifier: Apache-2.0
"""Stands before libvirt-python where a test is about a host without it."""

raise ModuleNotFoundError(
    "No module named 'libvirt' (hidden from this test)", name='libvirt'
)
