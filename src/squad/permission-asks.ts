import { readdirSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readTurnSecrets } from '../engine/attempts/turn-secrets.ts';
import type { Attempt } from '../model/attempt.ts';
import { redactorOf } from '../model/redaction/redactor.ts';
import { storageError } from '../model/storage-error.ts';
import type { PermissionAsk } from '../view/permission-ask.ts';
import type { RunReading } from '../view/read-run.ts';
import { letThroughBy } from '../model/let-through.ts';
import { readConfinedStart } from '../substrate/system/files/open-confined.ts';
import { parseJson } from '../text/json.ts';
import { plainLine } from '../text/plain-text.ts';
import type { OpenedRun } from './open-run.ts';

/** The host of a turn writes no more. */
const MOST_BYTES = 512 * 1024;
const MOST_INPUT = 300;

const askSchema = z.object({
  n: z.int().positive(),
  tool: z.string(),
  title: z.string().optional(),
  input: z.unknown().optional(),
  deadline: z.int(),
});

type Read = Pick<OpenedRun, 'directory' | 'host' | 'now'> & { readonly reading: Pick<RunReading, 'definition'> };

export async function openAsks(opened: OpenedRun): Promise<PermissionAsk[]> {
  const live = opened.reading.attempts.filter(({ settlement }) => settlement === undefined);
  return readPermissionAsks(
    opened,
    live.map(({ attempt }) => attempt),
  );
}

/**
 * Reads files in the folders of live turns: requests to a person that have no answer yet and whose time is not over.
 */
export async function readPermissionAsks(opened: Read, live: readonly Attempt[]): Promise<PermissionAsk[]> {
  const asks = await Promise.all(live.map(async (attempt) => asksOf(opened, attempt)));
  return asks.flat();
}

async function asksOf({ directory, host, now, reading }: Read, { id, agent }: Attempt): Promise<PermissionAsk[]> {
  const folder = join(directory, 'turns', id);
  const names = new Set(namesIn(folder));
  const open = [...names].filter((name) => isAsk(name) && !names.has(answerTo(name)));
  if (open.length === 0) return [];
  const secrets = await readTurnSecrets(folder);
  const redactor = redactorOf(host.environment, letThroughBy(reading.definition)).with(secrets);
  const read = open.toSorted().map(async (name): Promise<PermissionAsk[]> => {
    const found = await readConfinedStart(folder, name, MOST_BYTES);
    const asked = askSchema.safeParse(parseJson(found?.text ?? '')).data;
    if (asked === undefined || asked.deadline <= now) return [];
    const { n, tool, title = tool, input, deadline } = asked;
    const given = input === undefined ? '' : ` ${JSON.stringify(input)}`;
    const text = plainLine(redactor.text(`${agent} asks: may it use ${title}?${given}`), MOST_INPUT);
    return [{ id: `${id}/ask-${n}`, attempt: id, n, agent, text, until: deadline }];
  });
  return (await Promise.all(read)).flat();
}

/** Answers the host of the turn, which may be alive without an engine. */
export async function writePermission(directory: string, ask: PermissionAsk, allow: boolean): Promise<void> {
  const path = join(directory, 'turns', ask.attempt, answerTo(`ask-${ask.n}.json`));
  try {
    await writeFile(`${path}.tmp`, JSON.stringify({ allow }), { mode: 0o600, flush: true });
    await rename(`${path}.tmp`, path);
  } catch (error) {
    throw storageError(path, error);
  }
}

function isAsk(name: string): boolean {
  return /^ask-\d{1,3}\.json$/.test(name);
}

function answerTo(name: string): string {
  return name.replace('ask', 'answer');
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The turn is not there yet, or not any more.
    return [];
  }
}
