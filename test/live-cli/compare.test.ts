import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { promptFile } from '../../src/squad/repository-prompts.ts';
import { comparisonSchema } from '../../src/view/comparison.ts';
import { finding } from '../support/findings.ts';
import { git } from '../support/git.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY } from './codex-harness.ts';
import { planned, reviewed, type Act, type ScriptedTurn } from './turn-scripts.ts';
import { openSquadOn, type Cli, type WholeRunRoom } from './whole-run-room.ts';

const BINARIES = { claude: CLAUDE_BINARY, codex: CODEX_BINARY };
const OBJECTIVE = `# Objective: Numbers

## Goals

1. numbers.txt has the numbers up to three

## Success Criteria

- [ ] It is there (run: test -f numbers.txt)
`;
/** The line that one side's prompt has more. A model that reads it builds well. */
const LINE = 'Count again before you commit.';

const turn = (name: string, when: RegExp, ...acts: ScriptedTurn['acts']): ScriptedTurn => ({ name, when, acts });
const commits = (numbers: string): Act[] => [
  { act: 'shell', command: `printf '${numbers}' > numbers.txt && git add -A && git commit -q -m "Count"` },
  { act: 'say', text: 'Counted.' },
];
const TASK = {
  ...{ id: 'count', title: 'Count', brief: 'Write the numbers up to three into numbers.txt, one a line.' },
  ...{ files: ['numbers.txt'], acceptance: ['there are three'] },
};
const WRONG = finding('it ends too early', {
  ...{ file: 'numbers.txt', line: 1, proof: '`wc -l numbers.txt`', blocks: 'defect' as const, criterion: null },
});
/** It judges what is in the file, whoever wrote it. */
const judges: ScriptedTurn['acts'][number] = ({ outputs }) =>
  reviewed(outputs.join('\n').includes('lines: 3') ? undefined : WRONG);
const TURNS = [
  turn('plan', /Split this objective/, planned('One.', [TASK])),
  turn('review', /# .*[Rr]eview/, { act: 'shell', command: 'echo "lines: $(wc -l < numbers.txt)"' }, judges),
  turn('build well', new RegExp(`# Task count:[^]*${LINE}`), ...commits('1\\n2\\n3\\n')),
  turn('build badly', /# Task count:/, ...commits('1\\n2\\n')),
  turn('fix', /it ends too early/, ...commits('1\\n2\\n3\\n')),
];

let room: WholeRunRoom | undefined;
afterEach(() => room?.close());

describe.each<Cli>(['claude', 'codex'])('squad compare on the real %s', (cli) => {
  it.skipIf(BINARIES[cli] === undefined)(
    'counts for the prompts by which the model builds well, and against the others',
    { timeout: 280_000 },
    async () => {
      room = await openSquadOn(cli, { files: { 'objective.md': OBJECTIVE }, turns: () => TURNS });
      const { engine, environment, model } = room;
      const mine = join(engine.root, 'mine');
      mkdirSync(join(mine, 'builder'), { recursive: true });
      writeFileSync(join(mine, 'builder/first.md'), `${promptFile('builder/first')}\n${LINE}\n`);
      const sides = ['--prompts', 'shipped', '--prompts', mine];
      const { stdout, stderr } = await engine.run(
        ['compare', 'objective.md', ...sides, '--yes', '--json'],
        environment,
      );
      expect(stdout, stderr).not.toBe('');
      expect(model.strange).toEqual([]);
      const { runs, rows, plan, stopped } = comparisonSchema.parse(JSON.parse(stdout));
      expect([plan?.tasks, stopped]).toEqual([1, null]);
      const [shipped, better] = runs.map(({ side, state, measures }) => ({ side, state, ...measures }));
      const both = { state: 'done', criteria: { part: 1, of: 1 }, failedChecks: 0, conflicts: 0 };
      expect(shipped, stdout).toMatchObject({ ...both, side: 'A', firstTry: { part: 0, of: 1 }, rounds: 2 });
      expect(shipped?.held).toEqual({ part: 1, of: 1 });
      expect(better, stdout).toMatchObject({ ...both, side: 'B', firstTry: { part: 1, of: 1 }, rounds: 1 });
      expect(better?.tokens).toBeGreaterThan(0);
      expect(better?.tokens).toBeLessThan(shipped?.tokens ?? 0);
      // Two runs are no proof, and the table does not say that they were.
      expect(rows.filter(({ apart }) => apart === true)).toEqual([]);
      for (const { branch } of runs) expect(git(engine.repository, 'show', `${branch}:numbers.txt`)).toBe('1\n2\n3');
    },
  );
});
