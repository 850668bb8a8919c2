# SPDX-License-Identifier: Apache-2.0
"""Pages and pictures of the documentation that are made of the program.

``directives.py`` connects the pages with Sphinx, which ``make docs`` runs;
``metrics_page.py`` has the text of the page of metrics, and ``board.py`` the
panels of the Grafana board. These modules may import the agent; only
``docs/conf.py`` and the tests import them.
"""
