# SPDX-License-Identifier: Apache-2.0
"""The steps from one version of the shared database to the next, for alembic.

``schema.py`` runs them. A step that was released is never changed.
"""
