# SPDX-License-Identifier: Apache-2.0
"""A world in which the commands of a page run, and the list of all worlds.

A world is a function that prepares what the text around a block tells: the
driver's nodes, other writers, a daemon. It stands under the page of the block
and the beginning of its first command; ``page_worlds.py`` has them.
"""

import dataclasses
import textwrap
import typing
from collections.abc import Callable

import command_line
import pytest
import small_cloud
import yaml
from small_cloud import Made

from compute_agent.testing.fixtures import other_writer

CN1 = '11111111-1111-4111-8111-111111111111'


@dataclasses.dataclass(slots=True)
class World:
    """The real placement, an agent with the fake driver, and their folder.

    :ivar replaced: what the page has → what this world has
    """

    cli: command_line.CommandLine
    request: pytest.FixtureRequest
    monkeypatch: pytest.MonkeyPatch
    page: str
    replaced: dict[str, str] = dataclasses.field(default_factory=dict)

    def describe(self, *nodes: dict[str, typing.Any]) -> None:
        """Have the driver describe these nodes from now on."""
        self.cli.fake_file.write_text(yaml.safe_dump({'nodes': list(nodes)}))

    @property
    def others(self) -> other_writer.OtherWriter:
        """Another writer on the placement."""
        return self.cli.others

    def sync(self) -> None:
        """Run a cycle, here or in the daemon."""
        self.cli.run('sync')

    def build(self, *cloud: Made) -> None:
        """Make providers as other writers do."""
        small_cloud.build(self.others, cloud)

    def daemon(self, **agent: typing.Any) -> typing.Any:
        """Start a daemon whose first cycle is done."""
        self.cli.configure(agent=agent, update_resources_interval=3600)
        one = self.request.getfixturevalue('daemon')(self.cli.config)
        one.wait_for('cycle: ')
        return one

    def append(self, text: str) -> None:
        """Add options to the configuration."""
        with self.cli.config.open('a') as file:
            file.write(f'\n{textwrap.dedent(text)}\n')


Prepare: typing.TypeAlias = Callable[[World], None]
WORLDS: dict[tuple[str, str], Prepare] = {}


def world(page: str, first: str) -> Callable[[Prepare], Prepare]:
    """Name the block that a function prepares.

    :param first: the beginning of the first command in the block
    """

    def note(prepare: Prepare) -> Prepare:
        WORLDS[page, first] = prepare
        return prepare

    return note


def node(
    name: str, uuid: str = CN1, **parts: typing.Any
) -> dict[str, typing.Any]:
    """Return a node as the fake driver describes it."""
    return {'name': name, 'uuid': uuid, **parts}
