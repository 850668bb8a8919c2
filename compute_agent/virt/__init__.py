# SPDX-License-Identifier: Apache-2.0
"""The driver contract and the loader that holds a driver to it."""
