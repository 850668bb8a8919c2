# SPDX-License-Identifier: Apache-2.0
"""The defects: one for each way to lose something, or never to come to rest.

A table, and nothing else. Each names the tests that are quick to notice it;
one that names none is tried with all functional tests. Where the code moves,
a test of the table fails, and the text is to be found anew.
"""

from tests.mutation.defect import Defect

# A node's own rights: what may be written, and what may go.
OWNERSHIP = (
    Defect(
        name="the driver's names replace everybody's",
        file='compute_agent/ownership/claims.py',
        find='names=(part.before - gone) | asserted,',
        put='names=asserted,',
        tests=(
            'tests/functional/test_ownership_in_placement.py::test_an_operators_trait_survives',
        ),
    ),
    Defect(
        name='what others created is deleted',
        file='compute_agent/ownership/undeletable.py',
        find='if uuid not in created or uuid in staying:',
        put='if uuid in staying:',
        tests=(
            'tests/functional/test_ownership_in_placement.py::test_our_child_goes_and_anothers_stays',
        ),
    ),
    Defect(
        name='an exclusive set takes COMPUTE_STATUS_DISABLED away',
        file='compute_agent/ownership/policy.py',
        find='disabled = name == names.COMPUTE_STATUS_DISABLED',
        put='disabled = False',
        tests=('tests/unit/compute_agent/ownership/test_resolve_names.py',),
    ),
    Defect(
        name='a name that goes from one holder is gone for all',
        file='compute_agent/ownership/claims.py',
        find='free, said = part.before - holders, part.said',
        put='free, said = part.before, part.said',
        tests=('tests/unit/compute_agent/ownership/test_resolve_sources.py',),
    ),
    Defect(
        name="what a cut-off write may have left counts as the agent's",
        file='compute_agent/tree/intents.py',
        find='if exact and all(_shows(seen, i) for i in last.values()):',
        put='if sent:',
        tests=('tests/unit/compute_agent/ownership/test_intents.py',),
    ),
    Defect(
        name='an omitted ratio is 1.0',
        file='compute_agent/tree/allocation_ratios.py',
        find='ratio = held.allocation_ratio',
        put='ratio = DEFAULT',
        tests=(
            'tests/functional/test_apply_ratios.py::test_an_operators_ratio_survives_every_change',
        ),
    ),
)

# What is not known must change nothing.
UNKNOWN = (
    Defect(
        name='what cannot be read is empty',
        file='report_client/observe/reader.py',
        find='        parts = {kind: self.contents(row.uuid, kind) for kind in FIELDS}\n',
        put="""        parts = {}
        for kind in FIELDS:
            empty = {} if kind is assertion.Kind.INVENTORY else frozenset()
            try:
                parts[kind] = self.contents(row.uuid, kind)
            except Exception:
                parts[kind] = row.generation, empty
""",
        tests=(
            'tests/functional/test_unknown.py::test_no_write_comes_of_it_and_the_next_cycle_heals[traits-500]',
        ),
    ),
    Defect(
        name='a list that cannot be read shows nothing',
        file='report_client/observe/reader.py',
        find='return self._service.read(path, list_stream.listed)',
        put="""try:
            return self._service.read(path, list_stream.listed)
        except Exception:
            return []""",
        tests=(
            'tests/functional/test_unknown.py::test_a_list_that_cannot_be_read_costs_no_record',
        ),
    ),
    Defect(
        name='a list of no nodes deletes every node',
        file='compute_agent/cycle/departed_nodes.py',
        find='if self.whole and len(self.gone) > 1:',
        put='if False:',
        tests=(
            'tests/functional/test_departures.py::test_the_whole_list_gone_needs_consent_however_short',
        ),
    ),
    Defect(
        name='a node that is not listed is gone, unasked',
        file='compute_agent/cycle/departed_nodes.py',
        find="return self._driver.node_exists(node.name), ''",
        put="return virt.Existence.NO, ''",
        tests=(
            'tests/functional/test_departures.py::test_what_cannot_be_told_removes_nothing',
        ),
    ),
    Defect(
        name='a snapshot mixes generations',
        file='report_client/observe/reader.py',
        find='            for kind in _older(parts):\n',
        put="""            return _reading(row, parts, self._clock())
            for kind in _older(parts):
""",
        tests=(
            'tests/functional/test_conflicts.py::test_a_writer_between_two_reads_costs_a_read_and_no_mixture',
        ),
    ),
    Defect(
        name='a generation that fell is the same provider',
        file='compute_agent/tree/provider.py',
        find='return generation < (self.provider.generation or 0)',
        put='return False',
        tests=(
            'tests/functional/test_unknown.py::test_a_generation_that_falls_is_unknown_once_then_another_provider',
        ),
    ),
    Defect(
        name='adopted is what was recorded, not what is there',
        file='compute_agent/state/journal.py',
        find='if uuid in known and known[uuid].is_above(generation):',
        put='if False:',
        tests=(
            'tests/stateful/test_stateful.py::test_what_was_adopted_after_it_was_made_anew_goes',
        ),
    ),
    Defect(
        name='no answer in mid-cycle is no error',
        file='report_client/apply/executor.py',
        find='        except errors.AgentError as exc:\n            exc.applied',
        put="""        except errors.Unavailable:
            pass
        except errors.AgentError as exc:
            exc.applied""",
        tests=(
            'tests/functional/test_apply_many_nodes.py::test_an_outage_in_the_middle_is_said_of_all_that_are_left',
        ),
    ),
)

