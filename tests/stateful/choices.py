# SPDX-License-Identifier: Apache-2.0
"""What may happen in a step of the stateful test, as Hypothesis draws it.

Names of methods of ``machine.Machine``, and strategies for what each is given.
"""

import others
import wire as wiring
import world
from hypothesis import strategies as st

from compute_agent.virt import driver as virt

NUMBER = st.integers(0, 63)
AGENT = st.sampled_from(world.AGENTS)
NODE = st.sampled_from(sorted(world.ALL_NODES))
SLOT = st.sampled_from(('root', *world.SLOTS))
ACTION = st.sampled_from(others.ACTIONS)
AMOUNTS = st.tuples(
    st.sampled_from((4, 8, 16)), st.sampled_from((None, None, 1.0, 4.0))
)
FORMS = ('declare', 'update', 'add', 'remove', 'keep', 'silent')
TRAIT_FORMS = ('declare', *FORMS, 'add', 'remove', 'once')
# What may happen, as the name of a method of Machine and what it is given.
CHANGES = {
    'traits': (
        NODE,
        SLOT,
        st.sampled_from(TRAIT_FORMS),
        st.sets(st.sampled_from(world.TRAITS), max_size=3),
    ),
    'aggregates': (
        NODE,
        SLOT,
        st.sampled_from(FORMS),
        st.sets(st.sampled_from(world.AGGREGATES)),
    ),
    'inventory': (
        NODE,
        SLOT,
        st.sampled_from(('update', 'update', 'update', 'keep', 'silent')),
        st.dictionaries(st.sampled_from(world.CLASSES), AMOUNTS, max_size=3),
    ),
    'behaviour': (
        NODE,
        st.sampled_from(
            ('tree', 'tree', 'raises', 'half', 'inventory', 'resources')
        ),
    ),
    'child': (
        NODE,
        st.sampled_from(world.SLOTS),
        st.sampled_from(('root', 'a', 'b', 'none')),
    ),
    'names': (NODE,),
    'reshape': (NODE, st.sampled_from(world.SLOTS), st.booleans(), NUMBER),
    'rules in force': (st.sets(st.sampled_from(world.RULES)),),
    'fact of rules': (st.sampled_from((True, False, None)),),
    'cards': (
        st.one_of(
            st.none(),
            st.dictionaries(
                st.sampled_from('xy'),
                st.sampled_from((world.VENDOR, world.VENDOR, '10de', None)),
            ),
        ),
    ),
    'second driver': (st.sampled_from(('tree', 'tree', 'raises', 'half')),),
    'leave': (
        st.sampled_from((world.N2, world.N3)),
        st.sampled_from((None, *virt.Existence)),
    ),
    'pool': (
        NODE,
        st.sampled_from(
            (*world.POOL_SIZES, 100, world.STOPS, world.REMOVES, None)
        ),
        st.sets(st.sampled_from(world.POOL_TRAITS), max_size=1),
        st.booleans(),
    ),
    'leaves for good': (AGENT,),
    'other': (ACTION, NUMBER, NUMBER),
    'another': (ACTION, NUMBER, NUMBER),
    'record': (
        AGENT,
        st.sampled_from(('restart', 'copy', 'copy', 'roll back', 'lose')),
    ),
    'root name': (NODE, st.booleans()),
    'adopt': (NODE, NUMBER),
    'limit': (AGENT, st.sampled_from((None, 0, 20))),
    'file': (AGENT, st.sets(st.sampled_from(world.FILE_TRAITS))),
    'plan': (AGENT,),
    'nothing': (),
}
LEAVER = st.sampled_from((world.N2, world.N3))
KILLED = st.sampled_from(('killed before', 'killed after'))
LOST = st.sampled_from(('503', 'refused', 'reset after', 'timeout after'))
FIRST = st.integers(0, 6)
# Several events in the sequence that matters; see trials.py.
TRIALS = {
    'arrives in an outage': (
        LEAVER,
        st.sampled_from((world.N1, world.N3)),
        LOST,
        st.integers(0, 1),
    ),
    'departs in outages': (LEAVER, st.just(world.N1), LOST),
    'crash and allocations': (NODE, SLOT, KILLED, FIRST, NUMBER),
    'arrival and allocations': (LEAVER, KILLED, FIRST, NUMBER),
    'one pool of two': (KILLED, FIRST),
    'restored': (
        LEAVER,
        SLOT,
        st.lists(st.sampled_from(('dress', 'child', 'node')), max_size=4),
    ),
    'busy root': (NODE, st.sampled_from(('writes', 'reads')), NUMBER),
}
# The same, with waits and questions; together as often as one of the others.
SELDOM = {
    'first write': (LEAVER,),
    'root deleted': (NODE,),
    'capacity falls': (AGENT,),
    'many leave': (),
    'undone again': (NODE, st.booleans()),
    'lags': (AGENT,),
    'not deletable': (NODE, NUMBER),
    'pool made again': (NUMBER,),
    'pool is left': (NODE,),
}
# And then perhaps a cycle, in which something goes wrong or not.
AT = st.sampled_from((0, 0, 0, 1, 1, 2, 4, 7))
CYCLES = {
    'no cycle': (),
    'cycle': (AGENT,),
    'faulty': (AGENT, st.sampled_from(sorted(wiring.FAULTS)), AT),
    'faulty again': (AGENT, st.sampled_from(sorted(wiring.FAULTS)), AT),
    'faulty read': (AGENT, st.sampled_from(sorted(wiring.READ_FAULTS)), AT),
    'disturbed': (AGENT, st.booleans(), AT, ACTION, NUMBER, NUMBER),
    'disturbed again': (AGENT, st.booleans(), AT, ACTION, NUMBER, NUMBER),
    'quiet': (),
}


def one_of(some):
    """Return a strategy of a name and what belongs to it."""
    return st.one_of(
        *(st.tuples(st.just(name), *given) for name, given in some.items())
    )


SELDOM_AT_ALL = {'seldom': (one_of(SELDOM),)}
