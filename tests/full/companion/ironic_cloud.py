# SPDX-License-Identifier: Apache-2.0
"""Bare-metal nodes of a real Ironic, which nova-compute and the agent report.

Both run as processes, with one placement. Besides its request log, this module
keeps what each write made of a provider, so that a test can tell who wrote
which traits.
"""

import contextlib
import dataclasses
import io
import json
import pathlib
import re
import threading
import time
import typing
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from wsgiref import types

import companion
import ironic_fixture
import placement_fixture
import real_nova
import request_log

from compute_agent.fleet.values import mark
from demo import ironic_nodes

PATIENCE = 300.0  # seconds; only a hang takes as long
LOOK = 0.2  # seconds between two looks
SHARD, OTHER_SHARD = 'row1', 'row2'
DISABLED = 'COMPUTE_STATUS_DISABLED'
MARK = "the agent's mark"
# What nova 34 puts on the root of each node by itself.
NOVAS = frozenset(
    {
        'COMPUTE_IMAGE_TYPE_AMI',
        'COMPUTE_IMAGE_TYPE_QCOW2',
        'COMPUTE_IMAGE_TYPE_RAW',
        'COMPUTE_NET_ATTACH_INTERFACE',
        'COMPUTE_NODE',
        'OWNER_NOVA',
    }
)
_CONF = """\
[DEFAULT]
compute_driver = compute_agent.IronicDriver
[ironic]
auth_type = none
endpoint_override = {ironic}
shard = {shard}
api_retry_interval = 1
"""
_PROVIDERS = 'SELECT uuid, parent_provider_id FROM resource_providers'
_INVENTORIES = """
    SELECT p.uuid, c.name, i.total, i.reserved FROM inventories i
    JOIN resource_providers p ON p.id = i.resource_provider_id
    JOIN resource_classes c ON c.id = i.resource_class_id"""
_TRAITS = """
    SELECT p.uuid, t.name FROM resource_provider_traits o
    JOIN resource_providers p ON p.id = o.resource_provider_id
    JOIN traits t ON t.id = o.trait_id"""
_Provider: typing.TypeAlias = tuple[dict[str, tuple[int, int]], set[str]]
_ONE = re.compile(r'/resource_providers/([0-9a-f-]{36})(?:/(\w+))?$')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write, and what it did to the traits of a provider.

    :ivar what: for example ``POST root``, ``PUT traits``, ``PUT inventories``;
        method and path if it is about no provider
    :ivar uuid: the provider's, if it is about one
    :ivar changed: the traits that the write added or removed
    """

    writer: str
    what: str
    uuid: str
    status: int
    changed: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Writes that wait before placement gets them.

    :ivar came: set when the program has sent one
    :ivar ended: set when they may go on
    """

    writer: str
    what: str
    uuid: str
    came: threading.Event = dataclasses.field(default_factory=threading.Event)
    ended: threading.Event = dataclasses.field(default_factory=threading.Event)

    def meet(self, writer: str, what: str, uuid: str) -> None:
        """Wait if this is such a write."""
        if (writer, what, uuid) == (self.writer, self.what, self.uuid):
            self.came.set()
            self.ended.wait(PATIENCE)


