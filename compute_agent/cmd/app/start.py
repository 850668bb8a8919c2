# SPDX-License-Identifier: Apache-2.0
"""Where the program ``compute-agent`` begins: light, before all imports.

A daemon that is told to read its files anew while it still imports (a second,
on a busy host more) must not die of that. So this hears SIGHUP first, and only
then imports the program. Of SIGINT it has all threads told, not the main one
alone. Nothing else is done here.
"""

import sys

from . import signals


def main() -> int:
    """Run the program; return its exit code."""
    signals.hear_interrupt()
    if 'run' in sys.argv[1:]:
        signals.hear_early()
    from . import main as program  # noqa: PLC0415 (slow)

    return program.main()


if __name__ == '__main__':
    sys.exit(main())
