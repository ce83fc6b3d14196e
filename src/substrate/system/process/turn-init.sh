#!/bin/sh
# Process 1 of a turn's PID namespace: when it ends, the kernel ends everything that the turn has started.
#
#   turn-init.sh LAST_PID COMMAND [ARGUMENT...]
#
#   LAST_PID  pids start after this number. If every turn used the same small pids, files that programs name by pid would
#             collide. Setting it needs a privilege; without it pids start at 2
#
# Exits with the status of the command; 128+N if signal N killed it. 125: this is not process 1.

# Outside of a namespace, the last step would signal every process of the user.
[ "$$" = 1 ] || exit 125

# Ignore signals to the group; the command still starts with the default actions. Keep own messages out of its stderr.
trap : INT TERM HUP
exec 3>&2 2>/dev/null

{ printf %s "$1" >/proc/sys/kernel/ns_last_pid; }
shift
(exec "$@" 2>&3 3>&-)
status=$?

# Remaining processes get a moment to end by themselves, for example so that git removes its lock files. Each wait for a child
# also reaps those that have ended; the first one, for a child that does nothing, is enough where only these are left.
tools=/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin:${PATH:-}
tries=25
kill -TERM -1
(:)
while kill -0 -1 && [ "$((tries -= 1))" -ge 0 ]; do
  nap=0.05
  [ "$tries" -lt 20 ] || nap=0.01
  PATH=$tools sleep "$nap" || tries=0
done
exit "$status"
