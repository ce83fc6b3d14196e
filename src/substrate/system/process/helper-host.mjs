// Starts the engine's short helpers (git). Starting a process takes time in proportion to the memory of the process that
// starts it, and this program has little. Reads one request per line on stdin and writes one answer per line, in any order.
// It ends with the engine, whose end closes its stdin. Helpers that it started keep running, as the engine's own do, and are
// found by their marker. This program carries the folder that marks them, so the next engine ends it too.
import { eachLine, runChild } from './run-child.mjs';

const engine = process.ppid;
const send = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);
const end = () => process.exit(0);

// The engine decides when to end. After a first Ctrl-C or SIGTERM it may still have work to finish.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => undefined);
process.stdin.on('end', end).on('error', end);
process.stdout.on('error', end);

eachLine(process.stdin, (line) => {
  // The engine died and left this request in the pipe.
  if (process.ppid !== engine) end();
  const { id, request } = JSON.parse(line);
  void runChild(request).then((answer) => send({ id, answer }));
});
send({ ready: true });
