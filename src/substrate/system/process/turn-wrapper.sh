#!/bin/sh
# Runs one turn of an agent and outlives the engine that started it.
#
#   turn-wrapper.sh DIRECTORY SECONDS MAX_BYTES --|--by-ps|--isolated COMMAND [ARGUMENT...]
#
#   DIRECTORY  absolute; holds `prompt` (the agent's stdin), receives `stdout`, `stderr`, `exit` and perhaps `ended-by`
#   SECONDS    after which the turn is ended (`ended-by` says wall). A clock that is set, or a machine that sleeps, ends
#              nothing early and nothing late
#   MAX_BYTES  size of stdout or of stderr beyond which the turn is ended (`ended-by` says flood)
#   --by-ps    processes are looked for by `ps`, as on a system without /proc
#   --isolated when COMMAND ends, the kernel has ended all that it started, so nothing needs to be looked for
#   fd 3       the engine writes "go" here once it has stored our pid. EOF instead: the engine died, so the agent never
#              runs and `exit` says never-started.
#
# Must lead its own process group, with SQUAD_TURN_ID in the environment. `exit` appears by rename, so it is there whole
# or not at all; the status of a program killed by signal N reads 128+N. Nothing here evaluates text that an agent wrote.

dir=$1 rest=$2 cap=$3 mode=$4
shift 4
self=$$
# The agent's own PATH may lack the standard tools or hold look-alikes; it still gets it unchanged.
tools=/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin:${PATH:-}

# record NAME TEXT. The recording process is ending: from here on group signals must not kill its `mv`. Written in place
# over the room reserved below: a full disk must not lose the status. Retried for a minute, as an engine frees space meanwhile.
record() {
  trap '' INT TERM HUP
  tries=60
  until printf '%-24s\n' "$2" 1<>"$dir/$1.tmp" && PATH=$tools mv -f "$dir/$1.tmp" "$dir/$1"; do
    [ -d "$dir" ] && [ "$((tries -= 1))" -gt 0 ] || return 1
    PATH=$tools sleep 1
  done
}

# find_marked: sets `found` to the pids of the other processes that carry our marker, wherever they moved to (setsid
# leaves the group, not the marker). The first grep is the cheap one, skipped where grep stops at a NUL (busybox); the
# second refuses a marker that ours merely begins. Not in a subshell: that would find itself.
find_marked() {
  marker=SQUAD_TURN_ID=${SQUAD_TURN_ID:-none}
  found=
  if [ "$mode" = --by-ps ]; then
    find_marked_by_ps
    return
  fi
  if printf 'a\0b' | PATH=$tools grep -qF b; then
    files=$(PATH=$tools grep -lF "$marker" /proc/[0-9]*/environ 2>/dev/null)
  else
    files=$(printf '%s ' /proc/[0-9]*/environ)
  fi
  for file in $files; do
    pid=${file#/proc/}
    pid=${pid%/environ}
    case $pid in "$$" | "$self") continue ;; esac
    PATH=$tools tr '\0' '\n' 2>/dev/null <"$file" | PATH=$tools grep -qxF "$marker" && found="$found $pid"
  done
}

# find_marked_by_ps: as above. `ps` shows an environment behind the arguments, which may look like one, so it is asked without and with
# environments; the one of macOS is asked in another way. Into files, because a subshell would be found too.
find_marked_by_ps() {
  (umask 077 && : >"$dir/processes" && : >"$dir/environments")
  list_processes -ww ww >"$dir/processes"
  list_processes -Eww eww >"$dir/environments"
  # shellcheck disable=SC2016
  PATH=$tools SQUAD_TURN_ID=${SQUAD_TURN_ID:-none} awk '
    { pid = $1; sub(/^ *[0-9]+ ?/, "") }
    NR == FNR { bare[pid] = $0; next }
    pid in bare && index($0, bare[pid]) == 1 {
      if (index(substr($0, length(bare[pid]) + 1) " ", " SQUAD_TURN_ID=" ENVIRON["SQUAD_TURN_ID"] " ")) print pid
    }' "$dir/processes" "$dir/environments" >"$dir/marked"
  while read -r pid; do
    case $pid in "$$" | "$self") continue ;; esac
    found="$found $pid"
  done <"$dir/marked"
  PATH=$tools rm -f "$dir/processes" "$dir/environments" "$dir/marked"
}

# list_processes FLAGS WORDS: pid and arguments of all processes, as macOS or as others are asked for them. Without our marker itself.
list_processes() {
  PATH=$tools env -i PATH="$tools" LC_ALL=C ps -A "$1" -o pid= -o command= 2>/dev/null ||
    PATH=$tools env -i PATH="$tools" LC_ALL=C ps "$2" -A -o pid= -o command= 2>/dev/null
}

