import { stringify } from 'yaml';
import { describe, expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { openEngineRoom } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { mailOf } from '../support/mail-of.ts';
import { expectCaptured } from './captured.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import { startFakeAnthropic } from './fake-anthropic.ts';
import { startFakeOpenai } from './fake-openai.ts';
import { planned, reviewed, scriptModel, type Act, type ScriptedTurn } from './turn-scripts.ts';
import { processesOf, runtimesAt, turnsTaken, type Cli } from './whole-run-room.ts';
import { stateOf } from '../support/state.ts';
import { finding } from '../support/findings.ts';

const test = it.skipIf(CLAUDE_BINARY === undefined || CODEX_BINARY === undefined);
const BRANCH = 'squad/make-it';
const OBJECTIVE = `# Objective: Make it

## Goals

1. made.txt is there

## Success Criteria

- [ ] It is there (run: test -f made.txt)
`;

const shell = (command: string): Act => ({ act: 'shell', command });
const say = (text: string): Act => ({ act: 'say', text });
const answer = (value: Record<string, unknown>): Act => ({ act: 'answer', value });
const judge = (text?: string): Act =>
  reviewed(text === undefined ? undefined : finding(text, { criterion: 'C2' }), text);
const report = (passed: boolean): Act =>
  answer({ passed, summary: passed ? 'It works.' : 'made.txt is gone.', failures: passed ? [] : ['made.txt is gone'] });
const turn = (name: string, when: RegExp, ...acts: ScriptedTurn['acts']): ScriptedTurn => ({ name, when, acts });

const PLANNED = { id: 'made', title: 'Make it', brief: 'Make made.txt.', acceptance: ['it is'] };
const TIDY = {
  to: ['scribe'],
  task_id: 'TIDY',
  summary: 'Tidy up what is left over.',
  files: ['made.txt'],
  success_criteria: ['notes.txt says what was tidied up'],
};
const LOOKS = shell('ls made.txt');
const BACK = [
  shell('echo made > made.txt && git add -A && git commit -q -m "Bring back what was delivered"'),
  say('It is back.'),
];

/** Whoever is handed the work deletes what was delivered; `found` says who notices. */
function turnsOf(found: 'reviewer' | 'tester'): readonly ScriptedTurn[] {
  const first = found === 'reviewer' ? judge('made.txt is gone') : judge();
  return [
    turn('plan', /Split this objective/, planned('One.', [PLANNED])),
    turn('review made', /# Review of task made:/, LOOKS, judge()),
    // The message stands in the prompt of whoever judges what came of it.
    turn('review 1', /# Review of task mail-\d+-scribe: .*\(round 1\)[^]*Tidy up what is left over/, LOOKS, first),
    turn('review 2', /# Review of task mail-\d+-scribe: .*\(round 2\)/, LOOKS, judge()),
    turn(
      'build',
      /# Task made:/,
      shell('echo made > made.txt && git add -A && git commit -q -m "Make it"'),
      say('Made.'),
    ),
    turn('test', /# Task made-test:/, { act: 'mail', tool: 'handoff', arguments: TIDY }, report(true)),
    turn('test again', /Task mail-\d+-scribe-test is open again/, LOOKS, report(true)),
    turn(
      'test tidy',
      /# Task mail-\d+-scribe-test:[^]*Also repeat these earlier tests[^]*Tidy up what is left over/,
      LOOKS,
      report(found === 'reviewer'),
    ),
    turn('fix', /(?:Your work on task|Task) mail-\d+-scribe (?:was rejected in review|is open again)/, ...BACK),
    turn(
      'tidy',
      /# Task mail-\d+-scribe:[^]*Tidy up what is left over/,
      shell('git rm -q made.txt && echo tidied > notes.txt && git add -A && git commit -q -m "Tidy up"'),
      say('Tidied up.'),
    ),
  ];
}

const TAKEN = {
  reviewer: ['fix 0', 'review 2 0', 'test tidy 0'],
  tester: ['fix 0', 'review 2 0', 'test tidy 0', 'test again 0'],
} as const;

const CASTS: readonly { tester: Cli; scribe: Cli; reviewer: Cli; found: keyof typeof TAKEN }[] = [
  { tester: 'claude', scribe: 'codex', reviewer: 'claude', found: 'reviewer' },
  { tester: 'codex', scribe: 'claude', reviewer: 'codex', found: 'tester' },
];

describe('a tester that hands work on to a scribe, who deletes what was delivered', () => {
  test.each(CASTS)('by $tester to $scribe, found by its $found', async ({ found, ...cast }) => {
    const model = scriptModel(turnsOf(found));
    const anthropic = await startFakeAnthropic(model.anthropic);
    const openai = await startFakeOpenai(model.openai);
    const agent = (name: string, runtime: Cli, access: string) => {
      return { name: `${name}-1`, role: name, access, runtime, ...(runtime === 'codex' ? { model: PLAIN_MODEL } : {}) };
    };
    const agents = [
      agent('planner', cast.reviewer, 'read-only'),
      agent('builder', cast.scribe, 'edit'),
      agent('scribe', cast.scribe, 'edit'),
      agent('reviewer', cast.reviewer, 'read-only'),
      agent('tester', cast.tester, 'read-only'),
    ];
    const settings = stringify({ version: 1, agents, runtimes: runtimesAt(openai.baseUrl) });
    const engine = openEngineRoom({ 'squad.yaml': settings, 'objective.md': OBJECTIVE });
    try {
      const end = await engine.run(['run', 'objective.md', '--json', '--yes'], {
        ANTHROPIC_API_KEY: 'key-of-the-fake',
        ANTHROPIC_BASE_URL: anthropic.url,
        FAKE_KEY: 'key-of-the-fake',
      });
      const last = end.lines.at(-1);
      expect(model.strange).toEqual([]);
      expect(last, `${end.stderr}${JSON.stringify(last)}`).toMatchObject({ outcome: 'done', exitCode: 0 });
      expect(model.asked).toEqual(expect.arrayContaining([...TAKEN[found]]));
      expect(model.asked.filter((step, index, all) => all.indexOf(step) !== index)).toEqual([]);
      expect(git(engine.repository, 'show', `${BRANCH}:made.txt`)).toBe('made');
      expect(git(engine.repository, 'show', `${BRANCH}:notes.txt`)).toBe('tidied');
      const room = { engine, anthropic, openai };
      await expectCaptured(room, 'scribe', ({ attempt }) => attempt.agent === 'scribe-1');
      await expectCaptured(room, 'tester-of-mail', ({ attempt }) => attempt.agent === 'tester-1', { news: true });
      const { messages } = mailOf(engine, String(last?.['runId']));
      expect(messages).toEqual(['tester-1 → scribe: ask/assign', 'scribe-1 → tester-1: done']);
      expect(turnsTaken(engine).filter(({ result }) => result?.outcome !== 'completed')).toEqual([]);
      const check = checkLedger(ledgerPath(stateOf(engine.repository)));
      expect([...check.problems, ...check.violations]).toEqual([]);
      expect(await processesOf(engine.root)).toEqual([]);
    } finally {
      await anthropic.close();
      await openai.close();
      engine.close();
    }
  });
});
