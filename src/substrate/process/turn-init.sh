#!/bin/sh
# Process 1 of a turn's PID namespace: when it ends, the kernel ends everything that the turn has started.
#
#   turn-init.sh LAST_PID COMMAND [ARGUMENT...]
#
#   LAST_PID  the pids that follow are given first: with the same small ones in every turn, files that programs name by their
#             pid would be the same files. Needs a privilege; without it pids begin at 2
#
# Ends with the status of the command; a program killed by signal N reads 128+N. 125: this is no process 1.

# What is done at the end would otherwise be done to every process of the user.
[ "$$" = 1 ] || exit 125

# Outlives signals to the group, while the command starts with the default actions; and says nothing itself in its stderr.
trap : INT TERM HUP
exec 3>&2 2>/dev/null

{ printf %s "$1" >/proc/sys/kernel/ns_last_pid; }
shift
(exec "$@" 2>&3 3>&-)
status=$?

# What is left gets a moment to end by itself: a git, to remove its lock files. To sleep also buries what has ended.
tools=/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin:${PATH:-}
tries=20
kill -TERM -1
while kill -0 -1 && [ "$((tries -= 1))" -ge 0 ]; do
  PATH=$tools sleep 0.05 || tries=0
done
exit "$status"
