import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterEach, describe, expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { openEngineRoom, type EngineRoom, type Finished } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { LIVE_AGENTS, type AcpLiveAgent } from './acp-agents.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import { startFakeAnthropic } from './fake-anthropic.ts';
import { startFakeOpenai } from './fake-openai.ts';
import {
  planned,
  reviewed,
  scriptModel,
  type Act,
  type Asked,
  type ScriptedModel,
  type ScriptedTurn,
} from './turn-scripts.ts';
import { processesOf, runtimesAt, turnsTaken, type Taken } from './whole-run-room.ts';
import { stateOf } from '../support/state.ts';

const BRANCH = 'squad/sums-and-more';
const FUNCTIONS = { sum: '+', difference: '-', product: '*' } as const;
const NAMES = Object.keys(FUNCTIONS) as (keyof typeof FUNCTIONS)[];
const FINDING = 'lib/sum.mjs:1 subtracts; it has to add';

const OBJECTIVE = `# Objective: Sums and more

## Goals

${NAMES.map((name, index) => `${index + 1}. lib/${name}.mjs exports ${name}(a, b)`).join('\n')}

## Success Criteria

- [ ] All are right (run: node check.mjs ${NAMES.join(' ')})
`;

const CHECK = `import { readdirSync } from 'node:fs';
const expected = { sum: 5, difference: -1, product: 6 };
const named = process.argv.slice(2);
const names = named.length > 0 ? named : readdirSync('lib').map((file) => file.replace('.mjs', ''));
for (const name of names) {
  const made = await import(new URL('lib/' + name + '.mjs', import.meta.url));
  if (made[name](2, 3) !== expected[name]) throw new Error(name + ' is wrong');
}
`;

const shell = (command: string): Act => ({ act: 'shell', command });
const say = (text: string): Act => ({ act: 'say', text });
const source = (name: string, sign: string): string => `export const ${name} = (a, b) => a ${sign} b;\n`;

const PLAN = planned(
  'One module for each function.',
  NAMES.map((name) => ({
    id: name,
    title: `Write ${name}`,
    brief: `Write lib/${name}.mjs, which exports the function ${name}.`,
    acceptance: [`\`node check.mjs ${name}\` exits with 0`],
  })),
);

/** A reviewer goes by what it sees of the change itself: with the command that it was given, in its own shell. */
const LOOK = ({ prompt }: Asked): Act =>
  shell(/The change is `([^`]+)`/.exec(prompt)?.[1] ?? 'echo no change was named');

function judge(name: keyof typeof FUNCTIONS): (asked: Asked) => Act {
  return ({ outputs }) => {
    const approved = outputs.join('\n').includes(`a ${FUNCTIONS[name]} b;`);
    const text = outputs.join('\n').includes('a - b;') ? FINDING : 'the change cannot be seen';
    return reviewed(approved ? undefined : text);
  };
}

/** The first draft of `sum` is wrong: its author is resumed, and so is its reviewer. */
const TURNS: readonly ScriptedTurn[] = [
  { name: 'plan', when: /Split this objective/, acts: [PLAN] },
  {
    name: 'mend sum',
    when: /Your work on task sum was rejected in review:[^]*it has to add/,
    acts: [
      { act: 'write', path: 'lib/sum-mended.mjs', text: source('sum', '+') },
      shell('mv lib/sum-mended.mjs lib/sum.mjs && node check.mjs sum && git commit -am "Add, not subtract"'),
      say('Mended.'),
    ],
  },
  ...[1, 2].flatMap((round) =>
    NAMES.map((name) => ({
      name: `review ${name} ${round}`,
      when: new RegExp(`# Review of task ${name}: .* \\(round ${round}\\)`),
      acts: [LOOK, judge(name)],
    })),
  ),
  ...NAMES.map((name) => ({
    name: `build ${name}`,
    when: new RegExp(`# Task ${name}:`),
    acts: [
      // Copilot makes no folder for a file.
      shell('mkdir -p lib'),
      { act: 'write', path: `lib/${name}.mjs`, text: source(name, name === 'sum' ? '-' : FUNCTIONS[name]) } as const,
      shell(`git add -A && git commit -m "Add ${name}"`),
      say(`${name} is written and committed.`),
    ],
  })),
];

