# SPDX-License-Identifier: Apache-2.0
"""Entry point of ``compute-agent``: handles signals before the slow imports.

The imports take a second, and more on a busy host. A SIGHUP in that time must
not kill the daemon, so this module first handles SIGHUP and then imports the
program. It also makes SIGINT wake all threads, not only the main one. A SIGINT
in that time ends the program as a later one does, with nothing printed.

The interpreter waits for threads and for functions that a driver, or a library
of one, left behind. If it waits for long, the program ends without them.
"""

import os
import sys
import threading
import time

from . import exit_codes

ENDING = 5.0  # seconds that threads may go on after the main thread


def main() -> int:
    """Run the program; return its exit code."""
    try:
        code = _run()
    except KeyboardInterrupt:
        code = exit_codes.INTERRUPTED
    threading.Thread(target=_end, args=[code], name='end', daemon=True).start()
    return code


def _run() -> int:
    from . import signals  # noqa: PLC0415 (may be interrupted)

    signals.handle_interrupt()
    if 'run' in sys.argv[1:]:
        signals.keep_early_hangup()
        signals.ignore_user_signals()
    from . import main as program  # noqa: PLC0415 (slow)

    return program.main()


def _end(code: int) -> None:
    """End the process if it goes on for long after its main thread."""
    threading.main_thread().join()
    time.sleep(ENDING)
    left = ' and '.join(
        repr(thread.name)
        for thread in threading.enumerate()
        if thread.is_alive() and not thread.daemon
    )
    what = f"the driver's thread {left}" if left else 'a function at the exit'
    line = f'compute-agent: {what} still runs; the process ends without it\n'
    os.write(2, line.encode(errors='replace'))
    os._exit(code)


if __name__ == '__main__':
    sys.exit(main())
