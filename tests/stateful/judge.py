# SPDX-License-Identifier: Apache-2.0
"""Judges every request of one agent by the rules, as it happens.

It knows what the agent's driver said in this cycle, who put what there, and
which generation the agent was shown of which collection. What it finds is an
AssertionError in the middle of the cycle; the agent's own code must not catch
it, so it is no Exception.
"""

import dataclasses
import re
import urllib.parse

import authors as model
import reading
import ruled_driver
import scripted_driver
import world

_PROTECTED = re.compile('COMPUTE_STATUS_DISABLED$|OWNER_')


class Broken(BaseException):
    """A rule is broken."""


def is_protected(name: str) -> bool:
    """Whether no claim to the whole takes this trait away."""
    return _PROTECTED.match(name) is not None


class Judge:
    """Judges one agent.

    :ivar ruled: the second driver, with rules; None if there is none
    :ivar certain: provider and kind → names that the driver holds for sure
    :ivar certain_by_rules: the root's traits that the second holds for sure
    :ivar lone: node and provider outside its tree → what its driver last said
    :ivar leaves: the agent takes off all that it added to its nodes
    :ivar filed: what the operator's file gives each node
    :ivar read_only: why nothing may be written, or None
    :ivar limit: what percentage of the nodes may lose something in a cycle
    """

    def __init__(self, agent: str, authors: model.Authors) -> None:
        self._agent = agent
        self._authors = authors
        self.driver = scripted_driver.ScriptedDriver(agent)
        two = world.N4 in world.NODES[agent]
        self.ruled = ruled_driver.RuledDriver() if two else None
        self.certain: dict[tuple[str, str], set[str]] = {}
        self.certain_by_rules: set[str] = set()
        self.lone: dict[tuple[str, str], world.Place] = {}
        self.leaves = False
        self.filed: set[str] = set()
        self.read_only: str | None = None
        self.limit: float | None = None
        self._misnamed: set[str] = set()
        self._shown: dict[tuple[str, str], int] = {}
        self._failed: set[str] = set()
        self._added: set[model.Key | str] = set()
        # The names that the agent ever asserted of lone roots.
        self._claimed: set[model.Key | str] = set()
        # The members of aggregates as they were shown, with their roots.
        self._members: list[tuple[set[str], set[str]]] = []

    def begin(self, read_only: str | None) -> None:
        """Start another cycle."""
        self.read_only = read_only
        self.driver.told.clear()
        if self.ruled is not None:
            self.ruled.told.clear()
        self._shown.clear()
        self._failed.clear()
        self._added.clear()
        self._members.clear()
        self._misnamed = {
            node
            for node, name in self.driver.present.items()
            if node in self._authors.now
            and self._authors.now[node].name != name
        }

    def forget(self) -> None:
        """The record is lost: nothing is held for sure."""
        self.certain.clear()
        self.certain_by_rules.clear()
        self.lone.clear()

    def remember_lone(self) -> None:
        """Note what the drivers said of lone roots in this cycle."""
        for node in world.NODES[self._agent]:
            told = self.driver.told.get(node)
            if node not in self.driver.present:
                for uuid in world.LONE_ROOTS:
                    self.lone.pop((node, uuid), None)
            elif told is not None:
                for uuid, place in world.lone_places(node, told).items():
                    self.lone[node, uuid] = place
                    self._claim(uuid, place)

    def rules_told(self, node: str) -> world.Given | None:
        """Return what the second driver said of a node; None if it failed."""
        return None if self.ruled is None else self.ruled.told.get(node)

    def fails_by_rules(self, node: str) -> bool:
        """Whether the second driver of a node failed in this cycle."""
        two = self.ruled is not None and node == world.N4
        return two and self.rules_told(node) is None

    def died(self) -> None:
        """The agent is killed: nothing of this cycle is confirmed."""
        self._authors.unconfirmed(self._added)

    # --- what is sent ---------------------------------------------------------

    def before(self, request) -> None:
        """Judge a request before placement sees it.

        :raises Broken: it may not be sent
        """
        if request.method == 'GET':
            return
        self._require(self.read_only is None, request, self.read_only)
        for uuid, kind, body in reading.parts(request):
            self._require(
                uuid not in self._failed, request, 'a read of it failed'
            )
            node = world.home(uuid)
            self._require(node not in self._misnamed, request, 'renamed')
            if kind is not None:
                said = body.get('resource_provider_generation')
                shown = self._shown.get((uuid, kind))
                # Another node's cycle may have seen a later one; placement
                # refuses the write.
                late = uuid in world.LONE_ROOTS and said < (shown or 0)
                self._require(
                    said == shown or late,
                    request,
                    f'generation {said}, last read {shown}',
                )
                self._growth(request, uuid, kind, body)

    def after(self, request, status, body, *, lost) -> None:
        """Judge what a request did.

        :param status: placement's, None if it was not asked
        :param lost: the agent is not told
        :raises Broken: it did what it may not do
        """
        uuid, kind = reading.about(request)
        if request.method == 'GET':
            if lost:
                self._failed |= {uuid} if kind else set()
            elif status == 200 and kind:
                self._shown[uuid, kind] = body['resource_provider_generation']
            elif status == 200:
                self._show_members(request, body)
            return
        if status is None or status >= 300:
            return
        if not lost:
            self._ledger(request, uuid, kind, body)
        before = self._authors.look(self._agent)
        self._added |= self._authors.added
        if lost:
            self._authors.unconfirmed(self._authors.added)
        self._changes(request, before)

    def _ledger(self, request, uuid, kind, body) -> None:
        if request.method == 'POST' and request.path == '/resource_providers':
            for each in world.KINDS:
                self._shown[request.body['uuid'], each] = 0
        elif request.path == reading.RESHAPER:
            # It tells no generation, so all has to be read again.
            for each in request.body['inventories']:
                for one in world.KINDS:
                    self._shown.pop((each, one), None)
        elif kind is not None:
            new = body['resource_provider_generation']
            for each in world.KINDS:
                if self._shown.get((uuid, each)) == new - 1:
                    self._shown[uuid, each] = new

    # --- what it did ----------------------------------------------------------

    def _changes(self, request, before) -> None:
        now = self._authors.now
        if request.path == reading.RESHAPER:
            self._allocations(request, before)
        for uuid in before.keys() - now.keys():
            self._deleted(request, before[uuid])
        for uuid, held in now.items():
            old = before.get(uuid)
            if old is None:
                self._require(self._place(uuid), request, 'not wanted')
            elif old != held:
                self._changed(request, old, held)

    def _deleted(self, request, old) -> None:
        uuid, node = old.uuid, world.home(old.uuid)
        if uuid in world.LONE_ROOTS:
            self._taken(request, old, uuid)
            return
        if self.leaves:
            return
        self._require(self.limit != 0, request, 'nobody agreed')
        self._require(self._was(uuid), request, "it is another's")
        if uuid in world.CARDS:
            given = self.rules_told(node)
            stays = given is None or uuid in {*given.places, *given.stays}
            self._require(not stays, request, 'its rule does not let it go')
        elif node in self.driver.present:
            told = self.driver.told.get(node)
            self._require(
                uuid != node and told is not None and told.shapes,
                request,
                f'{uuid} is to stay',
            )
            self._require(uuid not in told.places, request, 'it is wanted')

    def _was(self, key) -> bool:
        """Whether what is gone now may have been the agent's."""
        return self._authors.gone.get(key) in {self._agent, model.EITHER}

    def _changed(self, request, old, held) -> None:
        uuid = held.uuid
        if request.path == reading.RESHAPER and _same_but_later(old, held):
            return  # a consumer that moves has something there
        if self.leaves and uuid not in world.LONE_ROOTS:
            return
        self._require(self._mine(uuid), request, f'{uuid} is not its own')
        self._require(
            old.allocations == held.allocations
            or request.path == reading.RESHAPER,
            request,
            'allocations moved',
        )
        for kind in world.KINDS:
            removed = old.names(kind) - held.names(kind)
            for name in removed:
                if uuid in world.LONE_ROOTS:
                    self._taken(request, old, (uuid, kind, name))
                else:
                    self._removed(request, uuid, kind, name)
            for name in held.names(kind) - old.names(kind):
                self._require(
                    name in self._names(uuid, kind),
                    request,
                    f'nobody asserted {name}',
                )
        for rc in old.inventories.keys() & held.inventories.keys():
            self._record(request, uuid, rc, old, held)
        if (old.name, old.parent) != (held.name, held.parent):
            self._moved(request, held)

    def _allocations(self, request, before) -> None:
        """Nothing is lost, and what moves does so as the driver says."""
        now = self._authors.now
        self._require(
            reading.total(before) == reading.total(now),
            request,
            'allocations are lost',
        )
        for uuid, held in now.items():
            changed = (
                held.allocations.items() ^ before[uuid].allocations.items()
            )
            told = self.driver.told.get(world.home(uuid))
            for (_, rc), _ in changed:
                self._require(
                    told is not None and uuid in told.moves.get(rc, ()),
                    request,
                    f'{rc} of {uuid} is not to move',
                )

    def _taken(self, request, old, key) -> None:
        """Judge that a lone root, or a name of it, is taken away."""
        self._claim_said(old.uuid)
        said = {
            (old.uuid, kind, name)
            for place in self._lone_said(old.uuid)
            for kind in world.KINDS
            for name in place.said[kind].asserted
        }
        asserted = said & {key}
        if isinstance(key, str) and not self._is_taken_off():
            asserted = said
        self._require(not asserted, request, f'{asserted} is asserted')
        self._require(
            key in self._claimed or self._was(key),
            request,
            f'{key} was never asserted',
        )
        self._require(
            not old.aggregates
            or any(
                asked >= old.aggregates and not self._outsiders(roots)
                for asked, roots in self._members
            ),
            request,
            f'others may use {old.name}',
        )

    def _is_taken_off(self) -> bool:
        """Whether the driver of a node takes the pool off in this cycle."""
        told = self.driver.told.values()
        return any(one and one.pool == world.REMOVES for one in told)

    def _outsiders(self, roots) -> set[str]:
        """Return the roots that are certainly not the agent's."""
        own = {*world.NODES[self._agent], *world.LONE_ROOTS}
        return {root for root in roots if root not in own}

    def _show_members(self, request, body) -> None:
        query = dict(
            urllib.parse.parse_qsl(urllib.parse.urlsplit(request.path).query)
        )
        if query.keys() == {'member_of'}:
            asked = query['member_of'].removeprefix('in:').split(',')
            rows = body['resource_providers']
            roots = {row['root_provider_uuid'] for row in rows}
            self._members.append((set(asked), roots))

    def _removed(self, request, uuid, kind, name) -> None:
        if uuid == world.N4 and kind == 'trait' and self.ruled is not None:
            given = self.rules_told(uuid)
            held = self.certain_by_rules if given is None else given.traits
            self._require(name not in held, request, f'a rule gives {name}')
        said = self._said(uuid, kind)
        key = (uuid, kind, name)
        if name in world.FILE_TRAITS:
            node = uuid in world.NODES[self._agent]
            self._require(
                not (node and name in self.filed), request, f'{name} is filed'
            )
        elif said is not None and name in said.taken:
            return
        elif said is None or not (said.speaks or name in said.asserted):
            certain = self.certain.get((uuid, kind), set())
            self._require(
                name not in certain, request, f'{name} went on an unknown'
            )
        else:
            # A driver that adds what is missing says nothing of a name that a
            # restore brought back, of which the claim is lost, nor of one that
            # a rule gave before it looked: it goes once.
            unsaid = said.form == 'once' and (
                self._authors.gone.get(key) == model.EITHER
                or (uuid == world.N4 and name == world.GOLD_BY_RULE)
            )
            self._require(
                unsaid or name not in said.asserted,
                request,
                f'{name} is asserted',
            )
        if self._was(key):
            return
        self._require(
            said is not None and self._may_take(uuid, kind, name, said),
            request,
            f"{name} of {uuid} is another's",
        )

    def _may_take(self, uuid, kind, name, said) -> bool:
        """Whether a name goes though another put it there."""
        if not said.speaks:
            return False
        if kind == 'inventory':
            return said.form == 'update'
        if kind == 'trait':
            if is_protected(name):
                return False
            if self.decides(name):
                return True
        trusted = uuid == world.home(uuid) or self._authors.may_own(
            self._agent, uuid
        )
        return said.form == 'update' and trusted

    def decides(self, name) -> bool:
        """Whether the driver alone decides this trait."""
        return any(
            name.startswith(some.rstrip('*')) for some in self.driver.authority
        )

    def _record(self, request, uuid, rc, old, held) -> None:
        was, is_now = old.inventories[rc], held.inventories[rc]
        if was == is_now:
            return
        said = self._said(uuid, 'inventory')
        reserved = is_now.reserved == is_now.total
        asserted = said is not None and rc in said.names and said.speaks
        self._require(asserted or reserved, request, f'{rc} changed unasked')
        if asserted and said.names[rc][1] is None:
            self._require(
                was.allocation_ratio == is_now.allocation_ratio,
                request,
                f"{rc}: the operator's ratio is lost",
            )

    def _moved(self, request, held) -> None:
        place = self._place(held.uuid)
        aside = held.name.startswith('moving-')
        self._require(
            aside
            or held.uuid in world.LONE_ROOTS
            or (place is not None and place.name == held.name)
            or (place is not None and place.parent == held.parent),
            request,
            'renamed or moved for no reason',
        )

    def _growth(self, request, uuid, kind, body) -> None:
        """No capacity is offered before its provider's traits are there."""
        held, said = self._authors.now.get(uuid), self._said(uuid, 'trait')
        if kind != 'inventory' or held is None or said is None:
            return
        if uuid in world.LONE_ROOTS:
            return  # another node of the agent may give the trait
        if not said.asserted:
            return
        if body['resource_provider_generation'] != held.generation:
            return  # somebody was quicker: placement refuses it
        grows = any(
            _capacity(record)
            > (held.inventories[rc].capacity if rc in held.inventories else 0)
            for rc, record in body['inventories'].items()
        )
        lacking = said.asserted - held.traits - {world.UNKNOWN_TRAIT}
        self._require(
            not (grows and lacking), request, f'{lacking} come too late'
        )

    # --- what was said --------------------------------------------------------

    def _mine(self, uuid) -> bool:
        node = world.home(uuid)
        if uuid in world.LONE_ROOTS:
            self._claim_said(uuid)
            return uuid in self._claimed or self._authors.may_own(
                self._agent, uuid
            )
        if node in world.NODES[self._agent]:
            told = self.driver.told.get(node), self.rules_told(node)
            return node not in self.driver.present or told != (None, None)
        return self._authors.may_own(self._agent, uuid)

    def _place(self, uuid):
        if uuid in world.LONE_ROOTS:
            return _merged(world.LONE_ROOTS[uuid], self._lone_said(uuid))
        if uuid in world.CARDS:
            given = self.rules_told(world.N4)
            return given.places.get(uuid) if given else None
        told = self.driver.told.get(world.home(uuid))
        return told.places.get(uuid) if told else None

    def _lone_said(self, uuid) -> list[world.Place]:
        """Return what the drivers say of a lone root, or said last."""
        found = []
        for node in () if self.leaves else self.driver.present:
            told = self.driver.told.get(node)
            said = {} if told is None else world.lone_places(node, told)
            place = said.get(uuid) or self.lone.get((node, uuid))
            if place is not None:
                found.append(place)
        return found

    def _claim_said(self, uuid) -> None:
        for place in self._lone_said(uuid):
            self._claim(uuid, place)

    def _claim(self, uuid, place) -> None:
        self._claimed.add(uuid)
        for kind in world.KINDS:
            for name in place.said[kind].asserted:
                self._claimed.add((uuid, kind, name))

    def _said(self, uuid, kind):
        place = self._place(uuid)
        return place.said[kind] if place else None

    def _names(self, uuid, kind):
        said = self._said(uuid, kind)
        filed = self.filed if uuid in world.NODES[self._agent] else set()
        own = world.OWN_TRAITS if kind == 'trait' else set()
        given = self.rules_told(uuid) if kind == 'trait' else None
        filed = filed | given.traits if given else filed
        return {*own, *filed, *(said.asserted if said else ())}

    def _require(self, fine, request, why) -> None:
        if not fine:
            raise Broken(f'agent {self._agent}: {request}: {why}')


def _same_but_later(old, held) -> bool:
    return dataclasses.replace(old, generation=held.generation) == held


def _merged(name, places):
    """Return one place that has all that these have; None without any."""
    if not places:
        return None
    said = {
        kind: world.Said(
            'update',
            {
                name: amount
                for place in places
                for name, amount in place.said[kind].names.items()
            },
        )
        for kind in world.KINDS
    }
    return world.Place(name, said=said)


def _capacity(record) -> float:
    return (record['total'] - record.get('reserved', 0)) * record.get(
        'allocation_ratio', 1.0
    )
