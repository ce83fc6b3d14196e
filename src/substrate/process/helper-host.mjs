// Starts the engine's short helpers (git) for it: to start a process costs the one who does it time in proportion to its
// memory, and this program has little. A request a line on stdin, an answer a line on stdout, in any order.
// It ends with the engine, whatever ended that: its stdin closes then. What it has started runs on, as the engine's own
// helpers do, and is found by its marker; this program carries the folder that marks them too, so that the next engine ends
// it before it could start anything more.
import { eachLine, runChild } from './run-child.mjs';

const engine = process.ppid;
const send = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);
const end = () => process.exit(0);

// The engine decides when to end, and it may have much to finish after a first Ctrl-C or SIGTERM.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => undefined);
process.stdin.on('end', end).on('error', end);
process.stdout.on('error', end);

eachLine(process.stdin, (line) => {
  // It died with this request in the pipe.
  if (process.ppid !== engine) end();
  const { id, request } = JSON.parse(line);
  void runChild(request).then((answer) => send({ id, answer }));
});
send({ ready: true });
