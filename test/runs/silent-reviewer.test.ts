// @module-tag all
import { crashAll, recordReference, spreadFirstPasses } from '../support/run-crash.ts';
import { SILENT_REVIEWER } from '../support/run-scenarios.ts';
import { ALL, some } from '../support/lane.ts';
import { describe, expect, it } from 'vitest';
import { openRunBench } from './run-bench.ts';
import { author, commits, objective, piece, plan, verdict, type Entry } from './run-script.ts';

const agent = (name: string, role: string, more: object = { access: 'read-only' }): object => {
  return { name, role, runtime: 'scripted', ...more };
};
const MUTE = { access: 'read-only', model: 'mute' };
const PLANNER = agent('pat', 'planner');
const BUILDER = agent('bob', 'builder', {});
const [REX, REA] = [agent('rex', 'reviewer', MUTE), agent('rea', 'reviewer')];
/** Answers that are no verdict, however often it is asked. */
const SILENT: Entry = { model: 'mute', steps: [{ answer: 'fine' }] };
const WHY = 'bad-output: the runtime gave no structured answer';

const stages = (more: object, onFail?: 'skip') => ({
  stages: [
    {
      ...{ id: 'BUILD', by: ['builder'], brief: 'Make one.', makes: 'code' },
      review: { id: 'BUILD_REVIEW', by: ['reviewer', 'pm'] },
      ...(onFail === undefined ? {} : { onFail }),
    },
    {
      ...{ id: 'VERDICT', by: ['reviewer', 'pm'], brief: 'Judge it.', makes: { answer: 'verdict' } },
      judges: { rounds: 2, else: { fix: 'BUILD' } },
      ...more,
    },
  ],
});
const judged: Entry = {
  when: '# Task verdict',
  steps: [{ run: ['git', 'log', '--oneline', '-1'] }, { answer: 'good' }],
  structured: { approved: true, summary: 'good', findings: [], criteria: [] },
};

describe.concurrent('a reviewer without a verdict', { timeout: 300_000 }, () => {
  it('is replaced, and every face of the run says so', async ({ onTestFinished }) => {
    const room = openRunBench({
      objective: objective({ criteria: ['it is there (run: `test -f one.txt`)'] }),
      settings: { agents: [PLANNER, BUILDER, REX, REA] },
      script: [plan([piece('one')]), author('one', commits({ 'one.txt': 'one\n' })), SILENT, verdict(null, [])],
    });
    onTestFinished(() => room.end());
    const ended = await room.runAll();
    const headline =
      'DONE, all work is delivered and verified; rea was asked about one in place of rex, who gave no verdict';
    expect([ended.code, ended.lines.at(-1)?.['headline']], ended.stdout).toEqual([0, headline]);
    const [report, log, show, status] = await Promise.all([
      room.report(),
      room.run(['log']),
      room.run(['show', 'one']),
      room.status(),
    ]);
    expect(report).toMatch(
      /## Judges without a verdict[^#]*\| `one` \| 1 \| reviewer \| rex \| rea was asked \| bad-output/,
    );
    expect(log.stdout).toContain(`one: rex gave no verdict, rea judges in its place — ${WHY}`);
    expect(show.stdout).toContain('reviewer (rea): good');
    expect(status.headline).toBe(headline);
  });

  it('of a list is left out where its stage goes on without it, and that is open', ALL, async ({ onTestFinished }) => {
    const room = openRunBench({
      objective: objective({ criteria: ['it is there (run: `test -f one.txt`)'] }),
      settings: { agents: [BUILDER, REX, agent('pam', 'pm')], playbook: stages({ onFail: 'skip' }, 'skip') },
      script: [author('build', commits({ 'one.txt': 'one\n' })), SILENT, judged, verdict(null, [])],
    });
    onTestFinished(() => room.end());
    const ended = await room.runAll(['--strict']);
    const line = String(ended.lines.at(-1)?.['headline']);
    expect(ended.code, ended.stdout).toBe(1);
    expect(line).toContain('build was approved without a verdict of reviewer');
    expect(line).toContain('VERDICT was approved without a verdict of reviewer');
    expect(line).not.toContain('all work is delivered and verified');
    const [report, log] = await Promise.all([room.report(), room.run(['log'])]);
    expect(report).toMatch(/\| `build` \| 1 \| reviewer \| rex \| decided without it \| bad-output/);
    expect(report).toMatch(/\| `verdict` \| 1 \| reviewer \| rex \| decided without it \| bad-output/);
    expect(log.stdout).toContain('build round 1: approved without a verdict of reviewer');
  });

  it('of a list is replaced where its stage needs it', ALL, async ({ onTestFinished }) => {
    const room = openRunBench({
      objective: objective({ criteria: ['it is there (run: `test -f one.txt`)'] }),
      settings: { agents: [BUILDER, REX, REA, agent('pam', 'pm')], playbook: stages({}) },
      script: [author('build', commits({ 'one.txt': 'one\n' })), SILENT, judged, verdict(null, [])],
    });
    onTestFinished(() => room.end());
    const ended = await room.runAll(['--strict']);
    expect(ended.code, ended.stdout).toBe(0);
    const log = await room.run(['log']);
    expect(log.stdout).toContain('build: rex gave no verdict, rea judges in its place');
    expect(log.stdout).toContain('verdict: rex gave no verdict, rea judges in its place');
  });
});

it(
  'a reviewer without a verdict is replaced once, wherever the engine dies',
  { ...ALL, timeout: 300_000 },
  async () => {
    const reference = await recordReference(SILENT_REVIEWER);
    await crashAll(SILENT_REVIEWER, reference, some(spreadFirstPasses(reference, 5), 0, 2));
  },
);
