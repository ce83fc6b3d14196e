// Before any schema is made.
import { IS_SHORT } from './short-command.ts';
import { redactorOf } from '../model/redaction/redactor.ts';
import { armFailpoints } from '../substrate/failpoint.ts';
import { readMachine } from '../squad/machine.ts';
import { createOutput } from './output.ts';
import { localeOf } from './render/ascii.ts';
import { runProgram } from './run-program.ts';

/* The entry of the command line, and the only place that sets how the process ends. */
const host = readMachine();
const { environment } = host;
const redactor = redactorOf(environment, []);
const output = createOutput(process.stdout, process.stderr, redactor, environment['TERM'], localeOf(environment));
// Tests crash squad at a chosen instant with this; it is read nowhere else.
armFailpoints(host.environment['SQUAD_FAILPOINTS'] ?? '');
await runProgram(process.argv, { host, output, exit: (code) => void (process.exitCode = code) });
if (IS_SHORT) {
  // Node would wait for code that it still optimizes, and nothing runs that code any more.
  await Promise.all([process.stdout, process.stderr].map(written));
  setImmediate(() => process.exit());
}

/** A reader may be slow. That a write failed is heard of as well. */
async function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => void stream.write('', () => resolve()));
}