# What is sent, in which order, upon which read.
WRITES = (
    Defect(
        name='only the generation is read before a write',
        file='report_client/observe/verify.py',
        find='if content != getattr(observed, field):',
        put='if False:',
        tests=(
            'tests/functional/test_unknown.py::test_the_same_generation_by_chance_is_met_before_a_write',
        ),
    ),
    Defect(
        name='a write rests on memory',
        file='report_client/observe/verify.py',
        find='for uuid, kind in sorted(set(parts) - seen.fresh):',
        put='for uuid, kind in ():',
        tests=(
            'tests/functional/test_observe_requests.py::test_a_write_meets_what_moved_no_generation',
        ),
    ),
    Defect(
        name='what is doubted is kept over what another thread wrote',
        file='report_client/observe/verify.py',
        find='            since=since,\n',
        put='',
        tests=('tests/functional/test_doubts_side_by_side.py',),
    ),
    Defect(
        name='a refused write is sent again with the new generation',
        file='report_client/apply/executor.py',
        find='        except placement_errors.NameTaken as exc:\n',
        put="""        except placement_errors.Conflict:
            body = self._service.get(
                f'/resource_providers/{getattr(operation, "uuid", "")}'
            )
            run.ledger[operation.uuid] = body['generation']
            return self._service.send(_request(run, operation))
        except placement_errors.NameTaken as exc:
""",
        tests=(
            'tests/functional/test_conflicts.py::test_every_write_carries_the_generation_of_the_read_it_merged',
        ),
    ),
    Defect(
        name='no traits at all are set by a DELETE that no generation guards',
        file='report_client/http/codec.py',
        find='            content = sorted(operation.names)\n',
        put="""            content = sorted(operation.names)
            if not content and operation.kind is assertion.Kind.TRAIT:
                path = collection(operation.uuid, operation.kind)
                return Request(method='DELETE', path=path)
""",
        tests=('tests/unit/report_client/http/test_codec_requests.py',),
    ),
    Defect(
        name='a write of aggregates carries no generation',
        file='report_client/http/codec.py',
        find="""        body={
            'resource_provider_generation': generation,
            _COLLECTIONS[operation.kind]: content,
        },
""",
        put="""        body=content
        if operation.kind is assertion.Kind.AGGREGATE
        else {
            'resource_provider_generation': generation,
            _COLLECTIONS[operation.kind]: content,
        },
        newest=(1, 18)
        if operation.kind is assertion.Kind.AGGREGATE
        else NEWEST,
""",
        tests=('tests/unit/report_client/http/test_codec_requests.py',),
    ),
    Defect(
        name='capacity comes before the traits',
        file='report_client/plan/diff.py',
        find="""        *(op for one in contents.values() for op in one.labels),
        *reshaped,
        *(op for one in contents.values() for op in one.late_labels),
        *(op for one in contents.values() for op in one.grow),
""",
        put="""        *reshaped,
        *(op for one in contents.values() for op in one.grow),
        *(op for one in contents.values() for op in one.labels),
        *(op for one in contents.values() for op in one.late_labels),
""",
        tests=(
            'tests/unit/report_client/plan/test_cases.py::test_a_case_is_planned_as_written[aggregates]',
        ),
    ),
    Defect(
        name='parents are deleted before their children',
        file='report_client/plan/hierarchy.py',
        find='for uuid in reversed(self._removed()):\n            self._delete',
        put='for uuid in self._removed():\n            self._delete',
        tests=(
            'tests/unit/report_client/plan/test_cases.py::test_a_case_is_planned_as_written[delete-leaves-first]',
        ),
    ),
    Defect(
        name='what is allocated is asked to go',
        file='compute_agent/ownership/in_use.py',
        find='for uuid, one in before.items()\n        if set(one.inventories)',
        put='for uuid, one in ()\n        if set(one.inventories)',
        tests=(
            'tests/functional/test_conflicts.py::test_a_class_in_use_stays_reserved_until_it_is_free',
        ),
    ),
    Defect(
        name='sharing providers are asked for once and never again',
        file='report_client/observe/sharing.py',
        find='return last if 0 <= age < self._interval else None',
        put='return last if age >= 0 else None',
        tests=(
            'tests/functional/test_observe_requests.py::test_aggregates_cost_one_more_request_now_and_then',
        ),
    ),
    Defect(
        name='a sharing provider of its own is seen later',
        file='report_client/observe/sharing.py',
        find='if not (known.isdisjoint(own) and known.isdisjoint(self._spoken)):',
        put='if False:',
        tests=(
            'tests/functional/test_observe_requests.py::test_what_this_agent_shares_is_looked_at_in_each_cycle',
        ),
    ),
    Defect(
        name="a driver's facts are kept and not compared",
        file='compute_agent/cycle/node_planner.py',
        find='and describe.equal(self._driver, node, last.facts, facts)',
        put='',
        tests=(
            'tests/functional/test_facts.py::test_other_facts_are_described',
        ),
    ),
    Defect(
        name='files that are reloaded do not count where facts are the same',
        file='compute_agent/provider_config/files.py',
        find='self.edition += 1',
        put='self.edition += 0',
        tests=(
            'tests/functional/test_facts.py::test_files_that_are_reloaded_are_merged',
        ),
    ),
    Defect(
        name='an inventory that is as wanted is written again',
        file='compute_agent/tree/inventory.py',
        find='return self._integers() == other._integers() and _same_ratio(',
        put='return self is other and _same_ratio(',
        tests=(
            'tests/functional/test_observe_requests.py::test_a_cycle_without_change_is_one_request',
        ),
    ),
    Defect(
        name="what a record leaves out is not placement's default",
        file='compute_agent/tree/inventory.py',
        find='max_unit: int = MAX_INT',
        put='max_unit: int = 1',
        tests=(
            'tests/functional/test_apply_ratios.py::test_a_record_with_defaults_written_out_is_no_change',
        ),
    ),
    Defect(
        name='a ratio that a database rounded is written again',
        file='compute_agent/tree/inventory.py',
        find='return math.isclose(one, other, rel_tol=RATIO_TOLERANCE)',
        put='return one == other',
        tests=(
            'tests/functional/test_apply_ratios.py::test_a_ratio_that_a_database_rounded_is_no_change',
        ),
    ),
    Defect(
        name='a reshape sends what consumers have of the own tree only',
        file='report_client/observe/verify.py',
        find='            generations |= its_generations\n',
        put="""            generations |= its_generations
            consumers[uuid] = dataclasses.replace(
                consumers[uuid],
                allocations={
                    u: part
                    for u, part in consumers[uuid].allocations.items()
                    if u in seen.home
                },
            )
""",
        tests=(
            'tests/functional/test_seed_004_reshape.py::test_a_reshape_sends_inventories_of_its_own_tree_only',
        ),
    ),
)

