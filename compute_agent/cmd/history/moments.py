# SPDX-License-Identifier: Apache-2.0
"""The times that a person writes: ``2h``, ``yesterday``, ``2026-11-22``.

Pure: no I/O, configuration, logging or clock. All times are in UTC. A day or a
week is a span: ``--since`` takes its beginning, ``--until`` its end.
"""

import datetime as dt
import re

from ... import errors

_AGO = re.compile(r'(\d{1,6}) ?(m|min|h|d|w)')
_SECONDS = {'m': 60, 'min': 60, 'h': 3_600, 'd': 86_400, 'w': 604_800}
_DAYS = {'today': 0, 'yesterday': 1}
_WANTED = (
    'give "2h", "3d", "today", "yesterday", "2026-11-22" or '
    '"2026-11-22 10:30" (UTC)'
)


def since(text: str, now: float) -> float:
    """Return the beginning of a time, in seconds since the epoch.

    :raises errors.ConfigError: it is no time
    """
    return _span(text, now)[0]


def until(text: str, now: float) -> float:
    """Return the end of a time, in seconds since the epoch.

    :raises errors.ConfigError: it is no time
    """
    return _span(text, now)[1]


def shown(seconds: float) -> str:
    """Return a moment, such as ``2026-11-22 10:30:00Z``."""
    return f'{_moment(seconds):%Y-%m-%d %H:%M:%S}Z'


def _span(text: str, now: float) -> tuple[float, float]:
    words = text.strip().lower()
    ago = _AGO.fullmatch(words)
    if ago is not None:
        moment = now - int(ago[1]) * _SECONDS[ago[2]]
        return moment, moment
    if words in _DAYS:
        day = _moment(now).date() - dt.timedelta(days=_DAYS[words])
        return _day(day)
    try:
        return _written(text.strip())
    except (OverflowError, ValueError) as exc:
        raise errors.ConfigError(f'{text!r} is no time: {_WANTED}') from exc


def _written(text: str) -> tuple[float, float]:
    """Return the span of a date, or of a date and a time.

    :raises ValueError: it is neither
    """
    found = dt.datetime.fromisoformat(text)
    if len(text) == len('2026-11-22'):
        return _day(found.date())
    moment = found if found.tzinfo else found.replace(tzinfo=dt.UTC)
    return moment.timestamp(), moment.timestamp()


def _day(day: dt.date) -> tuple[float, float]:
    begin = dt.datetime.combine(day, dt.time(), dt.UTC)
    return begin.timestamp(), (begin + dt.timedelta(days=1)).timestamp()


def _moment(seconds: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(seconds, dt.UTC)
