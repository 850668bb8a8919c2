# SPDX-License-Identifier: Apache-2.0
"""Map placement's error answers to exceptions, by what to do next.

Pure: no I/O, configuration, logging or clock. ``placement.py`` calls it for
every answer that is not 2xx.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from compute_agent import error_text
from compute_agent.transport import account as accounts

from ... import errors
from . import codec, paths

PARTIAL = 206
_RACE = 'Another thread concurrently updated'
_NO_SUCH_NAME = re.compile(r'No such (trait|resource class)', re.IGNORECASE)
_BY_STATUS: dict[int, type[Exception]] = {
    401: errors.NotAuthorised,
    403: errors.NotAuthorised,
    429: errors.Unreachable,
    502: errors.NoServer,
    503: errors.NoServer,
    504: errors.Unreachable,
}
_TAG = re.compile(r'<[^<>]*>')
_PAGE, _EXCERPT = 2_000, 200  # characters of a foreign body
_NAMES = (f'{paths.TRAITS}/', f'{paths.RESOURCE_CLASSES}/')
_BY_CODE: dict[str, type[Exception]] = {
    'placement.concurrent_update': errors.Conflict,
    'placement.duplicate_name': errors.NameTaken,
    'placement.inventory.inuse': errors.InUse,
    'placement.resource_provider.cannot_delete_parent': errors.InUse,
    'placement.resource_provider.inuse': errors.InUse,
    'placement.resource_provider.not_found': errors.NotFound,
}

_OPTIONS = accounts.Account(section='placement')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The way to placement, for messages; without credentials.

    :ivar where: placement's name and address
    :ivar hint: advice for the case that it does not answer
    :ivar keystone: the address of keystone; empty without keystone
    :ivar cafile: the file with the certificates that are trusted; empty for
        those of the system
    :ivar has_scope: False if the options name no project for the token
    :ivar account: the origin of the account
    :ivar user: the user and project of the account
    :ivar roles: returns the roles of the last token; empty if unknown
    :ivar regions: returns the regions in which the catalog has placement;
        empty if unknown
    :ivar region: the region that the options name, or empty
    """

    where: str
    hint: str = 'is it up?'
    keystone: str = ''
    cafile: str = ''
    has_scope: bool = True
    account: accounts.Account = _OPTIONS
    user: str = 'the user of this agent'
    roles: Callable[[], Sequence[str]] = tuple
    regions: Callable[[], Sequence[str]] = tuple
    region: str = ''


def first_error(body: object, content: bytes) -> dict[str, Any]:
    """Return the first error of an answer; {} if the answer has no errors.

    If the body is not placement's, the error has its text as ``detail``. A
    proxy answers with HTML. Keystone's middleware answers with JSON: an object
    ``error``, or a message with tags.

    :param body: the decoded JSON of the content, or None
    """
    known = body if isinstance(body, dict) else {}
    given = known.get('errors')
    if isinstance(given, list) and given:
        return given[0] if isinstance(given[0], dict) else {}
    inner = known.get('error')
    told = (inner if isinstance(inner, dict) else known).get('message')
    text = (
        told
        if isinstance(told, str)
        else content[:_PAGE].decode('utf-8', 'replace')
    )
    line = error_text.as_line(_TAG.sub(' ', text))
    return {'detail': error_text.cut(line, _EXCERPT)}


def is_not_placement(
    request: codec.Request, status: int, error: Mapping[str, Any]
) -> bool:
    """Return True if another service than placement sent the error.

    Placement never answers 404 for a list, and its error bodies have a status.
    A server with TLS answers 400 to plain HTTP.

    :param error: the first error of the body; {} or without a status if the
        body is not placement's
    """
    if status == 400:
        return _is_list(request) and 'status' not in error
    return status in {404, 405} and (
        _is_list(request) or 'status' not in error
    )


def error_for(
    request: codec.Request,
    status: int,
    error: Mapping[str, Any],
    access: Access,
) -> Exception:
    """Return the error for an answer that is not 2xx.

    :param error: the first error of the body
    :param access: how the service is reached, for messages
    """
    answer = errors.Answer(
        status=status,
        code=str(error.get('code', '')),
        detail=str(error.get('detail') or error.get('title') or ''),
        request_id=str(error.get('request_id', '')),
    )
    kind = _kind(request, answer)
    text = f'{request.method} {request.path}: {answer}'
    if kind is errors.NotAuthorised:
        text += f'; {_not_let_in(status, access)}'
    if kind is errors.NotAllowed:
        text += (
            f'; to move allocations, {access.user} also needs the role '
            'service: add that role in keystone'
        )
    return kind(text)


def _not_let_in(status: int, access: Access) -> str:
    """Return the advice about a user that placement refuses."""
    account = access.account
    if status == 401:
        return (
            f'{access.where} does not accept the token of {access.user}, which '
            f'comes from {account}: check that {account.option("auth_url")} is '
            'the keystone that this placement asks'
        )
    roles = ', '.join(access.roles())
    held = f' with the role {roles}' if roles else ''
    return (
        f'{access.where} refuses {access.user}{held}: {account.holder} needs a '
        'user with the role admin or service'
    )


def _is_list(request: codec.Request) -> bool:
    """Return True if every placement answers this, if only with an empty list."""
    route = request.path.partition('?')[0]
    lists = {paths.PROVIDERS, paths.TRAITS, paths.RESOURCE_CLASSES}
    return request.method == 'GET' and route in lists


def _is_one(request: codec.Request) -> bool:
    """Return True if the request is about one object that may not exist."""
    if request.path.startswith(_NAMES):
        return request.method != 'PUT'  # which creates it
    return request.path.startswith((paths.PROVIDERS, paths.CONSUMERS))


def _kind(  # noqa: PLR0911 (a row for each meaning)
    request: codec.Request, answer: errors.Answer
) -> type[Exception]:
    """Return the class of the error for an answer that is not 2xx."""
    if answer.status == 403 and request.path == paths.RESHAPER:
        return errors.NotAllowed
    known = _BY_STATUS.get(answer.status) or _BY_CODE.get(answer.code)
    if known is not None:
        return known
    if answer.status >= 500:
        # Placement's traits handler does not catch this race.
        raced = _RACE in answer.detail
        return errors.Conflict if raced else errors.ServerFault
    if answer.status == 400 and _NO_SUCH_NAME.search(answer.detail):
        return errors.UnknownName
    if answer.status == 404 and _is_one(request):
        return errors.NotFound
    if answer.status == 409 and request.path.startswith(_NAMES):
        return errors.InUse  # placement has no code of its own for it
    return errors.BadRequest
