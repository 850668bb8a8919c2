# SPDX-License-Identifier: Apache-2.0
"""A node moves between two shares of one database: the rules, for each engine.

A test class inherits them and gives the fixture ``engine``: an engine of an empty
database.
"""

import collections.abc
import json
import typing

import pytest
import sqlalchemy as sa
from crashing import Killed
from moving_nodes import (
    MOVES,
    NODES,
    OPERATORS,
    RACK1,
    RACK2,
    Process,
    Site,
    allow,
    waits,
)

from compute_agent import errors, testing
from compute_agent.cycle.departures import other_shares
from compute_agent.cycle.node.node_result import Status
from compute_agent.fleet import shared_record


class Cases:
    """What happens to the node ``MOVES``, which is in rack 1 at first."""

    @pytest.fixture
    def engines(self) -> collections.abc.Mapping[str, sa.Engine]:
        """Return the engines of shares that use another server."""
        return {}

    @pytest.fixture
    def site(
        self,
        engine: sa.Engine,
        placement: testing.Placement,
        engines: collections.abc.Mapping[str, sa.Engine],
    ) -> collections.abc.Iterator[Site]:
        made = Site(engine, placement, engines)
        yield made
        made.close()

    @pytest.fixture
    def one(self, site: Site) -> Process:
        """Return the holder of the share of rack 1, which reported its nodes."""
        made = site.start(RACK1)
        made.turn()
        site.placement.others.add_traits(MOVES, OPERATORS)
        return made

    @pytest.fixture
    def two(self, site: Site, one: Process) -> Process:
        """Return the holder of the share of rack 2, which reported its nodes."""
        del one
        made = site.start(RACK2)
        made.turn()
        return made

    # --- it moves -------------------------------------------------------------

    def test_a_node_moves_with_its_record_and_without_a_question(
        self, site: Site, one: Process, two: Process
    ) -> None:
        site.cloud.move(MOVES, RACK2)
        two.turn()  # it is listed by both records, and only one has a right
        assert (MOVES in one.nodes, MOVES in two.nodes) == (True, False)
        left = one.turn()[MOVES]
        assert left.status is Status.LEFT
        assert left.notes == (other_shares.GIVEN.format(RACK2),)
        assert site.between() == {MOVES}
        assert two.turn()[MOVES].is_settled
        assert site.between() == set()
        assert site.marks() == [RACK2]
        assert (MOVES in one.nodes, MOVES in two.nodes) == (False, True)
        assert not waits(two)

        # What the first one added is the second one's to remove, and to delete.
        site.cloud.traits[MOVES] = []
        two.turn()
        assert site.traits() == {OPERATORS}
        del site.cloud.racks[MOVES]
        for agent in (one, two, one, two):
            agent.turn()
        assert MOVES not in site.roots()
        assert MOVES not in one.turn()

    def test_whoever_looks_first_the_node_is_there_in_three_turns(
        self, site: Site, one: Process, two: Process
    ) -> None:
        site.cloud.move(MOVES, RACK2)
        one.turn()
        assert site.between() == set()  # nobody lists it yet
        two.turn()
        one.turn()
        assert two.turn()[MOVES].is_settled
        assert site.marks() == [RACK2]

    def test_all_nodes_of_a_rack_move_together(
        self, site: Site, one: Process, two: Process
    ) -> None:
        for uuid in NODES:
            site.cloud.move(uuid, RACK2)
        for agent in (two, one, two):
            results = agent.turn()
        assert all(result.is_settled for result in results.values())
        assert {mark for u in NODES for mark in site.marks(u)} == {RACK2}

    @pytest.mark.catches(
        'a share that takes a node waits for the mark of the other'
    )
    def test_a_record_that_lost_who_added_the_mark_moves_as_well(
        self, site: Site, one: Process, two: Process
    ) -> None:
        """The first holder was killed before it told the outcome of a write.

        Its successor cannot tell, because an operator wrote meanwhile.
        """
        *_, last = [u for u in NODES if RACK1 in site.cloud.racks[u]]
        site.placement.others.add_traits(last, OPERATORS)
        one.kill()
        again = site.start(RACK1)
        site.let_leases_end(again, two)
        again.turn()
        site.cloud.move(last, RACK2)
        for agent in (two, again, two):
            agent.turn()
        assert site.marks(last) == [RACK2]

    def test_both_say_it_in_their_history(
        self, site: Site, one: Process, two: Process
    ) -> None:
        site.cloud.move(MOVES, RACK2)
        for agent in (two, one, two):
            agent.turn()
        told = [
            {kept.entry.text for kept in agent.state.history.entries()}
            for agent in (one, two)
        ]
        assert 'given to the share that lists it now' in told[0]
        assert 'from the share rack1' in told[1]

    # --- both list it ---------------------------------------------------------

    @pytest.mark.catches('a node is given away by a share that lists it')
    def test_while_both_list_it_the_first_one_reports_it(
        self, site: Site, one: Process, two: Process
    ) -> None:
        site.cloud.move(MOVES, RACK1, RACK2)
        site.cloud.traits[MOVES] = ['CUSTOM_NEW']
        for _ in range(2):
            assert site.writes(two) == []
            one.turn()
        assert site.traits() == {OPERATORS, 'CUSTOM_NEW'}
        assert (site.marks(), site.between()) == ([RACK1], set())
        site.cloud.move(MOVES, RACK2)
        one.turn()
        assert two.turn()[MOVES].is_settled
        assert site.marks() == [RACK2]

    # --- it moves back at once ------------------------------------------------

    def test_it_moves_back_before_it_was_given(
        self, site: Site, one: Process, two: Process
    ) -> None:
        site.cloud.move(MOVES, RACK2)
        two.turn()
        site.cloud.move(MOVES, RACK1)
        self.settle(one, two)
        assert site.marks() == [RACK1]
        assert MOVES in one.nodes

    def test_it_moves_back_before_it_was_taken(
        self, site: Site, one: Process, two: Process
    ) -> None:
        self.give(site, one, two)
        site.cloud.move(MOVES, RACK1)
        self.settle(one, two)
        assert site.marks() == [RACK1]
        assert site.between() == set()
        assert MOVES in one.nodes

    @pytest.mark.catches(
        'a node that moved back is written before it was given'
    )
    def test_it_moves_back_before_the_second_one_has_written(
        self, site: Site, one: Process, two: Process
    ) -> None:
        """Its mark is still the first one's, and its record the second one's."""
        site.takes_over = True
        self.give(site, one, two)
        two.record.commit = self.killing(two.record.commit)  # type: ignore[method-assign]
        with pytest.raises(Killed):
            two.turn()
        two.kill()
        again = site.start(RACK1, one.kill())
        site.let_leases_end(again)
        site.cloud.move(MOVES, RACK1)
        assert site.marks() == [RACK1]
        assert site.writes(again) == []
        result = again.turn()[MOVES]
        assert result.status is Status.WAITING
        assert 'the agents of the share rack2 report the node' in result.reason

        other = site.start(RACK2)
        site.let_leases_end(again, other)
        self.settle(again, other)
        assert site.marks() == [RACK1]
        assert MOVES in again.nodes

    def test_a_yes_takes_a_node_over_whose_share_has_no_agent_any_more(
        self, site: Site, one: Process, two: Process
    ) -> None:
        self.give(site, one, two)
        two.record.commit = self.killing(two.record.commit)  # type: ignore[method-assign]
        with pytest.raises(Killed):
            two.turn()
        two.kill()
        site.cloud.move(MOVES, RACK1)
        assert 'sync --yes NODE' in one.turn()[MOVES].reason
        site.is_confirmed = True
        site.cloud.traits[MOVES] = ['CUSTOM_NEW']
        again = site.start(RACK1, one.kill())
        site.let_leases_end(again)
        assert again.turn()[MOVES].is_settled
        assert 'CUSTOM_NEW' in site.traits()
        assert MOVES in again.nodes

    def test_it_moves_back_after_the_second_one_has_written(
        self, site: Site, one: Process, two: Process
    ) -> None:
        self.give(site, one, two)
        two.turn()
        assert site.marks() == [RACK2]
        site.cloud.move(MOVES, RACK1)
        self.settle(one, two)
        assert site.marks() == [RACK1]

    @pytest.mark.catches('nobody has the record of a node that nobody lists')
    def test_a_node_that_nobody_lists_any_more_returns_to_its_giver(
        self, site: Site, one: Process, two: Process
    ) -> None:
        """Else nobody would delete its provider."""
        self.give(site, one, two)
        site.cloud.move(MOVES)
        two.turn()
        one.turn()
        assert site.between() == set()
        del site.cloud.racks[MOVES]
        self.settle(one, two)
        assert MOVES not in site.roots()

    # --- an agent dies --------------------------------------------------------

    def test_a_standby_of_the_dead_holder_gives_the_record(
        self, site: Site, one: Process, two: Process
    ) -> None:
        site.cloud.move(MOVES, RACK2)
        two.turn()
        one.kill()
        assert site.writes(two) == []
        other = site.start(RACK1)
        site.let_leases_end(other, two)
        other.turn()
        other.turn()
        assert two.turn()[MOVES].is_settled
        assert site.marks() == [RACK2]

    @pytest.mark.parametrize('has_left', [False, True])
    def test_without_an_agent_that_could_give_it_a_person_decides(
        self, site: Site, one: Process, two: Process, *, has_left: bool
    ) -> None:
        """Also if the record says that the node has left the list.

        The dead one may only hang, and list the node again.
        """
        site.cloud.move(MOVES, RACK2)
        if has_left:
            one.turn()
        disk = one.kill()
        for _ in range(3):
            assert site.writes(two) == []
        (item,) = waits(two)
        assert item.change.subject.kind.value == 'share'
        allow(two)
        two.turn()
        assert site.marks() == [RACK2]

        again = site.start(RACK1, disk)
        site.let_leases_end(again, two)
        self.settle(again, two)
        assert site.between() == set()
        assert site.marks() == [RACK2]

    @pytest.mark.parametrize('is_done', [False, True])
    def test_the_giver_dies_while_it_gives(
        self, site: Site, one: Process, two: Process, *, is_done: bool
    ) -> None:
        site.cloud.move(MOVES, RACK2)
        two.turn()
        one.record.commit = self.killing(one.record.commit, is_done=is_done)  # type: ignore[method-assign]
        with pytest.raises(Killed):
            one.turn()
        assert site.between() == ({MOVES} if is_done else set())
        again = site.start(RACK1, one.kill())
        site.let_leases_end(again, two)
        self.settle(again, two)
        assert site.marks() == [RACK2]
        assert MOVES not in again.nodes

    @pytest.mark.parametrize('keeps_disk', [False, True])
    @pytest.mark.parametrize('is_done', [False, True])
    def test_the_taker_dies_while_it_takes(
        self,
        site: Site,
        one: Process,
        two: Process,
        *,
        is_done: bool,
        keeps_disk: bool,
    ) -> None:
        self.give(site, one, two)
        two.record.commit = self.killing(two.record.commit, is_done=is_done)  # type: ignore[method-assign]
        with pytest.raises(Killed):
            two.turn()
        assert site.between() == (set() if is_done else {MOVES})
        assert site.marks() == [RACK1]
        disk = two.kill()
        again = site.start(RACK2, disk if keeps_disk else None)
        site.let_leases_end(again, one)
        self.settle(one, again)
        assert site.marks() == [RACK2]
        assert not waits(again)
        site.cloud.traits[MOVES] = []
        again.turn()
        assert site.traits() == {OPERATORS}

    def test_the_taker_dies_before_its_first_write(
        self, site: Site, one: Process, two: Process
    ) -> None:
        self.give(site, one, two)
        site.placement.fault('PUT *', 503, times=None)
        two.turn()
        site.placement.mend()
        assert (site.marks(), MOVES in two.nodes) == ([RACK1], True)
        two.kill()
        again = site.start(RACK2)
        site.let_leases_end(again, one)
        self.settle(one, again)
        assert site.marks() == [RACK2]

    def test_an_agent_that_lost_its_lease_gives_nothing(
        self, site: Site, one: Process, two: Process
    ) -> None:
        site.cloud.move(MOVES, RACK2)
        two.turn()
        other = site.start(RACK1)
        site.let_leases_end(other, two)  # the first one hangs meanwhile
        other.turn()
        assert other.membership.epoch == 2
        with pytest.raises(errors.Deposed):
            one.record.commit(1, {}, (), {MOVES: 'stale'})

    # --- what is not certain stays ---------------------------------------------

    def test_a_write_that_may_still_arrive_keeps_the_record(
        self, site: Site, one: Process, two: Process
    ) -> None:
        """The holder before was killed in the middle of it."""
        site.cloud.traits[MOVES] = ['CUSTOM_NEW']
        site.placement.fault(f'PUT */{MOVES}/traits*', Killed('killed'))
        with pytest.raises(Killed):
            one.turn()
        one.kill()
        site.cloud.move(MOVES, RACK2)
        two.turn()
        other = site.start(RACK1)
        site.let_leases_end(other, two)
        site.placement.fault(f'PUT */{MOVES}/aggregates*', 409, times=None)
        self.settle(other, two)
        assert site.between() == set()
        assert MOVES in other.nodes
        site.placement.mend()
        self.settle(other, two)
        assert site.marks() == [RACK2]
        assert site.traits() == {OPERATORS, 'CUSTOM_NEW'}

    @pytest.mark.catches('a record is taken for a provider that was made anew')
    def test_a_root_that_was_made_anew_meanwhile_is_nobodys(
        self, site: Site, one: Process, two: Process
    ) -> None:
        self.give(site, one, two)
        site.placement.others.delete(MOVES)
        site.placement.others.create(MOVES, NODES[MOVES])
        self.settle(two)
        assert site.between() == set()
        assert not two.state.records.record([MOVES], MOVES).created

    @pytest.mark.catches('two agents take one record')
    def test_of_two_takers_one_gets_the_record(
        self, site: Site, one: Process, two: Process
    ) -> None:
        self.give(site, one, two)
        given = two.record.given()
        assert one.record.commit(1, {}, (), given)
        with pytest.raises(errors.Refused, match='took the record'):
            two.record.commit(1, {'a': 'x'}, (), given)
        assert 'a' not in two.record.changed(0).documents

    def test_a_record_that_was_given_anew_is_another_one(
        self, site: Site, one: Process, two: Process
    ) -> None:
        self.give(site, one, two)
        given = two.record.given()
        (text,) = (one.document for one in given.values())
        one.record.commit(1, {}, (), {MOVES: text})
        with pytest.raises(errors.Refused):
            two.record.commit(1, {}, (), given)
        assert two.record.given().keys() == {MOVES}

    @pytest.mark.catches('a document of a newer agent takes rights away')
    def test_a_record_of_a_newer_agent_is_left_alone(
        self, site: Site, one: Process, two: Process
    ) -> None:
        """Neither is a node taken whose other record cannot be read."""
        self.give(site, one, two)
        newer = json.dumps({'format': 'compute-agent record', 'version': 99})
        third = shared_record.SharedRecord(site.engine, 'third', 'third')
        with site.engine.begin() as db:
            query = sa.text(
                "insert into lease select 'third', driver, 1, beat, sequence,"
                " 'third', host, pid, lease_seconds, since, version, able"
                " from lease where share = 'rack1'"
            )
            db.execute(query)
        third.commit(1, {MOVES: newer})
        two.turn()
        assert site.between() == {MOVES}
        third.commit(1, {MOVES: None})
        two.turn()
        assert site.marks() == [RACK2]

    # --- the steps ------------------------------------------------------------

    @staticmethod
    def give(site: Site, one: Process, two: Process) -> None:
        """Have the first share give the record; nobody has taken it."""
        site.cloud.move(MOVES, RACK2)
        two.turn()
        one.turn()
        assert site.between() == {MOVES}

    @staticmethod
    def settle(*some: Process) -> None:
        """Have each do some turns."""
        for _ in range(4):
            for one in some:
                one.turn()

    @staticmethod
    def killing(
        commit: typing.Any, *, is_done: bool = True
    ) -> collections.abc.Callable[..., typing.Any]:
        """Return a commit that kills its agent when a record moves.

        :param is_done: True if it was carried out before
        """

        def step(*args: typing.Any, **named: typing.Any) -> typing.Any:
            if len(args) > 3 and args[3]:
                if is_done:
                    commit(*args, **named)
                raise Killed('the process is dead')
            return commit(*args, **named)

        return step
