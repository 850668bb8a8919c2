# SPDX-License-Identifier: Apache-2.0
"""``compute-agent driver list``: the installed drivers and their packages."""

import argparse
from collections.abc import Iterator

from cliff import lister


class DriverList(lister.Lister):
    """List the installed drivers, without loading them."""

    def take_action(
        self,
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> tuple[tuple[str, ...], Iterator[tuple[str, ...]]]:
        """Return columns and rows."""
        from ...virt import loader  # noqa: PLC0415 (quick --help)

        columns = ('Name', 'Class', 'Distribution', 'Version')
        return columns, (
            (entry.name, entry.target, entry.distribution, entry.version)
            for entry in loader.installed()
        )
