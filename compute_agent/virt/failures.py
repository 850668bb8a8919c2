# SPDX-License-Identifier: Apache-2.0
"""The exceptions with which a driver fails, and their texts.

``sys.exit`` or a cancelled task of asyncio in a driver, or in a library that it
calls, is a failure as every other exception is: it ends neither the daemon nor
a command. Ctrl-C is none, and Python raises it in the main thread only.
"""

import contextlib
import pathlib
import sys
import threading
import traceback
from collections.abc import Iterator

from .. import errors

_AGENT = str(pathlib.Path(__file__).parents[1])


def caught() -> tuple[type[BaseException], ...]:
    """Return the classes for ``except``, around every call of a driver.

    All are caught, except a KeyboardInterrupt in the main thread.
    """
    is_interrupt = isinstance(sys.exception(), KeyboardInterrupt)
    if is_interrupt and threading.current_thread() is threading.main_thread():
        return ()
    return (BaseException,)


def text(exc: BaseException, call: str = '') -> str:
    """Return the class and the text of a driver's exception.

    An exception that is meant to end a program, a thread or a task often has
    no text, so the call and the place are added.

    :param call: the driver's method; by default, the first one outside of the
        agent
    """
    said = f'{type(exc).__name__}: {exc}'
    if isinstance(exc, Exception):
        return said
    said = said.removesuffix(': ')
    frames = traceback.extract_tb(exc.__traceback__)
    outside = [f for f in frames if not f.filename.startswith(_AGENT)]
    last = frames[-1]
    return (
        f'{said} in {call or (*outside, last)[0].name} ({last.filename}, line '
        f'{last.lineno}); a driver must raise errors.DriverError instead'
    )


@contextlib.contextmanager
def asking(name: str, call: str) -> Iterator[None]:
    """Turn an exception that is none of the agent's into a DriverError.

    :param name: the name of the driver's class
    :param call: the method of the driver
    """
    try:
        yield
    except errors.AgentError:
        raise
    except caught() as exc:
        where = f' in {call}' if isinstance(exc, Exception) else ''
        raise errors.DriverError(
            f'{name} failed{where}: {text(exc, call)}'
        ) from exc
