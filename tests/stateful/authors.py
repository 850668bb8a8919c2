# SPDX-License-Identifier: Apache-2.0
"""Who put what into placement, as far as can be told.

The model that the agents' record is measured against. It sees every change of
every writer, as a difference of placement's contents. *Blurred* is what may
count as the agent's or as another's: placement keeps no authors, so a name
that somebody takes off and puts back between two looks is anybody's.
"""

import world

from compute_agent.testing.fixtures import placement_contents

OTHERS = 'others'
EITHER = 'either'
Key = tuple[str, str, str]
# Who created which provider and added which name, and what may be either's.
Backup = tuple[dict[str, str], dict[Key, str], set[Key | str]]


class Authors:
    """Who created which provider and added which name.

    :ivar now: what placement held at the last look
    :ivar added: what that look found new
    :ivar gone: what it found gone, and whose that was
    """

    def __init__(self, replay) -> None:
        self._replay = replay
        self.now = replay.contents()
        self.creator: dict[str, str] = {}
        self.author: dict[Key, str] = {}
        self.blurred: set[Key | str] = set()
        self._former: set[Key | str] = set()
        self._ever: set[tuple[str, Key | str]] = set()
        self._unconfirmed: dict[str, set[Key | str]] = {}
        self.added: set[Key | str] = set()
        self.gone: dict[Key | str, str] = {}
        self._deleted_at: dict[str, int] = {}  # the last generation of each

    def look(self, who: str) -> dict[str, placement_contents.Claims]:
        """Note what one writer changed; return what was there before."""
        before, self.now = self.now, self._replay.contents()
        self.added, self.gone = set(), {}
        for uuid in before.keys() - self.now.keys():
            self._gone(before[uuid], who)
        for uuid, held in self.now.items():
            if uuid not in before:
                self._put(uuid, who, self.creator)
            elif before[uuid].generation == held.generation:
                continue
            self._names(before.get(uuid), held, who)
            if held.generation == self._deleted_at.get(
                uuid
            ) and not self._is_made_at_home(uuid, who):
                # Nobody who read it before can tell it from the former one.
                self.blur(uuid)
            if who == OTHERS and not _same_names(before.get(uuid), held):
                self.blurred |= self._unconfirmed.pop(uuid, set())
        return before

    def copy(self, like: 'Authors') -> None:
        """Begin with another's knowledge."""
        self.creator = dict(like.creator)
        self.author = dict(like.author)
        self._ever = set(like._ever)

    def was_deleted(self, uuid: str) -> bool:
        """Whether a provider with this uuid was deleted at some time."""
        return uuid in self._deleted_at

    def owns(self, agent: str, key: Key | str) -> bool:
        """Whether this is certainly the agent's own."""
        kept = self.creator if isinstance(key, str) else self.author
        return kept.get(key) == agent and key not in self.blurred

    def may_own(self, agent: str, key: Key | str) -> bool:
        """Whether the agent may take this for its own."""
        kept = self.creator if isinstance(key, str) else self.author
        return kept.get(key) == agent or key in self.blurred

    def unconfirmed(self, keys: set[Key | str]) -> None:
        """The agent added these and was not told: others' writes blur them."""
        for key in keys:
            uuid = key if isinstance(key, str) else key[0]
            self._unconfirmed.setdefault(uuid, set()).add(key)

    def settled(self, agent: str) -> None:
        """The agent has seen all of its nodes since: what is gone is known."""
        self._unconfirmed.clear()
        self._former -= {
            key
            for key in self._former
            if key not in self.author and key not in self.creator
        }

    def adopted(self, agent: str, uuid: str) -> None:
        """A person says that a provider is the agent's."""
        self.creator[uuid] = agent
        self.blurred.discard(uuid)
        self._ever.add((agent, uuid))

    def backup(self) -> Backup:
        """Return who put what is there, to be kept with placement's copy."""
        return dict(self.creator), dict(self.author), set(self.blurred)

    def restored(self, kept: Backup) -> None:
        """Placement is back at an earlier copy.

        What an agent had taken away since is its own again, but for nodes
        that departed: their record is gone.
        """
        since = {**self.creator, **self.author}
        self.creator, self.author = map(dict, kept[:2])
        self.blurred |= kept[2]  # also what was taken away since
        self.now, self.added, self.gone = self._replay.contents(), set(), {}
        self._unconfirmed.clear()
        for key, who in {**self.creator, **self.author}.items():
            uuid = key if isinstance(key, str) else key[0]
            departed = world.home(uuid) not in since
            if departed or since.get(key, who) != who:
                self.blurred.add(key)

    def forgotten(self, agent: str) -> None:
        """The agent lost its record: what it put counts as others'."""
        for kept in (self.creator, self.author):
            for key in [k for k, who in kept.items() if who == agent]:
                kept[key] = OTHERS

    def confused(self, agent: str) -> None:
        """The agent has an old record: all that it ever put may be either."""
        for kept in (self.creator, self.author):
            self.blurred |= {k for k in kept if (agent, k) in self._ever}
        self._former |= self._keys()

    def blur(self, uuid: str) -> None:
        """Let a provider and all on it be anybody's."""
        self.blurred |= {uuid, *(k for k in self.author if k[0] == uuid)}

    def _is_made_at_home(self, uuid: str, who: str) -> bool:
        """Whether the node's own agent made it, and knows that it is new."""
        is_at_home = world.home(uuid) in world.NODES.get(who, ())
        return is_at_home and self.creator.get(uuid) == who

    def _keys(self) -> set[Key | str]:
        places = [w for nodes in world.NODES.values() for w in nodes]
        uuids = [
            *places,
            *(world.child(n, s) for n in places for s in world.SLOTS),
            *world.LONE_ROOTS,
            *world.CARDS,
        ]
        return {
            *uuids,
            *((u, 'trait', t) for u in uuids for t in world.OTHERS_TRAITS),
            *((u, 'inventory', c) for u in uuids for c in world.CLASSES),
            *((u, 'aggregate', a) for u in uuids for a in world.AGGREGATES),
        }

    def _gone(self, held: placement_contents.Claims, who: str) -> None:
        uuid = held.uuid
        self._deleted_at[uuid] = held.generation
        self._drop(uuid, who, self.creator)
        for kind in world.KINDS:
            for name in held.names(kind):
                self._drop((uuid, kind, name), who, self.author)
        self._unconfirmed.pop(uuid, None)

    def _names(self, before, held, who) -> None:
        for kind in world.KINDS:
            old = before.names(kind) if before else set()
            new = held.names(kind)
            for name in old - new:
                self._drop((held.uuid, kind, name), who, self.author)
            for name in new - old:
                self._put((held.uuid, kind, name), who, self.author)

    def _put(self, key, who, kept) -> None:
        kept[key] = who
        if who == OTHERS:
            uuid = key if isinstance(key, str) else key[0]
            if key in self._former or uuid in self._former:
                self.blurred.add(key)
        else:
            self.added.add(key)
            self._ever.add((who, key))

    def _drop(self, key, who, kept) -> None:
        author = kept.pop(key, OTHERS)
        self.gone[key] = EITHER if key in self.blurred else author
        if who == OTHERS and (author != OTHERS or key in self.blurred):
            self._former.add(key)
        self.blurred.discard(key)


def _same_names(before, held) -> bool:
    """Whether the change is one of generation: an allocation makes it."""
    return before is not None and all(
        before.names(kind) == held.names(kind) for kind in world.KINDS
    )
