# SPDX-License-Identifier: Apache-2.0
"""Agents with the libvirt driver on a recorded host, which a test changes."""

import collections.abc
import pathlib
import shutil
import typing

import agents
import pytest
import recorded_hosts

from drivers.libvirt import driver

ROOT = 'compute1'

AgentOn: typing.TypeAlias = collections.abc.Callable[..., agents.Agent]


class Driver(driver.LibvirtDriver):
    """The libvirt driver of a host whose name and uuid are known."""

    def get_nodenames_by_uuid(self) -> dict[str, str]:
        return {agents.NODE: ROOT}

    def get_available_nodes(self) -> list[str]:
        return [ROOT]

    def get_hypervisor_hostnames(self) -> dict[str, str]:
        return {}


@pytest.fixture
def host(
    tmp_path: pathlib.Path,
) -> collections.abc.Callable[[str], pathlib.Path]:
    """Return a copier of recorded hosts, without guests."""

    def copy(name: str) -> pathlib.Path:
        copied = shutil.copytree(recorded_hosts.HOSTS / name, tmp_path / name)
        (copied / 'libvirt/domains').mkdir(exist_ok=True)
        return copied

    return copy


@pytest.fixture
def agent_on(
    agent_factory: agents.AgentFactory, tmp_path: pathlib.Path
) -> AgentOn:
    """Return a maker of agents on a folder, with the options of a text."""

    def make(
        folder: pathlib.Path, text: str = '', **options: typing.Any
    ) -> agents.Agent:
        path = tmp_path / 'nova.conf'
        path.write_text(text)
        conf = recorded_hosts.configuration(path)
        sources = recorded_hosts.sources_of(folder)
        return agent_factory(Driver.on_host(conf, sources), **options)

    return make


@pytest.fixture
def restarted_on(agent_on: AgentOn) -> AgentOn:
    """Like ``agent_on``; each agent is the one before, after a restart."""
    before: list[agents.Agent] = []

    def make(folder: pathlib.Path, text: str = '') -> agents.Agent:
        state = before[-1].state if before else None
        before.append(agent_on(folder, text, state=state))
        return before[-1]

    return make
