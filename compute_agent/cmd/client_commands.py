# SPDX-License-Identifier: Apache-2.0
"""Commands of this program for OpenStack's client, with the client's account.

They are the program's own classes, for the words that osc-placement lacks. The
client gives them the account that it found, in clouds.yaml, in its options or
in the OS_* variables; the agent's configuration on this host says the rest.
``client_plugin.py`` announces them.
"""

import argparse
import typing

from . import drift, explain, history, trait, tree
from .app import command, main
from .audit import audit as audit_command
from .candidates import candidates
from .plan import plan
from .provider import provider_contents


class _Client:
    """The client as the commands of this program see an application.

    :param app: the application of OpenStack's client
    """

    def __init__(self, app: typing.Any) -> None:
        self._app = app

    @property
    def global_options(self) -> main.GlobalOptions:
        """The options that the program itself would have been given."""
        return main.GlobalOptions(
            config_files=(),
            config_dirs=(),
            debug=bool(self._app.options.debug),
            region=self._app.cloud,
        )

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(self._app, name)


class _InClient(command.AgentCommand):
    """A command in OpenStack's client."""

    def __init__(
        self,
        app: typing.Any,
        app_args: argparse.Namespace | None,
        cmd_name: str | None = None,
    ) -> None:
        super().__init__(
            typing.cast(main.ComputeAgent, _Client(app)),
            app_args,
            cmd_name=cmd_name,
        )


class PlacementAudit(_InClient, audit_command.Audit):
    """Find providers, allocations and names that belong to nobody."""


class PlacementDrift(_InClient, drift.Drift):
    """Compare placement with what the agent of this host last wrote."""


class PlacementExplain(_InClient, explain.Explain):
    """Explain a trait: which provider has it, who added it, and why."""


class PlacementHistory(_InClient, history.History):
    """List what changed: when, by whom, why, as this host recorded it."""


class PlacementPlan(_InClient, plan.Plan):
    """Print what the agent of this host would write to placement."""


class PlacementTraitPrune(_InClient, trait.TraitPrune):
    """Delete all custom traits that no provider has."""


class PlacementTraitSyncCheck(_InClient, trait.TraitSyncCheck):
    """Compare the standard traits of os-traits here with placement's."""


class PlacementTreeShow(_InClient, tree.TreeShow):
    """Show the whole tree that a provider is in."""


class PlacementWhyNot(_InClient, candidates.WhyNot):
    """List the requirements of a flavor that a provider fails."""


class ProviderAggregateAdd(_InClient, provider_contents.ProviderAggregateAdd):
    """Add a provider to aggregates; it stays in its other aggregates."""


class ProviderAggregateRemove(
    _InClient, provider_contents.ProviderAggregateRemove
):
    """Remove a provider from aggregates; it stays in its others."""


class ProviderTraitAdd(_InClient, provider_contents.ProviderTraitAdd):
    """Add traits to a provider; its other traits stay."""


class ProviderTraitRemove(_InClient, provider_contents.ProviderTraitRemove):
    """Remove traits from a provider; the traits themselves still exist."""
