# SPDX-License-Identifier: Apache-2.0
"""Serves keystone or placement from a folder; run by their own environment.

``serve_openstack.py keystone FOLDER PORT THREADS`` makes the database and the
keys first, if there are none, each command in a fork of one process that has
imported keystone already.
"""

import getpass
import grp
import os
import pathlib
import sys
import typing


def main() -> None:
    """Serve the service that the arguments name, until the process is killed."""
    service, folder, port, threads = sys.argv[1:]
    del sys.argv[1:]  # keystone reads them, too
    os.environ[f'OS_{service.upper()}_CONFIG_DIR'] = folder
    if service == 'keystone':
        _make_keystone(pathlib.Path(folder), f'http://127.0.0.1:{port}/v3')
        from keystone.wsgi.api import application  # noqa: PLC0415 (chosen)
    else:
        from placement.wsgi.api import application  # noqa: PLC0415 (chosen)
    import waitress  # noqa: PLC0415 (not in the tests' environment)

    waitress.serve(
        application, host='127.0.0.1', port=int(port), threads=int(threads)
    )


def _make_keystone(folder: pathlib.Path, url: str) -> None:
    made = folder / 'keystone.made'
    if made.exists():
        return
    from keystone.cmd import cli  # noqa: PLC0415 (only for keystone)

    user, group = getpass.getuser(), grp.getgrgid(os.getgid()).gr_name
    owner = ('--keystone-user', user, '--keystone-group', group)
    for words in (
        ('db_sync',),
        ('fernet_setup', *owner),
        ('credential_setup', *owner),
        (
            'bootstrap',
            '--bootstrap-password=admin',
            f'--bootstrap-internal-url={url}',
            '--bootstrap-region-id=one',
        ),
    ):
        config = ('--config-file', str(folder / 'keystone.conf'))
        _in_a_fork(cli.main, ['keystone-manage', *config, *words])
    made.touch()


def _in_a_fork(
    run: typing.Callable[[list[str]], None], words: list[str]
) -> None:
    child = os.fork()
    if child == 0:
        try:
            run(words)
        except SystemExit as exc:
            os._exit(1 if exc.code else 0)
        except BaseException:  # noqa: BLE001 (printed)
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        sys.exit(f'{" ".join(words)} failed')


main()
