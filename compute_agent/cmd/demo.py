# SPDX-License-Identifier: Apache-2.0
"""``compute-agent demo ironic``: the agent between an Ironic and a placement.

Both are real ones of our own on 127.0.0.1; the nodes are fake hardware. All of
it lives in one directory, and a second start goes on with what is there.
"""

import argparse
import dataclasses
import pathlib
import signal
import socket
import sys

from .app import command

DIRECTORY = '.run/demo-ironic'
NODES = 20

_PROGRAM = 'compute-agent'

_CONFIGURATION = """\
# Written anew by each "compute-agent demo ironic".
[DEFAULT]
compute_driver = ironic
state_path = {state}
update_resources_interval = 10

[placement]
embedded = true
embedded_port = {port}

[ironic]
auth_type = none
endpoint_override = {ironic}
"""

_HINTS = """\
In a second terminal:
  alias ca='{program} --config-file {config}'
  ca plan
  ca tree show rack1-node01
  ca node stage rack1-node01 --property trait:CUSTOM_GPU_A100=required
  curl -X PUT -H 'X-OpenStack-Ironic-API-Version: 1.37' \\
      {ironic}/v1/nodes/rack1-node01/traits/CUSTOM_MINE   # then: ca plan"""


class DemoIronic(command.AgentCommand):
    """Run the agent on a real local Ironic and a placement of its own.

    The nodes are fake hardware, of three classes. Files given with
    --config-file are read before the demo's own, to try other options.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--directory',
            type=_directory,
            default=DIRECTORY,
            metavar='DIR',
            help='Where all of it is kept (default: %(default)s).',
        )
        parser.add_argument(
            '--nodes',
            type=_count,
            default=NODES,
            metavar='N',
            help='How many nodes Ironic is to have at least '
            '(default: %(default)s).',
        )
        parser.add_argument(
            '--once',
            action='store_true',
            help='End after one cycle, its operations and tree printed.',
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Run until interrupted, or once; end what was started."""
        from ..dev import local_ironic  # noqa: PLC0415 (quick --help)

        for number in (signal.SIGTERM, signal.SIGHUP):
            # Until "run" has its own, they are to end Ironic too.
            signal.signal(number, signal.default_int_handler)
        directory = parsed_args.directory
        self._say('starting Ironic')
        with local_ironic.LocalIronic(directory / 'ironic') as server:
            self._enroll(server.url, parsed_args.nodes)
            config = _configure(directory, server.url)
            given = self.app.global_options
            self.app.global_options = dataclasses.replace(
                given, config_files=[*given.config_files, str(config)]
            )
            if parsed_args.once:
                return self._once()
            self._say(_hints(config, server.url))
            return self.app.run_subcommand(['run', '--show-tree'])

    def _enroll(self, url: str, count: int) -> None:
        from ..dev import ironic_nodes, ironic_operator  # noqa: PLC0415

        self._say(f'Ironic listens on {url}; enrolling nodes')
        operator = ironic_operator.IronicOperator(url)
        try:
            fresh = ironic_nodes.enroll(operator, ironic_nodes.racks(count))
            total = len(operator.nodes())
        finally:
            operator.close()
        self._say(f'{total} nodes, {fresh} of them new')

    def _once(self) -> int:
        """Do one cycle, and show the trees if it went well."""
        from .wiring import agent  # noqa: PLC0415

        with agent.embedded_placement(self.conf()):
            return self.app.run_subcommand(
                ['sync']
            ) or self.app.run_subcommand(['tree', 'show'])

    def _say(self, line: str) -> None:
        self.app.stdout.write(f'{line}\n')
        self.app.stdout.flush()


def _directory(word: str) -> pathlib.Path:
    """Return the path; the agent's configuration file is to be in it.

    oslo.config takes what follows a $ in the name of such a file for the name
    of an option.
    """
    if '$' in word:
        raise argparse.ArgumentTypeError(
            f'{word!r} has a $, which no path of a configuration file may have'
        )
    return pathlib.Path(word)


def _count(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f'{word!r} is no number from 1')
    return int(word)


def _hints(config: pathlib.Path, ironic: str) -> str:
    """Return what to try, with this program as it was called."""
    called = pathlib.Path(sys.argv[0])
    program = called if called.name == _PROGRAM else _PROGRAM
    return _HINTS.format(program=program, config=config, ironic=ironic)


def _configure(directory: pathlib.Path, ironic: str) -> pathlib.Path:
    """Write the agent's configuration; return its file."""
    state = str((directory / 'state').absolute()).replace('$', '$$')
    path = directory / 'agent.conf'
    path.write_text(
        _CONFIGURATION.format(state=state, port=_free_port(), ironic=ironic)
    )
    return path


def _free_port() -> int:
    with socket.create_server(('127.0.0.1', 0)) as listener:
        port: int = listener.getsockname()[1]
    return port
