import { mkdirSync, rmSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { CommandContext } from '../../src/cli/command-context.ts';
import { createProgram } from '../../src/cli/program.ts';
import { PLAIN } from '../../src/cli/render/style.ts';
import { errorLineSchema } from '../../src/model/error-line.ts';
import type { EngineRoom } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { definition, play, RecordedRun } from '../view/report/support.ts';
import { commandRoom, roomForTest } from './room.ts';
import { newStateOf } from '../support/state.ts';
import { ALL } from '../support/lane.ts';

/** Never used: the commands are only looked at. */
const NOTHING = { output: { style: PLAIN } } as Omit<CommandContext, 'logLevel'>;

/** As they are called, with every command that takes `--json`. */
async function commandsWithJson(): Promise<string[]> {
  const found: string[] = [];
  const look = (command: Command, path: readonly string[]): void => {
    for (const one of command.commands) look(one, [...path, one.name()]);
    if (command.options.some(({ long }) => long === '--json')) found.push(path.join(' '));
  };
  look(await createProgram(NOTHING, '0', ['mail']), []);
  return found;
}

/** What a command needs to get as far as the repository. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  run: ['objective.md'],
  answer: ['yes'],
  open: ['a'],
  retry: ['a'],
  skip: ['a'],
  override: ['a', 'done', '--reason', 'r'],
  switch: ['scripted', '--task', 'a'],
  tell: ['planner', 'use tabs'],
  pack: ['runs.tar'],
  move: ['ssh://127.0.0.1:1/r'],
  unpack: ['runs.tar'],
  'queue move': ['one', '1'],
  'queue drop': ['one'],
  submit: ['objective.md'],
  'worker allow': ['one'],
  'pool drain': ['one'],
  'pool remove': ['one'],
  'request show': ['r-1'],
  'request cancel': ['r-1'],
  ask: ['status'],
  'action run': ['deploy'],
  'sprint start': ['a login page'],
  'mail send': ['{}'],
  'mail say': ['hello'],
  'mail ask': ['hello?'],
  'mail reply': ['yes'],
};
const PROMPTS = ['prompts', 'prompts show', 'prompts eject', 'prompts diff'];
/** They work where nothing ever ran. */
const SERVICE = ['serve', 'serve status', 'serve stop', 'serve check'];
const TEAM = ['request', 'request list', 'backlog', 'action list'];
/** Only what begins starts from a commit, and what says whether it can. */
const FROM_A_COMMIT = new Set(['run', 'ask', 'sprint start', 'sprint status']);
const WORK = new Set([
  'init',
  'doctor',
  'demo',
  'runs',
  'queue',
  'state',
  'uninstall',
  ...PROMPTS,
  ...SERVICE,
  ...TEAM,
]);

/** The parser refuses them, and prints that to the streams of the process. */
const UNPARSED = new Set(['best-of', 'compare', 'plan', 'mail ask', 'mail send']);

function withoutCommits(command: string): EngineRoom {
  const room = UNPARSED.has(command) ? roomForTest() : commandRoom();
  rmSync(room.repository, { recursive: true });
  mkdirSync(room.repository);
  git(room.repository, 'init', '--quiet');
  return room;
}

const WITH_JSON = await commandsWithJson();

describe('an error of a command with --json', () => {
  it('is looked at for every one of them', () => {
    expect(WITH_JSON.length).toBeGreaterThan(25);
  });

  it.each(WITH_JSON.filter((command) => !WORK.has(command)))(
    'is one object on standard output: %s, where there is no commit and nothing ever ran',
    { ...ALL, timeout: 300_000 },
    async (command) => {
      const words = [...command.split(' '), ...(ARGUMENTS[command] ?? [])];
      const { code, stdout, stderr, lines } = await withoutCommits(command).run([...words, '--json']);
      expect(lines, stdout + stderr).toHaveLength(1);
      const error = errorLineSchema.parse(lines[0]);
      expect(error.exitCode).toBe(code);
      expect(error.next).not.toBeNull();
      expect(/no commit yet/.test(error.message), error.message).toBe(FROM_A_COMMIT.has(command));
      expect(stderr).toContain(error.message.split('\n')[0] ?? '');
    },
  );

  it('is one for what is wrong with the command line as well', async () => {
    const { code, lines } = await roomForTest().run(['status', '--json', '--nope']);
    expect(code).toBe(2);
    expect(lines.map((line) => errorLineSchema.parse(line))).toEqual([
      {
        type: 'error',
        code: 'usage',
        exitCode: 2,
        message: "unknown option '--nope'",
        next: 'Run the command with --help.',
      },
    ]);
  });

  it('is none where only a value looks like the option', async () => {
    const room = commandRoom();
    expect((await room.run(['answer', '--', '--json'])).stdout).toBe('');
  });
});

it.each([
  [['retry', 'plam'], 'there is no task plam; did you mean plan?'],
  [['resume', '--task', 'paln'], 'there is no task paln; did you mean plan?'],
  [['status', 'tidi'], 'no run is called tidi; did you mean tidy?'],
  [['log', 'tidi'], 'no run is called tidi; did you mean tidy?'],
])('squad %j suggests the name that was meant', async (words, message) => {
  const room = commandRoom();
  const about = definition();
  const { entries } = play(about);
  new RecordedRun(about, newStateOf(room.repository)).allocate().plan(entries.slice(0, 8)).close();
  const { code, lines } = await room.run([...words, '--json']);
  expect(lines).toMatchObject([{ type: 'error', code: 'usage', message }]);
  expect(code).toBe(2);
});

it('finds every command without making those of other groups', async () => {
  const { commands } = await createProgram(NOTHING, '0', []);
  for (const name of commands.map((command) => command.name())) {
    const alone = await createProgram(NOTHING, '0', ['node', 'squad', name]);
    expect(alone.commands.map((command) => command.name())).toContain(name);
    expect([name, alone.commands.length < commands.length]).toEqual([name, true]);
  }
});
