# SPDX-License-Identifier: Apache-2.0
"""The checks of placement: reachable, the account and its role, the versions.

The right to write is asked with two requests that placement refuses for their
contents, whoever sends them: a trait that may not be created by name, and a
reshape of nothing. Whoever may not write is refused before that, with 403.
"""

import contextlib
import email.utils
import functools
from collections.abc import Callable

import requests
from oslo_config import cfg

from report_client import errors
from report_client.api import survey, traits
from report_client.api.values import trait_names
from report_client.http.messages import codec

from ... import error_text
from ... import errors as agent_errors
from ...fleet.values import mark, share
from ...state import records
from ...tree import assertion, names
from ..app import configuration
from ..wiring import opening, placement
from . import finding, placement_answers
from .finding import Check, Finding

_UNASKED = 'placement cannot be asked'
_NOT_IMPLEMENTED = 'HTTP 501'
_SLOW, _WRONG = 5.0, 60.0  # seconds between the two clocks
_NO_WRITE = codec.Request(method='PUT', path='/traits/DOCTOR_MAY_WRITE')
_NO_RESHAPE = codec.Request(method='POST', path='/reshaper', body={})


def checks(conf: cfg.ConfigOpts) -> list[Check]:
    """Return the checks; if the first one fails, the others are skipped."""
    asked = Asked(conf)
    every: dict[str, Callable[[], Finding]] = {
        'placement': asked.reachable,
        'account': asked.account,
        'role': asked.role,
        'microversion': asked.microversion,
        'clock': asked.clock,
        'os-traits': asked.standard_traits,
        'marks': asked.marks,
    }
    return [Check(name=name, run=run) for name, run in every.items()]


