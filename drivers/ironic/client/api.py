# SPDX-License-Identifier: Apache-2.0
"""The requests to Ironic's API; only this module has their paths.

An incomplete listing is an error. A node counts as gone only if Ironic itself
says so about that node. All errors raised are the agent's.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from urllib import parse

from compute_agent import errors
from compute_agent.transport import deadline
from compute_agent.virt import driver

from ..nodes import answers, watermark
from ..nodes import node as ironic
from . import connection as connections

NODES = '/v1/nodes'
_SHARDS = '/v1/shards'
_DETAIL = f'{NODES}/detail'  # only this list has the times
LIMIT = 1000  # Ironic's default maximum; a page may be shorter
MOST_PAGES = 10_000
MOST_NODES = 1_000_000


class Api:
    """One Ironic's nodes; threads may share it.

    :param conductor_group: list only this group's nodes; '' is the default
        group, None is no filter
    :param shard: list only this shard's nodes
    :param seconds: the deadline for all pages of a listing; 0 for no deadline
    :ivar filters: the query parameters that restrict the listing
    """

    def __init__(
        self,
        connection: connections.Connection,
        *,
        conductor_group: str | None = None,
        shard: str | None = None,
        seconds: float = 0,
    ) -> None:
        self._connection = connection
        self._seconds = seconds
        if conductor_group is not None:
            # Ironic stores it in lower case and compares it exactly.
            conductor_group = conductor_group.lower()
        filters = {'conductor_group': conductor_group, 'shard': shard}
        self.filters: Mapping[str, str] = {
            k: v for k, v in filters.items() if v is not None
        }

    def nodes(
        self,
        *,
        everywhere: bool = False,
        known: answers.Found | None = None,
    ) -> answers.Listing:
        """Return all nodes.

        :param everywhere: also those outside of the shard and the conductor
            group
        :param known: the nodes whose traits are taken from here, so that
            Ironic need not list them; None to list them
        :raises errors.AgentError: the listing is incomplete
        """
        fields = ironic.FIELDS if known is None else ironic.WITHOUT_TRAITS
        query = {'fields': ','.join(fields), 'limit': str(LIMIT)}
        query |= {} if everywhere else self.filters
        found: answers.Found = {}
        marker: str | None = None
        with deadline.within(self._seconds):
            for _ in range(MOST_PAGES):
                body = self._list(NODES, query, marker)
                with self._understanding():
                    page = answers.page(body)
                    answers.collect(page.rows, found, known)
                marker = page.marker
                if marker is None:
                    return answers.listing(found)
                self._check_size(found)
                self._check_time()
        raise self._endless(f'{MOST_PAGES} pages')

    def last(self) -> str | None:
        """Return the uuid of the node that was enrolled last; None without nodes.

        Ironic finds the node by an index, and reads nothing else of it.

        :raises errors.AgentError: Ironic gave no clear answer
        """
        query = {'fields': 'uuid', 'limit': '1', **self.filters}
        query |= {'sort_key': 'id', 'sort_dir': 'desc'}
        body = self._list(NODES, query, None)
        with self._understanding():
            rows = answers.page(body).rows
            return answers.ident_of(rows[0]) if rows else None

    def number(self) -> int | None:
        """Return how many nodes there are; None for those of a conductor group.

        Ironic counts the nodes of each shard, also those that it does not
        list: child nodes, and nodes that this agent's user may not see.

        :raises errors.AgentError: Ironic gave no clear answer; Refused if this
            Ironic does not count nodes (API 1.82), or not for this user
        """
        if 'conductor_group' in self.filters:
            return None
        body = self._connection.request('GET', _SHARDS)
        with self._understanding():
            return answers.number(body, self.filters.get('shard'))

    def walk(self, walk: watermark.Walk) -> None:
        """Read the nodes in the order of their changes until the walk ends.

        :raises errors.AgentError: a page is missing; the walk is of no use
        """
        order = {'sort_key': walk.key, **self.filters}
        with deadline.within(self._seconds):
            for _ in range(MOST_PAGES):
                ask = walk.ask
                if ask is None:
                    return
                query = {'limit': str(ask.limit), **order}
                query['sort_dir'] = 'asc' if ask.ascending else 'desc'
                body = self._list(_DETAIL, query, ask.marker)
                with self._understanding():
                    walk.add(ask, answers.page(body))
        raise self._endless(f'{MOST_PAGES} pages')

    def _check_size(self, found: answers.Found) -> None:
        if len(found) > MOST_NODES:
            raise self._endless(f'{MOST_NODES} nodes')

    def _check_time(self) -> None:
        """Check that there is time for another page.

        :raises errors.Unavailable: the deadline of the listing has passed
        """
        if deadline.has_passed():
            raise errors.Unavailable(
                f'{self._connection.where} did not list all nodes within '
                f'{self._seconds:g} s ([ironic] listing_deadline): is it '
                'overloaded?'
            )

    def _endless(self, seen: str) -> errors.UnknownState:
        return errors.UnknownState(
            f'{self._connection.where} lists more nodes after {seen}: does '
            'its list end? Check the proxies in front of it'
        )

    def read(self, ident: str) -> ironic.Node | None:
        """Return one node, None if Ironic does not have it.

        :param ident: its uuid as Ironic spells it
        """
        row = self.node(ident, ironic.FIELDS)
        if row is None:
            return None
        with self._understanding():
            return ironic.Node.from_row(row)

    def read_each(
        self, idents: Sequence[str]
    ) -> Mapping[str, answers.Dated | None]:
        """Return nodes with their times; None for a node that Ironic lacks.

        :param idents: their uuids as Ironic spells them
        """
        found: dict[str, answers.Dated | None] = {}
        with deadline.within(self._seconds):
            for ident in idents:
                self._check_time()
                row = self.node(ident, None)
                with self._understanding():
                    found[ident] = (
                        None
                        if row is None
                        else answers.dated(row, watermark.KEYS)
                    )
        return found

    def exists(self, ident: str) -> driver.Existence:
        """Tell if Ironic has the node.

        *No* is HTTP 404 with Ironic's own sentence about this node. If a
        policy hides nodes from this agent's user, Ironic answers the same, so
        that user must see all nodes. *Unknown* is the answer for anything but
        a uuid, because Ironic would look for a node of that name.

        :param ident: its uuid as Ironic spells it
        :raises errors.AgentError: Ironic gave no clear answer
        """
        try:
            ironic.canonical(ident)
        except ValueError:
            return driver.Existence.UNKNOWN
        found = self.node(ident, ('uuid',))
        return driver.Existence.NO if found is None else driver.Existence.YES

    def node(
        self, ident: str, fields: Sequence[str] | None
    ) -> ironic.Row | None:
        """Return these fields of a node; None if Ironic has no such node.

        :param ident: its uuid or its name
        :param fields: None for all fields, including fields that Ironic does
            not give by name
        """
        # '' and '..' are paths to something else, and no name contains a
        # newline or half a character.
        if not ident.strip('.') or not ident.isprintable():
            return None
        path = _path(ident)
        if fields is not None:
            asked = dict.fromkeys(('uuid', *fields))
            path = f'{path}?{_query(fields=",".join(asked))}'
        try:
            body = self._connection.request('GET', path)
        except answers.NotFound as exc:
            if exc.is_of(ident):
                return None
            raise self._no_ironic(exc) from exc
        with self._understanding():
            return answers.single_node(body, ident)

    def patch(self, uuid: str, patch: Sequence[Mapping[str, object]]) -> None:
        """Send a JSON patch of a node.

        If the node is locked, the connection retries within its limits.

        :raises errors.Refused: the node is still locked, gone, or not in the
            state that the patch needs
        """
        try:
            body = self._connection.request('PATCH', _path(uuid), list(patch))
        except answers.NotFound as exc:
            if exc.is_of(uuid):
                raise
            raise self._no_ironic(exc) from exc
        with self._understanding():
            answers.single_node(body, uuid)

    def _list(
        self, path: str, query: Mapping[str, str], marker: str | None
    ) -> object:
        """Return the body of one page."""
        if marker is not None:
            query = {**query, 'marker': marker}
        try:
            return self._connection.request('GET', f'{path}?{_query(**query)}')
        except answers.NotFound as exc:
            if marker is not None and exc.is_of(marker):
                raise errors.UnknownState(
                    f'{self._connection.where}: node {marker} was deleted '
                    'while the nodes were listed; the next cycle lists them '
                    'again'
                ) from exc
            raise self._no_ironic(exc) from exc

    @contextlib.contextmanager
    def _understanding(self) -> Iterator[None]:
        """Add Ironic's address to the error about a malformed answer."""
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
