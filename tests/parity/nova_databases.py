# SPDX-License-Identifier: Apache-2.0
"""Makes nova's databases, with one cell, as nova-manage does, in one process.

It runs in nova's environment: ``nova_databases.py --config-file FILE CELL0
CELL1``. The words are the addresses of the two cells' databases; the file names
that of the API. Four runs of nova-manage would take most of their time to start.
"""

# isort: off
from nova.cmd import manage  # type: ignore[import-not-found] # first of nova
from nova import config, objects  # type: ignore[import-not-found]
# isort: on

import sys


def main() -> int:
    """Return 0 if all of them were made."""
    *options, cell0, cell1 = sys.argv[1:]
    config.parse_args(['nova-manage', *options])
    objects.register_all()
    cells = manage.CellV2Commands()
    codes = [
        manage.ApiDbCommands().sync(),
        cells.map_cell0(cell0),
        cells.create_cell('cell1', cell1, 'fake:/'),
        manage.DbCommands().sync(),
    ]
    return max(int(code or 0) for code in codes)


if __name__ == '__main__':
    sys.exit(main())
