import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lineOf } from './lines.ts';
import { fieldsOf } from '../../../text/json.ts';

const LOOK_MS = 200;

/**
 * Asks a person by `ask-<n>.json` in a folder, and waits for `answer-<n>.json` (`{"allow": true}`), which whatever answers
 * writes by rename. undefined: no answer came in time.
 */
export async function askPerson(
  folder: string,
  question: Readonly<Record<string, unknown>> & { readonly n: number; readonly deadline: number },
  isAsked: () => void,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { n, deadline } = question;
  const path = join(folder, `ask-${n}.json`);
  writeFileSync(`${path}.tmp`, lineOf(question), { mode: 0o600, flush: true });
  renameSync(`${path}.tmp`, path);
  isAsked();
  while (!signal.aborted && Date.now() < deadline) {
    const answer = read(join(folder, `answer-${n}.json`));
    if (answer !== undefined) return fieldsOf(answer)['allow'] === true;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Not yet.
    return undefined;
  }
}
