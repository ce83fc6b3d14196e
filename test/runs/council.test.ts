import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import type { MailStatus, MailTrace } from '../../src/substrate/ports/mailbox.ts';
import { COUNCIL_AGENTS, COUNCIL_FILES, COUNCIL_OBJECTIVE, councilScript } from './council-script.ts';
import { openRunBench, turnsOf, type RunBench } from './run-bench.ts';
import { again, author, commits, type Entry } from './run-script.ts';

interface Mail {
  readonly status: MailStatus;
  /** `<from> → <to>: <type>/<action>`, in order. */
  readonly messages: readonly string[];
  /** Of messages that their recipients never read. */
  readonly unread: readonly string[];
}

function mailOf(bench: RunBench, runId: string): Mail {
  const ledger = bench.ledger();
  try {
    const lines = [...ledger.mail.trace({ runId })];
    const accepted = new Set(
      lines.flatMap((line) => (line.event === 'ack' && line.ack === 'accepted' ? [keyOf(line)] : [])),
    );
    const sent = lines.flatMap((line) => (line.event === 'message' ? [line.message] : []));
    const unread = sent.flatMap(({ id, to }) =>
      to.flatMap((agent) => (accepted.has(keyOf({ id, agent })) ? [] : [`${id} ${agent}`])),
    );
    const messages = sent.map(
      ({ from, to, type, action }) => `${from} → ${to.join(' ')}: ${type}${action === undefined ? '' : `/${action}`}`,
    );
    return { status: ledger.mail.status(runId), messages, unread };
  } finally {
    ledger.close();
  }
}

function keyOf({ id, agent }: Pick<Extract<MailTrace, { event: 'ack' }>, 'id' | 'agent'>): string {
  return `${id} ${agent}`;
}

function open(
  test: TestContext,
  more: readonly Entry[] = [],
  settings: Readonly<Record<string, unknown>> = {},
): RunBench {
  const bench = openRunBench({
    script: councilScript(more),
    settings: { playbook: 'council', agents: COUNCIL_AGENTS, ...settings },
    objective: COUNCIL_OBJECTIVE,
    files: COUNCIL_FILES,
  });
  test.onTestFinished(() => bench.end());
  return bench;
}

async function play(bench: RunBench) {
  const ended = await bench.runAll();
  const status = await bench.status();
  const runs = join(bench.repository, '.squad', 'runs');
  const minutes = readFileSync(join(runs, readdirSync(runs)[0] ?? '', 'files', 'council.md'), 'utf8');
  return { ended, minutes, status, mail: mailOf(bench, status.runId) };
}

describe.concurrent('a council on the real engine', { timeout: 120_000 }, () => {
  it('goes its whole way in messages that are all read, though nobody sends one itself', async (test) => {
    const bench = open(test);
    const { ended, minutes, status, mail } = await play(bench);
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
    const { messages } = mail;
    expect([messages[0], messages[4], ...messages.slice(8)]).toEqual([
      'MAIN → A B C: ask/review',
      'MAIN → A B C: ask/verify',
      'MAIN → B: ask/assign',
      'B → MAIN: done',
    ]);
    expect(messages.slice(1, 4).toSorted()).toEqual([
      'A → MAIN: report/review_feedback',
      'B → MAIN: done',
      'C → MAIN: done',
    ]);
    expect(messages.slice(5, 8).toSorted()).toEqual(['A', 'B', 'C'].map((who) => `${who} → MAIN: done/verified`));
    expect([mail.unread, mail.status.counts.unread, mail.status.unanswered]).toEqual([[], 0, []]);
    expect(mail.status.tasks.map(({ id, status: state }) => `${id} ${state}`)).toEqual([
      expect.stringMatching(/^DOC-\d{8}-0001 verified$/),
      'execute-1 done',
    ]);
    expect(bench.fileOnBranch('docs/design.md')).toContain('with a backoff');
    expect(bench.fileOnBranch('src/router.txt')).toBe('try again with a backoff');
    expect(status.tasks.filter(({ status: state }) => state !== 'done')).toEqual([]);
    expect(minutes).toContain('- A, high func, docs/design.md#L3, src/router.txt#L1: It is not said when');
    expect(ended.lines.filter(({ type }) => type === 'warning')).toEqual([]);
  });

  it('goes on at the deadline without a reviewer that says nothing, and names it', async (test) => {
    const bench = open(test, [author('review-2', [{ run: ['sleep', '100'] }])], { council: { reviewMinutes: 0.15 } });
    const { ended, minutes, mail } = await play(bench);
    expect(ended.code, ended.stderr).toBe(0);
    // The other one is of its work.
    expect(mail.messages.filter((line) => line === 'B → MAIN: done')).toHaveLength(1);
    expect(turnsOf(ended, 'review-2').map(({ outcome }) => outcome)).toEqual(['cancelled']);
    expect(minutes).toContain('| B | silent: approves nothing | 0 |  |');
    expect(ended.lines.at(-1)?.['why']).toContain('review: no answer from B (silent)');
    expect(await bench.report()).toContain('no answer from B (silent)');
  });

  it('tells MAIN of work that was not done, whatever the member says, and closes all the same', async (test) => {
    const bench = open(test, [author('execute-1', [{ answer: 'done' }])]);
    const { ended, mail } = await play(bench);
    expect(ended.code).toBe(1);
    expect(mail.messages.slice(-2)).toEqual(['MAIN → B: ask/assign', 'B → MAIN: fail']);
    expect([mail.unread, turnsOf(ended, 'close').length]).toEqual([[], 1]);
    expect(bench.fileOnBranch('docs/design.md')).toContain('with a backoff');
  });

  it('delivers no code of MAIN’s', async (test) => {
    const code = { 'docs/design.md': '# Design\n\nWith a backoff.\n', 'src/router.txt': 'backoff\n' };
    const structured = { changes_summary: 'all' };
    const bench = open(test, [
      { ...author('improve-1', commits(code)), structured },
      { ...again('improve-1', 'evidence', [{ answer: 'it stays' }]), structured },
    ]);
    const { ended } = await play(bench);
    expect(ended.code).toBe(1);
    expect(ended.lines.at(-1)?.['why']).toContain('may be changed, and this was: src/router.txt');
    expect(bench.fileOnBranch('src/router.txt')).toBe('try again at once');
  });
});
