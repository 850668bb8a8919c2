# SPDX-License-Identifier: Apache-2.0
"""An agent of this host, with a real libvirtd and a real placement."""

import collections.abc
import contextlib
import pathlib
import shutil
import sys
import typing

import command_line
import local_libvirt
import pytest

from compute_agent.cmd.app import configuration, main
from compute_agent.cmd.wiring import agent as wiring
from compute_agent.cmd.wiring import opening

# Test folders are no packages; the parity run's modules are found by path.
PARITY = pathlib.Path(__file__).parents[2] / 'parity'
sys.path.insert(0, str(PARITY))

import reported  # type: ignore[import-not-found] # noqa: E402


class Host:
    """This host, as its operator configures it and placement shows it."""

    def __init__(
        self,
        cli: command_line.CommandLine,
        libvirtd: local_libvirt.LocalLibvirt,
    ) -> None:
        self._cli = cli
        self._libvirtd = libvirtd
        self._placement = reported.Placement(cli.url)
        self._instances = cli.folder / 'instances'
        self._instances.mkdir()
        self.configure()

    def configure(self, conf: str = '', **options: object) -> None:
        """Write the configuration.

        :param conf: a part of nova.conf
        :param options: of ``[DEFAULT]``
        """
        self._cli.configure(
            compute_driver='libvirt',
            host=None,
            instances_path=self._instances,
            **typing.cast('dict[str, typing.Any]', options),
        )
        with self._cli.config.open('a') as config:
            config.write(
                f'\n[libvirt]\nconnection_uri = {self._libvirtd.uri}\n'
                f'virt_type = qemu\n{conf}'
            )

    @contextlib.contextmanager
    def agent(self) -> collections.abc.Iterator[wiring.Agent]:
        """Yield an agent; it keeps its connection to libvirt until the end."""
        files = [str(self._cli.config)]
        options = main.GlobalOptions(
            config_files=files, config_dirs=[], debug=False
        )
        conf = configuration.load(options)
        with opening.open_agent(conf, read_only=False) as agent:
            yield agent

    def sync(self) -> typing.Any:
        """Run one cycle of a new agent; return the node's result."""
        with self.agent() as agent:
            return cycle(agent)

    def empty(self) -> None:
        """Delete all providers, and the agent's record of them."""
        self._placement.empty()
        shutil.rmtree(self._cli.state_path, ignore_errors=True)

    def report(self) -> reported.Report:
        """Return everything that placement has."""
        return self._placement.report()

    def root(self) -> reported.Provider:
        """Return the provider of the host."""
        return self.report()[reported.ROOT]


def cycle(agent: wiring.Agent) -> typing.Any:
    """Run one cycle; return the only node's result."""
    (result,) = agent.tracker.sync()
    return result


@pytest.fixture
def libvirt_host(
    cli: command_line.CommandLine, libvirtd: local_libvirt.LocalLibvirt
) -> Host:
    """This host with its libvirtd; nothing is reported yet."""
    return Host(cli, libvirtd)
