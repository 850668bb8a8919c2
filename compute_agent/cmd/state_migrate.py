# SPDX-License-Identifier: Apache-2.0
"""``compute-agent state migrate``: moves a record to a shared database, and back.

Without a record to move, it makes the tables of the database.

A record moves as a whole, and is in one place afterwards: a share that a
directory took back is empty, and a directory whose record moved into a database
follows that. ``record_move.py`` carries it out.
"""

import argparse
import pathlib
import re

from .. import errors
from .app import command, configuration, confirm

_GROUP = 'compute_agent'
_PASSWORD = re.compile(r'://[^/]*:[^/]*@')


class StateMigrate(command.Report):
    """Make the tables of the shared database, or move a record there or back.

    Without --from and --to, the tables of [compute_agent] state_connection are
    made, or migrated to this version. With them, the record of a state
    directory moves into a shared database, or the record of a share moves into
    a state directory. The command shows what it would do, and asks. No daemon
    of the share may run.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the two places, and the share."""
        parser.add_argument(
            '--from',
            dest='source',
            metavar='DIR|URL',
            help='Where the record is: a state directory, or the URL of a '
            'shared database (default: [compute_agent] state_connection).',
        )
        parser.add_argument(
            '--to',
            dest='target',
            metavar='DIR|URL',
            help='Where it shall be: the other one of the two (default: '
            '[compute_agent] state_connection).',
        )
        parser.add_argument(
            '--share',
            help='The share (default: [compute_agent] share, or the driver '
            'with its filter).',
        )
        confirm.add_option(parser)

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Show the plan, ask, and carry it out."""
        conf = configuration.load(self.app.global_options, local=True)
        places = [parsed_args.source, parsed_args.target]
        directories = [p for p in places if p is not None and '://' not in p]
        urls = [p for p in places if p is not None and '://' in p]
        if any(_PASSWORD.search(url) for url in urls):
            raise errors.ConfigError(
                'everybody on this host sees the password in the arguments of '
                'a command: set [compute_agent] state_connection, and leave '
                'the URL out'
            )
        if len(directories) > 1 or len(urls) > 1:
            raise errors.ConfigError(
                'a record moves between a state directory and a shared '
                'database: give a directory (DIR) and a URL (with "://")'
            )
        for name, value in (
            ('state_connection', urls and urls[0]),
            ('share', parsed_args.share),
        ):
            if value:
                conf.set_override(name, value, _GROUP)
        if not conf.compute_agent.state_connection:
            raise errors.ConfigError(
                'no shared database is configured: set [compute_agent] '
                'state_connection, or give a URL'
            )
        from . import record_move  # noqa: PLC0415 (an extra)

        if not directories:
            return record_move.tables(self, conf, yes=parsed_args.yes)
        directory = pathlib.Path(directories[0])
        return record_move.move(
            self,
            conf,
            directory,
            is_back=parsed_args.target == directories[0],
            yes=parsed_args.yes,
        )
