import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import type { MailPolicy } from '../src/model/mail/policy.ts';
import type { Mailbox, MailParty } from '../src/substrate/ports/mailbox.ts';
import { machineIn, openOwnLedger } from './shared/machine.ts';
import { rowOf, type Bench, type Row } from './shared/row.ts';

const MEMBERS = 32;
const MESSAGES = 10_000;
const BATCH = 50;
const TICKS = 1_000;
/** The bar's own time is 60 s: SQUAD_MAIL_STORM_SECONDS=60. */
const STORM_MS = Number(process.env['SQUAD_MAIL_STORM_SECONDS'] ?? 10) * 1_000;
const LEASE_MS = 60_000;
const CHILD = fileURLToPath(new URL('./shared/mail-storm-child.ts', import.meta.url));

/** Of 32 members, with 10,000 messages under way: each figure beside one commit of one row on the same disk. */
export const mailbox: Bench = {
  name: 'mailbox',
  run: async (folder) => {
    const { ledger, lease, close } = openOwnLedger(machineIn(folder), folder);
    const bare = openBare(join(folder, 'bare.db'));
    ledger.mail.open(lease, policy());
    ledger.mail.receivers(
      lease,
      policy().members.map(({ address }) => address),
    );
    const sends = sendAll(ledger.mail, bare.commit);
    const rows = [
      ...percentiles('send', sends.squad, sends.bare, 5),
      ...looking(ledger.mail, bare.look),
      ...percentiles(`claim ${BATCH}`, claimAll(ledger.mail), sends.bare, 5),
      tracing(ledger.mail, bare.look),
      await storm(join(folder, '.squad'), sends.bare),
    ];
    bare.close();
    close();
    return rows;
  },
};

function policy(): MailPolicy {
  const members = Array.from({ length: MEMBERS }, (_, index) => ({
    address: `m-${index}`,
    agent: null,
    role: 'member',
    verbs: ['send' as const],
    writesTo: ['member'],
  }));
  return { members, ttlMs: 24 * 60 * 60_000 };
}

function person(index: number): MailParty {
  return { by: 'person', runId: 'bench', address: `m-${index}`, name: 'bench' };
}

/** In turns, because a disk has moods. */
function sendAll(mail: Mailbox, commit: () => void): { squad: number[]; bare: number[] } {
  const squad: number[] = [];
  const bare: number[] = [];
  for (let index = 0; index < MESSAGES; index += 1) {
    const to = [`m-${(index * 7 + 3) % MEMBERS}`];
    const draft = { to, type: 'send', body: JSON.stringify({ text: `message ${index}` }) };
    squad.push(timed(() => mail.send(person(index % MEMBERS), draft)));
    bare.push(timed(commit));
  }
  return { squad, bare };
}

function claimAll(mail: Mailbox): number[] {
  const waits: number[] = [];
  for (let index = 0; index < MEMBERS; index += 1) {
    for (;;) {
      let claimed: ReturnType<Mailbox['claim']> = [];
      const wait = timed(() => (claimed = mail.claim(person(index), { limit: BATCH, leaseMs: LEASE_MS })));
      if (claimed.length === 0) break;
      if (claimed.length === BATCH) waits.push(wait);
      mail.accept(
        person(index),
        claimed.map(({ message }) => message.id),
      );
    }
  }
  return waits;
}

function looking(mail: Mailbox, look: () => void): Row[] {
  const status = timed(() => mail.status('bench'));
  const tick = timed(() => {
    for (let count = 0; count < TICKS; count += 1) mail.tick('bench');
  });
  const bare = timed(look);
  return [
    rowOf('status of 10,000 messages', 'ms', status, bare, { target: { of: 'squad', most: 200 } }),
    rowOf('tick with nothing due', 'ms', tick / TICKS, bare, { target: { of: 'squad', most: 0.2 } }),
  ];
}

function tracing(mail: Mailbox, look: () => void): Row {
  const before = process.memoryUsage().rss;
  let lines = 0;
  let most = 0;
  const ms = timed(() => {
    for (const line of mail.trace({ runId: 'bench' })) {
      lines += line.event === 'message' ? 1 : 0;
      if (lines % 1_000 === 0) most = Math.max(most, process.memoryUsage().rss - before);
    }
  });
  const note = `${Math.round((lines / ms) * 1_000)} messages a second with their acks; resident memory grew by ${(most / 2 ** 20).toFixed(1)} MB`;
  return rowOf(`trace of ${lines} messages`, 'ms', ms, timed(look), { note });
}

/** Each process opens the ledger as `squad mail send` does, and stays. They begin when all of them have. */
async function storm(directory: string, bare: readonly number[]): Promise<Row> {
  const children = Array.from({ length: MEMBERS }, (_, index) => {
    const args = [CHILD, directory, String(index), String(MEMBERS), String(STORM_MS)];
    return spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  });
  const texts = children.map(() => '');
  for (const [index, { stdout }] of children.entries()) {
    stdout.setEncoding('utf8').on('data', (chunk: string) => (texts[index] += chunk));
  }
  const closed = Promise.all(children.map((child) => once(child, 'close')));
  await Promise.all(children.map(({ stdout }) => once(stdout, 'data')));
  for (const { stdin } of children) stdin.write('go\n');
  await closed;
  const reports = texts.map((text) => JSON.parse(text.split('\n')[1] ?? '{}') as { waits: number[]; errors: string[] });
  const waits = reports.flatMap((report) => report.waits);
  const errors = reports.flatMap((report) => report.errors);
  if (errors.length > 0) throw new Error(`${errors.length} sends went wrong: ${errors[0]}`);
  const note = `${waits.length} sends without an error; p50 ${percentile(waits, 0.5).toFixed(2)} ms, the longest ${Math.max(...waits).toFixed(0)} ms`;
  const name = `${MEMBERS} processes, 5 messages a second each, ${STORM_MS / 1_000} s: p99`;
  return rowOf(name, 'ms', percentile(waits, 0.99), percentile(bare, 0.99), {
    note,
    target: { of: 'squad', most: 50 },
  });
}

function percentiles(name: string, squad: readonly number[], bare: readonly number[], most: number): Row[] {
  return [
    rowOf(`${name}: p50`, 'ms', percentile(squad, 0.5), percentile(bare, 0.5)),
    rowOf(`${name}: p99`, 'ms', percentile(squad, 0.99), percentile(bare, 0.99), { target: { of: 'squad', most } }),
  ];
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN;
}

/** A table of as many rows: what one commit costs, and what it costs to look at all of it. */
function openBare(path: string): { commit: () => void; look: () => void; close: () => void } {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE row (id INTEGER PRIMARY KEY, name TEXT, text TEXT)');
  const insert = db.prepare('INSERT INTO row (name, text) VALUES (?, ?)');
  const count = db.prepare('SELECT name, count(*), min(id) FROM row GROUP BY name');
  let made = 0;
  return {
    commit: () => {
      made += 1;
      insert.run(`m-${made % MEMBERS}`, `message ${made}`);
    },
    look: () => void count.all(),
    close: () => void db.close(),
  };
}

function timed(work: () => unknown): number {
  const from = performance.now();
  work();
  return performance.now() - from;
}
