# SPDX-License-Identifier: Apache-2.0
"""Placement's application for uwsgi; it logs every request.

It runs in placement's environment. Workers append whole lines to the file in
``BENCH_REQUESTS``, before they send the answer.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any

from placement.wsgi import api

_NOTED = os.open(
    os.environ['BENCH_REQUESTS'], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644
)


def application(
    environ: dict[str, Any], start_response: Callable[..., Any]
) -> Iterable[bytes]:
    """Answer one request."""
    query = environ.get('QUERY_STRING', '')
    target = environ['PATH_INFO'] + (f'?{query}' if query else '')

    def note(status: str, *rest: Any) -> Any:
        line = f'{status[:3]} {environ["REQUEST_METHOD"]} {target}\n'
        os.write(_NOTED, line.encode())
        return start_response(status, *rest)

    answer: Iterable[bytes] = api.application(environ, note)
    return answer
