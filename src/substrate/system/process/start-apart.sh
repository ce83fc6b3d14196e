#!/bin/sh
# Starts an MCP server or a hook of an agent apart from the agent's folder: in a new, empty one.
#
#   start-apart.sh PLACE FOLDER [NAME=VALUE...] -- COMMAND [ARGUMENT...]
#
#   PLACE       folder of this turn, which no agent can write; the empty folder is made in it
#   FOLDER      where the agent works: the command finds it in SQUAD_TASK_FOLDER
#   NAME=VALUE  a variable of the command; without a value: the command does not have it
#
# Becomes the command. 126: there is no empty folder; 127: there is no such command.

place=$1 folder=$2
shift 2
while [ "$1" != -- ]; do
  case $1 in
  *=) unset -v "${1%=}" ;;
  *) export "$1" ;;
  esac
  shift
done
shift

# A relative entry would be whatever the current folder has under that name, and an entry in FOLDER what the agent has put there.
clean='' rest=${PATH:-}:
while [ -n "$rest" ]; do
  entry=${rest%%:*} rest=${rest#*:}
  case $entry in
  "$folder" | "$folder"/*) ;;
  /*) clean=$clean:$entry ;;
  esac
done
PATH=${clean#:}
export PATH="${PATH:-/usr/bin:/bin}"

fail() {
  echo "squad: no empty folder can be made in $place" >&2
  exit 126
}

# Its name is free: pids begin again with every turn and return within one.
[ -d "$place" ] && [ ! -L "$place" ] || fail
number=0
until (umask 077 && PATH=/usr/bin:/bin:$PATH && mkdir "$place/$$.$number") 2>/dev/null; do
  number=$((number + 1))
  [ "$number" -lt 1000 ] || fail
done
cd "$place/$$.$number" || fail

# Nothing above is a repository of this command.
export SQUAD_TASK_FOLDER="$folder" GIT_CEILING_DIRECTORIES="$place"
unset -v OLDPWD CDPATH INIT_CWD
exec "$@"
