import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { objective, piece, plan } from '../runs/run-script.ts';
import { openEngineRoom, type EngineRoom, type Finished } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { canMount, openSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { stateOf } from '../support/state.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import { expireCodex } from './expired-codex.ts';
import { startFakeAnthropic } from './fake-anthropic.ts';
import { startFakeOpenai } from './fake-openai.ts';
import { reviewed, scriptModel, type Act, type ScriptedModel, type ScriptedTurn } from './turn-scripts.ts';
import { runtimesAt, turnsTaken, type Cli } from './whole-run-room.ts';
import { finding } from '../support/findings.ts';

const test = it.skipIf(CLAUDE_BINARY === undefined || CODEX_BINARY === undefined);
const RUN = ['run', 'objective.md', '--yes', '--json', '--parallel', '1'];

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Cast {
  readonly pieces: readonly string[];
  readonly builder: Cli;
  readonly reviewer: Cli;
  /** The login of codex is no longer good, and claude is its fallback. */
  readonly expired?: boolean;
  readonly disk?: SmallDisk;
}

interface Room {
  readonly engine: EngineRoom;
  readonly environment: Record<string, string>;
  readonly model: ScriptedModel;
}

/** A run that a script plans, and that real CLIs build and review, on one scripted model. */
async function openRoom(
  { pieces, builder, reviewer, expired = false, disk }: Cast,
  turns: readonly ScriptedTurn[],
): Promise<Room> {
  const model = scriptModel(turns);
  const anthropic = await startFakeAnthropic(model.anthropic);
  const openai = await startFakeOpenai(model.openai);
  const open = (): EngineRoom => openEngineRoom({ 'objective.md': objective() });
  const engine = disk === undefined ? open() : disk.within(open);
  closing.push(() => engine.close(), anthropic.close, openai.close);
  const script = engine.script({ turns: [plan(pieces.map((name) => piece(name)))] });
  const runtimes = runtimesAt(openai.baseUrl) as Record<Cli, { command: string; env: string[] }>;
  const old = expired ? await expireCodex(engine.root, closing) : undefined;
  const codex =
    old === undefined ? runtimes.codex : { command: runtimes.codex.command, env: Object.keys(old), fallback: 'claude' };
  const agent = (name: string, role: string, runtime: string) => ({
    ...{ name, role, runtime },
    ...(runtime === 'codex' && old === undefined ? { model: PLAIN_MODEL } : {}),
  });
  const settings = {
    version: 1,
    agents: [
      agent('planner', 'planner', 'scripted'),
      agent('builder', 'builder', builder),
      agent('reviewer', 'reviewer', reviewer),
    ],
    runtimes: { ...runtimes, codex, scripted: { config: { script } } },
  };
  writeFileSync(`${engine.repository}/squad.yaml`, JSON.stringify(settings));
  const environment = {
    ...{ ANTHROPIC_API_KEY: 'key-of-the-fake', ANTHROPIC_BASE_URL: anthropic.url, FAKE_KEY: 'key-of-the-fake' },
    ...old,
  };
  return { engine, environment, model };
}

const shell = (command: string): Act => ({ act: 'shell', command });
const say = (text: string): Act => ({ act: 'say', text });
const COMMIT = 'git add -A && { git diff --cached --quiet || git commit -q -m work; }';
/** Reviews with a look, so that no approval counts as one without. */
const review = (round: string, answer: Act): ScriptedTurn => ({
  name: `review ${round}`,
  when: new RegExp(`# Review of task \\w+: .* \\(round ${round}\\)`),
  acts: [shell('git log --oneline -3'), answer],
});
const APPROVES = review(String.raw`\d`, reviewed());

function expectSound({ engine }: Room): void {
  const check = checkLedger(ledgerPath(stateOf(engine.repository)));
  expect([...check.problems, ...check.violations]).toEqual([]);
}

const headlineOf = ({ lines }: Finished): unknown => lines.at(-1)?.['headline'];

describe('a fix that does harm, by claude, with codex as its reviewer', { timeout: 300_000 }, () => {
  const FOUND = 'login.js:1 the check of the password is gone';
  const builds: ScriptedTurn[] = [
    {
      name: 'build',
      when: /# Task one:/,
      acts: [shell(`echo 'check the password' > login.js && echo one > one.txt && ${COMMIT}`), say('done')],
    },
    {
      name: 'fix',
      when: /Your work on task one was rejected in review:[^]*is not right/,
      acts: [shell(`git rm -q login.js && echo corrected > one.txt && ${COMMIT}`), say('done')],
    },
    {
      name: 'restore',
      when: /Your work on task one was rejected in review:[^]*the password is gone/,
      acts: [shell(`echo 'check the password' > login.js && ${COMMIT}`), say('done')],
    },
    review('1', reviewed('one.txt is not right')),
  ];
  const cast: Cast = { pieces: ['one'], builder: 'claude', reviewer: 'codex' };

  test('a rejection without new harm stays a rejection, and open', async () => {
    const defect = reviewed(finding(FOUND, { blocks: 'defect', criterion: null }));
    const insists = { name: 'insist', when: /Your verdict cannot be used:[^]*nothing blocks/, acts: [defect] };
    const room = await openRoom(cast, [...builds, review('2', defect), insists]);
    const end = await room.engine.run([...RUN, '--strict'], room.environment);
    expect([end.code, headlineOf(end)], end.stderr).toEqual([1, 'DONE, the last rejection of one was overruled']);
    expect((await room.engine.run(['report'], room.environment)).stdout).toContain('**rejected**, overruled');
    expectSound(room);
  });

  test('new harm goes back to its author', async () => {
    const veto = review('2', reviewed(finding(FOUND, { blocks: 'new-harm', criterion: null })));
    const room = await openRoom(cast, [...builds, veto, APPROVES]);
    const end = await room.engine.run(RUN, room.environment);
    expect([end.code, headlineOf(end)], end.stderr).toEqual([0, 'DONE, all work is delivered and verified']);
    expect(git(room.engine.repository, 'show', 'squad/make-things:login.js')).toBe('check the password');
    expectSound(room);
  });
});

describe('one reviewer on codex, whose login has expired', { timeout: 300_000 }, () => {
  test('reviews on its fallback, and nobody is asked', async () => {
    const build = { name: 'build', when: /# Task one:/, acts: [shell(`echo one > one.txt && ${COMMIT}`), say('done')] };
    const room = await openRoom({ pieces: ['one'], builder: 'claude', reviewer: 'codex', expired: true }, [
      build,
      APPROVES,
    ]);
    const end = await room.engine.run(RUN, room.environment);
    expect(end.code, end.stdout + end.stderr).toBe(0);
    const reviews = turnsTaken(room.engine).filter(({ attempt }) => attempt.agent === 'reviewer');
    expect(reviews).toMatchObject([
      { attempt: { runtime: 'codex' }, result: { failure: { kind: 'auth' } } },
      { attempt: { runtime: 'claude' }, result: { outcome: 'completed' } },
    ]);
    expect(headlineOf(end)).toContain(
      "claude stood in for codex (reviewer); reviewed on the author's own runtime: one",
    );
    expectSound(room);
  });
});

describe('20 kills of the engine while claude runs commands', { timeout: 600_000 }, () => {
  test('no command fails, and one turn is paid', async () => {
    let last: readonly string[] = [];
    let isOver = false;
    let ending = 0;
    const commands = Array.from({ length: 2000 }, (_, index) => ({ outputs }: { outputs: readonly string[] }): Act => {
      last = outputs;
      if (!isOver) return shell(`sleep 0.1 && git status --short && echo ran-${index}`);
      ending += 1;
      return ending === 1 ? shell(`echo one > one.txt && ${COMMIT} && echo ran-${index}`) : say('done');
    });
    const room = await openRoom({ pieces: ['one'], builder: 'claude', reviewer: 'claude' }, [
      { name: 'build', when: /# Task one:/, acts: commands },
      APPROVES,
    ]);
    let engine = room.engine.start(RUN, room.environment);
    await engine.line(({ type, task }) => type === 'tool-started' && task === 'one');
    for (let kill = 0; kill < 20; kill += 1) {
      await sleep(50 + ((kill * 137) % 600));
      engine.child.kill('SIGKILL');
      await engine.finished;
      engine = room.engine.start(['resume', '--json'], room.environment);
      // Where an engine dies before it has taken the turn, it has done all of what a resume does in the folder.
      if (kill % 4 !== 3) await engine.line(({ type, how }) => type === 'attempt-taken' && how === 'attached');
    }
    isOver = true;
    const end = await engine.finished;
    expect(end.code, end.stderr).toBe(0);
    expect(last.length).toBeGreaterThan(20);
    expect(last.filter((output) => !/ran-\d+\s*$/.test(output))).toEqual([]);
    expect(
      turnsTaken(room.engine).filter(({ attempt }) => attempt.taskId === 'one' && attempt.agent === 'builder'),
    ).toHaveLength(1);
    expectSound(room);
  });
});

describe.skipIf(!canMount())('a full disk under claude and codex', { timeout: 300_000 }, () => {
  const at =
    (type: string, more: Readonly<Record<string, unknown>> = {}) =>
    (line: Record<string, unknown>): boolean =>
      line['type'] === type && Object.entries(more).every(([key, value]) => line[key] === value);
  const MOMENTS = [
    ['the plan is made', at('attempt-ended', { agent: 'planner' })],
    ['claude begins', at('attempt-taken', { agent: 'builder' })],
    ['claude runs a command', at('tool-started', { agent: 'builder' })],
    ['claude has ended', at('attempt-ended', { agent: 'builder' })],
    ['codex reviews', at('tool-started', { agent: 'reviewer' })],
  ] as const;

  test.each(MOMENTS)('when %s: 75, paused, and the same run continues', async (_name, moment) => {
    const disk = openSmallDisk(192);
    if (disk === undefined) throw new Error('no disk can be mounted here');
    closing.push(() => disk.close());
    const build = {
      name: 'build',
      when: /# Task one:|task one (?:was cut|is done)/,
      acts: [shell('sleep 1'), shell(`echo one > one.txt && ${COMMIT}`), say('done')],
    };
    const cast: Cast = { pieces: ['one'], builder: 'claude', reviewer: 'codex', disk };
    const room = await openRoom(cast, [build, APPROVES]);
    const engine = room.engine.start(RUN, room.environment);
    await engine.line(moment);
    disk.fill();
    // What ends frees a little, in which the whole work could have room.
    const filling = setInterval(() => disk.fill(), 50);
    const paused = await engine.finished;
    clearInterval(filling);
    expect(paused.code, paused.stdout + paused.stderr).toBe(75);
    expect(paused.stderr).toMatch(/no space is left/i);
    disk.free();
    const end = await room.engine.run(['resume', '--json'], room.environment);
    expect([end.code, headlineOf(end)], end.stderr).toEqual([0, 'DONE, all work is delivered and verified']);
    expect(git(room.engine.repository, 'show', 'squad/make-things:one.txt')).toBe('one');
    expectSound(room);
  });
});