# signal NAME: to every marked process but ourselves and the wrapper. `found` holds digits and blanks only.
signal() {
  find_marked
  for pid in $found; do kill "-$1" "$pid"; done
}

# After the exit status is recorded: ends everything that still runs, even without an engine. The last kill also ends us.
clear_out() {
  kill -KILL "$watcher" && wait "$watcher"
  kill -TERM "-$$"
  [ ! -e "$dir/checked" ] || PATH=$tools rm -f "$dir/checked"
  [ "$mode" = --isolated ] || clear_out_marked
  kill -KILL "-$$"
}

clear_out_marked() {
  signal TERM
  for second in 1 2 3 4 5; do
    find_marked
    [ -n "$found" ] || break
    PATH=$tools sleep 1
  done
  signal KILL
}

# await_exit SECONDS: true once the wrapper has recorded the status.
await_exit() {
  left=$1
  while [ ! -e "$dir/exit" ]; do
    [ "$left" -gt 0 ] || return 1
    left=$((left - 1))
    PATH=$tools sleep 1
  done
}

# end_turn REASON, by the watcher: the wrapper then sees the agent end and records its status. The group is killed,
# wrapper and all, only if that did not help (nothing to find the agent by).
end_turn() {
  record ended-by "$1"
  kill -TERM "-$$"
  signal TERM
  await_exit 5 && return
  signal KILL
  await_exit 2 || kill -KILL "-$$"
}

# read_seconds: sets `now` to a clock in seconds, without a process of its own where the kernel has a file for it.
read_seconds() {
  if IFS= read -r now </proc/uptime; then now=${now%%.*}; else now=$(PATH=$tools date +%s); fi
} 2>/dev/null

# is_larger: some output is larger than allowed. It starts a process only if output has grown since `checked` was written, and
# every tenth time, as the time stamps of files are coarse. `find` only looks at sizes; some `wc -c` read the whole file.
# Sets `nap`: while no output grows, the looks become rarer.
is_larger() {
  checks=$(((checks + 1) % 10))
  if [ ! -e "$dir/checked" ] || [ "$dir/stdout" -nt "$dir/checked" ] || [ "$dir/stderr" -nt "$dir/checked" ]; then
    nap=1
  else
    [ "$nap" -ge 10 ] || nap=$((nap + 1))
    [ "$checks" = 1 ] || return 1
  fi
  (umask 077 && : >"$dir/checked")
  large=$(PATH=$tools find "$dir/stdout" "$dir/stderr" -size "+${cap}c" 2>/dev/null)
  [ -n "$large" ]
}

# Enforces the limits. A group TERM takes the sleep, not us. An engine looks at the output more often; without one, a flood after a
# long silence is met up to ten seconds late.
watch_limits() {
  trap : TERM
  trap '' INT HUP
  self=$(exec /bin/sh -c 'printf %s "$PPID"')
  checks=0 nap=1
  read_seconds
  while [ ! -e "$dir/exit" ]; do
    if [ "$rest" -le 0 ]; then end_turn wall; return; fi
    [ "$nap" -le "$rest" ] || nap=$rest
    before=$now
    PATH=$tools sleep "$nap"
    read_seconds
    passed=$((${now:-0} - ${before:-0}))
    # A nap takes its seconds, and a few more where the machine is busy. Anything else is a clock that was set, or a machine that slept.
    [ "$passed" -ge 0 ] && [ "$passed" -le "$((nap + 4))" ] || passed=$nap
    rest=$((rest - passed))
    if is_larger; then end_turn flood; return; fi
  done
}

# Trapped, not ignored: we outlive signals to the group, while the agent starts with the default actions.
trap : INT TERM HUP

# A whole line: half of one is an engine that died while it wrote.
if ! IFS= read -r go <&3 || [ "$go" != go ] || [ ! -r "$dir/prompt" ]; then
  record exit never-started
  exit 0
fi
exec 3<&-

# For our user alone, without changing the umask that the agent inherits.
(
  umask 077
  : >"$dir/stdout"
  : >"$dir/stderr"
  printf '%-24s\n' reserved >"$dir/exit.tmp"
)
watch_limits &
watcher=$!
# In the foreground: a shell makes background commands deaf to SIGINT.
"$@" <"$dir/prompt" >>"$dir/stdout" 2>>"$dir/stderr"
record exit "$?"
clear_out
