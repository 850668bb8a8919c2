# SPDX-License-Identifier: Apache-2.0
"""The lines that a command and the daemon exchange, as values.

A connection has one request, a line of JSON, and one or more answers, a line
of JSON each; the last answer is one of ``LAST``. Each line has the version of
the protocol: the daemon runs on after the package was upgraded, so the two may
differ. The module does no I/O and reads no clock. ``server.py`` and
``client.py`` send the lines.
"""

import dataclasses
import enum
import json
import typing

from ... import error_text, errors

VERSION = 4
MOST_ASKED = 1 << 20  # bytes of a request
MOST_SAID = 1 << 26  # bytes of an answer
_MOST_WORDS = 100_000
_LONGEST_WORD = 1000  # characters


class Command(enum.Enum):
    """The commands that the daemon knows."""

    STATUS = 'status'
    HELD = 'held'
    APPROVE = 'approve'
    CYCLE = 'cycle'
    RELEASE = 'release'
    EXPORT = 'export'
    FORGET = 'forget'
    IMPORT = 'import'


class Kind(enum.Enum):
    """The kinds of answers."""

    #: What the daemon does, and how each node is.
    STATUS = 'status'
    #: The changes that wait for a person.
    HELD = 'held'
    #: Changes are approved; the answers about a cycle follow.
    APPROVED = 'approved'
    #: A cycle was requested; its result follows when it has ended.
    REQUESTED = 'requested'
    #: How far the cycle that runs is.
    PROGRESS = 'progress'
    #: The result of a cycle.
    CYCLE = 'cycle'
    #: Another agent may take the share.
    RELEASED = 'released'
    #: The records of nodes, or the answer that they were changed.
    RECORDED = 'recorded'
    #: The daemon did not carry out the command, or only a part of it.
    ERROR = 'error'


#: After one of these, the daemon closes the connection.
LAST = frozenset(Kind) - {Kind.APPROVED, Kind.REQUESTED, Kind.PROGRESS}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A command of a person.

    :ivar nodes: the nodes that the request is about; empty for all nodes
    :ivar digests: the digests of the changes to approve, as
        ``plan/waiting.py`` makes them; empty for all changes that wait.
        ``forget`` has the digests of records
    :ivar person: the person behind ``sudo``, as the command tells it
    :ivar prune: the names to prune, of ``prune_node`` or of all nodes
    :ivar records: the records of nodes to import
    :ivar progress: also tell how far the cycles are that are waited for
    """

    command: Command
    nodes: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()
    person: str = ''
    prune: tuple[str, ...] = ()
    prune_node: str = ''
    records: str = ''
    progress: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer of the daemon."""

    kind: Kind
    data: dict[str, typing.Any]


def failed(why: str) -> Answer:
    """Return the answer to a command that is not carried out."""
    return Answer(kind=Kind.ERROR, data={'error': why})


def request_line(request: Request) -> bytes:
    """Return a request as a line.

    :raises errors.ConfigError: the line would be too long
    """
    fields = dataclasses.asdict(request) | {'command': request.command.value}
    line = _line(fields)
    if len(line) > MOST_ASKED:
        raise errors.ConfigError(
            f'a request has at most {MOST_ASKED} bytes: give fewer nodes at '
            'a time, or none for all'
        )
    return line


def request(line: bytes) -> Request:
    """Return the request in a line.

    :raises errors.Refused: the line is no request that this daemon understands
    """
    fields = _fields(line)
    try:
        command = Command(fields.get('command'))
    except ValueError as exc:
        known = ', '.join(each.value for each in Command)
        raise errors.Refused(
            f'this daemon does not know the command '
            f'{error_text.excerpt(fields.get("command"))}; it knows {known}'
        ) from exc
    return Request(
        command=command,
        nodes=_words('nodes', fields.get('nodes', [])),
        digests=_words('digests', fields.get('digests', [])),
        person=_word('person', fields.get('person', '')),
        prune=_words('prune', fields.get('prune', [])),
        prune_node=_word('prune_node', fields.get('prune_node', '')),
        records=str(fields.get('records', '')),
        progress=fields.get('progress') is True,
    )


def answer_line(answer: Answer) -> bytes:
    """Return an answer as a line, or an error if it would be too long."""
    line = _line({'kind': answer.kind.value, 'data': answer.data})
    if len(line) > MOST_SAID:
        return answer_line(failed('the answer is too long; name some nodes'))
    return line


def answer(line: bytes) -> Answer:
    """Return the answer in a line.

    :raises errors.Refused: the line is no answer that this command understands
    """
    fields = _fields(line)
    try:
        kind = Kind(fields.get('kind'))
    except ValueError as exc:
        raise errors.Refused(_UNREADABLE.format('kind')) from exc
    data = fields.get('data')
    if not isinstance(data, dict):
        raise errors.Refused(_UNREADABLE.format('data'))
    return Answer(kind=kind, data=data)


_UNREADABLE = 'the control socket gave a line without {}'


def _line(fields: dict[str, typing.Any]) -> bytes:
    return json.dumps({'version': VERSION, **fields}).encode() + b'\n'


def _fields(line: bytes) -> dict[str, typing.Any]:
    """Return the fields of a line of this version."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as exc:
        why = error_text.short(exc)
        raise errors.Refused(f'this is not a line of JSON: {why}') from exc
    if not isinstance(fields, dict):
        raise errors.Refused('this line of JSON is not an object')
    version = fields.get('version')
    if version != VERSION:
        raise errors.Refused(
            f'one side speaks version {VERSION} of the control protocol, the '
            f'other version {error_text.excerpt(version)}: restart the daemon '
            'after an upgrade, and run the commands of the same environment'
        )
    return fields


def _words(field: str, values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or len(values) > _MOST_WORDS:
        raise errors.Refused(f'"{field}" of a request is a list of names')
    return tuple(_word(field, each) for each in values)


def _word(field: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_WORD:
        raise errors.Refused(
            f'"{field}" of a request has a word that is no text of at most '
            f'{_LONGEST_WORD} characters'
        )
    return value
