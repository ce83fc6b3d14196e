import { createReadStream } from 'node:fs';
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { badInput, isSquadError, SquadError, wrongEnvironment } from '../../model/errors.ts';
import { parseJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import type { Place } from '../open-workspace.ts';
import { localSide } from './local-side.ts';
import { ANSWER, envelopeSchema, moveRequestSchema, type MoveRequest } from './move-messages.ts';

interface AnswerOptions {
  /** The program that starts an engine. */
  readonly squad: readonly string[];
  /** That of squad here. */
  readonly version: string;
  readonly input: AsyncIterable<Buffer>;
  readonly output: NodeJS.WritableStream;
}

const MOST_REQUEST = 64 * 1024 * 1024;

/** Answers the one request of another machine’s `squad move`, which came by ssh. A refusal is an answer, too. */
export async function answerMove(place: Place, options: AnswerOptions): Promise<void> {
  const { output } = options;
  try {
    const input = options.input[Symbol.asyncIterator]();
    const { line, rest } = await readLine(input);
    const { request, path } = parseRequest(line, options.version);
    const { host } = place;
    const at = { ...place, host: { ...host, workingDirectory: await folderAt(path, host.userHome) } };
    const { answer, file } = await carryOut(at, request, { input, rest }, options);
    await write(output, lineOf(answer));
    if (file !== undefined) for await (const chunk of createReadStream(file)) await write(output, chunk as Buffer);
  } catch (error) {
    if (!isSquadError(error)) throw error;
    const { code, message, next } = error;
    await write(output, lineOf({ failed: { code, message, ...(next === undefined ? {} : { next }) } }));
  }
}

function lineOf(answer: object): string {
  return `${ANSWER}${JSON.stringify(answer)}\n`;
}

/** Returns once it is out: a slow reader holds up what follows. */
async function write(output: NodeJS.WritableStream, what: string | Buffer): Promise<void> {
  await new Promise<void>((resolve) => void output.write(what, () => resolve()));
}

interface Given {
  readonly input: AsyncIterator<Buffer>;
  /** Bytes that came with the line and follow it. */
  readonly rest: Buffer;
}

async function readLine(input: AsyncIterator<Buffer>): Promise<{ readonly line: string; readonly rest: Buffer }> {
  let head = Buffer.alloc(0);
  while (head.length <= MOST_REQUEST) {
    const end = head.indexOf('\n');
    if (end !== -1) return { line: head.subarray(0, end).toString(), rest: head.subarray(end + 1) };
    const { value, done } = await input.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  throw badInput('no request came', '`squad move` starts this on another machine.');
}

function parseRequest(line: string, version: string): { readonly request: MoveRequest; readonly path: string } {
  const envelope = envelopeSchema.safeParse(parseJson(line)).data;
  if (envelope === undefined)
    throw badInput('the request cannot be read', '`squad move` starts this on another machine.');
  if (envelope.squad !== version)
    throw wrongEnvironment(
      `squad ${version} is here, and ${plainLine(envelope.squad, 40)} on the machine that moves the runs`,
      'Install the same version on both machines.',
    );
  const request = moveRequestSchema.safeParse(envelope.request).data;
  if (request === undefined) throw badInput('the request cannot be read', 'Install squad on both machines again.');
  return { request, path: envelope.path };
}

/** `/~/`: below the home of the user. */
async function folderAt(path: string, home: string): Promise<string> {
  const folder = path.startsWith('/~/') ? join(home, path.slice(3)) : path;
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) return folder;
  throw new SquadError({
    code: 'not-a-repository',
    message: `there is no folder ${plainLine(folder, 500)}`,
    next: 'Clone the repository there first.',
  });
}

interface Answer {
  readonly answer: object;
  /** Follows it. */
  readonly file?: string;
}

async function carryOut(place: Place, request: MoveRequest, given: Given, { squad }: AnswerOptions): Promise<Answer> {
  // Over ssh there is no one to read that it waits.
  const side = localSide(place, { squad, onWait: () => undefined });
  switch (request.ask) {
    case 'look':
      return { answer: await side.look(request.coming) };
    case 'pack':
      return { answer: await side.pack(request.move, request.other, request.now) };
    case 'send': {
      const file = await side.fetch(request.move);
      return { answer: { bytes: (await stat(file)).size }, file };
    }
    case 'take':
      return { answer: { id: await receive(place, request, given, side.take.bind(side)) } };
    case 'commit':
      await side.commit(request.move, request.other);
      return { answer: {} };
    case 'go-back':
      await side.goBack(request.move);
      return { answer: {} };
    case 'discard':
      await side.discard(request.move);
      return { answer: {} };
    case 'begin':
      return { answer: await side.begin(request.move, request.run) };
    case 'done':
      await side.done(request.move);
      return { answer: {} };
  }
}

async function receive(
  { host }: Place,
  { move, other, bytes, agreed }: Extract<MoveRequest, { readonly ask: 'take' }>,
  { input, rest }: Given,
  take: ReturnType<typeof localSide>['take'],
): Promise<string> {
  const path = join(host.stateDirectory, `received-${move}.tar`);
  await mkdir(host.stateDirectory, { recursive: true, mode: 0o700 });
  await rm(path, { force: true });
  try {
    const file = await open(path, 'wx', 0o600);
    let size = 0;
    try {
      for (let chunk: Buffer | undefined = rest; chunk !== undefined; chunk = await nextOf(input)) {
        size += chunk.length;
        if (size > bytes) break;
        await file.writeFile(chunk);
      }
    } finally {
      await file.close();
    }
    if (size !== bytes) throw badInput(`the pack came with ${size} of ${bytes} bytes`, 'Run the command again.');
    failpoint('arrive.received');
    return await take(move, other, path, agreed);
  } finally {
    await rm(path, { force: true });
  }
}

async function nextOf(input: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
  const { value, done } = await input.next();
  return done === true ? undefined : value;
}
