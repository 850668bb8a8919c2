# SPDX-License-Identifier: Apache-2.0
"""The file of the report of ``driver check``.

The rules take minutes, so a folder that cannot be written is refused before
they are checked. The file is replaced as a whole: a reader never sees half.
"""

import json
import os
import pathlib
import tempfile
from typing import Any

from ... import errors


class ReportFile:
    """The file that gets the report; a device or a pipe is written to."""

    def __init__(self, path: str) -> None:
        """Find the file.

        :raises errors.ConfigError: it cannot be written
        """
        self._given = path
        # A symbolic link stays; the file that it names is replaced.
        self._path = pathlib.Path(os.path.realpath(path))
        try:
            is_folder = self._path.is_dir()
            if self._is_replaced:
                tempfile.TemporaryFile(dir=self._path.parent).close()
        except OSError as exc:
            raise self._unwritable(exc.strerror) from exc
        if is_folder:
            raise self._unwritable('it is a folder')

    def write(self, report: dict[str, Any]) -> None:
        """Write the report.

        :raises errors.ConfigError: it cannot be written
        """
        text = json.dumps(report, indent=2, ensure_ascii=False)
        try:
            if self._is_replaced:
                self._replace(f'{text}\n')
            else:
                self._path.write_text(f'{text}\n', 'utf-8')
        except OSError as exc:
            raise self._unwritable(exc.strerror) from exc

    @property
    def _is_replaced(self) -> bool:
        return self._path.is_file() or not self._path.exists()

    def _replace(self, text: str) -> None:
        beside = self._path.with_name(f'.{self._path.name}.{os.getpid()}')
        try:
            beside.write_text(text, 'utf-8')
            beside.replace(self._path)
        finally:
            beside.unlink(missing_ok=True)

    def _unwritable(self, why: str | None) -> errors.ConfigError:
        return errors.ConfigError(
            f'--json: {self._given} cannot be written: {why}'
        )
