# SPDX-License-Identifier: Apache-2.0
"""Entry point of ``compute-agent``: handles signals before the slow imports.

The imports take a second, and more on a busy host. A SIGHUP in that time must
not kill the daemon, so this module first handles SIGHUP and then imports the
program. It also makes SIGINT wake all threads, not only the main one. A SIGINT
in that time ends the program as a later one does, with nothing printed.
"""

import sys

from . import exit_codes


def main() -> int:
    """Run the program; return its exit code."""
    try:
        return _run()
    except KeyboardInterrupt:
        return exit_codes.INTERRUPTED


def _run() -> int:
    from . import signals  # noqa: PLC0415 (may be interrupted)

    signals.handle_interrupt()
    if 'run' in sys.argv[1:]:
        signals.keep_early_hangup()
        signals.ignore_user_signals()
    from . import main as program  # noqa: PLC0415 (slow)

    return program.main()


if __name__ == '__main__':
    sys.exit(main())
