# SPDX-License-Identifier: Apache-2.0
"""Ironic's API as far as the driver uses it; the only place that knows paths.

A listing is whole or it is an error, a node is only said to be gone when
Ironic itself says so of that node, and everything raised is the agent's.
"""

import contextlib
import typing
from collections.abc import Iterator, Mapping, Sequence
from urllib import parse

from compute_agent import errors
from compute_agent.virt import driver

from . import answers
from . import node as ironic

NODES = '/v1/nodes'
LIMIT = 1000  # Ironic's own most, by default; it may give fewer


class Connection(typing.Protocol):
    """What is needed of ``connection.py``."""

    @property
    def where(self) -> str:
        """What to call this Ironic."""

    def request(
        self, method: str, path: str, body: object | None = None
    ) -> object:
        """Return the decoded body of the answer."""


class Api:
    """One Ironic's nodes; threads may share it.

    :param conductor_group: list this group's nodes only; '' is the default
        group, None is no filter
    :param shard: list this shard's nodes only
    :ivar filters: what the listing is narrowed by, as it is asked for
    """

    def __init__(
        self,
        connection: Connection,
        *,
        conductor_group: str | None = None,
        shard: str | None = None,
    ) -> None:
        self._connection = connection
        if conductor_group is not None:
            # So Ironic writes it to a node, and compares it letter by letter.
            conductor_group = conductor_group.lower()
        filters = {'conductor_group': conductor_group, 'shard': shard}
        self.filters: Mapping[str, str] = {
            k: v for k, v in filters.items() if v is not None
        }

    def nodes(self) -> answers.Listing:
        """Return all nodes there are.

        :raises errors.AgentError: the listing did not arrive as a whole
        """
        found: answers.Found = {}
        marker: str | None = None
        while True:
            body = self._list(marker)
            with self._understanding():
                page = answers.page(body)
                answers.collect(page.rows, found)
            marker = page.marker
            if marker is None:
                return answers.listing(found)

    def read(self, ident: str) -> ironic.Node | None:
        """Return one node, None if Ironic has none of that uuid.

        :param ident: its uuid as Ironic spells it
        """
        row = self.node(ident, ironic.FIELDS)
        if row is None:
            return None
        with self._understanding():
            return ironic.Node.from_row(row)

    def exists(self, ident: str) -> driver.Existence:
        """Return whether Ironic has the node.

        *No* is HTTP 404 in Ironic's own words for this node. A policy that
        hides nodes from this agent's user makes Ironic say the same: that
        user has to see all. *Unknown* is what is no uuid: Ironic would look
        for a node of that name.

        :param ident: its uuid as Ironic spells it
        :raises errors.AgentError: there was no clear answer
        """
        try:
            ironic.canonical(ident)
        except ValueError:
            return driver.Existence.UNKNOWN
        found = self.node(ident, ('uuid',))
        return driver.Existence.NO if found is None else driver.Existence.YES

    def node(self, ident: str, fields: Sequence[str]) -> ironic.Row | None:
        """Return these fields of a node; None if Ironic has no such node.

        :param ident: its uuid or its name
        """
        # '' and '..' are paths to something else, and no name has a newline
        # or half a character.
        if not ident.strip('.') or not ident.isprintable():
            return None
        asked = dict.fromkeys(('uuid', *fields))
        try:
            body = self._connection.request(
                'GET', f'{_path(ident)}?{_query(fields=",".join(asked))}'
            )
        except answers.NotFound as exc:
            if exc.is_of(ident):
                return None
            raise self._no_ironic(exc) from exc
        with self._understanding():
            return answers.one(body, ident)

    def patch(self, uuid: str, patch: Sequence[Mapping[str, object]]) -> None:
        """Send a JSON patch of a node.

        A locked node is waited for, within the bounds of the connection.

        :raises errors.Refused: it is still locked, gone, or not as the patch
            needs it
        """
        try:
            body = self._connection.request('PATCH', _path(uuid), list(patch))
        except answers.NotFound as exc:
            if exc.is_of(uuid):
                raise
            raise self._no_ironic(exc) from exc
        with self._understanding():
            answers.one(body, uuid)

    def _list(self, marker: str | None) -> object:
        """Return the body of one page."""
        query = {'fields': ','.join(ironic.FIELDS), 'limit': str(LIMIT)}
        query |= self.filters
        if marker is not None:
            query['marker'] = marker
        try:
            return self._connection.request(
                'GET', f'{NODES}?{_query(**query)}'
            )
        except answers.NotFound as exc:
            if marker is not None and exc.is_of(marker):
                raise errors.UnknownState(
                    f'{self._connection.where}: node {marker} was deleted '
                    'while the nodes were listed; the next cycle lists them anew'
                ) from exc
            raise self._no_ironic(exc) from exc

    @contextlib.contextmanager
    def _understanding(self) -> Iterator[None]:
        """Say whose answer it was that makes no sense."""
        try:
            yield
        except errors.UnknownState as exc:
            raise errors.UnknownState(
                f'{self._connection.where} answered {exc}'
            ) from exc

    def _no_ironic(self, exc: answers.NotFound) -> errors.Unavailable:
        return errors.Unavailable(
            f'{exc}; is there an Ironic at that address? Check the options in '
            '[ironic]'
        )


def _path(ident: str) -> str:
    return f'{NODES}/{parse.quote(ident, safe="")}'


def _query(**query: str) -> str:
    return parse.urlencode(query, safe=',', quote_via=parse.quote)
