# SPDX-License-Identifier: Apache-2.0
"""An agent's connection to placement, for ``test_moved_address.py``.

Each line of its input is a number of requests that it sends at once; its
output has the outcomes of each round in a line.
"""

import concurrent.futures
import pathlib
import sys
import tempfile

from connected import by_token, to_placement

from compute_agent import errors


def main(url: str, timeout: str) -> None:
    """Send rounds of requests until the input ends."""
    with tempfile.TemporaryDirectory() as folder:
        service = to_placement(
            pathlib.Path(folder), {**by_token(url), 'timeout': timeout}
        )

    def ask(_number: int) -> str:
        try:
            service.get('/traits')
        except errors.AgentError as exc:
            return f'{type(exc).__name__}: {exc}'
        return 'answered'

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for line in sys.stdin:
            outcomes = sorted(set(pool.map(ask, range(int(line)))))
            sys.stdout.write(f'{" ".join(outcomes)}\n')
            sys.stdout.flush()


if __name__ == '__main__':
    main(*sys.argv[1:])
