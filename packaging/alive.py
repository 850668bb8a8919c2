# SPDX-License-Identifier: Apache-2.0
"""The health check of the image: exit code 1 if a cycle hangs, or no daemon runs.

An outage of placement is no reason for a restart. It asks the daemon's own
socket, so it needs no option; ``COMPUTE_AGENT_OPTIONS`` has the options of a
daemon with other files. If ``COMPUTE_AGENT_HEALTH`` has the address of /livez, it
asks that instead, which takes no start of the program.
"""

import datetime as dt
import json
import os
import shlex
import subprocess
import sys
import urllib.request

LONGEST = 1200  # seconds of a cycle, as in the unit
PATIENCE = 25  # seconds; the image gives the check 30


def main() -> str | None:
    """Return what is wrong, None if nothing is."""
    address = os.environ.get('COMPUTE_AGENT_HEALTH')
    if address:
        urllib.request.urlopen(address, timeout=PATIENCE)  # noqa: S310
        return None
    options = shlex.split(os.environ.get('COMPUTE_AGENT_OPTIONS', ''))
    asked = subprocess.run(  # noqa: S603 (the image's own program)
        ['compute-agent', *options, 'status', '-f', 'json'],  # noqa: S607
        stdout=subprocess.PIPE,
        check=True,
        timeout=PATIENCE,
    )
    since = json.loads(asked.stdout)['running_since']
    if since is None:
        return None
    began = dt.datetime.fromisoformat(since)
    age = (dt.datetime.now(dt.UTC) - began).total_seconds()
    return f'a cycle runs for {age:.0f} s' if age > LONGEST else None


if __name__ == '__main__':
    sys.exit(main())
