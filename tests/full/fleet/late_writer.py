# SPDX-License-Identifier: Apache-2.0
"""An agent's connection to placement, for ``test_late_write.py``.

It reads once, so that a connection stands, and deletes a provider when it is
told to, with a lease of so many seconds. Then it keeps its connections until
it is ended.
"""

import pathlib
import sys
import tempfile

from connected import by_token, to_placement

from compute_agent import errors
from report_client.http.messages import codec

PATH = '/resource_providers/11111111-1111-4111-8111-111111111111'


def say(line: str) -> None:
    """Tell the test."""
    sys.stdout.write(f'{line}\n')
    sys.stdout.flush()


def main(url: str, seconds: str) -> None:
    """Read, wait for a word, delete, wait for the end."""
    with tempfile.TemporaryDirectory() as folder:
        service = to_placement(
            pathlib.Path(folder), by_token(url), fence=lambda: float(seconds)
        )
    service.get('/resource_providers')
    say('ready')
    sys.stdin.readline()
    try:
        service.send(codec.Request(method='DELETE', path=PATH))
        say('done')
    except errors.AgentError as exc:
        say(str(exc))
    sys.stdin.readline()


if __name__ == '__main__':
    main(*sys.argv[1:])
