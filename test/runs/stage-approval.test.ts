// @module-tag all
import { expect, it } from 'vitest';
import { openRunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits } from './run-script.ts';

const PLAYBOOK = {
  stages: [
    { id: 'BUILD', by: ['builder'], brief: 'Build it.', makes: 'code' },
    {
      ...{ id: 'SIGN_OFF', brief: 'Is it good?', makes: { approval: true } },
      judges: { rounds: 2, else: { redo: 'BUILD' } },
    },
    { id: 'SHIP', by: ['builder'], brief: 'Ship it.', makes: 'code' },
  ],
};

it('a person judges the work: the run waits, does it again, and continues', async (test) => {
  const bench = openRunBench({
    settings: { agents: [{ name: 'builder', role: 'builder', runtime: 'scripted' }], playbook: PLAYBOOK },
    script: [
      author('build', commits({ 'page.txt': 'plain\n' })),
      author('build-2', commits({ 'page.txt': 'better\n', 'told.txt': '{prompt}' })),
      author('ship', commits({ 'shipped.txt': 'yes\n' })),
      APPROVE_ALL,
    ],
  });
  test.onTestFinished(() => bench.end());
  const dry = await bench.run(['run', 'objective.md', '--dry-run', '--yes']);
  expect(dry.code, dry.stderr).toBe(0);
  expect(dry.stdout.replaceAll(/\s+/g, ' ')).toMatch(
    /SIGN_OFF a person BUILD Sign Off: asks a person for a verdict on the work so far; a rejection has BUILD done again/,
  );
  const waiting = await bench.runAll();
  expect(waiting.code, waiting.stderr).toBe(3);
  expect(waiting.lines.at(-1)).toMatchObject({
    outcome: 'waiting',
    questions: [{ id: 'approve-sign-off-1', text: 'Approve SIGN_OFF? Is it good?', options: ['approve', 'stop'] }],
  });
  expect((await bench.run(['answer', 'approve-sign-off-1', 'too plain'])).code).toBe(0);
  const again = await bench.run(['resume', '--json']);
  expect(again.code, again.stderr).toBe(3);
  expect(again.lines.at(-1)).toMatchObject({ questions: [{ id: 'approve-sign-off-2' }] });
  expect((await bench.run(['answer', 'approve'])).code).toBe(0);
  expect(await bench.run(['resume', '--json'])).toMatchObject({ code: 0 });
  expect([bench.fileOnBranch('page.txt'), bench.fileOnBranch('shipped.txt')]).toEqual(['better', 'yes']);
  expect(bench.fileOnBranch('told.txt')).toMatch(/SIGN_OFF rejected the work for these reasons.*too plain/s);
});