class WriteLog:
    """All writes, in the order in which placement carried them out.

    It stands between the request log and placement, whose lock it holds.

    :param placement: answers one request at a time
    """

    def __init__(self, placement: typing.Any) -> None:
        self._placement = placement
        self._traits: dict[str, frozenset[str]] = {}
        self.writes: list[Write] = []
        self.holds: list[Hold] = []

    def select(self, query: str) -> list[tuple[typing.Any, ...]]:
        """Return the rows of a query to placement's database."""
        found: list[tuple[typing.Any, ...]] = self._placement.select(query)
        return found

    def __call__(
        self, environ: types.WSGIEnvironment, start: types.StartResponse
    ) -> Iterable[bytes]:
        """Pass on one request, and keep it if it is a write."""
        sent = environ['wsgi.input'].read(
            int(environ.get('CONTENT_LENGTH') or 0)
        )
        environ['wsgi.input'] = io.BytesIO(sent)
        writer = environ['SCRIPT_NAME'].strip('/')
        what, uuid = _named(environ, sent)
        for hold in tuple(self.holds):
            hold.meet(writer, what, uuid)
        told: list[str] = []

        def starting(status: str, *rest: typing.Any) -> typing.Any:
            told.append(status)
            return start(status, *rest)

        with self._placement.lock:
            answer: Iterable[bytes] = self._placement(environ, starting)
            if environ['REQUEST_METHOD'] != 'GET':
                status = int(told[0].split()[0])
                changed = self._changed(what, uuid, sent, status)
                self.writes.append(
                    Write(
                        writer=writer,
                        what=what,
                        uuid=uuid,
                        status=status,
                        changed=changed,
                    )
                )
        return answer

    def _changed(
        self, what: str, uuid: str, sent: bytes, status: int
    ) -> frozenset[str]:
        """Return the traits that a write added or removed."""
        before = self._traits.get(uuid, frozenset())
        if status >= 400 or what not in {'PUT traits', 'DELETE root'}:
            return frozenset()
        if what == 'DELETE root':
            self._traits.pop(uuid, None)
            return frozenset()
        self._traits[uuid] = frozenset(json.loads(sent)['traits'])
        return self._traits[uuid] ^ before


def _named(environ: types.WSGIEnvironment, sent: bytes) -> tuple[str, str]:
    """Return what a write is, and of which provider."""
    method, path = environ['REQUEST_METHOD'], environ['PATH_INFO']
    found = _ONE.match(path)
    if found:
        return f'{method} {found[2] or "root"}', found[1]
    if (method, path) == ('POST', '/resource_providers'):
        body = json.loads(sent)
        if not body.get('parent_provider_uuid'):
            return 'POST root', body['uuid']
    return f'{method} {path}', ''


