// @module-tag all
import { describe, expect, it } from 'vitest';
import type { FailureKind } from '../../src/model/failure.ts';
import { CLIS, openChaosBench, type Cli } from './chaos-bench.ts';
import { some, SPREAD } from '../support/lane.ts';

const SCHEMA = {
  outputSchema: {
    type: 'object',
    properties: { verdict: { enum: ['approve', 'reject'] } },
    required: ['verdict'],
    additionalProperties: false,
  },
};
const MADRID = "You've hit your session limit · resets 7pm (Europe/Madrid)";
const AGY = 'Individual quota reached. Please upgrade your subscription to increase your limits. Resets in 34m13s.';
/** Those that get their prompt at their start. */
const STARTED = CLIS.filter((cli) => cli !== 'acp');
const bothWays = [true, false].flatMap((schema) => CLIS.map((cli): [Cli, boolean] => [cli, schema]));

/** How a turn of each ends; the last where it holds a conversation, whose silence says no more than its exit. */
const ENDS = [
  ['says-nothing', 'protocol', 'crashed'],
  ['leaves-without-result', 'protocol', 'crashed'],
  ['empty-answer', 'bad-output', 'bad-output'],
  ['prose', 'protocol', 'crashed'],
  ['half-result', 'protocol', 'crashed'],
  ['crashes-at-start', 'crashed', 'crashed'],
  ['dies-at-start', 'crashed', 'crashed'],
  ['dies-at-work', 'crashed', 'crashed'],
  ['hits-a-limit', 'quota-exhausted', 'quota-exhausted'],
] as const;
const lies = [
  ...ENDS.flatMap(([mode, kind, acp]) =>
    CLIS.map((cli): [Cli, string, string] => [cli, mode, cli === 'acp' ? acp : kind]),
  ),
  // Whoever holds a conversation has answered by then.
  ...STARTED.map((cli): [Cli, string, string] => [cli, 'fails-after-result', 'crashed']),
];

describe.concurrent('T14 a lying agent', { timeout: 300_000 }, () => {
  it.for(some(lies, 0, 2))('%s, %s: no success, but %s', SPREAD, async ([cli, mode, kind], test) => {
    const result = await openChaosBench(test, { mode }).run(cli);
    expect(result).toMatchObject({ outcome: 'failed', failure: { kind } });
  });

  it.for(some(bothWays, 0, 1))(
    '%s prints a limit as its result (schema: %s): a limit it is',
    SPREAD,
    async ([cli, schema], test) => {
      const kinds: (FailureKind | undefined)[] = [];
      const texts = [undefined, ...(schema ? [] : [MADRID, AGY, 'API Error: 529 {"type":"error"}'])];
      for (const text of texts) {
        const bench = openChaosBench(test, { mode: 'limit-as-result', ...(text === undefined ? {} : { limit: text }) });
        const from = Date.now();
        const { outcome, failure, exit } = await bench.run(cli, schema ? SCHEMA : {});
        expect([outcome, exit?.code]).toEqual(['failed', 0]);
        kinds.push(failure?.kind);
        if (text === AGY) expect(failure?.retryAt).toBeGreaterThan(from + (34 * 60 + 13) * 1000 - 1);
        if (text === MADRID) expect(hourInMadrid(failure?.retryAt)).toBe('19');
      }
      const expected = ['quota-exhausted', 'quota-exhausted', 'quota-exhausted', 'overloaded'];
      expect(kinds).toEqual(expected.slice(0, texts.length));
    },
  );

  it.for(some(CLIS, 0, 1))('%s quotes a limit in real work: nothing is parked', SPREAD, async (cli, test) => {
    const text = `The banner now says: ${MADRID}`;
    expect(await openChaosBench(test, { mode: 'honest', text }).run(cli)).toMatchObject({ outcome: 'completed', text });
  });

  it.for(some(CLIS, 0, 1))(
    '%s answers in another shape, or in prose, than was asked for: bad output',
    SPREAD,
    async (cli, test) => {
      for (const mode of ['wrong-shape', 'prose-for-a-schema']) {
        const result = await openChaosBench(test, { mode }).run(cli, SCHEMA);
        expect(result).toMatchObject({ outcome: 'failed', failure: { kind: 'bad-output' } });
        expect(result.structured).toBeUndefined();
      }
    },
  );

  it('acp speaks in another session than it was asked in: no word of it counts', async (test) => {
    const result = await openChaosBench(test, { mode: 'another-session' }).run('acp');
    expect(result).toMatchObject({ outcome: 'failed', failure: { kind: 'bad-output' }, text: '' });
  });

  it.for(some(STARTED, 0, 1))(
    '%s goes on in another session than was asked for: session not found',
    SPREAD,
    async (cli, test) => {
      const bench = openChaosBench(test, { mode: 'honest' });
      const first = await bench.run(cli);
      const { session } = first;
      expect(await bench.run(cli, { session: session! })).toMatchObject({
        outcome: 'completed',
        session: { id: session?.id },
        usage: first.usage,
      });
      bench.agent.plan({ turns: [{ mode: 'another-session' }] });
      const result = await bench.run(cli, { session: session! });
      expect(result).toMatchObject({ outcome: 'failed', failure: { kind: 'session-not-found' }, session });
    },
  );

  it.for(some(CLIS, 0, 1))('%s is killed after its result: the result is kept', SPREAD, async (cli, test) => {
    const result = await openChaosBench(test, { mode: 'dies-after-result', text: 'It is done.' }).run(cli);
    const exit = cli === 'acp' ? { code: 0 } : { signal: 'SIGKILL' };
    expect(result).toMatchObject({ outcome: 'completed', text: 'It is done.', exit });
  });

  const counts = CLIS.flatMap((cli) => ['negative', 'huge', 'missing'].map((lie): [Cli, string] => [cli, lie]));
  it.for(some(counts, 0, 1))(
    '%s counts %s tokens: that is unknown, and never zero',
    SPREAD,
    async ([cli, lie], test) => {
      const bench = openChaosBench(test, { mode: `usage-${lie}` });
      const first = await bench.run(cli);
      expect(first).toMatchObject({ outcome: 'completed' });
      expect(first.usage).toBeUndefined();
      // The next reading counts from the last one that could be believed.
      bench.agent.plan({ turns: [{ mode: 'honest' }] });
      const next = await bench.run(cli, { session: first.session! });
      expect(next).toMatchObject({ outcome: 'completed', usage: { outputTokens: expect.any(Number) } });
      expect(next.usage?.outputTokens).toBeGreaterThan(0);
    },
  );
});

function hourInMadrid(instant: number | undefined): string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Madrid', hour: '2-digit' });
  return instant === undefined ? 'none' : format.format(instant);
}
