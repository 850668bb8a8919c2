# SPDX-License-Identifier: Apache-2.0
"""``compute-agent audit``: what is wrong in a whole cloud, and its repair."""

import argparse
import math
import typing
from collections.abc import Sequence

from oslo_config import cfg

from report_client.api import providers, resource_classes, survey, traits

from ... import error_text, errors
from ...audit import audit, cloud, finding
from ...conf import nova as nova_conf
from ...transport import clouds
from ...transport.account import Origin
from ...virt import loader
from ...virt.values import cloud_nodes
from ..app import command, configuration, confirm, main, progress
from ..wiring import host_history, nova, placement
from ..wiring.opening import state_copy
from . import audit_view, gathering, mending, nova_answers, nova_api

_IRONIC = 'ironic'
_NOT_ASKED = (
    'Ironic was not asked: [ironic] auth_type is not set, and there is no '
    '--os-cloud'
)
_EMPTY = (
    'Ironic lists no node: check the region in [ironic], and that its user '
    'may see all nodes'
)


class Audit(command.Report):
    """Find providers, allocations and names that belong to nobody.

    The command reads placement, and asks nova ([nova]) and Ironic ([ironic])
    where they are configured. A verdict that needs a service that was not
    asked is "unknown". Nothing is written without --repair, which shows a plan
    and asks. Exit code 0: nothing is wrong, 2: findings, 1: an error, or a
    service that is configured did not answer.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            '--allocations',
            action='store_true',
            help='Read the inventories and allocations of every provider, two '
            'requests for each, the traits and aggregates of every compute '
            'node, two more, and judge these too.',
        )
        parser.add_argument(
            '--unchanged-for',
            type=_seconds,
            default=3600,
            metavar='SECONDS',
            help='A host counts as gone only if its provider has not changed '
            'for this time (default: %(default)s).',
        )
        parser.add_argument(
            '--include',
            action='append',
            default=[],
            metavar='PROVIDER',
            help='Judge this root, given by name or uuid, as a compute node '
            'though it is not marked as one, or delete it though it has '
            "another project's trait, such as OWNER_CYBORG. May be repeated.",
        )
        parser.add_argument(
            '--repair',
            action='store_true',
            help='Delete unused custom traits and resource classes, orphaned '
            'children, the providers of dead hosts that have no allocations, '
            'allocations whose consumer nova does not know, and those that '
            'an evacuation left on the failed host.',
        )
        confirm.add_option(parser)

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Audit the cloud; with --repair, mend what can be mended."""
        if parsed_args.yes and not parsed_args.repair:
            raise errors.ConfigError('--yes is for --repair: add --repair')
        run = Auditing(
            load_conf(self.app.global_options),
            cloud.Choices(
                included=frozenset(parsed_args.include),
                quiet=parsed_args.unchanged_for,
            ),
            everything=parsed_args.allocations,
            actor=self.actor,
            err=self.app.stderr,
        )
        found = run.audit()
        if not parsed_args.repair:
            return run.told(found, [])
        planned = run.planned(found)
        if not planned:
            return run.told(found, [], 'there is nothing that --repair mends')
        excess = run.too_much(planned)
        if excess and not parsed_args.yes:
            for line in excess:
                self.say(
                    f'nothing was changed: {line}; check it and add --yes'
                )
            return run.told(found, [], *map(str, planned), code=1)
        plan = [*run.lines(found), 'the repair would:', *_indented(planned)]
        refused = confirm.refused(self, plan, yes=parsed_args.yes)
        if refused:
            return run.data(found, []), *refused
        if not parsed_args.yes:
            # A person may take an hour to answer.
            found = run.audit()
            again = set(run.planned(found))
            planned = [repair for repair in planned if repair in again]
        return run.told(found, run.mend(planned))


def load_conf(options: main.GlobalOptions) -> cfg.ConfigOpts:
    """Return the configuration, with the options of nova.

    :raises errors.ConfigError: an option of nova is wrong
    """
    return configuration.load(options, nova_conf.register_opts)