interface Room {
  readonly engine: EngineRoom;
  readonly environment: Record<string, string>;
  readonly model: ScriptedModel;
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** The agent plans, builds one piece of three and reviews all; claude and codex build the others. */
async function openRoom(agent: AcpLiveAgent): Promise<Room> {
  const model = scriptModel(TURNS);
  const anthropic = await startFakeAnthropic(model.anthropic);
  const openai = await startFakeOpenai(model.openai);
  const own = await agent.start(model.by(agent));
  const runtime = `acp/${agent.name}`;
  const variables = agent.environment(own.url);
  const member = (name: string, role: string, access: string, more: object = { runtime, model: agent.model }) => ({
    ...{ name, role, access },
    ...more,
  });
  const settings = {
    version: 1,
    agents: [
      member('planner', 'planner', 'read-only'),
      member('builder-1', 'builder', 'edit'),
      member('builder-2', 'builder', 'edit', { runtime: 'claude' }),
      member('builder-3', 'builder', 'edit', { runtime: 'codex', model: PLAIN_MODEL }),
      member('reviewer', 'reviewer', 'read-only'),
    ],
    runtimes: { ...runtimesAt(openai.baseUrl), [runtime]: { command: agent.binary, env: Object.keys(variables) } },
    verify: [{ run: 'node check.mjs', minutes: 1 }],
  };
  const engine = openEngineRoom({ 'squad.yaml': stringify(settings), 'objective.md': OBJECTIVE, 'check.mjs': CHECK });
  const environment = {
    ...{ ANTHROPIC_API_KEY: 'key-of-the-fake', ANTHROPIC_BASE_URL: anthropic.url, FAKE_KEY: 'key-of-the-fake' },
    ...variables,
  };
  closing.push(() => engine.close(), own.close, openai.close, anthropic.close);
  return { engine, environment, model };
}

describe.each(LIVE_AGENTS)('a whole run with the real $name beside claude and codex', (agent) => {
  const test = it.skipIf(agent.binary === undefined || CLAUDE_BINARY === undefined || CODEX_BINARY === undefined);

  test(
    'planned, edited, committed, reviewed and resumed in the same session, and delivered',
    { timeout: 300_000 },
    async () => {
      const { engine, environment, model } = await openRoom(agent);
      const end = await engine.run(['run', 'objective.md', '--json', '--yes'], environment);
      expect(model.strange).toEqual([]);
      const last = end.lines.at(-1);
      expect(
        last,
        `${end.stderr}\n${JSON.stringify(turnsTaken(engine).map(({ result }) => result?.failure))}`,
      ).toMatchObject({
        ...{ type: 'run-ended', outcome: 'done', exitCode: 0, branch: BRANCH },
        headline: 'DONE, all work is delivered and verified',
      });
      for (const name of NAMES) {
        const delivered = git(engine.repository, 'show', `${BRANCH}:lib/${name}.mjs`);
        expect(`${delivered}\n`).toBe(source(name, FUNCTIONS[name]));
      }
      const turns = turnsTaken(engine);
      expectTurns(turns, agent);
      expectRecord(engine, end, turns, agent);
      expectReport(end, agent);
      const check = checkLedger(ledgerPath(stateOf(engine.repository)));
      expect([...check.problems, ...check.violations]).toEqual([]);
      expect(await processesOf(engine.root)).toEqual([]);
    },
  );
});

/** Each turn once, on its own runtime; the author of `sum` and its reviewer keep their sessions. */
function expectTurns(turns: readonly Taken[], { name }: AcpLiveAgent): void {
  const taken = turns.map(({ attempt, result }) => {
    return `${attempt.taskId}: ${attempt.agent} on ${attempt.runtime} ${result?.outcome}`;
  });
  const own = `acp/${name}`;
  expect(taken.toSorted()).toEqual(
    [
      `plan: planner on ${own} completed`,
      ...[1, 2].map(() => `sum: builder-1 on ${own} completed`),
      'difference: builder-2 on claude completed',
      'product: builder-3 on codex completed',
      ...['sum', 'sum', 'difference', 'product'].map((task) => `${task}: reviewer on ${own} completed`),
    ].toSorted(),
  );
  for (const agent of ['builder-1', 'reviewer']) {
    const of = turns.filter(({ attempt }) => attempt.taskId === 'sum' && attempt.agent === agent);
    const sessions = new Set(of.map(({ result }) => result?.session?.id));
    expect(of).toHaveLength(2);
    expect([...sessions]).toEqual([expect.any(String)]);
  }
  for (const { result } of turns) expect(result?.denials).toEqual([]);
}

/** What the agent ran and used is on record, and git had nothing to complain of in any of its turns. */
function expectRecord(engine: EngineRoom, { lines }: Finished, turns: readonly Taken[], { name }: AcpLiveAgent): void {
  const own = turns.filter(({ attempt }) => attempt.runtime === `acp/${name}`);
  const used = (task: string, kind: string): string =>
    lines
      .filter((line) => line['task'] === task && line['agent'] === kind && String(line['type']).startsWith('tool-'))
      .map(({ input }) => JSON.stringify(input) ?? '')
      .join('\n');
  expect(used('sum', 'builder-1')).toContain(String.raw`git add -A && git commit -m \"Add sum\"`);
  expect(used('sum', 'reviewer')).toContain('git ');
  for (const { attempt, result } of own) {
    const { inputTokens = 0, costUsd = 0 } = result?.usage ?? {};
    // OpenCode reports no tokens, and is the only one that reports a cost.
    expect(name === 'opencode' ? costUsd : inputTokens, `the use of ${attempt.id}`).toBeGreaterThan(0);
    const folder = join(stateOf(engine.repository), 'turns', attempt.id);
    const said = ['stdout', 'stderr'].map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
    expect(said.match(/(?:^|\\n|["\n])(?:error|fatal): .*/g) ?? [], `git in ${attempt.id}`).toEqual([]);
  }
}

function expectReport(end: Finished, { name }: AcpLiveAgent): void {
  const report = readFileSync(String(end.lines.at(-1)?.['report']), 'utf8').replaceAll(/\\(.)/g, '$1');
  const all = ['**DONE, all work is delivered and verified.**', `acp/${name}`, 'claude', 'codex', BRANCH, FINDING];
  for (const text of all) expect(report).toContain(text);
}
