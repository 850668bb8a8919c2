# SPDX-License-Identifier: Apache-2.0
"""The exceptions with which a driver fails, and their texts.

``sys.exit`` in a driver, or in a library that it calls, is a failure as every
other exception is: it ends neither the daemon nor a command. Ctrl-C is none.
"""

import contextlib
import pathlib
import traceback
from collections.abc import Iterator

from .. import errors

#: For ``except``, around every call of a driver.
FAILURES = (Exception, SystemExit)

_AGENT = str(pathlib.Path(__file__).parents[1])


def text(exc: BaseException, call: str = '') -> str:
    """Return the class and the text of a driver's exception.

    For an exit, which often has no text, the call and the place are added.

    :param call: the driver's method; by default, the first one outside of the
        agent
    """
    said = f'{type(exc).__name__}: {exc}'
    if not isinstance(exc, SystemExit):
        return said
    said = said.removesuffix(': ')
    frames = traceback.extract_tb(exc.__traceback__)
    outside = [f for f in frames if not f.filename.startswith(_AGENT)]
    last = frames[-1]
    return (
        f'{said} in {call or (*outside, last)[0].name} ({last.filename}, line '
        f'{last.lineno}); a driver must raise errors.DriverError and not exit'
    )


@contextlib.contextmanager
def asking(name: str, call: str) -> Iterator[None]:
    """Turn an exception that is none of the agent's into a DriverError.

    :param name: of the driver's class
    :param call: the method of the driver
    """
    try:
        yield
    except errors.AgentError:
        raise
    except FAILURES as exc:
        where = '' if isinstance(exc, SystemExit) else f' in {call}'
        raise errors.DriverError(
            f'{name} failed{where}: {text(exc, call)}'
        ) from exc
