import { readFileSync, unlinkSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { errorText, isSquadError, SquadError, usageError } from '../../model/errors.ts';
import { errorCode, storageError } from '../../model/storage-error.ts';
import { BEAT_MS } from '../../model/mail/times.ts';
import { turnFileSchema, type TurnFile } from '../../model/mail/turn-file.ts';
import { createRedactor } from '../../model/redaction/redactor.ts';
import { createSystemClock } from '../../substrate/system/clock/system-clock.ts';
import { armFailpoints } from '../../substrate/system/failpoint.ts';
import { openLedger } from '../../substrate/ledger/index.ts';
import { MOST_LINE_BYTES, serveTools } from './serve-tools.ts';
import { createMailTools } from './server.ts';
import { version } from '../version.ts';

/** How often to look for the parent: another child of it may keep the pipe open after it has gone. */
const PARENT_LOOK_MS = 2_000;

/** The mail server of one turn, in its own process. stdout has only the protocol; problems go to stderr. */
function main(): void {
  // Read this first: the parent may end before the ledger is open.
  const parent = process.ppid;
  // Tests crash squad at a chosen instant with this; it is read nowhere else.
  armFailpoints(process.env['SQUAD_FAILPOINTS'] ?? '');
  const { directory, token, secrets, words } = takeTurnFile(turnFileOf(process.argv.slice(2)));
  const clock = createSystemClock();
  const redactor = createRedactor([], secrets);
  const ledger = openLedger(directory, { clock, redactor: () => redactor });
  const end = (): void => {
    ledger.close();
    process.exit();
  };
  const { mail } = ledger;
  const bearer = () => mail.bearer(token);
  const beat = (): void => {
    const party = bearer();
    if (party !== undefined) mail.beat(party);
    // The turn is over, and its server ends soon.
    else clearInterval(beating);
  };
  const beating = setInterval(beat, BEAT_MS);
  const party = bearer();
  if (party !== undefined) mail.register(party);
  setInterval(() => (process.ppid === parent ? undefined : end()), PARENT_LOOK_MS);
  process.stdout.on('error', end);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end);
  const tools = createMailTools({ mail, words, now: () => clock.now(), bearer });
  const { stdin: input, stdout: output } = process;
  serveTools({ input, output, mostLineBytes: MOST_LINE_BYTES, end, report }, tools, version());
}

function turnFileOf(given: readonly string[]): string {
  // `squad mcp --turn-file …` also passes the name of the command.
  const { values } = parseArgs({
    args: [...given],
    options: { 'turn-file': { type: 'string' } },
    allowPositionals: true,
  });
  const path = values['turn-file'];
  if (path !== undefined) return path;
  throw usageError(
    'squad mcp needs --turn-file: it serves one turn of a run, and squad itself starts it',
    'For your own mail there is `squad mail`.',
  );
}

/**
 * Reads and removes the file of a turn, before the agent does anything. Throws `usage` if it was taken before, `storage-full` or
 * `storage-refused` if the disk fails.
 */
function takeTurnFile(path: string): TurnFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw storageError(path, error);
    throw new SquadError({
      code: 'usage',
      message: `${path} is not there: the mail server of this turn has started before, or this is no turn of a run`,
      next: 'Nothing: squad starts one such server for each turn. For your own mail there is `squad mail`.',
      cause: error,
    });
  }
  return parseTurn(path, text);
}

function parseTurn(path: string, text: string): TurnFile {
  try {
    return turnFileSchema.parse(JSON.parse(text));
  } catch (error) {
    // The text has a secret, so the error does not repeat it.
    throw new SquadError({
      code: 'bad-input',
      message: `${path} is damaged: it names no workspace and token`,
      cause: error,
    });
  }
}

function report(error: unknown): void {
  const next = isSquadError(error) && error.next !== undefined ? `\nNext: ${error.next}` : '';
  process.stderr.write(`squad mcp: ${errorText(error)}${next}\n`);
}

try {
  main();
} catch (error) {
  report(error);
  process.exitCode = isSquadError(error) ? error.exitCode : 1;
}
