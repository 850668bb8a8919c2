# SPDX-License-Identifier: Apache-2.0
"""Ironic's answers, accepted only if they are complete and well-formed.

Pure: no I/O, configuration, logging or clock. The client returns whatever
arrived: bytes for broken JSON, None if there was no JSON, or the JSON of
another service. For all of these, this module raises ``UnknownState``; it
never treats them as a shorter list. ``client/api.py`` calls this.

There is no discovery call for the version of the API. The agent requests the
newest version, and an older Ironic answers with its range.
"""

import dataclasses
import datetime as dt
import json
import re
from collections.abc import Mapping, Sequence

from compute_agent import error_text, errors

from . import node as ironic

Version = tuple[int, int]

# The newest version that openstacksdk and nova use; the agent needs no newer.
NEWEST: Version = (1, 109)
_TRAITS: Version = (1, 37)
_CONDUCTOR_GROUP: Version = (1, 46)
_SHARD: Version = (1, 82)

# In the text of ironicclient's UnsupportedVersion, which has line breaks.
_RANGE = re.compile(r'range is:? (\d+)\.(\d+) to (\d+)\.(\d+)')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """The oldest version that is new enough.

    :ivar by: the option or driver that needs it
    """

    version: Version
    by: str


def needed(conductor_group: str | None, shard: str | None) -> Needed:
    """Return the version that is needed to list only the intended nodes.

    An older Ironic might ignore an unknown filter and list all nodes.
    """
    if shard is not None:
        return Needed(version=_SHARD, by='[ironic] shard')
    if conductor_group is not None:
        return Needed(version=_CONDUCTOR_GROUP, by='[ironic] conductor_group')
    return Needed(version=_TRAITS, by='the ironic driver')


def supported(text: str) -> tuple[Version, Version] | None:
    """Return the range of versions in a refusal; None if it has no range."""
    match = _RANGE.search(' '.join(text.split()))
    if match is None:
        return None
    low, low_minor, high, high_minor = map(int, match.groups())
    return (low, low_minor), (high, high_minor)


def spelled(version: Version) -> str:
    """Return the version in the form of the API's header."""
    return '{}.{}'.format(*version)


PARTIAL = 206
_NOT_FOUND = re.compile(r'Node (.+) could not be found\.?')


class NotFound(errors.Refused):
    """HTTP 404: the node does not exist or is hidden, or this is no Ironic.

    Ironic's policy may hide a node from this agent's user.

    :ivar fault: Ironic's message; empty if something else answered
    """

    def __init__(self, text: str, fault: str) -> None:
        super().__init__(text)
        self.fault = fault

    def is_of(self, ident: str) -> bool:
        """Return True if Ironic's complete message is about this node.

        Other messages of Ironic contain a node's name too, but mean something
        else.
        """
        match = _NOT_FOUND.fullmatch(self.fault)
        return match is not None and match[1].lower() == ident.lower()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a listing.

    :ivar marker: the marker of the next page; None on the last page
    """

    rows: Sequence[ironic.Row]
    marker: str | None = None


def page(body: object) -> Page:
    """Return the page in this body.

    :raises errors.UnknownState: it is not a page; the message has an excerpt
    """
    rows = body.get('nodes') if isinstance(body, Mapping) else None
    if not isinstance(body, Mapping) or not isinstance(rows, list):
        raise errors.UnknownState(f'no list of nodes: {shown(body)}')
    for row in rows:
        if not isinstance(row, Mapping):
            raise errors.UnknownState(f'no node in its list: {shown(row)}')
    if 'next' not in body:
        return Page(rows=rows)
    if not isinstance(body['next'], str):
        raise errors.UnknownState(f'no next page: {shown(body["next"])}')
    if not rows:
        raise errors.UnknownState('an empty page with more to come')
    # The URL in "next" is not used, because perhaps only a proxy can reach it.
    return Page(rows=rows, marker=ident_of(rows[-1]))


def ident_of(row: ironic.Row) -> str:
    """Return the uuid of a row as Ironic spells it.

    :raises errors.UnknownState: the row has no uuid
    """
    ident = row.get('uuid')
    if not isinstance(ident, str):
        raise errors.UnknownState(f'a node without uuid: {shown(row)}')
    return ident


def number(body: object, shard: str | None) -> int:
    """Return how many nodes a shard has, or all shards, in Ironic's count.

    :param shard: None for all nodes
    :raises errors.UnknownState: the body is no such count
    """
    rows = body.get('shards') if isinstance(body, Mapping) else None
    if not isinstance(rows, list):
        raise errors.UnknownState(f'no count of nodes: {shown(body)}')
    total = 0
    for row in rows:
        count = row.get('count') if isinstance(row, Mapping) else None
        if type(count) is not int or count < 0:
            raise errors.UnknownState(f'no count in its list: {shown(row)}')
        # Ironic says "None" for the nodes without a shard.
        if shard is None or row.get('name') == shard:
            total += count
    return total


# The rows of a listing, by uuid as Ironic spells it.
Found = dict[str, ironic.Node | ironic.NoUuid]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All nodes that can be reported.

    :ivar found: the listing's rows, from which the other fields follow
    :ivar nodes: by uuid as Ironic spells it
    :ivar left_out: the reason for each node that is missing
    """

    found: Found = dataclasses.field(default_factory=dict)
    nodes: Mapping[str, ironic.Node] = dataclasses.field(default_factory=dict)
    left_out: tuple[str, ...] = ()