# What is remembered, and when.
MEMORY = (
    Defect(
        name='after a failure nothing is remembered of what was done',
        file='report_client/apply/executor.py',
        find='        finally:\n            self._confirm(run)\n',
        put='        self._confirm(run)\n',
        tests=(
            'tests/unit/report_client/apply/test_executor.py::test_what_was_sent_and_not_answered_stays_intended',
        ),
    ),
    Defect(
        name='what will be sent is not written down',
        file='report_client/apply/executor.py',
        find='plan.node_uuid, run.intend(), plan.held',
        put='plan.node_uuid, run.intend() and [], plan.held',
        tests=(
            'tests/functional/test_crashes.py::test_wherever_it_is_cut_it_ends_in_the_same_state[first boot-killed before]',
        ),
    ),
    Defect(
        name='what will be sent counts as done before it is',
        file='report_client/apply/executor.py',
        find='        try:\n            self._create_names(run)\n',
        put="""        self._journal.record_outcome(run.intend(), [], readings=[], gone=set())
        try:
            self._create_names(run)
""",
        tests=(
            'tests/functional/test_crashes.py::test_wherever_it_is_cut_it_ends_in_the_same_state[change-killed before]',
        ),
    ),
    Defect(
        name='the names that placement knows are read once and for all',
        file='report_client/client.py',
        find='            self._state.snapshot.save_known_names(None)\n',
        put='',
        tests=(
            'tests/functional/test_apply_unknown_names.py::test_a_name_that_is_deleted_meanwhile_is_made_again',
        ),
    ),
    Defect(
        name='a child that is made again after a crash is another one',
        file='compute_agent/tree/provider_tree.py',
        find='str(uuidlib.uuid5(uuidlib.UUID(parent_uuid), name))',
        put='str(uuidlib.uuid4())',
        tests=('tests/unit/compute_agent/tree/test_provider_tree_shape.py',),
    ),
)

