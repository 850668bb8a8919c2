# SPDX-License-Identifier: Apache-2.0
"""This agent's cycles beside nova-compute's, on one placement: make bench."""
