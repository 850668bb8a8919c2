# SPDX-License-Identifier: Apache-2.0
"""Options of ``[compute_agent]``, which nova does not have.

The types of options that oslo.config does not have return a value, a text or a
number, or raise a ``ValueError`` that says what to write instead.
"""

import math
from typing import Any

from oslo_config import cfg, types

from ..fleet.values import share
from ..monitoring.values import address
from ..ownership import policy
from . import default

# Requests per second; the least keeps a wait within the range of timers.
LEAST_RATE = 0.01
LARGEST_RATE = 10_000


class Mask(types.String):
    """A pattern of trait names, with the wildcards * and ?."""

    def __call__(self, value: Any) -> str:
        """Return the mask."""
        return policy.check_mask(super().__call__(value))


class Bind(types.String):
    """An IP address with a port, or the path of a unix socket."""

    def __call__(self, value: Any) -> str:
        """Return the address as it is written."""
        text: str = super().__call__(value)
        return text and str(address.parse(text))


class Share(types.String):
    """The name of a share; empty for the one that follows from the drivers."""

    def __call__(self, value: Any) -> str:
        """Return the name."""
        name: str = super().__call__(value)
        return name and share.check(name)


class TextFile(types.String):
    """The absolute path of a file that node_exporter would read."""

    def __call__(self, value: Any) -> str:
        """Return the path."""
        path: str = super().__call__(value)
        if path and not (path.startswith('/') and path.endswith('.prom')):
            raise ValueError(
                f'{path} is no absolute path that ends in ".prom", and '
                'node_exporter reads no other file'
            )
        return path


class Rate(types.Float):
    """A number of requests per second; 0 means no limit."""

    def __init__(self) -> None:
        super().__init__(min=0.0, max=LARGEST_RATE)

    def __call__(self, value: Any) -> float | None:
        """Return the number, or None for an empty text."""
        rate: float | None = super().__call__(value)
        if rate is not None and not (
            rate == 0 or LEAST_RATE <= rate < math.inf
        ):
            raise ValueError(f'Should be 0, or {LEAST_RATE} at least')
        return rate


GROUP = 'compute_agent'
_OWNER = (
    'The agent reports the node: it creates the root provider and decides its '
    'contents. nova-compute must not report the same node.'
)
_COMPANION = (
    'nova-compute reports the node. The agent adds to the root only traits '
    'that nova does not decide, and children of its own below it. It never '
    'creates, renames or deletes the root, and waits while it is missing '
    '(docs/companion.md).'
)


_REPORTER = (
    'nova-compute starts the guests, or deploys the bare-metal nodes, with a '
    'driver of compute-agent-nova, which describes no resources. The agent '
    'reports the resources (docs/in-place-of-nova.md). It leaves to '
    'nova-compute what nova-compute adds without its driver: the root provider, '
    'COMPUTE_NODE, OWNER_NOVA, COMPUTE_STATUS_DISABLED, the capabilities of the '
    'driver and, if [pci] report_in_placement is set, the PCI devices. If '
    'nova-compute reports the resources all the same, the agent writes nothing '
    'of that host or node, and says so.'
)


