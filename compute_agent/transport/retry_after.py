# SPDX-License-Identifier: Apache-2.0
"""Bound the time that a server may ask its clients to wait.

keystoneauth sleeps for the whole Retry-After of an answer if it may repeat the
request, and fails for a negative number. ironicclient fails with a TypeError
for any Retry-After of a status other than 413.
"""

from typing import Any

import requests

LONGEST = 60  # seconds

_HEADER = 'Retry-After'


def bound(answer: requests.Response, **_how: Any) -> None:
    """Limit the header to a minute, and drop what is no number: a hook."""
    text = answer.headers.get(_HEADER)
    if text is None:
        return
    if text.isascii() and text.isdigit():
        seconds = LONGEST if len(text) > 2 else min(LONGEST, int(text))
        answer.headers[_HEADER] = str(seconds)
    else:
        drop(answer)


def drop(answer: requests.Response, **_how: Any) -> None:
    """Drop the header: a hook for sessions of ironicclient."""
    answer.headers.pop(_HEADER, None)
