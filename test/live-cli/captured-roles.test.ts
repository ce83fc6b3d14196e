import { afterEach, describe, expect, it } from 'vitest';
import { finding } from '../support/findings.ts';
import { CIRCLE, teamAnswer } from '../support/team-answer.ts';
import { expectCaptured, promptOf } from './captured.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY } from './codex-harness.ts';
import { planned, reviewed, type Act, type ScriptedTurn } from './turn-scripts.ts';
import { openSquadOn, type Cli, type WholeRunRoom } from './whole-run-room.ts';

const BINARIES = { claude: CLAUDE_BINARY, codex: CODEX_BINARY };

const OBJECTIVE = `# Objective: Numbers

## Goals

1. numbers.txt has a number in each line

## Success Criteria

- [ ] The numbers can be read by a person
`;

const shell = (command: string): Act => ({ act: 'shell', command });
const say = (text: string): Act => ({ act: 'say', text });
const turn = (name: string, when: RegExp, ...acts: ScriptedTurn['acts']): ScriptedTurn => ({ name, when, acts });
const PLAN = turn(
  'plan',
  /Split this objective/,
  planned('One.', [
    { id: 'numbers', title: 'Write numbers', brief: 'Write numbers.txt.', acceptance: ['it has a number'] },
  ]),
);
const LOOK = shell('git show HEAD');
const COMMIT = 'git add -A && git commit -q -m "Write numbers"';

let room: WholeRunRoom | undefined;
afterEach(() => room?.close());

interface More {
  readonly verify?: string;
  readonly hasCommitter?: boolean;
  readonly command?: string;
}

async function runOn(cli: Cli, turns: readonly ScriptedTurn[], { command = 'run', ...more }: More) {
  const opened = await openSquadOn(cli, { files: { 'objective.md': OBJECTIVE }, turns: () => turns, ...more });
  room = opened;
  const end = await opened.engine.run([command, 'objective.md', '--json', '--yes'], opened.environment);
  expect(opened.model.strange).toEqual([]);
  expect(end.lines.at(-1), end.stderr).toMatchObject({ outcome: 'done' });
  return (name: string, prompt: RegExp, news = true) =>
    expectCaptured(opened, name, (taken) => prompt.test(promptOf(taken)), { news });
}

describe.each<Cli>(['claude', 'codex'])('the requests of rarer turns on the real %s', (cli) => {
  const test = it.skipIf(BINARIES[cli] === undefined);

  test('after a failed check, and of a judge', async () => {
    const verdict = {
      ...{ criterion: 'C1', met: true, why: 'they are digits' },
      evidence: { file: 'numbers.txt', line: 1, quote: 'number 1' },
    };
    const captured = await runOn(
      cli,
      [
        PLAN,
        turn('judge', /judge them:[^]*C1: /, shell('cat numbers.txt'), {
          act: 'answer',
          value: { verdicts: [verdict] },
        }),
        turn('fix', /this check failed:/, shell(`echo 'number 1' > numbers.txt && ${COMMIT}`), say('Fixed.')),
        turn('review', /# Review of task/, LOOK, reviewed()),
        turn('build', /# Task numbers:/, shell(`echo 'number one' > numbers.txt && ${COMMIT}`), say('Written.')),
      ],
      { verify: `! test -e numbers.txt || grep '[0-9]' numbers.txt` },
    );
    await captured('builder-check-failed', /this check failed:/);
    await captured('reviewer-fixed', /A check then failed/);
    await captured('judge', /judge them:/, false);
  });

  test('of a builder that leaves its work to a committer', async () => {
    const wrong = finding('it has no digit', { file: 'numbers.txt', line: 1, blocks: 'criterion', criterion: 'C1' });
    const captured = await runOn(
      cli,
      [
        PLAN,
        turn('judge', /judge them:[^]*C1: /, { act: 'answer', value: { verdicts: [] } }),
        turn('fix', /was rejected in review:/, shell(`echo 'number 1' > numbers.txt`), say('Fixed.')),
        turn('review again', /\(round 2\)/, LOOK, reviewed()),
        turn('review', /# Review of task/, LOOK, reviewed(wrong)),
        turn(
          'commit',
          /Commit the reviewed work of numbers/,
          shell(`git commit -q -m 'Write numbers'`),
          say('Committed.'),
        ),
        turn('build', /# Task numbers:/, shell(`echo 'number one' > numbers.txt`), say('Written.')),
      ],
      { hasCommitter: true },
    );
    await captured('builder-edits', /# Task numbers:|was rejected in review:/);
    await captured('committer', /Commit the reviewed work of numbers/, false);
  });

  test('of a coordinator, whose first answer is no valid team', async () => {
    const answer = (value: object): Act => ({ act: 'answer', value: { ...value } });
    const captured = await runOn(
      cli,
      [
        turn('again', /did not have the required form:/, answer(teamAnswer())),
        turn('design', /# Task coordinate:/, shell('git ls-files'), answer(CIRCLE)),
      ],
      { command: 'coordinate' },
    );
    await captured('coordinator', /# Task coordinate:|did not have the required form:/, false);
  });
});
