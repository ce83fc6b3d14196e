// Before any schema is made.
import { IS_SHORT } from './short-command.ts';
import type { Host } from '../engine/machine.ts';
import { SquadError } from '../model/errors.ts';
import { redactorOf } from '../model/redaction/redactor.ts';
import { armFailpoints } from '../substrate/system/failpoint.ts';
import { readMachine } from '../squad/machine.ts';
import { decideEndCode } from './end-code.ts';
import type { CommandContext } from './command-context.ts';
import { takesLinks } from './render/links.ts';
import { createOutput } from './output.ts';
import { plainLine } from '../text/plain-text.ts';
import { localeOf } from './render/ascii.ts';
import { brokenOff, reportError, runProgram, UNFINISHED } from './run-program.ts';

const LONGEST_LAST_WORD_MS = 5_000;

/* The entry of the command line, and the only place that sets how the process ends. */
const machine = readHere();
const environment = machine.host?.environment ?? {};
const redactor = redactorOf(environment, []);
const output = createOutput(
  process.stdout,
  process.stderr,
  redactor,
  environment['TERM'],
  localeOf(environment),
  takesLinks(environment),
);
// Tests crash squad at a chosen instant with this; it is read nowhere else.
armFailpoints(environment['SQUAD_FAILPOINTS'] ?? '');
const engines: NonNullable<CommandContext['engines']> = new Map();
let isBroken = false;
process.on('uncaughtException', (error) => void endBroken(error));
let code = 0;
const exit = (given: number): void => void (code = given);
let leaves = IS_SHORT;
const leave = (): void => void (leaves = true);
const noEnd = (): void => {
  process.exitCode = reportError(new SquadError(UNFINISHED), process.argv, output);
};
process.once('beforeExit', noEnd);
const command =
  machine.host === undefined
    ? exit(reportError(machine.error, process.argv, output))
    : await runProgram(process.argv, { host: machine.host, output, exit, leave, engines });
// A reader may be slow; and only what is out counts.
await Promise.all([process.stdout, process.stderr].map(written));
process.off('beforeExit', noEnd);
process.exitCode = decideEndCode(command ?? '', code, output.isLost());
// Node would wait for code that it still optimizes, and nothing runs that code any more.
if (leaves || asksForName()) setImmediate(endProcess);

/** Nothing is known of squad any more, so the engine ends at once, as after a SIGKILL. Only its turns are named. */
async function endBroken(thrown: Error): Promise<void> {
  if (isBroken) return;
  isBroken = true;
  const error = brokenOff(thrown);
  setTimeout(() => endProcess(error.exitCode), LONGEST_LAST_WORD_MS);
  try {
    const left = await Promise.all([...engines.keys()].map(async (running) => running.leftTurns()));
    const code = reportError(error, process.argv, output);
    for (const text of left) if (text !== undefined) output.problem(`note: ${plainLine(text, 2000)}`);
    output.problem(plainLine(thrown.stack ?? '', 4000));
    for (const leave of engines.values()) leave(error);
    await Promise.all([process.stdout, process.stderr].map(written));
    endProcess(code);
  } catch {
    // The timer ends it.
  }
}

/** A name server that does not answer keeps a thread for half a minute, and nothing of squad waits for it any more. */
function asksForName(): boolean {
  return process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap');
}

/** `process.exit` would wait for that thread. */
function endProcess(code: string | number = process.exitCode ?? 0): void {
  if (asksForName()) process.execve?.('/bin/sh', ['sh', '-c', `exit ${Number(code)}`], {});
  process.exit(code);
}

/** Resolves when all that was written before is out, or is lost. */
async function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => void stream.write('', () => resolve()));
}

function readHere(): { readonly host: Host } | { readonly host?: undefined; readonly error: unknown } {
  try {
    return { host: readMachine() };
  } catch (error) {
    return { error };
  }
}
