# SPDX-License-Identifier: Apache-2.0
"""The check of who reports this host: nova-compute, this agent, or both.

The option ``[compute_agent] mode`` must fit what the nova-compute of this host
does. The answer is also where a migration stands (docs/migration.md).
"""

from oslo_config import cfg

from ...identity import nova_marker
from ...identity.nova_marker import Finding as Nova
from ...ownership.policy import Mode
from ..wiring import agent_settings
from . import finding
from .finding import Finding

_DOCS = 'docs/in-place-of-nova.md'
_IS_SEEN = {Nova.SILENT, Nova.STARTS, Nova.REPORTS}


def check(conf: cfg.ConfigOpts) -> Finding:
    """Report a nova-compute on this host, and the mode that fits it."""
    sign = nova_marker.look(agent_settings.identity_directories(conf))
    match agent_settings.mode(conf):
        case None:
            return _without_mode(sign)
        case Mode.OWNER:
            return _owner(sign)
        case Mode.COMPANION:
            return _companion(sign)
        case Mode.REPORTER:
            return _reporter(sign)


def _without_mode(sign: nova_marker.Sign) -> Finding:
    if sign.finding not in _IS_SEEN:
        return finding.ok('none runs on this host')
    said = f'{sign}, and [compute_agent] mode is not set'
    if sign.finding is Nova.SILENT:
        return finding.warning(said, 'set mode = reporter')
    return finding.warning(
        said,
        'set mode = companion to add to what nova-compute reports; to report '
        f'in its place, give it the driver of compute-agent-nova ({_DOCS}) and '
        'set mode = reporter, or stop it for good and set mode = owner',
    )


def _owner(sign: nova_marker.Sign) -> Finding:
    if sign.finding not in _IS_SEEN:
        return finding.ok('none runs on this host, and mode is owner')
    if sign.finding is Nova.SILENT:
        return finding.warning(
            f'{sign}, and mode is owner', 'set mode = reporter'
        )
    return finding.failed(
        f'{sign}, and mode is owner: both report this host',
        'set mode = companion; or give nova-compute the driver of '
        f'compute-agent-nova ({_DOCS}) and set mode = reporter; or stop '
        'nova-compute for good',
    )


def _companion(sign: nova_marker.Sign) -> Finding:
    if sign.finding is Nova.SILENT:
        return finding.failed(
            f'{sign}, and mode is companion: nobody reports this host',
            "set mode = reporter, or give nova-compute nova's own driver again",
        )
    if sign.finding not in _IS_SEEN:
        return finding.warning(
            'mode is companion, and no nova-compute is seen on this host',
            'start it; a nova-compute in a container of its own is not seen',
        )
    return finding.ok(f'{sign}, and mode is companion')


def _reporter(sign: nova_marker.Sign) -> Finding:
    said = f'{sign}, and mode is reporter'
    match sign.finding:
        case Nova.SILENT:
            return finding.ok(said)
        case Nova.STARTS:
            return finding.warning(
                said, 'wait two minutes, and run "compute-agent doctor" again'
            )
        case Nova.REPORTS:
            return finding.failed(
                f'{said}: the agent writes nothing of this host',
                'restart nova-compute with [DEFAULT] compute_driver = '
                f'compute_agent.LibvirtDriver ({_DOCS}), or set mode = '
                'companion',
            )
        case Nova.STOPPED:
            return finding.warning(
                said, 'start it, or no guests are started here'
            )
        case Nova.UNKNOWN:
            return finding.warning(
                said,
                'if it reports, the agent finds that out within two of its '
                'refreshes, and steps back',
            )
