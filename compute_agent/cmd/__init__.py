# SPDX-License-Identifier: Apache-2.0
"""The command line; the only place that wires objects together."""
