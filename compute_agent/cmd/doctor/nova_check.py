# SPDX-License-Identifier: Apache-2.0
"""Check which programs report this host: nova-compute, the agent, or both.

The option ``[compute_agent] mode`` must fit what the nova-compute of this host
does. The answer is also where a move from nova-compute to the agent stands
(docs/in-place-of-nova.md).
"""

from oslo_config import cfg

from ...identity import nova_compute
from ...identity.nova_compute import NovaState
from ...ownership.policy import Mode
from ..wiring import agent_settings
from . import finding
from .finding import Finding

_IS_SEEN = {NovaState.SILENT, NovaState.STARTS, NovaState.REPORTS}
_AGAIN = 'wait two minutes, and run "compute-agent doctor" again'
# The drivers whose nodes are not this host.
_ELSEWHERE = frozenset({'ironic', 'compute_agent.IronicDriver'})


def check(conf: cfg.ConfigOpts) -> Finding:
    """Report a nova-compute on this host, and the mode that fits it."""
    mode = agent_settings.mode(conf)
    if _ELSEWHERE.issuperset(conf.compute_driver):
        return finding.ok(
            'this agent reports no host; the nova-compute of its nodes is not '
            f'looked for (mode: {mode.value if mode else "not set"})'
        )
    sign = nova_compute.look(agent_settings.identity_directories(conf))
    match mode:
        case None:
            return _without_mode(sign)
        case Mode.OWNER:
            return _owner(sign)
        case Mode.COMPANION:
            return _companion(sign)
        case Mode.REPORTER:
            return _reporter(sign)


def _without_mode(sign: nova_compute.Sign) -> Finding:
    if sign.state not in _IS_SEEN:
        return finding.ok('none is seen on this host')
    said = f'{sign}, and [compute_agent] mode is not set'
    if sign.state is NovaState.SILENT:
        return finding.warning(said, 'set mode = reporter')
    return finding.warning(said, nova_compute.ADVICE)


def _owner(sign: nova_compute.Sign) -> Finding:
    said = f'{sign}, and mode is owner'
    match sign.state:
        case NovaState.SILENT:
            return finding.warning(said, 'set mode = reporter')
        case NovaState.STARTS:
            return finding.warning(said, _AGAIN)
        case NovaState.REPORTS:
            return finding.failed(
                f'{said}: both report this host', nova_compute.ADVICE
            )
    return finding.ok('none is seen on this host, and mode is owner')


def _companion(sign: nova_compute.Sign) -> Finding:
    if sign.state is NovaState.SILENT:
        return finding.failed(
            f'{sign}, and mode is companion: nobody reports this host',
            "set mode = reporter, or give nova-compute nova's own driver again",
        )
    if sign.state not in _IS_SEEN:
        return finding.warning(
            'mode is companion, and no nova-compute is seen on this host',
            'start it; a nova-compute in a container of its own is not seen',
        )
    return finding.ok(f'{sign}, and mode is companion')


def _reporter(sign: nova_compute.Sign) -> Finding:
    said = f'{sign}, and mode is reporter'
    match sign.state:
        case NovaState.SILENT:
            return finding.ok(said)
        case NovaState.STARTS:
            return finding.warning(said, _AGAIN)
        case NovaState.REPORTS:
            return finding.failed(
                f'{said}: the agent writes nothing of this host',
                nova_compute.ADVICE,
            )
        case NovaState.STOPPED:
            return finding.warning(
                said, 'start it, or no guests are started here'
            )
        case NovaState.UNKNOWN:
            return finding.warning(
                said,
                'let the agent see the processes of the host and the state_path '
                'of nova-compute; until then it steps back if the root is '
                'undone twice within an hour',
            )
