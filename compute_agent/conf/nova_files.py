# SPDX-License-Identifier: Apache-2.0
"""The configuration files that are nova-compute's, read beside the agent's own.

The agent takes accounts, names and the host's settings from such a file, and
nothing of where nova-compute keeps its state or writes its log. So nova's files
are read first, and ``cmd/app/configuration.py`` reads the options of the log
without them.
"""

import pathlib
import re
from collections.abc import Iterable

from oslo_config import cfg

from . import compute_agent, default, misspelled

_NAME = re.compile(r'([0-9]+[-_])?nova')
# Only nova has a message bus.
_BUS = 'transport_url'


def is_novas(path: pathlib.Path) -> bool:
    """Return True if a file is one of nova's configuration.

    Its name, or that of its directory, says so, or it names nova's message
    bus. A file of the agent that lies beside nova's has options of the agent.
    """
    names = {path.name, path.resolve().name}
    if any(map(_NAME.match, names)):
        return True
    sections = misspelled.read(path)
    if _BUS in sections.get(default.GROUP, ()):
        return True
    folders = {path.absolute().parent.name, path.resolve().parent.name}
    return compute_agent.GROUP not in sections and any(
        map(_NAME.match, folders)
    )


def first(paths: Iterable[str]) -> list[str]:
    """Return the files with nova's first, so that the agent's own count."""
    return sorted(paths, key=lambda path: not is_novas(pathlib.Path(path)))


def setting(conf: cfg.ConfigOpts, option: str) -> pathlib.Path | None:
    """Return the file that sets an option of ``[DEFAULT]``, if one does.

    ``get_location`` names the last file that has the group.
    """
    found = [
        path
        for path in misspelled.files(conf)
        if option in misspelled.read(path).get(default.GROUP, ())
    ]
    return found[-1] if found else None
