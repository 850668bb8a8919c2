# SPDX-License-Identifier: Apache-2.0
"""Scripts that complete the commands and their options in bash, zsh and fish.

They are made of words and their followers, and none needs a package beside its
shell. ``commands.py`` gives the words, for ``compute-agent complete``. Where the
script knows no word, it completes the names of files.
"""

from collections.abc import Callable, Iterator, Mapping

# The words of a command so far → what may follow, such as names and options.
Followers = Mapping[str, str]


def followers(options: Mapping[str, str]) -> Followers:
    """Return the words that may follow each beginning of a command.

    :param options: command → its options
    """
    found: dict[str, list[str]] = {}
    for command, own in options.items():
        words = command.split()
        for size, word in enumerate(words):
            known = found.setdefault(' '.join(words[:size]), [])
            if word not in known:
                known.append(word)
        found.setdefault(command, []).extend(own.split())
    return {words: ' '.join(found[words]) for words in sorted(found)}


def _bash(name: str, known: Followers) -> Iterator[str]:
    function = f'_{name.replace("-", "_")}'
    yield f'{function}() {{'
    yield '  local cur="${COMP_WORDS[COMP_CWORD]}" words="" word next'
    yield '  local -A followers=('
    yield from (f'    ["{"_" + w}"]="{f}"' for w, f in known.items())
    yield '  )'
    yield """\
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && continue
    next="${words:+$words }$word"
    [[ -n ${followers["_$next"]-} ]] && words=$next
  done
  local offered=${followers["_$words"]} plain="" one
  if [[ $cur != -* ]]; then
    for one in $offered; do [[ $one == -* ]] || plain+=" $one"; done
    offered=$plain
  fi
  if [[ -n $offered ]]; then
    COMPREPLY=($(compgen -W "$offered" -- "$cur"))
  else
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}"""
    yield f'complete -o filenames -F {function} {name}'


def _zsh(name: str, known: Followers) -> Iterator[str]:
    function = f'_{name.replace("-", "_")}'
    yield f'#compdef {name}'
    yield f'{function}() {{'
    yield '  local -A followers=('
    yield from (f"    '_{w}' '{f}'" for w, f in known.items())
    yield '  )'
    yield """\
  local said='' next word offered
  for word in ${words[2,CURRENT-1]}; do
    [[ $word == -* ]] && continue
    next="${said:+$said }$word"
    (( ${+followers[_$next]} )) && said=$next
  done
  offered=(${=followers[_$said]})
  [[ ${words[CURRENT]} == -* ]] || offered=(${offered:#-*})
  if (( $#offered )); then
    compadd -- $offered
  else
    _files
  fi
}"""
    # The file is in $fpath, or the user's shell sources it.
    yield f'if [[ $funcstack[1] == {function} ]]; then'
    yield f'  {function} "$@"'
    yield 'else'
    yield f'  compdef {function} {name}'
    yield 'fi'


def _fish(name: str, known: Followers) -> Iterator[str]:
    function = f'__{name.replace("-", "_")}'
    yield f'function {function}_followers'
    yield '  switch "$argv"'
    for words, offered in known.items():
        yield f"    case '{words}'"
        yield f"      printf '%s\\n' {offered}"
    yield '  end'
    yield 'end'
    yield f'function {function}'
    yield f"""\
  set -l said
  for word in (commandline -opc)[2..]
    string match -q -- '-*' $word; and continue
    set -l found ({function}_followers $said $word)
    test (count $found) -gt 0; and set said $said $word
  end
  set -l offered ({function}_followers $said)
  string match -q -- '-*' (commandline -ct)
  or set offered (string match -v -- '-*' $offered)
  if test (count $offered) -gt 0
    printf '%s\\n' $offered
  else
    __fish_complete_path (commandline -ct)
  end
end"""
    yield f"complete -c {name} -f -a '({function})'"


def _none(_name: str, known: Followers) -> Iterator[str]:
    yield from (f'{words}: {offered}' for words, offered in known.items())


SHELLS: Mapping[str, Callable[[str, Followers], Iterator[str]]] = {
    'bash': _bash,
    'fish': _fish,
    'none': _none,
    'zsh': _zsh,
}


def script(shell: str, name: str, options: Mapping[str, str]) -> str:
    """Return the script for a shell.

    :param shell: a key of ``SHELLS``
    :param name: of the program
    :param options: command → its options
    """
    lines = SHELLS[shell](name, followers(options))
    return '\n'.join([*lines, ''])
