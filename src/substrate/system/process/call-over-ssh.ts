import { spawn } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { SshAddress } from '../../../model/ssh-address.ts';
import type { ProgramKind } from '../../../model/programs.ts';

/** The person’s own settings decide on keys, host keys and jumps; squad is never asked for a password. */
const OPTIONS = ['BatchMode=yes', 'ConnectTimeout=20', 'ServerAliveInterval=15', 'ServerAliveCountMax=4'];
/** No word of a request is in it. A login shell, because agents and squad are often on the PATH of that alone. */
const COMMAND = 'exec "$SHELL" -l -c "exec squad receive"';
/** Longest line that answers, and longest message of ssh. */
const MOST_LINE = 64 * 1024 * 1024;
const MOST_SAID = 4096;

interface SshCall {
  readonly kind: ProgramKind;
  /** Where `ssh` is. */
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
  /** One line. */
  readonly request: string;
  /** A file that follows it. */
  readonly upload?: string;
  /** A file that is made of what follows the answer. */
  readonly download?: string;
  /** The line that answers begins with it; what a login prints before is skipped. */
  readonly marker: string;
}

/** `answer`: without its marker; undefined: none came. `code`: that of ssh, or of the program there. */
export interface SshAnswer {
  readonly answer: string | undefined;
  readonly code: number | null;
  readonly said: string;
}

/** Starts squad on another machine, gives it one request, and waits for its answer. Never rejects for what happens there. */
export async function callOverSsh({ host, user, port }: SshAddress, call: SshCall): Promise<SshAnswer> {
  const args = [
    ...OPTIONS.flatMap((option) => ['-o', option]),
    ...['-T', '-x', '-a'],
    ...(port === undefined ? [] : ['-p', String(port)]),
    ...(user === undefined ? [] : ['-l', user]),
    ...['--', host, COMMAND],
  ];
  const child = spawn(call.program, args, { cwd: '/', env: call.environment, stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (more: Buffer) => void (said = (said + more.toString()).slice(-MOST_SAID)));
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      said ||= error.message;
      resolve(null);
    });
    child.once('close', (code) => resolve(code));
  });
  // A broken pipe is an end, which the code tells.
  child.stdin.on('error', () => undefined);
  child.stdin.write(`${call.request}\n`);
  const sent = sendFile(child.stdin, call.upload);
  const answer = await readAnswer(child.stdout, call);
  const code = await ended;
  await sent;
  return { answer, code, said };
}

async function sendFile(into: NodeJS.WritableStream, path: string | undefined): Promise<void> {
  if (path === undefined) return void into.end();
  const file = createReadStream(path);
  file.pipe(into);
  await finished(file).catch(() => undefined);
  // Where the other end has gone, the file is not read to its end.
  into.end();
}

async function readAnswer(from: AsyncIterable<Buffer>, { marker, download }: SshCall): Promise<string | undefined> {
  let head = Buffer.alloc(0);
  let answer: string | undefined;
  const file = download === undefined ? undefined : createWriteStream(download, { mode: 0o600, flush: true });
  const whole = file && finished(file);
  for await (const chunk of from) {
    if (answer !== undefined) {
      if (file?.write(chunk) === false) await new Promise<void>((resolve) => void file.once('drain', () => resolve()));
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length > MOST_LINE) break;
    const found = lineIn(head, marker);
    if (found === undefined) continue;
    answer = found.line;
    file?.write(found.rest);
  }
  file?.end();
  await whole;
  return answer;
}

function lineIn(bytes: Buffer, marker: string): { readonly line: string; readonly rest: Buffer } | undefined {
  const from = bytes.indexOf(marker);
  const end = from === -1 ? -1 : bytes.indexOf('\n', from);
  if (end === -1) return undefined;
  return { line: bytes.subarray(from + marker.length, end).toString(), rest: bytes.subarray(end + 1) };
}