class IronicCloud:
    """Ironic's operator, nova-compute, the agent and placement.

    :ivar requests: those of both programs
    """

    def __init__(
        self,
        ironic: ironic_fixture.Ironic,
        novas: typing.Any,
        placement: placement_fixture.ServedPlacement,
        folder: pathlib.Path,
    ) -> None:
        self.ironic = ironic
        self.requests = request_log.RequestLog()
        self._log: WriteLog | None = None
        # A port each, so that a write of one can be held back.
        novas_url, agents_url = (
            placement.listen(before=self._watched) for _ in range(2)
        )
        (folder / 'nova').mkdir()
        self.nova = real_nova.RealNova(
            novas, folder / 'nova', f'{novas_url}/{request_log.NOVA}'
        )
        shared = folder / 'ironic.conf'
        shared.write_text(_CONF.format(ironic=ironic.url, shard=SHARD))
        self.nova.more.append(shared)
        self.agent = companion.Companion(
            folder / 'agent',
            f'{agents_url}/{request_log.AGENT}',
            self.nova.files,
        )
        self.agent.become_reporter()

    def _watched(self, placement: types.WSGIApplication) -> typing.Any:
        self._log = self._log or WriteLog(placement)
        return self.requests.watch(self._log)

    @property
    def writes(self) -> Sequence[Write]:
        """All writes, in their order."""
        return self._log.writes

    @contextlib.contextmanager
    def held(
        self, writer: str, what: str, uuid: str
    ) -> Iterator[Callable[[], bool]]:
        """Hold back a write of a program until the end of the block.

        The block gets a function that tells if the program has sent it.
        """
        hold = Hold(writer=writer, what=what, uuid=uuid)
        self._log.holds.append(hold)
        try:
            yield hold.came.is_set
        finally:
            self._log.holds.remove(hold)
            hold.ended.set()

    def stop(self) -> None:
        """End both programs."""
        self.agent.stop()
        self.nova.stop()

    # --- Ironic ---------------------------------------------------------------

    def enroll(self, nodes: Iterable[ironic_nodes.NewNode]) -> None:
        """Make nodes available, all in the shard of both programs.

        Their way to that state is left out: it takes a quarter of a second.
        """
        for node in nodes:
            self.ironic.create(
                uuid=node.uuid,
                name=node.name,
                resource_class=node.resource_class,
                shard=SHARD,
                properties={'cpu_arch': 'x86_64'},
            )
            self.ironic.set_traits(node.uuid, node.traits)
            self.ironic.force(
                node.uuid,
                provision_state='available',
                power_state='power off',
            )

    def expected(self, more: Collection[str] = ()) -> Mapping[str, object]:
        """Return uuid → provider, as the nodes of the shard are in Ironic.

        :param more: traits of nova's besides
        """
        return {
            node['uuid']: (
                {_class(node): (1, int(_is_taken(node)))},
                NOVAS | {MARK} | set(node['traits']) | set(more),
            )
            for node in self.ironic.nodes()
            if node['shard'] == SHARD
        }

    # --- placement ------------------------------------------------------------

    def content(self) -> Mapping[str, _Provider]:
        """Return uuid → provider: inventory with total and reserved, traits.

        From placement's tables, because nova-compute waits while a hundred
        providers are asked for.
        """
        inventories: dict[str, dict[str, tuple[int, int]]] = {
            uuid: {} for uuid in self.roots()
        }
        for uuid, name, *amounts in self._log.select(_INVENTORIES):
            inventories[uuid][name] = (amounts[0], amounts[1])
        traits: dict[str, set[str]] = {uuid: set() for uuid in inventories}
        for uuid, name in self._log.select(_TRAITS):
            traits[uuid].add(MARK if mark.parse(name) else name)
        return {
            uuid: (inventories[uuid], traits[uuid]) for uuid in inventories
        }

    def inventory(self, uuid: str) -> object:
        """Return the inventory of one provider; none if there is none."""
        return self.content().get(uuid, ({}, set()))[0]

    def traits(self, uuid: str) -> set[str]:
        """Return the traits of one provider; none if there is none."""
        return self.content().get(uuid, ({}, set()))[1]

    def roots(self) -> set[str]:
        """Return the uuids of all providers, which are roots."""
        found = self._log.select(_PROVIDERS)
        assert not any(parent for _, parent in found)
        return {uuid for uuid, _ in found}

    def wait_until_right(self, more: Collection[str] = ()) -> None:
        """Return when placement has what Ironic has now, and nova."""
        expected = self.expected(more)
        self.wait(lambda: self.content() == expected, 'placement is right')

    def is_right(self, more: Collection[str] = ()) -> bool:
        """Return True if placement has what Ironic has, and nova."""
        return self.content() == self.expected(more)

    # --- time -----------------------------------------------------------------

    def wait(self, until: Callable[[], object], what: str) -> None:
        """Return when something holds; fail if it does not."""
        deadline = time.monotonic() + PATIENCE
        while not until():
            assert time.monotonic() < deadline, (
                f'{what}\n{self.agent.log[-3000:]}\n{self.nova.troubles()}\n'
                f'{[str(w) for w in self.writes[-40:]]}'
            )
            time.sleep(LOOK)

    def wait_for_refreshes(self, count: int) -> None:
        """Return when nova read each root so many times from now on.

        And when it has ended the pass in which it did so the last time.
        """
        mark = len(self.requests)
        self.wait(
            lambda: self._ended_refreshes(mark) >= count, f'{count} refreshes'
        )

    def wait_for_cycles(self, count: int) -> None:
        """Return when the agent has begun so many cycles and one more."""
        mark = len(self.requests)
        self.wait(
            lambda: len(self.requests.since(mark, request_log.AGENT)) > count,
            f'{count} cycles',
        )

    def _ended_refreshes(self, mark: int) -> int:
        """Return how many refreshes of each root have ended.

        nova asks for a root's allocations when it begins a pass, and once more
        in it, after the refresh and before it writes.
        """
        ended = dict.fromkeys(self.roots(), 0)
        asked: dict[str, int] = {}
        for one in self.requests.since(mark, request_log.NOVA):
            if one.is_refresh:
                asked[one.path.partition('=')[2]] = 0
                continue
            found = _ONE.match(one.path)
            if found and found[2] == 'allocations' and found[1] in asked:
                asked[found[1]] += 1
                if asked[found[1]] == 2:
                    ended[found[1]] = ended.get(found[1], 0) + 1
        return min(ended.values())


def _class(node: Mapping[str, typing.Any]) -> str:
    return f'CUSTOM_{node["resource_class"].upper()}'


def _is_taken(node: Mapping[str, typing.Any]) -> bool:
    """Return True if no instance may be scheduled to the node."""
    return bool(
        node['maintenance']
        or node['provision_state'] != 'available'
        or node['instance_uuid']
    )
