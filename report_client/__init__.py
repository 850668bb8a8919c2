# SPDX-License-Identifier: Apache-2.0
"""Everything that speaks with the placement service, and nothing else."""
