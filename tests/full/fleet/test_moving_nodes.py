# SPDX-License-Identifier: Apache-2.0
"""Nodes that move between shares, on real servers.

In the cluster, the two shares use two servers.
"""

import moving_nodes
import moving_nodes_cases
import pytest

pytestmark = pytest.mark.long


class TestPostgreSQL(moving_nodes_cases.Cases):
    """All of them, on PostgreSQL."""

    @pytest.fixture
    def engine(self, pair, opened):
        pair.new_database('fleet')
        return opened(pair.url('fleet'))


class TestGalera(moving_nodes_cases.Cases):
    """All of them, on a cluster of three."""

    @pytest.fixture
    def engine(self, galera, opened):
        galera.new_database('fleet')
        galera.wait_for_all()
        return opened(galera.url('fleet'))

    @pytest.fixture
    def engines(self, galera, engine, opened):
        del engine
        url = galera.url('fleet', galera.address(1))
        return {moving_nodes.RACK2: opened(url)}
