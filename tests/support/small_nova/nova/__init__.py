# SPDX-License-Identifier: Apache-2.0
"""A stand-in for nova: as much of its interface as the driver uses.

For tests without nova; ``tests/full/nova`` has the same with the real one.
"""
