# SPDX-License-Identifier: Apache-2.0
"""Each metric of the daemon: its name, kind, unit and text, and its labels.

Pure: no I/O, configuration, logging or clock. ``metrics.py`` and
``current.py`` make the metrics of these values, and the documentation lists
them (``docs/generators/metrics_page.py``).

A ``Family`` is a metric with all its series, as Prometheus calls it. A label
says what bounds the number of its values, because each value is a series that
Prometheus keeps.
"""

import dataclasses
import enum
from collections.abc import Iterable, Mapping

from ...cycle.node.node_result import Status
from ...limits import approval
from ...plan import removal
from ...tree import assertion, set_aside
from . import routes, tally

NAMESPACE = 'compute_agent'


class Kind(enum.Enum):
    """The kinds of metrics; the values are Prometheus' words."""

    COUNTER = 'counter'
    GAUGE = 'gauge'
    HISTOGRAM = 'histogram'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A metric with all its series.

    :ivar name: without the namespace, and without a counter's ``_total``
    :ivar labels: label → what bounds the number of its values
    :ivar buckets: of a histogram, the upper limits
    :ivar option: the option without which the metric is absent
    """

    name: str
    unit: str
    text: str
    kind: Kind = Kind.GAUGE
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    buckets: tuple[float, ...] = ()
    option: str = ''

    @property
    def full_name(self) -> str:
        """The name in a scrape."""
        total = '_total' if self.kind is Kind.COUNTER else ''
        return f'{NAMESPACE}_{self.name}{total}'

    @property
    def series(self) -> tuple[str, ...]:
        """The names of its series in a scrape."""
        if self.kind is not Kind.HISTOGRAM:
            return (self.full_name,)
        ends = ('bucket', 'count', 'sum')
        return tuple(f'{self.full_name}_{end}' for end in ends)


OUTCOMES = ('good', 'outage', 'error')
KINDS = tuple(kind.value for kind in assertion.Kind)
REMOVED = (*KINDS, tally.PROVIDER)
CAUSES = tuple(reason.value for reason in removal.Reason)
STATES = tuple(state.value for state in Status)
HELD = tuple(kind.value for kind in approval.Kind)
SET_ASIDE_BY = tuple(cause.value for cause in set_aside.Cause)
SERVICES = tuple(
    dict.fromkeys(route.service for route in (*routes.ROUTES, routes.OTHER))
)

EPOCH = 'seconds since the epoch'
SECONDS = 'seconds'
BYTES = 'bytes'
FLAG = '0 or 1'
NODES = 'nodes'
CHANGES = 'changes'
ITEMS = 'items'
OPERATIONS = 'operations'
PROVIDERS = 'providers'
FILES = 'files'


def one_of(values: Iterable[str]) -> str:
    """Return the bound of a label with these values."""
    return ', '.join(values)


START_TIME = Family(
    name='start_time_seconds',
    unit=EPOCH,
    text='Time when the daemon started, in seconds since the epoch.',
)
LAST_SUCCESS = Family(
    name='last_success_timestamp_seconds',
    unit=EPOCH,
    text='Time when a cycle last finished in which placement and the drivers '
    'could be asked, in seconds since the epoch; 0 before the first.',
)
LAST_CYCLE = Family(
    name='last_cycle_timestamp_seconds',
    unit=EPOCH,
    text='Time when the last cycle finished, whatever its result, in seconds '
    'since the epoch; 0 before the first.',
)
CYCLE_START = Family(
    name='cycle_start_timestamp_seconds',
    unit=EPOCH,
    text='Time when the cycle that runs now began, in seconds since the '
    'epoch; 0 between two cycles.',
)
CYCLE_INTERVAL = Family(
    name='cycle_interval_seconds',
    unit=SECONDS,
    text='Seconds from one cycle to the next (update_resources_interval).',
)
CYCLE_LIMIT = Family(
    name='cycle_limit_seconds',
    unit=SECONDS,
    text='Seconds from which on a cycle hangs: WatchdogSec= of the systemd '
    'unit, or 1200.',
)
CYCLE_DURATION = Family(
    name='cycle_duration_seconds',
    kind=Kind.HISTOGRAM,
    unit=SECONDS,
    text='Time that a cycle took. Its outcome is good, outage (placement or '
    'the drivers could not be asked) or error.',
    labels={'outcome': one_of(OUTCOMES)},
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900),
)
OUTAGE = Family(
    name='outage',
    unit=FLAG,
    text='1 if the last cycle could not ask placement or the drivers.',
)
BREAKER = Family(
    name='circuit_breaker_open',
    unit=FLAG,
    text='1 while no write begins because placement answers 500 for several '
    'providers in a row.',
)
BY_STATE = Family(
    name='nodes',
    unit=NODES,
    text='Nodes by their state after the last cycle.',
    labels={'state': one_of(STATES)},
)
OLDEST_SUCCESS = Family(
    name='nodes_oldest_success_timestamp_seconds',
    unit=EPOCH,
    text='Time when the node that has not been done for longest was last '
    'done, in seconds since the epoch. For a node that was not done yet, the '
    "daemon's start; or its first cycle, if it came later.",
)
NODE_SUCCESS = Family(
    name='node_last_success_timestamp_seconds',
    unit=EPOCH,
    text='Time when the node was last done, in seconds since the epoch. If it '
    "was not done yet, the daemon's start; or its first cycle, if it came "
    'later. Only with metrics_nodes.',
    labels={'node': 'the value of metrics_nodes'},
    option='metrics_nodes',
)
NODE_STATE = Family(
    name='node_state',
    unit=FLAG,
    text='1 for the state of the node after the last cycle. Only with '
    'metrics_nodes.',
    labels={
        'node': 'the value of metrics_nodes',
        'state': f'one for each node: {one_of(STATES)}',
    },
    option='metrics_nodes',
)
UNNAMED = Family(
    name='unnamed_nodes',
    unit=NODES,
    text='Nodes without a name in the metrics because metrics_nodes is lower '
    'than their number. Only with metrics_nodes.',
    option='metrics_nodes',
)
CONTENDED = Family(
    name='contended_items',
    unit=ITEMS,
    text='Names that the agent leaves alone because another writer keeps '
    'undoing its changes.',
)
BACKOFF_NODES = Family(
    name='backoff_nodes',
    unit=NODES,
    text='Nodes with operations that placement refused and that wait.',
)
BACKOFF_OPERATIONS = Family(
    name='backoff_operations',
    unit=OPERATIONS,
    text='Operations that placement refused and that wait.',
)
HELD_CHANGES = Family(
    name='held_changes',
    unit=CHANGES,
    text='Changes that a limit holds back until a person approves them.',
    labels={'kind': one_of(HELD)},
)
SET_ASIDE = Family(
    name='set_aside_providers',
    unit=PROVIDERS,
    text='Providers that a driver set aside, so that all of them is reserved.',
    labels={'cause': one_of(SET_ASIDE_BY)},
)
WRITES = Family(
    name='writes',
    kind=Kind.COUNTER,
    unit=OPERATIONS,
    text='Writes that placement carried out.',
    labels={'kind': 'the kinds of operations in a plan'},
)
REMOVALS = Family(
    name='removals',
    kind=Kind.COUNTER,
    unit=CHANGES,
    text='Names and providers that were removed from placement.',
    labels={
        'kind': one_of(REMOVED),
        'cause': one_of((*CAUSES, tally.UNKNOWN)),
    },
)
CONFLICTS = Family(
    name='conflicts',
    kind=Kind.COUNTER,
    unit='plans',
    text='Plans that were made again because another writer changed a '
    'provider meanwhile.',
)
DRIFT_FOUND = Family(
    name='drift_found',
    kind=Kind.COUNTER,
    unit=CHANGES,
    text='Changes by other writers that the agent found and undoes.',
    labels={'kind': one_of(KINDS)},
)
DRIFT_RESTORED = Family(
    name='drift_restored',
    kind=Kind.COUNTER,
    unit=CHANGES,
    text='Changes by other writers that the agent undid.',
    labels={'kind': one_of(KINDS)},
)
REQUESTS = Family(
    name='requests',
    kind=Kind.COUNTER,
    unit='requests',
    text='Requests that were sent, also those for tokens and those that were '
    'repeated; the code is none if there was no answer.',
    labels={
        'service': one_of(SERVICES),
        'method': one_of((*sorted(routes.METHODS), 'other')),
        'route': f'{len(routes.ROUTES)} known routes of these services, / '
        'and other',
        'code': f"HTTP's codes, other, {routes.NO_ANSWER}",
    },
)
# A request and a call of a driver take about as long as each other.
CALL_BUCKETS = (0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120)
REQUEST_DURATION = Family(
    name='request_duration_seconds',
    kind=Kind.HISTOGRAM,
    unit=SECONDS,
    text='Time until the answer to a request began.',
    labels={'service': one_of(SERVICES)},
    buckets=CALL_BUCKETS,
)
DRIVER_DURATION = Family(
    name='driver_call_duration_seconds',
    kind=Kind.HISTOGRAM,
    unit=SECONDS,
    text='Time that a driver took to list its nodes, to tell which of them may '
    'have changed, to give the facts of a node, or to describe it.',
    labels={
        'driver': 'the drivers in compute_driver',
        'call': 'nodes, changes, facts, describe',
    },
    buckets=CALL_BUCKETS,
)
DRIVER_VALUE = Family(
    name='driver_value',
    unit="the driver's",
    text='A number that a driver gives, with the name that it gives it.',
    labels={
        'driver': 'the drivers in compute_driver',
        'name': 'at most 100 names of a driver',
    },
)
BUILD_INFO = Family(
    name='build_info',
    unit='always 1',
    text='The version of the agent and of its Python; always 1.',
    labels={'version': 'one value', 'python': 'one value'},
)


def _process(
    name: str, unit: str, text: str, kind: Kind = Kind.GAUGE
) -> Family:
    """Return a metric of the process, as prometheus-client makes it."""
    return Family(name=f'process_{name}', kind=kind, unit=unit, text=text)


PROCESS = (
    _process('virtual_memory_bytes', BYTES, 'Virtual memory size in bytes.'),
    _process('resident_memory_bytes', BYTES, 'Resident memory size in bytes.'),
    _process(
        'start_time_seconds',
        EPOCH,
        'Start time of the process since unix epoch in seconds.',
    ),
    _process(
        'cpu_seconds',
        SECONDS,
        'Total user and system CPU time spent in seconds.',
        Kind.COUNTER,
    ),
    _process('open_fds', FILES, 'Number of open file descriptors.'),
    _process('max_fds', FILES, 'Maximum number of open file descriptors.'),
)

_SHARE = {'share': 'the name of the share, one for each agent'}
_FLEET = 'state_connection'
LEASE_HELD = Family(
    name='lease_held',
    unit=FLAG,
    text='1 if this agent holds the lease of its share, and so reports it; 0 '
    'if it stands by.',
    labels=_SHARE,
    option=_FLEET,
)
LEASE_EPOCH = Family(
    name='lease_epoch',
    unit='number',
    text='Number of the take-over by which this agent holds the lease; 0 if '
    'it stands by.',
    labels=_SHARE,
    option=_FLEET,
)
LEASE_TAKE_OVERS = Family(
    name='lease_take_overs',
    kind=Kind.COUNTER,
    unit='take-overs',
    text='Times that this agent took the lease.',
    labels=_SHARE,
    option=_FLEET,
)
BEAT_AGE = Family(
    name='lease_beat_age_seconds',
    unit=SECONDS,
    text='Seconds since this agent last beat, or, as a standby, since it saw '
    'the beat of the holder move.',
    labels=_SHARE,
    option=_FLEET,
)
DATABASE_UP = Family(
    name='shared_database_up',
    unit=FLAG,
    text='0 while the shared database cannot be used, so that nothing is '
    'written to placement.',
    labels=_SHARE,
    option=_FLEET,
)
RECORD_BEHIND = Family(
    name='shared_record_behind',
    unit='beats',
    text='Beats between the last commit to the shared record and the copy of '
    'it that a standby has; 0 if it has that commit.',
    labels=_SHARE,
    option=_FLEET,
)
COMMIT_DURATION = Family(
    name='shared_commit_duration_seconds',
    kind=Kind.HISTOGRAM,
    unit=SECONDS,
    text='Time that a commit to the shared record took, also one that failed.',
    buckets=(0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15),
    option=_FLEET,
)

# Subject → its metrics: the order of the documentation.
SUBJECTS: Mapping[str, tuple[Family, ...]] = {
    'Cycles': (
        LAST_SUCCESS,
        LAST_CYCLE,
        CYCLE_START,
        CYCLE_INTERVAL,
        CYCLE_LIMIT,
        CYCLE_DURATION,
        OUTAGE,
    ),
    'Nodes': (BY_STATE, OLDEST_SUCCESS, NODE_SUCCESS, NODE_STATE, UNNAMED),
    'Changes that wait': (
        HELD_CHANGES,
        BACKOFF_NODES,
        BACKOFF_OPERATIONS,
        CONTENDED,
        SET_ASIDE,
        BREAKER,
    ),
    'Writes': (WRITES, REMOVALS, CONFLICTS, DRIFT_FOUND, DRIFT_RESTORED),
    'Requests and drivers': (
        REQUESTS,
        REQUEST_DURATION,
        DRIVER_DURATION,
        DRIVER_VALUE,
    ),
    'A fleet': (
        LEASE_HELD,
        LEASE_EPOCH,
        LEASE_TAKE_OVERS,
        BEAT_AGE,
        DATABASE_UP,
        RECORD_BEHIND,
        COMMIT_DURATION,
    ),
    'The daemon': (BUILD_INFO, START_TIME, *PROCESS),
}
ALL = tuple(one for families in SUBJECTS.values() for one in families)
