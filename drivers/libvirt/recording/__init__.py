# SPDX-License-Identifier: Apache-2.0
"""Recorded hosts: what a description read, as files that can be read again.

Not pure: begin with ``raw_evidence.py``, which ``probe --raw`` asks for. It
describes the host with sources that remember their answers;
``libvirt_answers.py`` remembers those of libvirt, and ``redaction.py`` replaces
serial numbers, addresses and names. Tests read the files again
(``tests/support/recorded_sources.py``). The folder may import ``reading``.
"""
