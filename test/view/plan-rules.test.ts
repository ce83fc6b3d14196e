import { expect, test } from 'vitest';
import { RUN_EVENTS } from '../../src/model/run.ts';
import { capsOfRuns, checkPlans, PLAN_RULES, type PlanHistory } from '../../src/view/plan-rules.ts';
import { readLedgerHistory, checkHistory } from '../support/ledger-history.ts';
import type { LedgerHistory } from '../../src/substrate/ledger/check-database.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import { isJsonObject, plainJson } from '../../src/text/json.ts';
import { storedLedger } from '../support/stored-ledger.ts';

/** A real run with two pieces in work, and a third that needs both. */
function stored() {
  const { directory, path } = storedLedger();
  openLedger(directory, { clock: { now: () => 5 }, ballastBytes: 4096 }).close();
  const history = readLedgerHistory(path);
  return {
    path,
    ...history,
    events: [...history.events],
    attempts: [...history.attempts],
  };
}

interface Broken extends PlanHistory {
  events: LedgerHistory['events'][number][];
  readonly attempts: LedgerHistory['attempts'][number][];
}

/** Where the plan's entries that fit stand. */
function entries({ events }: Broken, fits: (data: string) => boolean): number[] {
  return events.flatMap(({ type, data }, index) =>
    type === RUN_EVENTS.plan && fits(JSON.stringify(data)) ? [index] : [],
  );
}

const isMail = (data: string): boolean => data.includes('"type":"mail"');
const isEnd = (data: string): boolean => data.includes('"type":"attempt-settled"');

function claimBoth(history: Broken, taskId = 'both'): void {
  const { id: runId = '' } = history.runs[0] ?? {};
  const seq = (history.events.at(-1)?.seq ?? 0) + 1;
  history.events.push({ seq, stream: runId, type: 'attempt-claimed', at: 0, cause: 1, epoch: 1, data: null });
  const about = { number: 1, sessionKey: null, epoch: 1, status: 'claimed' } as const;
  history.attempts.push({ id: 'early', runId, taskId, kind: 'turn', claimSeq: seq, ...about });
}

function again(history: Broken, fits: (data: string) => boolean): void {
  const event = history.events[entries(history, fits)[0] ?? -1];
  if (event === undefined) throw new Error('there is none');
  history.events.push({ ...event, seq: (history.events.at(-1)?.seq ?? 0) + 1 });
}

function drop(history: Broken, fits: (data: string) => boolean): void {
  history.events.splice(entries(history, fits)[0] ?? history.events.length, 1);
}

/** The same with two messages of one sender, which the plan has in their order. */
function withMail(history: Broken): Broken {
  const { id: runId = '', applied = 0 } = history.runs[0] ?? {};
  const seq = history.events.find(({ type }) => type === 'attempt-settled')?.seq ?? applied;
  for (const id of ['m-1', 'm-2']) {
    const at = (history.events.at(-1)?.seq ?? 0) + 1;
    const sent = { id, from: 'builder-1', held: null };
    history.events.push({ seq, stream: runId, type: 'mail-sent', at: 0, cause: null, epoch: 1, data: sent });
    const mail = {
      id,
      from: 'builder-1',
      to: ['reviewer-1'],
      kind: 'report',
      task: 'left',
      body: null,
    };
    const event = { type: 'mail', seq, at: 0, ...mail };
    const data = { entry: 'event', seq, at: 0, event };
    history.events.push({ seq: at, stream: runId, type: RUN_EVENTS.plan, at: 0, cause: seq, epoch: 1, data });
  }
  return history;
}

const BREAKS: [string, string, (history: Broken) => void][] = [
  ['dependent-early', 'a turn for a task whose needs are in work', (h) => claimBoth(h)],
  ['settlement-applied-twice', 'the end of a turn is taken in again', (h) => again(h, isEnd)],
  ['settlement-not-applied', 'the end of a turn never came to the plan', (h) => drop(h, isEnd)],
  ['mail-twice', 'a message is delivered again', (h) => again(h, isMail)],
  ['mail-lost', 'a message was not delivered', (h) => drop(h, isMail)],
  ['mail-order', 'two messages of one sender changed places', (h) => swapMail(h)],
  ['plan-unreadable', 'a definition of nothing', (h) => unread(h, RUN_EVENTS.defined)],
  ['plan-unreadable', 'an entry of nothing', (h) => unread(h, RUN_EVENTS.plan)],
  ['plan-unreadable', 'an entry about a task that is not there', (h) => misplace(h)],
];

function swapMail(history: Broken): void {
  const sent = history.events.filter(({ type }) => type === 'mail-sent');
  history.events = [...history.events.filter(({ type }) => type !== 'mail-sent'), ...sent.reverse()];
}

function unread(history: Broken, type: string): void {
  const index = history.events.findIndex((event) => event.type === type);
  const event = history.events[index];
  if (event !== undefined) history.events[index] = { ...event, data: { entry: 'nothing' } };
}

function misplace(history: Broken): void {
  const index = entries(history, isEnd)[0] ?? -1;
  const event = history.events[index];
  if (event === undefined || !isJsonObject(event.data)) throw new Error('there is none');
  history.events[index] = { ...event, data: plainJson({ ...event.data, task: 'nobody' }) };
}

test('a stored run breaks no rule, and claims are within its caps', () => {
  const history = stored();
  expect(checkPlans(history)).toEqual([]);
  expect(checkHistory(history.path, capsOfRuns(history.events))).toEqual([]);
  expect(checkPlans(withMail(history))).toEqual([]);
  claimBoth(history, 'left');
  expect(checkPlans(history)).toEqual([]);
});

test.each(BREAKS)('%s: %s', (rule, _, damage) => {
  const history = withMail(stored());
  damage(history);
  expect(checkPlans(history).map((found) => found.rule)).toContain(rule);
});

test('every rule has a history that breaks it', () => {
  expect(new Set(BREAKS.map(([rule]) => rule))).toEqual(new Set(PLAN_RULES));
});

test('caps are what the run was defined with, and what was raised since', () => {
  const { path, events } = stored();
  const defined = events.find(({ type }) => type === RUN_EVENTS.defined);
  if (defined === undefined) throw new Error('there is no run');
  const raised = { ...defined, seq: 99, type: RUN_EVENTS.limitsRaised, data: { turns: 1, tokens: 7 } };
  expect(capsOfRuns([...events, raised])[defined.stream]).toMatchObject([
    { since: defined.seq, limits: { turns: 200, usd: 20 } },
    { since: 99, limits: { turns: 1, usd: 20, tokens: 7 } },
  ]);
  const steps = capsOfRuns([...events, { ...raised, seq: defined.seq + 1 }]);
  expect(checkHistory(path, steps).map(({ rule }) => rule)).toContain('cap-exceeded');
});