class Auditing:
    """The connections of one audit, and what it read last.

    :param conf: as ``load_conf`` returns it
    :param everything: read all inventories and allocations
    :param actor: for the history
    :param err: the stream for a bar of progress
    """

    gathered: gathering.Gathered

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        choices: cloud.Choices,
        *,
        everything: bool,
        actor: str,
        err: typing.TextIO,
    ) -> None:
        self._conf = conf
        self._choices = choices
        self._everything = everything
        self._actor = actor
        self._err = err
        self._connect(nova_answers)

    def _connect(self, answers: typing.Any) -> None:
        self._service = placement.placement_service(self._conf)
        self._survey = survey.Survey(self._service)
        api = nova.compute_api(self._conf)
        account = clouds.account_of(self._conf, nova.GROUP)
        self._nova = answers.NovaAnswers(
            api and nova_api.NovaApi(api, account.holder)
        )

    def audit(self) -> list[finding.Finding]:
        """Read the cloud, and return the results of all checks."""
        with progress.bar(self._err, 'providers') as advance:
            self.gathered = gathering.gather(
                gathering.Sources(
                    survey=self._survey,
                    nova=self._nova,
                    ironic=lambda: _ironic(self._conf),
                    agent=_agent(self._conf),
                    workers=self._conf.compute.update_resources_max_workers,
                    advance=advance,
                ),
                self._choices,
                everything=self._everything,
            )
        return audit.findings(self.gathered.cloud)

    def planned(
        self, found: Sequence[finding.Finding]
    ) -> list[finding.Repair]:
        """Return the repairs of the findings."""
        return audit.planned(found)

    def too_much(self, planned: Sequence[finding.Repair]) -> list[str]:
        """Return a line for each limit that the repairs exceed."""
        percent = self._conf.compute_agent.max_removed_percent
        return finding.too_much(planned, percent, self.gathered.custom_traits)

    def mend(self, planned: Sequence[finding.Repair]) -> list[mending.Outcome]:
        """Carry out the repairs; return the outcome of each."""
        mender = mending.Mender(
            providers=providers.Providers(self._service),
            traits=traits.Traits(self._service),
            classes=resource_classes.ResourceClasses(self._service),
            survey=self._survey,
            nova=self._nova,
            rows=self.gathered.rows,
            tell=lambda entries: host_history.add(
                self._conf, self._actor, entries
            ),
        )
        return list(mender.mend(planned))

    def lines(self, found: Sequence[finding.Finding]) -> list[str]:
        """Return the report as lines."""
        return audit_view.text(found, self.gathered.cloud)

    def data(
        self,
        found: Sequence[finding.Finding],
        outcomes: Sequence[mending.Outcome],
    ) -> dict[str, typing.Any]:
        """Return the report as data."""
        return audit_view.data(found, self.gathered.cloud, outcomes)

    def told(
        self,
        found: Sequence[finding.Finding],
        outcomes: Sequence[mending.Outcome],
        *more: str,
        code: int | None = None,
    ) -> tuple[typing.Any, str, int]:
        """Return the report as data and text, and the exit code."""
        lines = [*self.lines(found), *map(str, outcomes), *more]
        if code is None:
            code = self._code(found, outcomes)
        return self.data(found, outcomes), '\n'.join(lines), code

    def _code(
        self,
        found: Sequence[finding.Finding],
        outcomes: Sequence[mending.Outcome],
    ) -> int:
        known: cloud.Cloud = self.gathered.cloud
        if known.nova.is_failure or known.ironic.is_failure:
            return 1
        if any(one.problem for one in outcomes):
            return 1
        done = {one.repair for one in outcomes}
        left = [
            one
            for one in found
            if one.level is finding.Level.FINDING and one.repair not in done
        ]
        return 2 if left else 0


def _agent(conf: cfg.ConfigOpts) -> cloud.Agent:
    """Return the nodes and providers in the state of this agent."""
    with state_copy(conf) as opened:
        return cloud.Agent(
            roots=frozenset(node.uuid for node in opened.nodes.all()),
            recorded=opened.records.known_providers(),
        )


def _indented(planned: Sequence[finding.Repair]) -> list[str]:
    return [f'  {repair}' for repair in planned]


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(
            f'{error_text.excerpt(text)} is not a number of seconds'
        )
    return seconds


def _ironic(conf: cfg.ConfigOpts) -> cloud.Ironic:
    """Return the instance of each node, or the reason why it is unknown.

    The driver ``ironic`` has the connection; one request for each thousand
    nodes. It is loaded if there is an account, whatever drivers this agent
    uses.

    :raises errors.ConfigError: an option of ``[ironic]`` is wrong
    """
    with configuration.explained(conf):
        loader.driver_class(_IRONIC).register_opts(conf)
        account = clouds.settle(conf, _IRONIC)
        group = conf[_IRONIC]
        if not (group.auth_type or group.auth_section):
            return cloud.Ironic(problem=_NOT_ASKED)
        driver = loader.load(_IRONIC, conf)
    if not isinstance(driver, cloud_nodes.CloudNodes):
        raise errors.ConfigError(
            f'driver {_IRONIC} cannot list all nodes of its service'
        )
    try:
        found = driver.cloud_nodes()
    except errors.ConfigError:
        raise
    except errors.AgentError as exc:
        # The catalog of a cloud without Ironic has no address for it.
        return cloud.Ironic(
            problem=f'Ironic did not answer completely: {exc}',
            is_failure=account.origin is Origin.OPTIONS,
        )
    if not found:
        return cloud.Ironic(problem=_EMPTY)
    return cloud.Ironic(
        instances={one.uuid: one.instance_uuid for one in found}
    )
