# SPDX-License-Identifier: Apache-2.0
"""``compute-agent run``: the daemon."""

import argparse
import contextlib
import logging
import os
import threading
import typing
from collections.abc import Sequence

from oslo_config import cfg

from .. import errors
from .app import command, configuration

if typing.TYPE_CHECKING:
    from ..cycle import resource_tracker
    from . import cycles
    from .app import signals
    from .wiring import agent as wiring

LOG = logging.getLogger(__name__)

GRACE = 1.0  # seconds that a cycle at work is given when the daemon ends


class Run(command.AgentCommand):
    """Keep placement in step with this agent's nodes until interrupted.

    At SIGHUP it reads its configuration and provider-config files anew, and a
    cycle begins at once. With "[placement] embedded = true" it serves that
    placement too.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--show-tree',
            action='store_true',
            help='Print the provider tree after the first cycle.',
        )
        return parser

    def conf(self) -> cfg.ConfigOpts:
        """Return the configuration, with oslo.log's options in it."""
        return configuration.load(
            self.app.global_options, register=_register_logging
        )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Run until SIGINT or SIGTERM; read the files anew at SIGHUP."""
        from ..state import lock  # noqa: PLC0415 (quick --help)
        from . import cycles  # noqa: PLC0415
        from .app import signals  # noqa: PLC0415 (quick --help)
        from .wiring import agent as wiring  # noqa: PLC0415
        from .wiring import placement  # noqa: PLC0415

        conf = self.conf()
        _set_up_logging(conf, debug=self.app.global_options.debug)
        wishes = signals.Wishes()
        wishes.hear()
        with contextlib.ExitStack() as stack:
            stack.enter_context(lock.hold(wiring.state_path(conf)))
            if conf.placement.embedded:
                server = wiring.embedded_placement(conf)
                stack.enter_context(server)
            agent = stack.enter_context(
                wiring.agent(conf, looking=False, wait=wishes.wait_for_end)
            )
            show = _Show(self.app.stdout, agent, placement.where(conf))
            work = cycles.Cycles(conf, self.conf, agent, wishes)
            work.keep_apart()
            worker = _Worker(
                work,
                wishes,
                show.once if parsed_args.show_tree else _show_nothing,
            )
            worker.start()
            wishes.wait_for_end()
            worker.join(GRACE)
            if worker.is_alive():
                # A request that hangs keeps the thread; every step of a cycle
                # can be the last, so it is left where it is.
                LOG.warning('ending in the middle of a cycle')
                self.app.stdout.flush()
                os._exit(0)
        if worker.failure is not None:
            raise worker.failure
        return 0


class _Worker(threading.Thread):
    """The thread that does the cycles, so that signals are heard at once."""

    def __init__(
        self,
        work: 'cycles.Cycles',
        wishes: 'signals.Wishes',
        done: typing.Callable[..., None],
    ) -> None:
        from ..cycle import service  # noqa: PLC0415 (quick --help)

        super().__init__(name='cycles', daemon=True)
        self._work = work
        self._wishes = wishes
        self._service = service.Service(
            self._cycle,
            interval=work.interval(),
            stop=wishes,
            done=done,
        )
        self.failure: Exception | None = None

    def run(self) -> None:
        """Run the service; keep what ends it early for the main thread."""
        try:
            self._service.run()
        except Exception as exc:  # noqa: BLE001 (raised in the main thread)
            self.failure = exc
        finally:
            self._wishes.set()

    def _cycle(self) -> 'Sequence[resource_tracker.NodeResult]':
        self._work.reload_if_asked()
        self._service.interval = self._work.interval()
        return self._work.sync()


class _Show:
    """Prints the trees after the first cycle that reached placement."""

    def __init__(
        self, out: typing.TextIO, agent: 'wiring.Agent', where: str
    ) -> None:
        self._out = out
        self._agent = agent
        self._where = where
        self._shown = False

    def once(self, results: Sequence['resource_tracker.NodeResult']) -> None:
        """Print the tree of each node, the first time only."""
        from ..cycle import resource_tracker as tracker  # noqa: PLC0415
        from . import tree_view  # noqa: PLC0415

        if self._shown:
            return
        nodes = [result.node for result in results]
        seen = self._agent.client.observe([node.uuid for node in nodes])
        for node in nodes:
            one = seen[node.uuid]
            if isinstance(one, errors.AgentError):
                continue
            view = tree_view.text(node, one.providers, self._out)
            self._out.write(f'{view}\n')
        undone = sum(r.status is not tracker.Status.DONE for r in results)
        state = (
            f'{undone} of {len(nodes)} nodes not done'
            if undone
            else ('in step')
        )
        self._out.write(f'{state} with {self._where}; Ctrl-C ends it\n')
        self._out.flush()
        self._shown = True


def _show_nothing(_results: Sequence['resource_tracker.NodeResult']) -> None:
    """Leave it to the log."""


def _register_logging(conf: cfg.ConfigOpts) -> None:
    from oslo_log import log  # noqa: PLC0415 (slow)

    log.register_options(conf)
    conf.set_default('use_stderr', True)  # stdout is for what was asked for
    log.set_defaults(
        default_log_levels=[
            'keystoneauth=WARNING',
            'placement=WARNING',
            'alembic=WARNING',
            'oslo_db=WARNING',
            'oslo_policy=WARNING',
            'stevedore=WARNING',
            'urllib3=WARNING',
            'waitress=WARNING',
        ],
    )


def _set_up_logging(conf: cfg.ConfigOpts, *, debug: bool) -> None:
    """Hand logging over to oslo.log, as the configuration has it."""
    from oslo_log import log  # noqa: PLC0415 (slow)

    if debug:
        conf.set_override('debug', True)
    for handler in list(logging.getLogger().handlers):
        logging.getLogger().removeHandler(handler)
    try:
        log.setup(conf, configuration.PROJECT)
    except (log.LogConfigError, OSError, ValueError) as exc:
        raise errors.ConfigError(
            f'the log options (log_file, log_dir, log_config_append) cannot '
            f'be used: {exc}'
        ) from exc
