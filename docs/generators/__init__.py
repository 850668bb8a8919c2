# SPDX-License-Identifier: Apache-2.0
"""Pages and pictures of the documentation that are made of the program.

``directives.py`` connects the pages with Sphinx, which ``make docs`` runs;
``metrics_page.py`` has the text of the page of metrics, and ``board.py`` the
panels of the Grafana board. ``board_picture.py`` draws them: a run of agents
(``eventful_day.py``) gives the metrics, a ``prometheus.py`` answers the
queries, and ``units.py`` writes the numbers. ``screens.py`` shows commands at
work. These modules may import the agent, and those of the picture
``tests/support``; only ``docs/conf.py``, the Makefile and the tests import
them.
"""