def collect(
    rows: Sequence[ironic.Row], found: Found, known: Found | None = None
) -> None:
    """Add the nodes of these rows.

    :param known: known nodes, whose traits complete the rows, which were read
        without traits. An unchanged node is taken from here; a node that is
        missing here has no traits
    :raises errors.UnknownState: a row is malformed, or a node comes twice
    """
    for row in rows:
        ident, node = _of_row(row, known)
        if ident in found:
            has_uuid = isinstance(node, ironic.Node)
            subject = node if has_uuid else error_text.printable(ident)
            raise errors.UnknownState(f'node {subject} twice')
        found[ident] = node


def collect_newest(rows: Sequence[ironic.Row], found: Found) -> None:
    """Add the nodes of these rows, each as its last row says.

    A node that changes while a sorted listing is read may come again.

    :raises errors.UnknownState: a row is malformed
    """
    found.update(_of_row(row) for row in rows)


def _of_row(
    row: ironic.Row, known: Found | None = None
) -> tuple[str, ironic.Node | ironic.NoUuid]:
    """Return the uuid as Ironic spells it, and the node."""
    before, traits = None, None
    if known is not None:
        before = known.get(str(row.get('uuid')))
        traits = (
            before.traits if isinstance(before, ironic.Node) else frozenset()
        )
    node: ironic.Node | ironic.NoUuid
    try:
        node = ironic.Node.from_row(row, traits)
    except ironic.NoUuid as exc:
        node = exc
    return str(row['uuid']), before if before == node else node


def listing(found: Found) -> Listing:
    """Return the nodes with distinct uuids, and why others are left out."""
    by_uuid: dict[str, list[ironic.Node]] = {}
    left_out = []
    for node in found.values():
        if isinstance(node, ironic.NoUuid):
            left_out.append(str(node))
        else:
            by_uuid.setdefault(node.uuid, []).append(node)
    left_out += [
        f'{" and ".join(sorted(n.ident for n in same))} are the same uuid'
        for same in by_uuid.values()
        if len(same) > 1
    ]
    nodes = {
        same[0].ident: same[0] for same in by_uuid.values() if len(same) == 1
    }
    return Listing(found=found, nodes=nodes, left_out=tuple(sorted(left_out)))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Dated:
    """A node, and when it was created and updated.

    :ivar times: field → time; None stands for never
    """

    node: ironic.Node
    times: Mapping[str, dt.datetime | None]


def dated(row: ironic.Row, keys: Sequence[str]) -> Dated:
    """Return the node of a row with its times.

    :raises errors.UnknownState: the row is malformed
    """
    return Dated(
        node=ironic.Node.from_row(row),
        times={key: time_of(row, key) for key in keys},
    )


def time_of(row: ironic.Row, key: str) -> dt.datetime | None:
    """Return when the row was created or updated; None for never.

    :param key: the field with the time
    :raises errors.UnknownState: the value is not a time
    """
    value = row.get(key, '')
    if value is None:
        return None
    try:
        found = dt.datetime.fromisoformat(value)  # type: ignore[arg-type]
        if found.tzinfo is None:
            found = found.replace(tzinfo=dt.UTC)
        return found.astimezone(dt.UTC)
    except (OverflowError, TypeError, ValueError) as exc:
        raise errors.UnknownState(
            f'a node with the {key} {error_text.excerpt(value)}'
        ) from exc


def check_whole(status: int) -> None:
    """Refuse an answer whose status says that it is only a part.

    :raises errors.UnknownState: HTTP 206
    """
    if status == PARTIAL:
        raise errors.UnknownState(
            f'answered with a part only (HTTP {PARTIAL})'
        )


def single_node(body: object, ident: str) -> ironic.Row:
    """Return the node in this body.

    :param ident: the requested uuid or name
    :raises errors.UnknownState: the body is not a node, or has another uuid
    """
    if not isinstance(body, Mapping):
        raise errors.UnknownState(f'no node: {shown(body)}')
    try:
        uuid = ironic.canonical(body.get('uuid'))
    except ValueError as exc:
        raise errors.UnknownState(f'no node: {shown(body)}') from exc
    if uuid != _uuid_or(uuid, ident):
        raise errors.UnknownState(
            f'node {uuid} for {error_text.printable(ident)}'
        )
    return body


def _uuid_or(default: str, ident: str) -> str:
    """Return the uuid if this is one, the default if it is a name."""
    try:
        return ironic.canonical(ident)
    except ValueError:
        return default


def fault(content: bytes) -> str:
    """Return Ironic's message in an error body as one line, or ''."""
    try:
        message = json.loads(content)['error_message']
        if isinstance(message, str):
            message = _unpacked(message)
        text = message if isinstance(message, str) else message['faultstring']
    except (KeyError, RecursionError, TypeError, ValueError):
        return ''
    return one_line(str(text))


def plain_fault(content: bytes) -> bytes:
    """Return an error body in the one form that ironicclient can read.

    It fails for JSON of any other shape, which a proxy may send, and the
    status of the answer is then lost.
    """
    try:
        json.loads(content)
    except RecursionError:
        return b'{}'
    except ValueError:
        return content
    said = fault(content)
    message = {'error_message': json.dumps({'faultstring': said})}
    return json.dumps(message if said else {}).encode()


def _unpacked(text: str) -> object:
    """Return the JSON inside a string, which Ironic nests in its JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def one_line(text: str, most: int = 300) -> str:
    """Return the text as one printable line of bounded length.

    User names and passwords in URLs are removed.
    """
    line = error_text.as_line(text)
    return line if len(line) <= most else f'{line[:most]}...'


def shown(body: object) -> str:
    """Return an excerpt of a body, for a message."""
    if body is None or body == []:
        return 'something other than JSON'
    return one_line(repr(body), 60)