class Asked:
    """Placement's answers, each asked for once."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf

    @functools.cached_property
    def _service(self) -> placement_answers.Reached:
        return placement_answers.Reached(self._conf)

    @functools.cached_property
    def _root(self) -> placement_answers.Root | agent_errors.AgentError:
        """Placement's answer to a request for its versions, or an error."""
        try:
            return self._service.root()
        except agent_errors.AgentError as exc:
            return exc

    def reachable(self) -> Finding:
        """Report if placement answers."""
        if isinstance(self._root, agent_errors.AgentError):
            raise self._root
        said = f'{self._service.api.where} answers'
        regions = self._service.regions()
        if len(regions) > 1:
            return finding.warning(
                f'{said}, and the catalog has placement in the regions '
                f'{", ".join(regions)}',
                'set region_name in [placement], or the first one is taken',
            )
        return self._proxied(said)

    def _proxied(self, said: str) -> Finding:
        """Report a proxy of the environment, which gets each token."""
        address = self._service.address()
        proxies = requests.utils.get_environ_proxies(address)
        proxy = requests.utils.select_proxy(address, proxies)
        if not proxy:
            return finding.ok(said)
        return finding.warning(
            f'{said}, through the proxy {error_text.address(proxy)} of the '
            'environment, which is given the token of each request to http://',
            "add placement's host to no_proxy, unless that proxy is yours",
        )

    def account(self) -> Finding:
        """Report the account, its origin and its roles."""
        if self._conf.placement.embedded:
            return finding.ok('the embedded placement knows no accounts')
        said = placement.account(self._conf)
        if isinstance(self._root, errors.NotAuthorised):
            return finding.failed(f'{said}: {self._root}')
        if isinstance(self._root, agent_errors.AgentError):
            return finding.not_checked(_UNASKED)
        roles = ', '.join(self._service.roles())
        return finding.ok(f'{said}{f", with the role {roles}" * bool(roles)}')

    def role(self) -> Finding:
        """Report if the account may read and write; nothing is written."""
        if isinstance(self._root, agent_errors.AgentError):
            return finding.not_checked(_UNASKED)
        try:
            return self._role()
        except errors.ServerFault as exc:
            if _NOT_IMPLEMENTED not in str(exc):
                raise
            return finding.failed(
                f'{self._service.api.where} is no complete placement, but '
                f'something that stands in for one: {exc}',
                'let the endpoint lead to placement itself',
            )

    def _role(self) -> Finding:
        self._service.api.get('/resource_providers?name=compute-agent-doctor')
        self._refused(_NO_WRITE)
        try:
            self._refused(_NO_RESHAPE)
        except errors.NotAllowed:
            return finding.warning(
                'the account may read and write, and not move allocations',
                'add the role service, if the driver reshapes providers',
            )
        return finding.ok('the account may read, write and move allocations')

    def _refused(self, request: codec.Request) -> None:
        """Send a request that is malformed.

        :raises errors.NotAuthorised: the account may not send such requests
        """
        try:
            self._service.api.send(request)
        except (errors.BadRequest, errors.UnknownName):
            return
        raise agent_errors.UnknownState(
            f'{self._service.api.where} accepted {request.method} '
            f'{request.path}, which placement refuses: check if another '
            'service has that address'
        )

    def microversion(self) -> Finding:
        """Report the newest version of placement's API."""
        if isinstance(self._root, agent_errors.AgentError):
            return finding.not_checked(_UNASKED)
        newest = self._root.newest
        if newest is None:
            return finding.not_checked('placement does not say its versions')
        dotted = '{}.{}'.format(*newest)
        least = '{}.{}'.format(*codec.OLDEST)
        if newest < codec.OLDEST:
            return finding.failed(
                f'placement has API version {dotted}; the agent needs {least}',
                'upgrade placement',
            )
        return finding.ok(f'{dotted}; the agent needs {least}')

    def clock(self) -> Finding:
        """Report the difference of placement's clock and this host's."""
        if isinstance(self._root, agent_errors.AgentError):
            return finding.not_checked(_UNASKED)
        try:
            parsed = email.utils.parsedate_to_datetime(self._root.date)
        except ValueError:
            return finding.not_checked('its answer has no Date')
        behind = parsed.timestamp() - self._root.received
        # The header has whole seconds.
        off = max(0.0, abs(behind) - 1)
        side = 'behind' if behind > 0 else 'ahead of'
        said = (
            f'the clock of this host is {error_text.duration(off)} {side} '
            "placement's"
        )
        fix = 'set the clocks by NTP (chronyc tracking)'
        if off > _WRONG:
            return finding.failed(said, fix)
        return finding.warning(said, fix) if off > _SLOW else finding.ok(said)

    def standard_traits(self) -> Finding:
        """Report if both have the same standard traits."""
        if isinstance(self._root, agent_errors.AgentError):
            return finding.not_checked(_UNASKED)
        known = traits.Traits(self._service.api).names()
        there = {name for name in known if not names.is_custom(name)}
        here = trait_names.standard()
        if missing := len(here - there):
            return finding.warning(
                f'placement lacks {missing} of the {len(here)} standard traits '
                'of os-traits here, and the agent leaves them out',
                'upgrade os-traits beside placement, and restart placement; '
                '"trait sync-check" lists them',
            )
        return finding.ok(f'placement knows all {len(here)} standard traits')

    def _rivals(self, own: mark.Mark, recorded: records.Records) -> list[str]:
        """Return the agents whose marks on roots of this share stay there.

        A mark that the record counts as added by this agent is one of an
        earlier database, of an imported node, or of an agent that this one took
        over from: the next cycle replaces it.
        """
        asked = survey.Survey(self._service.api)
        prefix = f'{names.CUSTOM_PREFIX}{mark.PREFIX}'
        there = traits.Traits(self._service.api).names(prefix, associated=True)
        found = []
        for one in mark.others(there, own):
            if one.share == own.share:
                roots = asked.with_trait(one.trait)
                ours = recorded.record(roots, '').ours
                if any(
                    one.trait not in ours.get((root, assertion.Kind.TRAIT), ())
                    for root in roots
                ):
                    found.append(one.agent)
        return found

    def marks(self) -> Finding:
        """Report the other agents that have marked nodes of this share."""
        if isinstance(self._root, agent_errors.AgentError):
            return finding.not_checked(_UNASKED)
        with contextlib.ExitStack() as stack:
            loaded = configuration.load_drivers(self._conf)
            for one in loaded:
                stack.callback(one.close)
            named = share.named(self._conf.compute_agent.share, loaded.filters)
            try:
                state = stack.enter_context(
                    opening.state_copy(self._conf, drivers=loaded)
                )
            except agent_errors.Unavailable as exc:
                return finding.not_checked(str(exc))
            own = mark.Mark.of(named, state.agent_id)
            rivals = self._rivals(own, state.records)
        said = f'this is agent {own.agent} of share {named}'
        if rivals:
            return finding.warning(
                f'{said}, and agent {", ".join(rivals)} has marked nodes of '
                'the share, too',
                'stop one of them; to take the nodes over, run "compute-agent '
                'approve" beside the agent that goes on; if two shares have '
                'the same name by chance, set [compute_agent] share',
            )
        return finding.ok(f'{said}, and no other agent has marked its nodes')
