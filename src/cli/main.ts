// oxlint-disable-next-line import/no-unassigned-import -- before any schema is made
import './short-command.ts';
import { redactorOf } from '../model/redaction/redactor.ts';
import { armFailpoints } from '../substrate/failpoint.ts';
import { readMachine } from '../squad/machine.ts';
import { createOutput } from './output.ts';
import { runProgram } from './run-program.ts';

/* The entry of the command line, and the only place that sets how the process ends. */
const host = readMachine();
const output = createOutput(process.stdout, process.stderr, redactorOf(host.environment, []), host.environment['TERM']);
// Tests crash squad at a chosen instant with this; it is read nowhere else.
armFailpoints(host.environment['SQUAD_FAILPOINTS'] ?? '');
await runProgram(process.argv, { host, output, exit: (code) => void (process.exitCode = code) });
