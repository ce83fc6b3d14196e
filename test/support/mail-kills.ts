import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkDatabase, ledgerPath, openLedger } from '../../src/substrate/ledger/index.ts';
import type { Ledger } from '../../src/substrate/ports/ledger.ts';
import { startProgram } from '../substrate/ledger/programs.ts';

interface Said {
  readonly sending?: number;
  readonly acked?: number;
  readonly id?: string;
  readonly read?: string;
  readonly seq?: number;
  readonly accepted?: readonly string[];
  readonly completed?: string;
  readonly held?: string;
  readonly failure?: unknown;
}

/** One life of the writer: how it dies. `line`: killed by us once it has said so many; `points`: by itself. */
export type Death = { readonly line: number } | { readonly points: string };

export interface MailKills {
  readonly kills: number;
  readonly acked: number;
  readonly accepted: number;
  /** What was promised and not kept; each in a line. */
  readonly problems: readonly string[];
}

/**
 * Starts a program that sends, reads and settles without end, and kills it again and again; each life sends the last number
 * of the one before once more, under the same key. Nothing acknowledged may be lost, twice, or out of order.
 */
export async function killMailWriter(deaths: readonly Death[]): Promise<MailKills> {
  const root = mkdtempSync(join(tmpdir(), 'squad-mail-kills-'));
  try {
    const directory = join(root, '.squad');
    mkdirSync(directory, { mode: 0o700 });
    const said: Said[] = [];
    for (const death of deaths) said.push(...(await live(directory, said, death)));
    return { kills: deaths.length, ...judge(directory, said) };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function live(directory: string, before: readonly Said[], death: Death): Promise<Said[]> {
  const last = before.findLast(({ sending }) => sending !== undefined)?.sending ?? 0;
  const points = 'points' in death ? `${death.points}=kill` : '';
  const writer = startProgram('mail-writer', [directory, String(last), points]);
  if ('line' in death) {
    await writer.line(death.line);
    await writer.kill();
  } else {
    const { signal } = await writer.ended();
    if (signal !== 'SIGKILL')
      throw new Error(`${death.points}: ended by ${signal}, ${JSON.stringify(writer.said.at(-1))}`);
  }
  return writer.said as Said[];
}

function judge(directory: string, said: readonly Said[]): Omit<MailKills, 'kills'> {
  const path = ledgerPath(directory);
  const { problems, violations } = checkDatabase(path);
  const ledger = openLedger(directory, { clock: { now: () => Date.now() }, readOnly: true });
  try {
    const acked = said.filter(({ acked: number }) => number !== undefined);
    const accepted = said.flatMap((line) => line.accepted ?? []);
    return {
      acked: acked.length,
      accepted: accepted.length,
      problems: [
        ...problems,
        ...violations.map(({ rule, message }) => `${rule}: ${message}`),
        ...said.flatMap(({ failure }) => (failure === undefined ? [] : [JSON.stringify(failure)])),
        ...lostNotes(ledger, acked),
        ...unread(ledger, accepted),
        ...heldLost(ledger, said),
        ...readOutOfOrder(said),
      ],
    };
  } finally {
    ledger.close();
  }
}

/** Every number that was acknowledged is one message, under the one id that it was acknowledged with, in the order sent. */
function lostNotes({ mail }: Ledger, acked: readonly Said[]): string[] {
  const ids = new Map<number, string>();
  const problems: string[] = [];
  for (const { acked: number = -1, id = '' } of acked) {
    if (ids.has(number) && ids.get(number) !== id) problems.push(`number ${number} is two messages`);
    ids.set(number, id);
  }
  let last = 0;
  for (const [number, id] of [...ids].toSorted(([a], [b]) => a - b)) {
    const message = mail.message(id);
    if (message === undefined) problems.push(`message ${id} was acknowledged and is lost`);
    else {
      const { text } = JSON.parse(mail.bodyOf(message)) as { text: string };
      if (text !== String(number) && !text.startsWith('xxx')) problems.push(`message ${id} is not what was sent`);
      if (message.seq <= last) problems.push(`message ${id} stands before one that was sent earlier`);
      last = message.seq;
    }
  }
  return problems;
}

function unread({ mail }: Ledger, accepted: readonly string[]): string[] {
  return accepted
    .filter((id) => mail.deliveries(id).some(({ recipient, state }) => recipient === 'MAIN' && state !== 'accepted'))
    .map((id) => `message ${id} was accepted, and is not`);
}

function heldLost({ mail }: Ledger, said: readonly Said[]): string[] {
  return said.flatMap(({ held, completed }) => {
    if (held === undefined) return [];
    const [delivery] = mail.deliveries(held);
    const there = delivery !== undefined && delivery.state !== 'void';
    return there ? [] : [`what the completed turn ${completed} said is void`];
  });
}

/** Twice is allowed to be read what was not accepted; a younger one before an older is not. */
function readOutOfOrder(said: readonly Said[]): string[] {
  const seen = new Set<string>();
  let last = 0;
  return said.flatMap(({ read, seq = 0 }) => {
    if (read === undefined || seen.has(read)) return [];
    seen.add(read);
    const early = seq < last;
    last = Math.max(last, seq);
    return early ? [`message ${read} was read after a younger one`] : [];
  });
}
