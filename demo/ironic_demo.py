# SPDX-License-Identifier: Apache-2.0
"""``python -m demo``: run the agent with a real Ironic and a real placement.

Both servers run on 127.0.0.1, and the nodes are fake hardware. All files are
in one directory; a second start continues with the nodes of the first.
"""

import argparse
import pathlib
import signal
import socket
import sys
from collections.abc import Callable, Sequence

from compute_agent import error_text, errors
from compute_agent.cmd.app import configuration, exit_codes, signals
from compute_agent.cmd.app import main as program
from compute_agent.cmd.wiring import placement

from . import ironic_nodes, ironic_operator, local_ironic

DIRECTORY = '.run/demo-ironic'
NODES = 20

_PROGRAM = 'compute-agent'

_CONFIGURATION = """\
# The demo writes this file again at each start.
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return its exit code."""
    return ended(lambda: _run(_parser().parse_args(argv)))


def ended(demo: Callable[[], int]) -> int:
    """Run a demo; return its exit code. An error is one line."""
    signals.handle_interrupt()
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Until "run" sets its own handlers, these signals must end Ironic too.
        signal.signal(number, signal.default_int_handler)
    try:
        return demo()
    except BrokenPipeError:
        return exit_codes.PIPE_CLOSED
    except SystemExit as exc:
        return 1 if exc.code == 2 else int(exc.code or 0)
    except KeyboardInterrupt:
        return exit_codes.INTERRUPTED
    except errors.AgentError as exc:
        sys.stderr.write(f'demo: {_one_line(exc)}\n')
        return 1
    except Exception as exc:  # noqa: BLE001 (one line, as the commands print)
        kind = type(exc).__name__
        sys.stderr.write(f'demo: unexpected {kind}: {_one_line(exc)}\n')
        return 1


def _one_line(exc: Exception) -> str:
    return error_text.printable(' '.join(str(exc).split()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='python -m demo',
        description='Runs the agent on a real local Ironic with nodes of fake '
        'hardware, and on a placement service that it starts itself. Files '
        "given with --config-file are read before the demo's own file, so "
        'that you can try other options.',
        allow_abbrev=False,
    )
    program.add_global_options(parser)
    parser.add_argument(
        '--directory',
        type=_directory,
        default=pathlib.Path(DIRECTORY),
        metavar='DIR',
        help='The directory for all files of the demo (default: %(default)s).',
    )
    parser.add_argument(
        '--nodes',
        type=_count,
        default=NODES,
        metavar='N',
        help='The least number of nodes in Ironic; the demo enrolls the '
        'missing ones (default: %(default)s).',
    )
    parser.add_argument(
        '--once',
        action='store_true',
        help='Run one cycle, print its operations and the trees, and exit.',
    )
    return parser


def _run(args: argparse.Namespace) -> int:
    """Run until interrupted, or one cycle; stop the servers at the end."""
    say('starting Ironic')
    with local_ironic.LocalIronic(args.directory / 'ironic') as server:
        enroll(server.url, args.nodes)
        config = _configure(args.directory, server.url)
        options = program.GlobalOptions(
            config_files=[*args.config_file, str(config)],
            config_dirs=args.config_dir,
            debug=args.debug,
        )
        if args.once:
            return _once(options)
        say(_hints(config, server.url))
        return _agent(options, 'run', '--show-tree')


def enroll(url: str, count: int) -> None:
    """Have at least so many nodes in Ironic."""
    say(f'Ironic listens on {url}; enrolling nodes')
    operator = ironic_operator.IronicOperator(url)
    try:
        new = ironic_nodes.enroll(operator, ironic_nodes.racks(count))
        total = len(operator.nodes())
    finally:
        operator.close()
    say(f'{total} nodes, {new} of them new')


def _once(options: program.GlobalOptions) -> int:
    """Run one cycle, and show the trees if it succeeded."""
    with placement.embedded_placement(configuration.load(options)):
        return _agent(options, 'sync') or _agent(options, 'tree', 'show')


def _agent(options: program.GlobalOptions, *words: str) -> int:
    """Run a command of the agent in this process."""
    argv = [f'--config-file={path}' for path in options.config_files]
    argv += [f'--config-dir={path}' for path in options.config_dirs]
    argv += ['--debug'] if options.debug else []
    return program.main([*argv, *words])


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f'{line}\n')
    sys.stdout.flush()


def _directory(word: str) -> pathlib.Path:
    """Return the path; the agent's configuration file will be in it.

    In the name of such a file, oslo.config reads the text after a $ as the
    name of an option.
    """
    if '$' in word:
        raise argparse.ArgumentTypeError(
            f'{word!r} has a $, which the path of a configuration file cannot '
            'have'
        )
    return pathlib.Path(word)


def _count(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(
            f'{word!r} is not a whole number of at least 1'
        )
    return int(word)


def _hints(config: pathlib.Path, ironic: str) -> str:
    """Return commands to try, with the agent of this environment."""
    installed = pathlib.Path(sys.executable).with_name(_PROGRAM)
    called = installed if installed.exists() else _PROGRAM
    return _HINTS.format(program=called, config=config, ironic=ironic)


def _configure(directory: pathlib.Path, ironic: str) -> pathlib.Path:
    """Write the agent's configuration; return the path of the file."""
    state = str((directory / 'state').absolute()).replace('$', '$$')
    path = directory / 'agent.conf'
    path.write_text(
        _CONFIGURATION.format(state=state, port=free_port(), ironic=ironic)
    )
    return path


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.create_server(('127.0.0.1', 0)) as listener:
        port: int = listener.getsockname()[1]
    return port
