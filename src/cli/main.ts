import { createRequire } from 'node:module';
import { errorText, isSquadError } from '../model/errors.ts';
import { redactorOf } from '../model/redaction/redactor.ts';
import { armFailpoints } from '../substrate/failpoint.ts';
import { readHost } from './host.ts';
import { createOutput } from './output.ts';
import { errorLine, wasPrinted } from './error-line.ts';
import { CommanderError, createProgram } from './program.ts';
import { errorBlock } from './render/error-text.ts';
import { plainLine } from '../text/plain-text.ts';

/** The entry of the command line, and the only place that sets how the process ends. */
async function main(): Promise<void> {
  const host = readHost();
  const output = createOutput(process.stdout, process.stderr, redactorOf(host.environment, []));
  // Tests crash squad at a chosen instant with this; it is read nowhere else.
  armFailpoints(host.environment['SQUAD_FAILPOINTS'] ?? '');
  const program = createProgram({ host, output, exit: (code) => void (process.exitCode = code) }, version());
  let json = wantsJson(process.argv);
  program.hook('preAction', (_, command) => void (json = command.opts()['json'] === true));
  try {
    await program.parseAsync(process.argv);
  } catch (error) {
    process.exitCode = report(error);
  }

  function report(error: unknown): number {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    if (json && !wasPrinted(error)) output.json(errorLine(error));
    if (error instanceof CommanderError) return 2;
    if (isSquadError(error)) {
      output.problem(`squad: ${errorBlock(error.message)}`);
      if (error.next !== undefined) output.problem(`Next: ${plainLine(error.next, 500)}`);
      return error.exitCode;
    }
    output.problem(`squad: a bug: ${plainLine(errorText(error), 2000)}`);
    output.problem(plainLine(error instanceof Error ? (error.stack ?? '') : '', 4000));
    return 1;
  }
}

/** Prints an error in the command line itself, which prevents every command. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? undefined : end).includes('--json');
}

function version(): string {
  const { version: text } = createRequire(import.meta.url)('agentsquad/package.json') as { version: string };
  return text;
}

await main();
