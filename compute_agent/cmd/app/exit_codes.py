# SPDX-License-Identifier: Apache-2.0
"""The exit codes of a program that a signal ended: as in shells, 128 plus its number."""

INTERRUPTED = 130
PIPE_CLOSED = 141