_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'os_cloud',
        help='The cloud of clouds.yaml with the account for placement and '
        'Ironic. It replaces the options of authentication, TLS, region and '
        'endpoint in [placement] and [ironic]. The option --os-cloud of a '
        'command has the same effect and precedes it. The name "envvars" '
        'means the OS_* variables of the environment (docs/accounts.md).',
    ),
    cfg.StrOpt(
        'state_path',
        sample_default='<[DEFAULT] state_path>',
        help="The directory of the agent's state, if it is not to be the one "
        'in [DEFAULT] state_path: nova-compute keeps its own files there, if '
        "the agent uses nova.conf. The host's uuid in the compute_id file of "
        '[DEFAULT] state_path counts all the same.',
    ),
    cfg.StrOpt(
        'state_connection',
        secret=True,
        sample_default='postgresql+psycopg://USER:PASSWORD@HOST/NAME',
        help='The URL of a database that the agents of a share use together: '
        'postgresql+psycopg:// or mysql+pymysql:// (docs/fleet.md). One of '
        'them reports the nodes, and the others stand by. It needs the extra '
        '"fleet" of the package, and a database of its own, never that of '
        'nova. Without this option the record of the agent stays in its state '
        'directory, and no other agent can take its place.',
    ),
    cfg.FloatOpt(
        'lease_seconds',
        default=15.0,
        min=3.0,
        max=3600.0,
        help='The seconds for which the agent that reports a share is left '
        'alone after its last beat in the database of state_connection. It '
        'beats five times as often. If it is killed, another agent begins '
        'after this time. Of two agents with different values, the longer one '
        'counts.',
    ),
    cfg.BoolOpt(
        'standby',
        default=True,
        help='Stand by while another agent reports the share, to take its '
        'place. false means that this agent ends then, with a line that names '
        'the other one.',
    ),
    cfg.BoolOpt(
        'adopt_existing_roots',
        default=False,
        mutable=True,
        help="Let the agent write to the nodes' providers that another writer "
        'created and that have inventory, such as the roots that nova-compute '
        'left. Without this option, the first write to such a provider needs '
        'a yes, once: the node waits, and "compute-agent plan" shows the '
        'change. "compute-agent approve" gives it, for one node or for all. '
        'The agent records the yes: it stays in force if you set this option '
        'to false again.',
    ),
    cfg.StrOpt(
        'mode',
        choices=[
            ('owner', _OWNER),
            ('companion', _COMPANION),
            ('reporter', _REPORTER),
        ],
        sample_default='owner',
        help="The agent's part for its nodes. Without this option the agent is "
        'an owner, but writes nothing at first if nova-compute lives on the '
        'host: the node waits, and a line says so. To go from one mode to '
        'another, change this option and restart the agent.',
    ),
    cfg.Opt(
        'share',
        type=Share(),
        sample_default='<the driver and its filter, as ironic:shard=rack1>',
        help='The name of the share of this agent: of the nodes that it '
        'reports, if there are other agents for other nodes. Agents with the '
        'same share may report the same nodes. Set it if agents for the same '
        'nodes have different filters, or agents for different nodes have the '
        'same. 1 to 200 of the characters A-Z, a-z, 0-9 and _.:=,+%@-.',
    ),
    cfg.BoolOpt(
        'mark_nodes',
        default=True,
        help='Put the mark of this agent, the trait '
        'CUSTOM_COMPUTE_AGENT_<SHARE>_<ID>, on the roots of its nodes, if its '
        'driver may have several and nova-compute does not report them. Two '
        'agents that report the same nodes by mistake find out by it: a root '
        'with the mark of another agent is not written before a person allows '
        'it, also with this option false.',
    ),
    cfg.IntOpt(
        'full_read_interval',
        default=3600,
        min=0,
        max=default.LONGEST_INTERVAL,
        help='The seconds after which the agent reads a provider again although '
        'its generation has not changed. It finds the changes of very old '
        'clients (API below 1.19), which do not raise the generation. 0 means '
        'never. The driver is asked as often about a node that is missing from '
        'its list but still exists.',
    ),
    cfg.IntOpt(
        'changes_interval',
        default=7,
        min=0,
        max=default.LONGEST_INTERVAL,
        mutable=True,
        help='The seconds after which the daemon asks the driver again which '
        'of its nodes may have changed, if the driver can tell that. Such '
        'nodes get a cycle of their own at once; all nodes get one every '
        'update_resources_interval, as without it. 0 means never: then an '
        'event of the driver begins a cycle of all nodes.',
    ),
    cfg.IntOpt(
        'history_days',
        default=90,
        min=0,
        max=3650,
        help='The days for which the agent keeps its history: what it wrote and '
        'restored, what other writers changed, and why ("compute-agent '
        'history"). Older entries are dropped when new ones are written. 0 '
        'means that no history is written.',
    ),
    cfg.IntOpt(
        'history_max_mb',
        default=64,
        min=1,
        max=4096,
        help='The megabytes that the history may take in the state database. '
        'If it becomes larger, the oldest entries are dropped. The first cycle '
        'of a node takes about 3 kB, an ordinary change less than 1 kB.',
    ),
    cfg.IntOpt(
        'lower_generation_wait',
        default=120,
        min=0,
        max=default.LONGEST_INTERVAL,
        help='The seconds for which the agent leaves a node alone after the '
        'generation of one of its providers fell. A read replica that lags '
        'behind shows an old generation for a while. After this time the agent '
        'decides: if the contents are those of an earlier state, placement was '
        'restored from a backup, and the names stay its own; otherwise another '
        'writer deleted the provider and created it again, and the agent drops '
        'its record. Use more than the lag of your slowest replica.',
    ),
    cfg.IntOpt(
        'max_removed_percent',
        default=20,
        min=0,
        max=100,
        mutable=True,
        help='The percentage of the nodes of this agent that may lose something '
        'in one cycle. Four things are counted apart: nodes that lose traits or '
        'aggregates, nodes that lose more than this percentage of a resource '
        'class, nodes that lose providers, and nodes that depart together. If '
        'there are 3 nodes or more, and they are more than this, the agent does '
        'not remove these things until you run "compute-agent approve" or '
        'raise this value; everything else is written. Providers that are to be '
        'deleted are fully reserved meanwhile. What one node loses is written at '
        'once, with a warning. A fall of less than 4 units does not count unless '
        'nothing is left of the class, nor does a total that moves within a tree '
        'or to a sharing provider of the tree. 0 leaves every removal to you; '
        '100 means no limit.',
    ),
    cfg.Opt(
        'max_requests_per_second',
        type=Rate(),
        default=0.0,
        mutable=True,
        help='The largest number of requests per second that this agent sends '
        'to placement, for all its workers together. Retries and requests for '
        'tokens count. The requests of one second may be sent at once; further '
        'requests wait, and long waits are logged. The least value is 0.01; 0 '
        'means no limit. The daemon handles SIGHUP between two cycles, so a '
        'change takes effect after the current cycle. Each command that you '
        'run beside the daemon has a limit of its own.',
    ),
    cfg.BoolOpt(
        'recreate_roots',
        default=True,
        mutable=True,
        help="Create a node's root provider again after another writer deleted "
        'it, if it had the traits COMPUTE_NODE and OWNER_NOVA. "openstack '
        'compute service delete" deletes it, for example. The node waits for '
        'the cycle that finds the root gone; the next cycle creates it if it '
        'is still gone. false means that the node waits until you set this '
        'option to true, or until somebody else creates the provider.',
    ),
    cfg.FloatOpt(
        'request_deadline',
        default=120.0,
        min=0.1,
        max=86400.0,
        help='The seconds within which an answer of placement or keystone '
        'must have arrived completely, however slowly it arrives. The option '
        'timeout of [placement] limits only the wait for each further part of '
        'it. An answer that takes longer counts as an outage of placement. '
        'A list of 50,000 providers is 40 MB, so a slow network may need '
        'more.',
    ),
    cfg.FloatOpt(
        'outage_retry_interval',
        default=5.0,
        min=1.0,
        max=3600.0,
        mutable=True,
        help='The longest wait, in seconds, between two tries while no server '
        'answers: the connection is refused, or a proxy says 502 or 503. A try '
        'is one request. The agent waits a random time up to this value, so '
        'that the agents of a cloud spread their requests over it when '
        'placement is back. Raise it if many thousands of agents share one '
        'placement. If placement answers too late, or asks for patience (504, '
        '429), the waits grow up to update_resources_interval.',
    ),
    cfg.Opt(
        'metrics_bind',
        type=Bind(),
        sample_default='127.0.0.1:9733',
        help='The address at which the daemon answers requests for its '
        'metrics (/metrics) and its health (/healthz, /livez, /readyz), and '
        'shows its nodes to a browser (/) at an address of this host alone: '
        '127.0.0.1:PORT, [::1]:PORT, or unix:/path. Without this option it '
        'does not listen. Nobody needs a password to ask there, so another '
        'address than one of this host alone needs a firewall. The user of '
        'the daemon needs a port above 1023. See docs/monitoring.md.',
    ),
    cfg.Opt(
        'metrics_textfile',
        type=TextFile(),
        sample_default='/var/lib/prometheus/node-exporter/compute-agent.prom',
        help='The file into which the daemon writes its metrics at its start, '
        'and when a cycle begins or ends, for the textfile collector of '
        'node_exporter. It must be an absolute path that ends in .prom, in a '
        'directory to which the daemon may write. Without this option there '
        'is no file.',
    ),
    cfg.IntOpt(
        'metrics_nodes',
        default=0,
        min=0,
        max=100_000,
        help='The largest number of nodes whose names are in the metrics, '
        'each with its state and the time when it was last done. 0 means no '
        'names. Of more nodes, those whose names come first are in. Each name '
        'costs two time series.',
    ),
    cfg.ListOpt(
        'masked_traits',
        item_type=Mask(),
        default=[],
        mutable=True,
        help='Traits that the agent never reports, whichever source asserts '
        'them. In a name, * stands for any characters and ? for one, as in '
        'HW_CPU_X86_AVX512*. The agent removes those that it added itself; '
        'those that another writer added stay.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options of this group."""
    conf.register_opts(_OPTS, group=GROUP)


def list_opts() -> list[tuple[Any, list[cfg.Opt]]]:
    """Return the options by group."""
    return [(GROUP, _OPTS)]
