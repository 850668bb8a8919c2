# SPDX-License-Identifier: Apache-2.0
"""``compute-agent explore``: look at placement in a browser."""

import argparse
import webbrowser

from ... import errors, extras, forks
from ...cycle import garbage
from ...monitoring.values import address
from ..app import command, signals
from ..audit import audit
from .values import gate

_BIND = '127.0.0.1:0'


class Explore(command.AgentCommand):
    """Show placement in a browser: providers, their tree, and why they are so.

    The command serves pages on this machine until it is stopped, and prints
    their address, which holds a token that works once. It asks placement, nova
    and Ironic with your account, and this machine's agent for what it knows.
    Nothing is written.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the address."""
        parser.add_argument(
            '--bind',
            default=_BIND,
            metavar='ADDRESS',
            help='Where the pages are: 127.0.0.1:PORT, [::1]:PORT or '
            'unix:/path (default: a free port of 127.0.0.1). From another '
            'machine, use ssh -L.',
        )
        parser.add_argument(
            '--open', action='store_true', help='Open the page in a browser.'
        )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Serve until SIGINT or SIGTERM."""
        bind = _address(parsed_args.bind)
        try:
            from . import site, web_server  # noqa: PLC0415 (an extra)
        except ImportError as exc:
            package = (exc.name or str(exc)).partition('.')[0]
            raise errors.ConfigError(
                f'the pages need {package}: {extras.advice("explore")}'
            ) from exc
        pages = site.Site(audit.load_conf(self.app.global_options))
        garbage.set_thresholds()
        stop = signals.stop_on_signals()
        with (
            web_server.listener(bind) as opened,
            forks.closed_in_child(opened.fileno()),
        ):
            where = _where(bind, opened.getsockname())
            port = '' if bind.path else f'_{where.rpartition(":")[2]}'

            def tell(token: str) -> None:
                self._print(f'for another browser: {where}/?token={token}')

            guard = gate.Gate(f'compute_agent{port}', [bind.host], tell)
            server = web_server.WebServer(opened, guard, pages)
            try:
                url = f'{where}/?token={guard.token}'
                if bind.path is not None:
                    self._print(f'listening at {bind}; any address before it')
                self._print(f'{url}\nCtrl-C stops it')
                if parsed_args.open:
                    webbrowser.open(url)
                stop.wait()
            finally:
                pages.stopping.set()
                server.stop()
        return 0

    def _print(self, text: str) -> None:
        self.app.stdout.write(f'{text}\n')
        self.app.stdout.flush()


def _address(text: str) -> address.Address:
    """Return the address, if it is one of this machine alone.

    :raises errors.ConfigError: other machines could reach the address
    """
    try:
        found = address.parse(text)
    except ValueError as exc:
        raise errors.ConfigError(f'--bind: {exc}') from exc
    if not found.is_local:
        raise errors.ConfigError(
            f'--bind: other machines can reach {found}, and the pages show '
            'what your account may read: use 127.0.0.1, and "ssh -L" from '
            'another machine'
        )
    return found


def _where(bind: address.Address, bound: object) -> str:
    """Return the beginning of the address for a browser."""
    if bind.path is not None or not isinstance(bound, tuple):
        return 'http://localhost'
    host = f'[{bind.host}]' if bind.is_ipv6 else bind.host
    return f'http://{host}:{bound[1]}'