# What keeps a cycle from doing too much, or the same thing for ever.
BOUNDS = (
    Defect(
        name='one trait that placement does not know stops all others',
        file='report_client/plan/diff.py',
        find='lost_traits = {n for n in new_traits if not names.is_custom(n)}',
        put='lost_traits = set[str]()',
        tests=(
            'tests/functional/test_apply_unknown_names.py::test_the_rest_goes_through',
        ),
    ),
    Defect(
        name='what is reserved as a whole does not count as removed',
        file='compute_agent/limits/blast_radius.py',
        find="""            after[rc].reserved
            >= after[rc].total
""",
        put="""            after[rc].reserved
            > after[rc].total
""",
        tests=('tests/unit/compute_agent/limits/test_blast_radius.py',),
    ),
    Defect(
        name='any number of providers is deleted',
        file='compute_agent/limits/blast_radius.py',
        find='if len(deleted) > limits.deletions:',
        put='if False:',
        tests=('tests/unit/compute_agent/limits/test_blast_radius.py',),
    ),
    Defect(
        name='a conflict is looked at again without end',
        file='compute_agent/cycle/conflicts.py',
        find='return self._replans < PLANS and self._missing <= 1',
        put='return self._replans < PLANS + 4',
        tests=(
            'tests/functional/test_conflicts.py::test_five_looks_are_enough',
        ),
    ),
    Defect(
        name='what placement refuses is sent in every cycle',
        file='compute_agent/cycle/node_cycle.py',
        find='        if waiting is None:\n            return False\n',
        put='        return False\n',
        tests=(
            'tests/functional/test_refusals_over_cycles.py::test_in_an_hour_of_cycles_it_is_sent_a_few_times_at_growing_distances',
        ),
    ),
    Defect(
        name='one node that is refused starves the others',
        file='compute_agent/cycle/resource_tracker.py',
        find='sorted(cycles, key=lambda c: was_refused(c.node.uuid))',
        put='cycles',
        tests=(
            'tests/functional/test_refusals_over_cycles.py::test_one_node_of_many_broken_providers_does_not_starve_the_others',
        ),
    ),
    Defect(
        name='a write that was not begun may have been done',
        file='report_client/apply/executor.py',
        find='            with self._breaker.watching(subject):\n',
        put="""            step.unsure = True
            with self._breaker.watching(subject):
""",
        tests=(
            'tests/functional/test_an_open_breaker.py::test_what_was_not_begun_is_nobody_s',
        ),
    ),
    Defect(
        name='what one node did before an outage is said of all',
        file='compute_agent/cycle/node_cycle.py',
        find='raise errors.Unavailable(str(away)) from away',
        put='raise away',
        tests=(
            'tests/functional/test_refusals_over_cycles.py::test_what_was_done_before_an_outage_is_said_of_its_node_alone',
        ),
    ),
    Defect(
        name='provider-config files with a mistake end the good ones',
        file='compute_agent/provider_config/files.py',
        find='        location, given = self._location()\n        self._entries',
        put=(
            '        location, given = self._location()\n'
            '        self._entries = None\n'
            '        self._entries'
        ),
        tests=('tests/unit/compute_agent/provider_config/test_files.py',),
    ),
)

DEFECTS = (*OWNERSHIP, *UNKNOWN, *WRITES, *MEMORY, *BOUNDS)
