# SPDX-License-Identifier: Apache-2.0
"""Pure parts of the pages: who may ask, and the texts and places on a page.

No module here does I/O, reads the configuration, logs or knows the time.
``gate.py`` lets a browser in; ``amounts.py``, ``traits.py`` and ``picture.py``
compute what a page shows. The folder imports ``tree/`` only.
"""
