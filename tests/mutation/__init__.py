# SPDX-License-Identifier: Apache-2.0
"""Tests of the tests: do they notice a defect?

``planted`` lists known defects and ``planting`` runs the tests that must
notice them: ``make test-planted``. ``small_changes`` runs mutmut, which makes
every small change to the modules that read, plan and apply: ``make mutmut``.
"""
