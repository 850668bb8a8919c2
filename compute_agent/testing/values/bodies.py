# SPDX-License-Identifier: Apache-2.0
"""The value inside of an answer: of a text, or of a client's response.

A response is a stream that can be read once, as ``urllib.request`` returns
it, or an object that has its whole content, as ``requests`` and ``httpx``
return it. A text that is JSON or YAML has a value, too. ``seam.py`` makes bad
answers of these values, ``alterations.py`` makes other true ones.
"""

import copy
import io
import json
from collections.abc import Callable, Iterator
from typing import Any, Self

import yaml

_CONTENT = '_content'  # the bytes of a response of requests or httpx
_CODE = 'latin-1'  # which has a letter for each byte
_LARGEST = 1_000_000  # characters of a text that is looked at


class _Replayed:
    """A response that was read, and is read again by the driver.

    It has the attributes of the response itself.
    """

    def __init__(self, response: Any, content: str | bytes) -> None:
        self._response = response
        self.replayed = content
        self._stream: Any = (
            io.StringIO(content)
            if isinstance(content, str)
            else io.BytesIO(content)
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._response, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._stream)

    def close(self) -> None:
        """Close the response."""
        self._response.close()

    def read(self, *size: Any, **_: Any) -> Any:
        """Return at most so much of the content; without a size, the rest."""
        return self._stream.read(*size)

    def read1(self, *size: Any) -> Any:
        """Return at most so much of the content; without a size, the rest."""
        return self._stream.read(*size)

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; return the number of bytes."""
        found: int = self._stream.readinto(buffer)
        return found

    def readline(self, *size: Any) -> Any:
        """Return the next line."""
        return self._stream.readline(*size)

    def readlines(self, *hint: Any) -> list[Any]:
        """Return the other lines."""
        return list(self._stream.readlines(*hint))


def kept(answer: Any) -> Any:
    """Return an answer that can be looked at before the driver reads it."""
    if isinstance(answer, _Replayed) or not _is_stream(answer):
        return answer
    return _Replayed(answer, answer.read())


def text(answer: Any) -> str | bytes | None:
    """Return the text of an answer of ``kept``; None if there is no text."""
    if isinstance(answer, str | bytes):
        return answer
    if isinstance(answer, _Replayed):
        return answer.replayed
    content = getattr(answer, _CONTENT, None)
    has = hasattr(type(answer), 'content') and isinstance(content, bytes)
    return content if has else None


def with_text(answer: Any, content: str | bytes) -> Any:
    """Return an answer with another text."""
    if isinstance(answer, str | bytes):
        return content
    if isinstance(answer, _Replayed):
        return _Replayed(answer._response, content)  # noqa: SLF001 (own class)
    changed = copy.copy(answer)
    setattr(changed, _CONTENT, content)
    return changed


def is_response(answer: Any) -> bool:
    """Return True for the response of a client, which has a text inside."""
    return not isinstance(answer, str | bytes) and text(answer) is not None


def opened(
    answer: Any, *, by_line: bool = False
) -> tuple[Any, Callable[[Any], Any]]:
    """Return the value inside of an answer, and the function that wraps one.

    The value of an answer without a text, or whose text is neither JSON nor
    YAML of several values, is the answer itself.

    :param by_line: the value of any other text of several lines is the list of
        its lines
    """
    found = text(answer)
    if found is None or len(found) > _LARGEST:
        return answer, lambda value: value
    loaded, dump = _loaded(found)
    if dump is None and by_line and len(found.splitlines()) > 1:
        loaded, dump = _lines(found), ''.join
    if dump is None:
        return found, lambda value: with_text(answer, value)

    def closed(value: Any) -> Any:
        said = dump(value)
        return with_text(
            answer, said.encode(_CODE) if isinstance(found, bytes) else said
        )

    return loaded, closed


def edited(answer: Any, edit: Callable[[Any], Any]) -> Any:
    """Return an answer with another value inside."""
    value, closed = opened(kept(answer))
    return closed(edit(value))


def _loaded(found: str | bytes) -> tuple[Any, Callable[[Any], str] | None]:
    """Return the value of a text, and the function that writes it, or None."""
    for load, dump in (
        (json.loads, json.dumps),
        (_from_yaml, _dumped),
    ):
        try:
            loaded = load(found)
        except (ValueError, RecursionError, yaml.YAMLError):
            continue
        if isinstance(loaded, dict | list):
            return loaded, dump
    return None, None


def _from_yaml(found: str | bytes) -> Any:
    """Return the value of a YAML text that has each of its keys once.

    :raises ValueError: a key comes twice, so the text is probably no YAML
    """
    loaded = yaml.safe_load(found)
    said = [one.strip() for one in _lines(found)]
    rows = [one for one in said if one and not one.startswith('#')]
    if len(_dumped(loaded).splitlines()) < len(rows):
        raise ValueError('a key is there twice')
    return loaded


def _lines(found: str | bytes) -> list[str]:
    text = found.decode(_CODE) if isinstance(found, bytes) else found
    return text.splitlines(keepends=True)


def _dumped(value: Any) -> str:
    """Return a value as YAML, in its order."""
    found: str = yaml.safe_dump(value, sort_keys=False)
    return found


def _is_stream(answer: Any) -> bool:
    return callable(getattr(answer, 'read', None)) and hasattr(answer, 'close')
