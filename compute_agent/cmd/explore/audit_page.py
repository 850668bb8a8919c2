# SPDX-License-Identifier: Apache-2.0
"""The page of findings and their repair: the answer of ``audit``."""

import io

from oslo_config import cfg

from ...audit import cloud, finding
from ..audit import audit, audit_view
from . import slow
from .this_agent import Data

_QUIET = 3600  # seconds, as the command has them


class Audit:
    """An audit of the whole cloud, which may take long.

    :param conf: as ``audit.load_conf`` returns it
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf
        self._slow = slow.Slow[Data](60.0, 2)

    def data(self, *, everything: bool) -> Data:
        """Return the findings by kind, as ``audit -f json`` has them.

        :param everything: read all inventories and allocations

        :raises errors.AgentError: placement did not answer
        :raises slow.Pending: the audit takes longer than a page waits
        """
        return self._slow.get(
            everything, lambda: self._audit(everything=everything)
        )

    def _audit(self, *, everything: bool) -> Data:
        run = audit.Auditing(
            self._conf,
            cloud.Choices(included=frozenset(), quiet=_QUIET),
            everything=everything,
            actor='',
            err=io.StringIO(),
        )
        found = run.data(run.audit(), [])
        results = found['results']
        return {
            **found,
            'everything': everything,
            'text': audit_view.asked(run.gathered.cloud),
            'kinds': [
                {
                    'title': audit_view.TITLES[kind],
                    'level': level.value,
                    'results': same,
                }
                for level in finding.Level
                for kind in finding.Kind
                if (
                    same := [
                        one
                        for one in results
                        if (one['kind'], one['level'])
                        == (kind.value, level.value)
                    ]
                )
            ],
        }
