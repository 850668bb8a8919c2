# SPDX-License-Identifier: Apache-2.0
"""The rules in force, and their outcomes on the host.

The rules are read when the driver is made, and on a reload. The outcomes of
equal facts are the same, so they are kept until facts or rules change. The
driver makes this object; several threads may call it.
"""

import logging
import time
from collections.abc import Callable, Sequence

from compute_agent import errors
from compute_agent.tree import provider_tree
from compute_agent.virt import finding, rule_results

from ..facts.fact import Facts
from . import evaluate, findings, placing
from .files import rule_files
from .outcome import Outcome
from .vocabulary import Vocabulary

LOG = logging.getLogger(__name__)

Read = Callable[[], rule_files.RuleSet]


class Rules:
    """The rules in force.

    :ivar edition: how many sets of rules have been in force
    :param read: reads the set of all files
    :param clock: seconds, from any moment on
    :raises errors.ConfigError: a file has a mistake
    """

    def __init__(
        self,
        read: Read,
        words: Vocabulary,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._words = words
        self._clock = clock
        self._set = read()
        self.edition = 1
        self._kept: tuple[Facts, str, int, Sequence[Outcome]] | None = None
        for line in self._set.left_out:
            LOG.warning('%s', line)

    def reload(self) -> None:
        """Read the files again; if one cannot be used, the old set stays.

        :raises errors.ConfigError: a file has a mistake or cannot be trusted
        """
        found = self._read()
        if found.left_out:
            raise errors.SeveralMistakes(found.left_out)
        self._set = found
        self.edition += 1

    def outcomes(self, facts: Facts, node: str) -> Sequence[Outcome]:
        """Return the outcome of each rule that is on.

        :param node: the name of the node's root provider
        """
        edition, kept = self.edition, self._kept
        if kept is not None and kept[:3] == (facts, node, edition):
            return kept[3]
        run = evaluate.Evaluation(facts, self._words, node, self._clock)
        found = tuple(run.outcomes(self._set.rules))
        self._kept = (facts, node, edition, found)
        return found

    def place(
        self, tree: provider_tree.ProviderTree, nodename: str, facts: Facts
    ) -> None:
        """Put what the rules give into the node's tree."""
        found = self.outcomes(facts, tree.data(nodename).name)
        unread = '; '.join(self._set.left_out)
        placing.place(tree, nodename, found, unread)

    def findings(self, facts: Facts, node: str) -> list[finding.Finding]:
        """Return the evidence for each trait of the rules."""
        return findings.findings(self.outcomes(facts, node))

    def results(
        self, facts: Facts, node: str
    ) -> list[rule_results.RuleResult]:
        """Return the result of each rule, also of those that are off."""
        return findings.results(self._set.rules, self.outcomes(facts, node))
