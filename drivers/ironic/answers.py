# SPDX-License-Identifier: Apache-2.0
"""What Ironic's answers say, believed only when they are whole.

Pure: no I/O, configuration, logging or clock. The client hands on whatever
came: bytes for broken JSON, None for what is none, a dict of another service.
All that is an unknown state, and never a shorter list. ``api.py`` calls this.
"""

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence

from compute_agent import errors

from . import node as ironic
from . import plain

_USER = re.compile(r'//[^/@\s]*@')
_NOT_FOUND = re.compile(r'Node (.+) could not be found\.?')


class NotFound(errors.Refused):
    """HTTP 404: the node is not there, or is hidden, or this is no Ironic.

    Ironic also says so of a node that its policy hides from this agent's user.

    :ivar fault: what Ironic says; empty if it was not Ironic that answered
    """

    def __init__(self, text: str, fault: str) -> None:
        super().__init__(text)
        self.fault = fault

    def is_of(self, ident: str) -> bool:
        """Whether it is Ironic's word on just this node, all of it.

        Other sentences name nodes too, and mean something else.
        """
        said = _NOT_FOUND.fullmatch(self.fault)
        return said is not None and said[1].lower() == ident.lower()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a listing.

    :ivar marker: what to ask the next page with; None for the last
    """

    rows: Sequence[ironic.Row]
    marker: str | None = None


def page(body: object) -> Page:
    """Return the page that this body is.

    :raises errors.UnknownState: it is none, with what it is
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
    # Not from the URL given: it may be one that only a proxy can reach.
    marker = rows[-1].get('uuid')
    if not isinstance(marker, str):
        raise errors.UnknownState(f'a node without uuid: {shown(rows[-1])}')
    return Page(rows=rows, marker=marker)


# What the rows of a listing are, by uuid as Ironic spells it.
Found = dict[str, ironic.Node | ironic.NoUuid]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All nodes there are.

    :ivar nodes: by uuid as Ironic spells it
    :ivar left_out: why others are not among them, a few words for each
    """

    nodes: Mapping[str, ironic.Node]
    left_out: tuple[str, ...] = ()


def collect(rows: Sequence[ironic.Row], found: Found) -> None:
    """Add the nodes of these rows to those found.

    :raises errors.UnknownState: a row makes no sense, or a node comes twice
    """
    for row in rows:
        node: ironic.Node | ironic.NoUuid
        try:
            node = ironic.Node.from_row(row)
        except ironic.NoUuid as exc:
            node = exc
        ident = str(row['uuid'])
        if ident in found:
            is_whole = isinstance(node, ironic.Node)
            who = node if is_whole else plain.shown(ident)
            raise errors.UnknownState(f'node {who} twice')
        found[ident] = node


def listing(found: Found) -> Listing:
    """Return the nodes that can be told apart in placement."""
    by_uuid: dict[str, list[ironic.Node]] = {}
    left_out = []
    for one in found.values():
        if isinstance(one, ironic.NoUuid):
            left_out.append(str(one))
        else:
            by_uuid.setdefault(one.uuid, []).append(one)
    left_out += [
        f'{" and ".join(sorted(n.ident for n in same))} are one uuid'
        for same in by_uuid.values()
        if len(same) > 1
    ]
    nodes = {
        same[0].ident: same[0] for same in by_uuid.values() if len(same) == 1
    }
    return Listing(nodes=nodes, left_out=tuple(sorted(left_out)))


def one(body: object, ident: str) -> ironic.Row:
    """Return the one node that this body is.

    :param ident: the uuid or the name that was asked for
    :raises errors.UnknownState: it is none, or has another uuid
    """
    if not isinstance(body, Mapping):
        raise errors.UnknownState(f'no node: {shown(body)}')
    try:
        uuid = ironic.canonical(body.get('uuid'))
    except ValueError as exc:
        raise errors.UnknownState(f'no node: {shown(body)}') from exc
    if uuid != _uuid_or(uuid, ident):
        raise errors.UnknownState(f'node {uuid} for {plain.shown(ident)}')
    return body


def _uuid_or(default: str, ident: str) -> str:
    """Return the uuid that this is, the default for a name."""
    try:
        return ironic.canonical(ident)
    except ValueError:
        return default


def fault(content: bytes) -> str:
    """Return what an error body says, as one line; empty if not Ironic's."""
    try:
        said = json.loads(content)['error_message']
        if isinstance(said, str):
            said = _unpacked(said)
        text = said if isinstance(said, str) else said['faultstring']
    except (ValueError, KeyError, TypeError):
        return ''
    return one_line(str(text))


def _unpacked(text: str) -> object:
    """Return the JSON that Ironic packs into a string in its JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def one_line(text: str, most: int = 300) -> str:
    """Return the text as one line of bounded length, fit for a terminal.

    There is no password in it either.
    """
    line = plain.shown(_USER.sub('//', ' '.join(text.split())))
    return line if len(line) <= most else f'{line[:most]}...'


def shown(body: object) -> str:
    """Return a few words of what came, for a message."""
    if body is None or body == []:
        return 'something else than JSON'
    return one_line(repr(body), 60)
