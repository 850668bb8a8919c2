# SPDX-License-Identifier: Apache-2.0
"""Texts in error messages: the cause of a failure, and refused values.

Pure: no I/O, configuration, logging or clock. Libraries wrap an error of the
operating system several times; the innermost error tells the operator where to
look. A refused value may be a name of five thousand characters, so a message
shows only its beginning.
"""

import re

# oslo.middleware's, which every OpenStack service puts into its answers.
_REQUEST_ID = re.compile(
    r' ?\[?req-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\]?'
)
_ERRNO = re.compile(r'\[Errno -?\d+\] ([\w ]+)')
# Classes of keystoneauth and requests; the errors they wrap say no more.
_TIMEOUTS = {'ConnectTimeout', 'ReadTimeout'}
_MOST = 120  # characters
_SHOWN = 60  # characters


def cause(exc: BaseException) -> str:
    """Return the innermost reason of a failed request."""
    if match := _ERRNO.search(str(exc)):
        return match[1]
    if _TIMEOUTS & {kind.__name__ for kind in type(exc).__mro__}:
        return 'no answer in time'
    while (inner := exc.__cause__ or exc.__context__) is not None:
        exc = inner
    return short(exc) or type(exc).__name__


def one_line(exc: BaseException) -> str:
    """Return an exception's text as one line, or else its class."""
    return ' '.join(str(exc).split()) or type(exc).__name__


def short(exc: BaseException) -> str:
    """Return an exception's text as one line of at most 120 characters."""
    return ' '.join(str(exc).split())[:_MOST]


def without_request_ids(text: str) -> str:
    """Return a text to compare: the same failure has another id each time."""
    return _REQUEST_ID.sub('', text)


def duration(seconds: float) -> str:
    """Return a time for people: seconds, minutes, or hours and minutes."""
    if seconds < 120:
        return f'{seconds:.0f} s'
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    return f'{hours} h {rest} min' if hours else f'{minutes} min'


def excerpt(value: object) -> str:
    """Return a value as Python spells it, cut after 60 characters.

    For a long string, its length is added.
    """
    if isinstance(value, str):
        more = f'... ({len(value)} characters)' if len(value) > _SHOWN else ''
        return f'{value[:_SHOWN]!r}{more}'
    try:
        text = repr(value)
    except ValueError:  # an integer longer than sys.get_int_max_str_digits()
        return f'a value of type {type(value).__name__}, too long to show,'
    return text if len(text) <= _SHOWN else f'{text[:_SHOWN]}...'


def printable(text: str) -> str:
    """Return a text with unprintable characters escaped.

    Provider names and servers' answers may contain any character, including
    those that move a terminal's cursor.
    """
    if text.isprintable():
        return text
    return ''.join(
        c if c.isprintable() else c.encode('unicode_escape').decode('ascii')
        for c in text
    )
