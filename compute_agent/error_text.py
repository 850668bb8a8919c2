# SPDX-License-Identifier: Apache-2.0
"""Texts in messages: the cause of a failure, refused values, lists of names.

Pure: no I/O, configuration, logging or clock. Libraries wrap an error of the
operating system several times; the innermost error tells the operator where to
look. A refused value may be a name of five thousand characters, so a message
shows only its beginning.
"""

import datetime as dt
import difflib
import re
from collections.abc import Iterable, Sequence

# oslo.middleware's, which every OpenStack service puts into its answers, also
# as proxies spell it; and others, as the report client marks them.
_REQUEST_ID = re.compile(
    r' ?(\[request id [^]]*\]|\[?\breq-[0-9a-f]{8}[0-9a-f-]*\]?)',
    re.IGNORECASE,
)
_ERRNO = re.compile(r'\[Errno -?\d+\] ([\w ]+)')
_TLS = re.compile(r'(certificate verify failed[^()]*)')
_CLOSED = 'EOF occurred in violation of protocol'
CLOSED = 'it closed the connection'
# The other side's words in the TLS protocol, if it refuses a certificate.
_ALERT = re.compile(
    r'alert ((?:no |bad |unsupported |revoked |expired |unknown )?'
    r'(?:certificate(?: \w+)?|handshake failure|ca))'
)
# Classes of keystoneauth and requests; the errors they wrap say no more.
_TIMEOUTS = {'ConnectTimeout', 'ReadTimeout'}
# An error of ``transport/``; it says more than the errors around it.
_OWN = {'TooLate'}
# Errors of requests and urllib3 about an address; their texts repeat parts of
# the address, and so parts of a password. An option or a proxy has the
# address.
_ADDRESSES = {'InvalidProxyURL', 'InvalidURL', 'LocationParseError'}
# A user and a password in front of a host; a password may contain an @, and
# quotes. ``transport/url_credentials.py`` refuses what it does not match.
_USER = re.compile(r'(?<=//)[^/?#\s]*@')
_MOST = 120  # characters
_SHOWN = 60  # characters
_LONGEST_URL = 200  # characters


def cause(exc: BaseException) -> str:
    """Return the innermost reason of a failed request.

    The end of an iterator is no reason: Python's JSON module has it as the
    context of its errors.
    """
    chain = [exc]
    while (inner := chain[-1].__cause__ or chain[-1].__context__) is not None:
        if isinstance(inner, StopIteration):
            break
        chain.append(inner)
    for inner in chain:
        if type(inner).__name__ in _OWN:
            return short(inner)
    if _ADDRESSES & {type(inner).__name__ for inner in chain}:
        return 'an address that cannot be read; a proxy has one, too'
    if match := _ERRNO.search(str(exc)):
        return match[1]
    if _TIMEOUTS & {kind.__name__ for kind in type(exc).__mro__}:
        return 'no answer in time'
    return short(chain[-1]) or type(chain[-1]).__name__


def tls_cause(exc: BaseException) -> str:
    """Return why a certificate is refused, as OpenSSL says it."""
    match = _TLS.search(str(exc))
    return as_line(match[1]) if match else cause(exc)


def tls_alert(exc: BaseException) -> str:
    """Return why the other side refused a certificate, '' if it did not."""
    text = str(exc)
    if _CLOSED in text:
        return CLOSED
    match = _ALERT.search(text)
    return match[1] if match else ''


def one_line(exc: BaseException) -> str:
    """Return an exception's text as one line, or else its class."""
    return as_line(str(exc)) or type(exc).__name__


def short(exc: BaseException) -> str:
    """Return an exception's text as one line of at most 120 characters."""
    return cut(as_line(str(exc)), _MOST)


def cut(text: str, most: int) -> str:
    """Return at most so many characters of a text; dots stand for the rest."""
    return text if len(text) <= most else f'{text[: most - 3]}...'


def as_line(text: str) -> str:
    """Return a text as one printable line without passwords in URLs."""
    return printable(without_credentials(' '.join(text.split())))


def without_credentials(text: str) -> str:
    """Return a text whose URLs have no user and no password."""
    return _USER.sub('', text) if '@' in text else text


def split_credentials(url: str) -> tuple[str, str]:
    """Return a URL without user and password, and the two as written in it."""
    found = _USER.search(url)
    if found is None:
        return url, ''
    return url[: found.start()] + url[found.end() :], found[0][:-1]


def address(url: str) -> str:
    """Return a URL for a message: printable, no credentials, no query.

    A query or a fragment may have secrets of its own. Of a text that is no
    URL, everything in front of an @ may be a password.
    """
    shown, _ = split_credentials(url)
    _before, at, after = shown.rpartition('@')
    shown = f'...@{after}' if at else after
    shown = re.split('[?#]', shown, maxsplit=1)[0]
    return cut(printable(' '.join(shown.split())), _LONGEST_URL)


def without_request_ids(text: str) -> str:
    """Return a text to compare: the same failure has another id each time."""
    return _REQUEST_ID.sub('', text)


def request_id(found: str) -> str:
    """Return an id for the end of a message, so that it is recognized there.

    Not every proxy writes ids as OpenStack does.
    """
    shown = ' '.join(found.replace(']', ' ').split())[:_SHOWN]
    if not shown or _REQUEST_ID.fullmatch(shown):
        return f' [{shown}]' if shown else ''
    return f' [request id {shown}]'


def duration(seconds: float) -> str:
    """Return a time for people: seconds, minutes, or hours and minutes."""
    if seconds < 120:
        return f'{seconds:.0f} s'
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    return f'{hours} h {rest} min' if hours else f'{minutes} min'


def moment(seconds: float) -> str:
    """Return a moment in UTC, such as ``2026-01-31 12:00:00Z``.

    :param seconds: since the epoch
    """
    when = dt.datetime.fromtimestamp(seconds, dt.UTC)
    return f'{when:%Y-%m-%d %H:%M:%S}Z'


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


def counted(count: int, noun: str) -> str:
    """Return a number of things, such as ``1 node`` or ``2 nodes``."""
    return f'{count} {noun}{"" if count == 1 else "s"}'


def listed(found: Iterable[str], most: int = 5) -> str:
    """Return the first names in their order, and how many more there are."""
    return few(sorted(found), most)


def few(names: Sequence[str], most: int) -> str:
    """Return the first of some names, and how many more there are."""
    more = len(names) - most
    return ', '.join(names[:most]) + (f' and {more} more' if more > 0 else '')


def similar_hosts(
    word: str, known: Iterable[str], most: int = 1
) -> Sequence[str]:
    """Return the names that a mistyped name of a host may mean.

    These are the names with the same first label, so the full name of a host
    for a short one; without one, those that are spelled nearly so. A host with
    another number is another host.
    """
    found = dict.fromkeys(known)
    label = word.lower().partition('.')[0]
    same = [name for name in found if name.lower().partition('.')[0] == label]
    if same:
        return same[:most]
    numbered = [name for name in found if _numbers(name) == _numbers(word)]
    return difflib.get_close_matches(word, numbered, n=most)


def _numbers(name: str) -> list[int]:
    return [*map(int, re.findall('[0-9]+', name))]


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
