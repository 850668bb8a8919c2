# SPDX-License-Identifier: Apache-2.0
"""Turns the data of a page into HTML or JSON, and a reply into its head.

Jinja2 escapes every value, so a name from placement is text and never markup;
the head forbids a browser to run a script and to ask anybody else. Control
characters and directions of text are written out, as in the output of the
commands. Jinja2 comes with the extra ``explore``.
"""

import dataclasses
import functools
import http
import json
import pathlib
import urllib.parse
from collections.abc import Iterable, Mapping
from typing import Any

import jinja2
import markupsafe

from ... import error_text, errors

TEMPLATES = pathlib.Path(__file__).with_name('templates')

#: The addresses and words of the pages, in the order of the menu.
PAGES = (
    ('/', 'Cloud'),
    ('/providers', 'Providers'),
    ('/why-not', 'Why not'),
    ('/plan', 'Plan'),
    ('/history', 'History'),
    ('/audit', 'Audit'),
)

#: The other files, by their path.
FILES = {
    '/style.css': 'text/css; charset=utf-8',
    '/icon.svg': 'image/svg+xml',
}

_HTML = 'text/html; charset=utf-8'
_TEXT = 'text/plain; charset=utf-8'
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action "
    "'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEAD = (
    (
        'Content-Security-Policy',
        _POLICY,
    ),
    ('X-Content-Type-Options', 'nosniff'),
    ('X-Frame-Options', 'DENY'),
    ('Referrer-Policy', 'no-referrer'),
    ('Cross-Origin-Opener-Policy', 'same-origin'),
    ('Cross-Origin-Resource-Policy', 'same-origin'),
    ('Cache-Control', 'no-store'),
)

Head = list[tuple[str, str]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The reply to one request.

    :ivar more: further headers; every reply has a few anyway
    """

    status: int
    kind: str
    body: Iterable[bytes]
    more: tuple[tuple[str, str], ...] = ()

    @property
    def status_line(self) -> str:
        """The status with its words."""
        return f'{self.status} {http.HTTPStatus(self.status).phrase}'

    def head(self) -> Head:
        """Return the headers."""
        return [('Content-Type', self.kind), *_HEAD, *self.more]


def text(status: int, line: str) -> Reply:
    """Return a reply of one line."""
    return Reply(status=status, kind=_TEXT, body=[f'{line}\n'.encode()])


def redirect(path: str, cookie: str) -> Reply:
    """Return a reply that leads a browser on, with its cookie."""
    return Reply(
        status=303,
        kind=_TEXT,
        body=[],
        more=(('Location', path), ('Set-Cookie', cookie)),
    )


def as_json(data: object) -> Reply:
    """Return the data of a page, as ``-f json`` of the commands has it."""
    body = f'{json.dumps(data, indent=2)}\n'.encode()
    return Reply(status=200, kind='application/json', body=[body])


def file(path: str) -> Reply | None:
    """Return the stylesheet or the icon, None if the path is neither."""
    kind = FILES.get(path)
    if kind is None:
        return None
    body = TEMPLATES.joinpath(path.removeprefix('/')).read_bytes()
    return Reply(status=200, kind=kind, body=[body])


def html(body: bytes) -> Reply:
    """Return a page that was made as a whole."""
    return Reply(status=200, kind=_HTML, body=[body])


def page(template: str, data: Mapping[str, Any], status: int = 200) -> Reply:
    """Return a page; a long one is sent while it is made."""
    stream = _environment().get_template(template).stream(data)
    stream.enable_buffering(50)
    return Reply(
        status=status, kind=_HTML, body=(part.encode() for part in stream)
    )


def whole(template: str, data: Mapping[str, Any]) -> bytes:
    """Return a page that is made at once."""
    return _environment().get_template(template).render(data).encode()


@functools.cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_plain,
    )
    made.globals['menu'] = PAGES
    made.filters['amount'] = _amount
    made.filters['lines'] = _lines
    made.filters['query'] = _query
    return made


def _plain(value: object) -> object:
    """Return a value for a page: a text has no control characters."""
    if type(value) is str:
        return error_text.printable(value)
    return '' if value is None else value


def _amount(value: float) -> markupsafe.Markup:
    """Return a number with narrow spaces between its thousands."""
    found = f'{value:,.10g}' if isinstance(value, float) else f'{value:,}'
    return markupsafe.Markup(found.replace(',', '&#8239;'))  # noqa: S704 (digits)


def _lines(value: str) -> markupsafe.Markup:
    """Return a text of several lines, with the ends of its lines."""
    lines = map(error_text.printable, value.splitlines())
    return markupsafe.Markup('\n').join(lines)


def _query(values: Mapping[str, object], **changed: object) -> str:
    """Return a query string of these parameters, some of them changed."""
    merged = {**values, **changed}
    pairs = [(key, value) for key, value in merged.items() if value]
    return f'?{urllib.parse.urlencode(pairs)}' if pairs else '?'


def explained(exc: errors.AgentError) -> str:
    """Return an error as the line that a page shows."""
    return error_text.printable(error_text.one_line(exc))
