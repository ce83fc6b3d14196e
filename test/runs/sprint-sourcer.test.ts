// @module-tag all
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findingSchema } from '../../src/model/sprint/finding.ts';
import { KINDS } from '../../src/model/sprint/kinds.ts';
import { git } from '../support/git.ts';
import { requestPlans, write } from '../support/sprint-script.ts';
import { openRunBench } from './run-bench.ts';
import type { Entry } from './run-script.ts';
import { scriptedTeam, sprintScript } from './sprint-run-script.ts';

const FOUND = '{match:## (f-[a-z0-9]+) }';
const CANDIDATE = { title: 'Finish what is left', kind: 'chore', priority: 71, acceptance: ['no path is left'] };

/** The sourcer makes a candidate of what it is shown, and the planner, which reads that, an item. */
const SOURCED: readonly Entry[] = [
  {
    when: '<candidates-by-the-sourcer>',
    steps: [{ answer: 'planned' }],
    structured: requestPlans(
      {},
      [write('b-found', { source: `finding:${FOUND}`, priority: 71 })],
      [{ id: FOUND, item: 'b-found', reason: 'the sourcer says what to do' }],
    ),
  },
  {
    when: '# Task source:',
    steps: [{ answer: 'looked' }],
    structured: {
      ...{
        role: 'sourcer',
        status: 'completed',
        summary: 'Looked at left.txt',
        insights: [],
        artifacts: [],
        error: null,
      },
      proposals: { candidates: [{ ...CANDIDATE, findings: [FOUND], why: 'left.txt' }], dismissed: [] },
    },
  },
];

it(
  'what a team finds itself goes from its sourcer to its planner, and into a sprint',
  { timeout: 400_000 },
  async (test) => {
    const agents = [...scriptedTeam(), { name: 'sourcer', role: 'sourcer', runtime: 'scripted', access: 'read-only' }];
    const bench = openRunBench({ script: [], settings: { agents, sprint: { folder: 'team' } } });
    test.onTestFinished(() => bench.end());
    const json = async (...args: string[]): Promise<readonly Readonly<Record<string, unknown>>[]> => {
      const { code, lines, stderr } = await bench.run([...args, '--json']);
      expect(code, stderr).toBe(0);
      return lines;
    };
    git(bench.repository, 'add', '-A');
    git(bench.repository, 'commit', '-qm', 'start');
    writeFileSync(join(bench.repository, 'left.txt'), 'no one has committed this\n');
    const [asked] = await json('request', 'Make one.');
    const request = String(asked?.['id']);
    bench.rescript([
      ...SOURCED,
      {
        when: '# Task plan-requests:',
        steps: [{ answer: 'planned' }],
        structured: requestPlans({ [request]: ['b-one'] }, [write('b-one', { source: `request:${request}` })]),
      },
      ...sprintScript([{ item: 'b-found' }, { item: 'b-one' }]),
    ]);
    const ended = (await json('request', 'Make one.', '--wait', 'done', '--yes')).at(-1);
    expect(ended).toMatchObject({ id: request, state: 'done' });
    const backlog = await json('backlog');
    expect(backlog.map(({ id, state }) => [id, state])).toEqual([
      ['b-found', 'done'],
      ['b-one', 'done'],
    ]);

    const ledger = bench.ledger();
    const findings = ledger.records(KINDS.finding).map(({ value }) => findingSchema.parse(value));
    const reviews = ledger.records(KINDS.review).length;
    ledger.close();
    const { title, kind, priority } = CANDIDATE;
    expect(findings).toMatchObject([
      { source: 'dirty-path', candidate: { by: 'sourcer', title, kind, priority }, settled: 'b-found' },
    ]);
    expect(reviews).toBe(2);
    const folder = join(bench.repository, 'team');
    expect(readFileSync(join(folder, 'internal/sourcer/journal.md'), 'utf8')).toContain('Looked at left.txt');
    const operations = readdirSync(join(folder, '.teams_runtime/operations')).filter((name) =>
      name.startsWith('plan-'),
    );
    const plans = operations.map((name) => readFileSync(join(folder, '.teams_runtime/operations', name), 'utf8'));
    expect(plans.filter((text) => text.includes(title))).toHaveLength(1);
  },
);
