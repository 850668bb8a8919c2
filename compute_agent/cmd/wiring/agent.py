# SPDX-License-Identifier: Apache-2.0
"""An agent whose objects are connected.

``building.py`` connects them, and ``opening.py`` opens and closes an agent.
"""

import contextlib
import dataclasses
import typing
from collections.abc import Callable, Iterator

from ...ownership.policy import Prune
from ...provider_config import files as provider_config
from ...state.state import State
from ...virt.drivers import Drivers
from .agent_settings import CurrentSettings, Settings

if typing.TYPE_CHECKING:
    from report_client import client

    from ...cycle import resource_tracker
    from . import sharing

_NOBODY = '00000000-0000-0000-0000-000000000000'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent whose objects are connected.

    :ivar drivers: the drivers that describe the nodes
    :ivar state: the state database
    :ivar share: the name of its share
    :ivar files: the operator's additions to the driver's description; None
        without such files
    :ivar sharing: the lease and the record that it shares with other agents;
        None if ``state_connection`` is not set
    """

    current: CurrentSettings
    drivers: Drivers
    client: 'client.ReportClient'
    tracker: 'resource_tracker.ResourceTracker'
    state: State
    share: str
    files: provider_config.ProviderConfigFiles | None
    sharing: 'sharing.Sharing | None' = None

    def begin_files(self) -> None:
        """Read the operator's files if they were not read yet.

        :raises errors.ConfigError: a file is wrong
        """
        if self.files is not None:
            self.files.begin()

    def reload(self, settings: Settings) -> None:
        """Use other settings from the next cycle on, and read files again.

        Only ``limits``, ``masked_traits``, ``takes_over`` and
        ``recreate_roots`` take effect.

        :raises errors.ConfigError: one of the operator's files is wrong
        """
        self.current.value = settings
        self.client.invalidate()
        if self.files is not None:
            self.files.reload()

    @contextlib.contextmanager
    def pruning(self, prune: Prune) -> Iterator[None]:
        """Prune these names in the cycles within this context."""
        before = self.current.value
        self.current.value = dataclasses.replace(before, prune=prune)
        try:
            yield
        finally:
            self.current.value = before

    def take_over(self) -> None:
        """Use the record that another agent of the share wrote."""
        self.state.nodes.settle_sources(self.drivers)
        self.tracker.take_over(self.state.agent_id)
        self.client.invalidate()

    def stand_by(
        self,
        may_go_on: Callable[[], bool],
        reached: Callable[[], object] = bool,
    ) -> None:
        """Read and plan what this agent would report, for its first cycle.

        It records nothing, and writes nothing to placement.

        :param may_go_on: called before each provider and each plan
        :param reached: called once the drivers and placement have answered
        :raises errors.AgentError: placement or a driver does not answer, or an
            operator's file is wrong
        """
        nodes = self.tracker.nodes()
        # At least one: the answer tells that placement can be reached.
        uuids = [node.uuid for node in nodes] or [_NOBODY]
        begun = self.client.begin_warm(uuids)
        reached()
        seen = self.client.warm(begun, may_go_on)
        agent_id = self.state.agent_id
        self.tracker.plan_ahead(agent_id, nodes, seen, may_go_on)

    def reload_driver(self) -> None:
        """Have the drivers read their own files again.

        :raises errors.ConfigError: a file of a driver is wrong
        """
        self.drivers.reload()
