# SPDX-License-Identifier: Apache-2.0
"""The command ``tree show``, and the drawing of a node's providers.

Begin with ``tree.py``; ``tree_view.py`` draws. The folder only reads from
placement.
"""
