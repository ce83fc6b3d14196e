import { describe, expect, it } from 'vitest';
import { relaySummaries, relayWindowEnd } from '../../../src/view/people/relay.ts';
import type { RelayMessage, RoleTurn } from '../../../src/view/sprint/run-facts.ts';

const WINDOW = 600_000;

function turn(endedAt: number | undefined, more: Partial<RoleTurn> = {}): RoleTurn {
  return {
    ...{
      id: 't',
      role: 'developer',
      agent: 'dev-1',
      runtime: 'codex',
      task: 'form-build',
      title: 'A form (form-build)',
    },
    ...{ startedAt: 0, endedAt, outcome: 'completed', ...more },
  };
}

function message(to: string, more: Partial<RelayMessage> = {}): RelayMessage {
  return {
    ...{ id: `m-${to}`, from: 'planner', to, kind: 'ask clarify', sentAt: 5, isRead: true, body: {} },
    ...{ says: 'Which colour?', ...more },
  };
}

const during = { now: 2 * WINDOW, isOver: false };

describe('what a report place hears of the traffic between roles', () => {
  it('is each report and message of a window that is over, in the order in which they came', () => {
    const turns = [
      turn(7, { answer: { summary: 'It has\na field.' } }),
      turn(9, { outcome: 'failed' }),
      turn(undefined),
    ];
    expect(relaySummaries({ turns, messages: [message('designer'), message('architect')] }, during)).toEqual([
      {
        id: 'relay-0',
        endsAt: WINDOW,
        lines: [
          '- planner → designer, architect, ask clarify: Which colour?',
          '- developer (dev-1) → orchestrator, A form (form-build), completed: It has a field.',
          '- developer (dev-1) → orchestrator, A form (form-build), failed',
        ],
      },
    ]);
  });

  it.each([
    ['is under way', { now: WINDOW - 1, isOver: false }, []],
    ['has just ended', { now: WINDOW, isOver: false }, ['relay-0']],
    ['is under way when the sprint is over', { now: 10, isOver: true }, ['relay-0']],
  ])('waits for the end of its window: the window %s', (_, when, ids) => {
    expect(relaySummaries({ turns: [turn(7)], messages: [] }, when).map(({ id }) => id)).toEqual(ids);
  });

  it('says how much it leaves out', () => {
    const turns = Array.from({ length: 30 }, (_, index) => turn(index));
    const [one] = relaySummaries({ turns, messages: [] }, during);
    expect([one?.lines.length, one?.lines.at(-1)]).toEqual([13, '- and 18 more']);
  });

  it('is bounded, and in one line each, whatever agents write', () => {
    const hostile = `@everyone\n# x\u202e${'y'.repeat(9_000)}`;
    const turns = [turn(1, { answer: { summary: hostile }, title: hostile, role: hostile, agent: hostile })];
    const messages = [message(hostile, { from: hostile, says: hostile })];
    const lines = relaySummaries({ turns, messages }, during)[0]?.lines ?? [];
    expect(lines.map((line) => [line.length < 600, /[\n\u202e]/u.test(line)])).toEqual([
      [true, false],
      [true, false],
    ]);
  });

  it('knows when the open window ends', () => {
    expect([relayWindowEnd(0), relayWindowEnd(WINDOW - 1), relayWindowEnd(WINDOW)]).toEqual([
      WINDOW,
      WINDOW,
      2 * WINDOW,
    ]);
  });
});
