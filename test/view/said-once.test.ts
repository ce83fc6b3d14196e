import { describe, expect, it } from 'vitest';
import { endLines } from '../../src/cli/render/end-lines.ts';
import { renderStatus } from '../../src/cli/render/status-board.ts';
import { FAILURE_KINDS, type Failure } from '../../src/model/failure.ts';
import type { RunDefinition } from '../../src/model/run.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';
import { endOf } from '../../src/view/running-run.ts';
import { statusOf } from '../../src/view/status.ts';
import { viewOf } from '../../src/view/view-of.ts';
import { rejects, type Script, type Turn } from '../playbooks/simulator.ts';
import { ALL, some } from '../support/lane.ts';
import { definition, planOf, play, RecordedRun } from './report/support.ts';

const words = (count: number, end: string): string =>
  Array.from({ length: count }, (_, index) => `the-${index}-frob is out${end}`).join('');

/** A cause of one line, of several, and one that no line has room for. */
const CAUSES = { line: words(2, ' '), lines: words(6, '\n'), 'long line': words(60, ' ') };
const PLACES = ['planner', 'author', 'reviewer'] as const;
/** Kinds that are tried again for ever end then. */
const MOST_FAILURES = 15;

function placeOf({ task, review }: Turn): (typeof PLACES)[number] {
  return task === 'plan' ? 'planner' : review === null ? 'author' : 'reviewer';
}

/** A run of this script to its end, as its command and `squad status` show it. */
function shown(
  script: Parameters<typeof play>[1],
  {
    about = definition(),
    turns = [],
    result = {},
  }: { about?: RunDefinition; turns?: readonly Turn[]; result?: Partial<TurnResult> } = {},
) {
  const played = play(about, script);
  const run = new RecordedRun(about).allocate().plan(played.entries);
  for (const [index, { task, agent }] of turns.entries()) run.turn(task, index + 1, agent, result);
  if (played.end.next === 'finish') run.publish();
  else run.decide(played.end.next, 'why' in played.end ? played.end.why : '');
  const view = viewOf(run.read(), { now: 9e9 });
  const block = endLines(endOf(view, 'report.md')).join('\n');
  return { outcome: view.run.state, block, status: renderStatus(statusOf(view), 9e9) };
}

/** Each word that can stand there once, and does so more often. One that was cut stands whole in what follows. */
function repeated(text: string): string[] {
  const all: string[] = text.replaceAll(/\S*…/g, '').match(/the-\d+-frob/g) ?? [];
  return all.filter((word, index) => all.indexOf(word) !== index);
}

const cases = FAILURE_KINDS.flatMap((kind) =>
  PLACES.flatMap((place) => Object.entries(CAUSES).map(([form, cause]) => ({ kind, place, form, cause }))),
);

describe('the end of a run, and its status', () => {
  it('say a cause of a turn once, whatever failed, wherever, and in whichever words', ALL, () => {
    const outcomes = new Map<string, number>();
    for (const { kind, place, form, cause } of some(cases, 61, 122)) {
      const failure: Failure = { kind, message: cause, mayHaveActed: true };
      const toolErrors = [{ tool: 'Bash', input: 'npm t', output: cause, denied: false }];
      const result = { outcome: 'failed' as const, failure, text: cause, toolErrors };
      const turns: Turn[] = [];
      const script: Script = {
        turn: (turn) => {
          if (placeOf(turn) !== place || turns.length === MOST_FAILURES) return undefined;
          turns.push(turn);
          return { outcome: 'failed', failure };
        },
      };
      const { outcome, block, status } = shown(script, { turns, result });
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      for (const text of [block, status]) {
        expect(repeated(text), `${kind} of ${place}, ${form}:\n${text}`).toEqual([]);
        if (outcome === 'failed' || outcome === 'waiting') expect(text).toContain('the-1-frob');
      }
    }
    for (const outcome of ['failed', 'waiting', 'done']) expect(outcomes.get(outcome)).toBeGreaterThan(0);
  });

  const verifies = { ...definition(), verify: [{ run: 'npm t', minutes: 1 }] };
  const checked = definition({ criteria: [{ text: 'it is tidy', command: 'npm t', done: false, line: 4 }] });
  it.each<[string, RunDefinition, (cause: string) => Script]>([
    ['a check of merged work', verifies, (cause) => ({ verify: () => cause })],
    ['a reviewer', definition(), (cause) => ({ turn: ({ review }) => (review === null ? undefined : rejects(cause)) })],
    ['a criterion', checked, (cause) => ({ gate: () => ({ failing: ['npm t'], output: cause }) })],
  ])('say a cause once that came from %s', (_what, about, scriptOf) => {
    for (const [form, cause] of Object.entries(CAUSES)) {
      const { outcome, block, status } = shown(scriptOf(cause), { about });
      expect(outcome).toBe('failed');
      // The criteria of a status are a list of their own.
      const [head = ''] = status.split('\n\nsuccess criteria');
      for (const text of [block, head]) {
        expect(text).toContain('the-1-frob');
        expect(repeated(text), `${form}:\n${text}`).toEqual([]);
      }
    }
  });

  it('name each of several questions once, with its answer', () => {
    const kinds = { a: 'auth', b: 'billing' } as const;
    const { block, status } = shown({
      plan: planOf('a', 'b'),
      turn: ({ task, review }) => {
        const kind = review === null && task in kinds ? kinds[task as keyof typeof kinds] : undefined;
        return kind && { outcome: 'failed', failure: { kind, message: `no ${kind} of ${task}`, mayHaveActed: false } };
      },
    });
    for (const text of [block, status])
      expect(text.match(/no \w+ of [ab]/g), text).toEqual(['no auth of a', 'no billing of b']);
    expect(block).toMatch(/^WAITING for 2 answers$/m);
    expect(block.match(/^ {2}(?:asks|answer) /gm)).toHaveLength(4);
  });
});
