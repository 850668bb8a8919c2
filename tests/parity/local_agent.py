# SPDX-License-Identifier: Apache-2.0
"""The agent's report of this host, with nova's configuration."""

import pathlib
import subprocess
import sys
from collections.abc import Sequence

import reported

_CONF = """\
[compute_agent]
state_path = {folder}
max_removed_percent = 100
"""


class LocalAgent:
    """One agent with a new state for each report.

    :param placement: the address of placement
    """

    def __init__(self, folder: pathlib.Path, placement: str) -> None:
        self._folder = folder
        self._placement = reported.Placement(placement)

    def report(
        self, name: str, files: Sequence[pathlib.Path]
    ) -> reported.Report:
        """Return the report; keep the agent's words in a file ``said``."""
        folder = self._folder / name
        folder.mkdir(parents=True)
        conf = folder / 'agent.conf'
        conf.write_text(_CONF.format(folder=folder / 'state'))
        words = [f'--config-file={file}' for file in (*files, conf)]
        with (folder / 'said').open('wb') as said:
            subprocess.run(
                [
                    *(sys.executable, '-m', 'compute_agent.cmd.app.start'),
                    *(*words, 'sync', '--yes'),
                ],
                stdout=said,
                stderr=said,
                check=False,
            )
        return self._placement.report()
