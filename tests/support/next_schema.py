# SPDX-License-Identifier: Apache-2.0
"""A next version of the shared database, for an agent of a later release.

``written`` makes its steps in a folder; the product has no second version yet.
``PROGRAM`` is the agent of that release, as a program: STEPS names the folder.
"""

import pathlib
import shutil

from compute_agent.fleet.database import schema

VERSION = '0002'
STEPS = 'STEPS'
_STEP = f"""
from alembic import op

revision = '{VERSION}'
down_revision = '{schema.head()}'


def upgrade() -> None:
    op.execute('create table of_a_later_release (number integer)')
"""
_PROGRAM = f"""
import os, pathlib, sys
from compute_agent.cmd.app import start
from compute_agent.fleet.database import schema

schema._STEPS = pathlib.Path(os.environ['{STEPS}'])
sys.exit(start.main())
"""
PROGRAM = ('-c', _PROGRAM)


def written(folder: pathlib.Path) -> pathlib.Path:
    """Return a folder with the steps up to the next version."""
    steps = folder / 'migrations'
    shutil.copytree(schema._STEPS, steps)
    (steps / 'versions' / f'{VERSION}_later.py').write_text(_STEP)
    return steps
