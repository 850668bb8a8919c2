# SPDX-License-Identifier: Apache-2.0
"""A part of the stand-in for nova."""
