import { spawn } from 'node:child_process';
import { cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allCommands, examplesOf, shownCommands } from '../../scripts/commands-docs.ts';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan, type Entry } from '../runs/run-script.ts';
import { ALL, some } from '../support/lane.ts';
import { installChaosAgent } from '../support/chaos-agent.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { git } from '../support/git.ts';
import { workers } from '../support/session-folder.ts';
import { planner, sessionOfTeam, teamAnswer } from '../support/team-answer.ts';
import { killAll } from '../support/marked-pids.ts';
import { NO_TMUX, openTmuxRoom } from '../support/tmux.ts';
import { mailRoom } from './mail/room.ts';

const SESSION = fileURLToPath(new URL('../../examples/session', import.meta.url));
const SESSION_THERE = ['mkdir -p .workflow/.team', `cp -r '${SESSION}' .workflow/.team/TC-login-2026-02-27`];
const FAKE_GH = fileURLToPath(new URL('../fixtures/forge/fake-gh.mjs', import.meta.url));

interface Place {
  /** The repository in which it is run. */
  readonly in: 'new' | 'stopped' | 'done' | 'failed' | 'asks' | 'mail';
  /** Commands of a shell that come first. */
  readonly first?: readonly string[];
  /** Commands that come last, so that nothing of it is left. */
  readonly after?: readonly string[];
  /** It continues until it is interrupted, after it has printed this. */
  readonly until?: RegExp;
  /** Its exit code, where that is not 0: it asks for something that a test cannot give, and says so. */
  readonly code?: number;
}

/** Makes a folder with one prompt, which is another one in each folder. */
function promptsIn(folder: string): string[] {
  const file = `${folder}/planner/first.md`;
  const body = `printf 'Prompts of %s.\\n' ${folder}`;
  return [
    'squad prompts eject planner first --force',
    `mkdir -p ${folder}/planner`,
    `{ cat squad/prompts/planner/first.md; ${body}; } > prompt.tmp && mv prompt.tmp ${file}`,
    ...(folder === 'squad/prompts' ? [] : ['rm -r squad/prompts']),
  ];
}

/** A plan that a person wrote. */
const MINE = JSON.stringify({ summary: 'mine', tasks: [piece('greet')] });

const LOGIN_FORM = 'squad add "add a login form" --yes --name login-form';

/** By a whole example, or else by the words that it begins with. */
const PLACES: Readonly<Record<string, Place>> = {
  'squad init': { in: 'new' },
  'squad doctor': { in: 'new' },
  'squad doctor --trust': { in: 'new' },
  'squad demo': { in: 'new' },
  'squad run': { in: 'new' },
  'squad best-of': { in: 'new' },
  'squad add': { in: 'new' },
  'squad add "then write its tests"': { in: 'new', first: [LOGIN_FORM] },
  // No test of these has a PostgreSQL: test/runs/pool has.
  'squad submit': { in: 'new', code: 2 },
  'squad worker': { in: 'new', code: 2 },
  'squad pool': { in: 'new', code: 2 },
  'squad queue': { in: 'new' },
  'squad ask "how is it going?"': { in: 'new' },
  'squad ask "sprint stop"': { in: 'new', code: 1 },
  'squad request': { in: 'new' },
  'squad request list': { in: 'new' },
  // Ids are random.
  'squad request show': { in: 'new', first: ['squad request "add a login form"'], code: 2 },
  'squad request cancel': { in: 'new', first: ['squad request "add a login form"'], code: 2 },
  'squad backlog': { in: 'new' },
  'squad queue move': { in: 'new', first: [LOGIN_FORM] },
  'squad queue drop': { in: 'new', first: [LOGIN_FORM] },
  // No test has a terminal.
  'squad answer --edit': { in: 'asks', code: 2 },
  // No test has a remote that it may reach.
  'squad run objective.md --base origin/main --fetch': { in: 'new', code: 78 },
  'squad run objective.md --detach': { in: 'new', after: ['squad watch --plain'] },
  'git log -1 --format=%B | squad run -': { in: 'new' },
  'squad resume': { in: 'stopped' },
  // It looks again until it is interrupted. A run that waits for a time, such as that of a retry, is left to the next look.
  // Its engine must not write into the repository of the next example.
  'squad resume --detach': { in: 'stopped', after: ['squad watch --plain'] },
  'squad serve': { in: 'stopped', until: /squad serve works here/ },
  'squad serve --detach': { in: 'stopped', after: ['squad serve stop'] },
  'squad serve --unit > ~/.config/systemd/user/squad.service': {
    in: 'new',
    first: ['mkdir -p ~/.config/systemd/user'],
  },
  'squad serve status': { in: 'new' },
  'squad serve stop': { in: 'new' },
  'squad serve check': { in: 'new' },
  'squad stop': { in: 'stopped' },
  'squad tell': { in: 'stopped' },
  'squad answer "try again"': { in: 'asks' },
  'squad answer engine/auth/claude give up': { in: 'asks' },
  // The question that is open is none about paths.
  'squad answer --paths src/router.ts,docs "yes"': { in: 'asks', code: 2 },
  'squad answer plan-1 --file plan.yaml': {
    in: 'new',
    first: ['squad plan objective.md --yes', `printf '%s' '${MINE}' > plan.yaml`],
  },
  'squad pause': { in: 'stopped' },
  'squad drain': { in: 'stopped' },
  'squad cancel': { in: 'stopped' },
  // It lists what failed; only at a terminal does it ask.
  'squad retry': { in: 'failed', code: 2 },
  'squad retry greet': { in: 'failed' },
  'squad skip': { in: 'stopped' },
  'squad override': { in: 'failed' },
  'squad switch': { in: 'stopped' },
  // Without a terminal it needs --yes.
  'squad drop': { in: 'done', code: 2 },
  'squad drop my-run --all --yes': { in: 'done' },
  'squad merge my-run --unverified': { in: 'failed' },
  // Its run is over, so its folder was given back, and its agent has another name.
  'squad open': { in: 'done', code: 2 },
  // No test has a login at GitHub.
  'squad pr': { in: 'done', code: 78 },
  'squad merge my-run --squash --into release': { in: 'done', first: ['git branch release'] },
  'squad mail': { in: 'mail' },
  'squad mail listen': { in: 'mail', until: /which port|one thing more/ },
  'squad team objective.md': { in: 'new', after: ['squad watch --plain', 'squad team --close'] },
  'squad watch --web': { in: 'done', until: /The live page: http/ },
  'squad studio': { in: 'done', until: /Serving the runs of this repository/ },
  'squad coordinate': { in: 'new' },
  'squad coordinate --into ./team --resume': {
    in: 'new',
    first: ['squad coordinate objective.md --yes --into ./team', 'rm ./team/roles/writer.md'],
  },
  'squad plan': { in: 'new' },
  'squad compare objective.md --prompts squad/prompts': { in: 'new', first: promptsIn('squad/prompts') },
  'squad compare objective.md --prompts planner-a': {
    in: 'new',
    first: [...promptsIn('planner-a'), ...promptsIn('planner-b')],
  },
  'squad session': { in: 'new', first: SESSION_THERE },
  'squad run --session=.workflow/.team/TC-login-2026-02-27': { in: 'new', first: SESSION_THERE },
  'squad team': { in: 'stopped', after: ['squad team --close'] },
  // Nothing here says where traces go.
  'squad trace': { in: 'done', code: 78 },
  // Programs of this machine have nothing open in the folders of a test.
  'squad uninstall': { in: 'stopped' },
  'squad state': { in: 'done' },
  // The repository has runs of its own.
  'squad state --adopt': { in: 'done', code: 2 },
  'squad pack': { in: 'stopped' },
  // The repository has runs of its own.
  'squad unpack': { in: 'done', first: ['squad pack ../runs.tar'], code: 2 },
  // No test has another machine.
  'squad move ssh://me@server/home/me/my-project': { in: 'done', code: 78 },
  'squad move login-form ssh://server:2222/~/my-project --now': { in: 'done', code: 78 },
  'squad move --back': { in: 'done', code: 2 },
  squad: { in: 'done' },
};

const NOT_RUN: Readonly<Record<string, string>> = {
  'squad ask "please add a login form"': 'a run reads it: whole runs of it are in test/runs',
  'squad request "the form as in the sketch"': 'it waits for a planner: whole runs of teams are in test/runs',
  'squad mail review': 'it waits until agents have taken the review',
  'squad mail ask': 'a member sends it, and the person here is MAIN',
  'squad mail report': 'it answers a review, and nobody gave one to this person',
  'squad mail done': 'it answers work, and nobody gave any to this person',
  'squad mail listen --as a --json': 'it never ends, as the one without --json, which is run',
};

/** What an example names that a test does not have, and what is there in its place. */
const REPLACED: readonly (readonly [example: RegExp, named: string, instead: string])[] = [
  [/^squad answer/, 'engine/auth/claude', 'engine/auth/scripted'],
  [/^squad db/, '/mnt/usb', '..'],
  // A person agrees at the terminal to what the objective and squad.yaml run.
  [/squad run /, 'squad run ', 'squad run --yes '],
  [/^squad add /, 'squad add', 'squad add --yes'],
  [/^squad best-of 3/, 'squad best-of', 'squad best-of --yes'],
  // Whole runs of a session are in test/runs: here are no workers for its tasks.
  [/^squad run --session/, '--session', '--dry-run --session'],
  [/^squad plan/, 'squad plan', 'squad plan --yes'],
  [/^squad compare/, 'squad compare', 'squad compare --yes'],
  [/^squad compare/, '--times 5', '--times 1'],
  [/^squad coordinate/, 'squad coordinate', 'squad coordinate --yes'],
  // No agent of squad.yaml has a role of this session.
  [/^squad coordinate .*--run$/, '--run', '--run --runtime scripted'],
  // Another program may have these ports.
  [/^squad studio$/, 'studio', 'studio --port 0'],
  [/^squad studio/, '8123', '0'],
  [/^squad watch/, '4100', '0'],
  // The agents of squad.yaml have the roles of this playbook.
  [/^squad team objective/, 'objective.md', 'objective.md --yes --playbook delivery'],
];

const AGENTS = [
  { name: 'planner', role: 'planner', runtime: 'scripted', access: 'read-only' },
  { name: 'builder-1', role: 'builder', runtime: 'scripted' },
  { name: 'builder-2', role: 'builder', runtime: 'scripted' },
  { name: 'reviewer', role: 'reviewer', runtime: 'scripted', access: 'read-only' },
];
const PIECES = [piece('greet'), piece('docs')];
/** The planner of objective.md, which has criteria, and the one that proposes a criterion. */
const PLAN = plan(PIECES, 'things are there');
const PROPOSAL: Entry = {
  when: 'Split this objective',
  steps: [{ answer: 'planned' }],
  structured: { summary: 'the plan', tasks: PIECES, criteria: [{ text: 'it is there', command: 'test -d .' }] },
};
const made = (id: string): Entry => author(id, commits({ [`${id}.txt`]: `${id}\n` }));
const RESUMED: Entry = {
  when: 'Your last turn on task greet was cut short',
  steps: commits({ 'greet.txt': 'greet\n' }),
};
const TEAM = teamAnswer();
const WORKS = [
  ...planner(TEAM),
  ...workers(sessionOfTeam(TEAM)),
  RESUMED,
  made('greet'),
  made('docs'),
  { when: '# Task try-', steps: commits({ 'tried.txt': 'tried\n' }) },
  {
    when: 'Choose the work that is delivered',
    steps: [{ answer: 'the first' }],
    structured: { choice: 'try-1', why: 'all are the same' },
  },
  APPROVE_ALL,
  PLAN,
  PROPOSAL,
];

const program = await allCommands();
const ALL_EXAMPLES = [...new Set([program, ...shownCommands(program)].flatMap(examplesOf))];
const EXAMPLES = ALL_EXAMPLES.filter((example) => notRun(example) === undefined);

/** Why it is not run here; undefined: it is. */
function notRun(example: string): string | undefined {
  return Object.entries(NOT_RUN).find(([start]) => example.startsWith(start))?.[1];
}

for (const example of ALL_EXAMPLES) {
  const why = notRun(example);
  if (why !== undefined) it.skip(`${example}: ${why}`);
}

function placeOf(example: string): Place {
  const words = example.split(' ');
  const found = words.map((_, index) => PLACES[words.slice(0, words.length - index).join(' ')]);
  return found.find((place) => place !== undefined) ?? { in: 'done' };
}

/** How a repository comes to be as the examples need it. */
const PREPARED: Readonly<Record<Place['in'], (bench: RunBench) => Promise<void>>> = {
  new: () => Promise.resolve(),
  done: async (bench) => {
    const run = await bench.runAll(['--name', 'my-run']);
    expect(run.code, run.stderr).toBe(0);
  },
  stopped: async (bench) => {
    bench.objective(`${objective()}\n## Deadline\n\n2199-12-31\n`);
    bench.rescript([author('greet', [{ run: ['true'] }, { hang: true }]), ...WORKS]);
    const engine = bench.startRun(['--name', 'my-run', '--parallel', '1']);
    await engine.line(({ type, task }) => type === 'tool-started' && task === 'greet');
    // The machine went down.
    engine.child.kill('SIGKILL');
    await engine.finished;
    killAll(bench.alive());
    bench.rescript(WORKS);
  },
  failed: async (bench) => {
    await PREPARED.stopped(bench);
    expect((await bench.run(['override', 'greet', 'failed', '--reason', 'it hangs'])).code).toBe(0);
    expect((await bench.run(['resume'])).code).toBe(1);
  },
  asks: async (bench) => {
    bench.rescript([author('greet', [{ fail: { kind: 'auth', message: 'no login' } }]), ...WORKS]);
    expect((await bench.runAll(['--name', 'my-run'])).code).toBe(3);
    bench.rescript(WORKS);
  },
  mail: () => Promise.resolve(),
};

describe.each(['new', 'done', 'stopped', 'failed', 'asks'] as const)('examples in a repository: %s', (state) => {
  const examples = EXAMPLES.filter((example) => placeOf(example).in === state);
  const tmux = NO_TMUX === undefined ? openTmuxRoom() : undefined;
  let bench: RunBench;
  let kept: string;

  beforeAll(async () => {
    bench = openRunBench({ script: WORKS, settings: { agents: AGENTS } });
    const { root, repository } = bench;
    installChaosAgent(join(root, 'bin'), {});
    symlinkSync(FAKE_GH, join(root, 'bin', 'gh'));
    git(repository, 'remote', 'add', 'origin', 'https://github.com/acme/app.git');
    const issue = { number: 12, title: 'Login fails', body: 'It says 500.' };
    writeFileSync(join(root, 'github.json'), JSON.stringify({ branches: '', pulls: [], issues: [issue] }));
    await PREPARED[state](bench);
    kept = `${root}-kept`;
    cpSync(root, kept, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  }, 120_000);
  afterAll(() => {
    tmux?.close();
    rmSync(kept, { recursive: true, force: true });
    bench.end();
  });

  it.each(some(examples, 1, Math.ceil(examples.length / 12)))('%s', { ...ALL, timeout: 60_000 }, async (example) => {
    const { root, repository } = bench;
    rmSync(root, { recursive: true });
    cpSync(kept, root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    const place = placeOf(example);
    const line = REPLACED.reduce((text, [of, a, b]) => (of.test(example) ? text.replace(a, b) : text), example);
    const ended = await inShell(
      [...(place.first ?? []), line, ...(place.after ?? [])].join(' && '),
      place,
      repository,
      {
        ...tmux?.environment,
        ANTHROPIC_API_KEY: 'none',
        CODEX_API_KEY: 'none',
        PATH: `${join(root, 'bin')}:${process.env['PATH'] ?? ''}`,
        HOME: root,
        XDG_STATE_HOME: join(root, 'state'),
      },
    );
    expect(ended.code, ended.text).toBe(place.code ?? 0);
  });
});

describe('examples of squad mail', () => {
  it.each(EXAMPLES.filter((example) => placeOf(example).in === 'mail'))(
    '%s',
    { ...ALL, timeout: 60_000 },
    async (example) => {
      const { root, repository, run, messages } = mailRoom();
      const mail = async (...words: string[]): Promise<void> => {
        const ended = await run(['mail', ...words]);
        expect(ended.code, ended.stderr).toBe(0);
      };
      const issues = [{ doc_path: 'a.md#L1', category: 'docs', severity: 'low', summary: 's', suggestion: 't' }];
      writeFileSync(join(repository, 'review.json'), JSON.stringify({ issues, summary: 'one thing' }));
      await prepareMail(mail, () => messages().length);
      const ended = await inShell(example, placeOf(example), repository, {
        PATH: process.env['PATH'],
        HOME: root,
        XDG_STATE_HOME: join(root, 'state'),
      });
      expect(ended.code, ended.text).toBe(0);
    },
  );
});

/** Work for MAIN and from it, and as its last message, #12, the one question that waits for MAIN. */
async function prepareMail(mail: (...words: string[]) => Promise<void>, count: () => number): Promise<void> {
  const work = ['--files', 'src/router.ts', '--success-criteria', 'Tests pass', '--deadline', '2h'];
  await mail('assign', '--to', 'B', '--task', 'FEAT-1', ...work);
  while (count() < 11) await mail('say', '--to', 'A', 'one thing more');
  await mail('say', '--as', 'b', 'which port?');
}

/** Runs a line of a shell in which `squad` is the command line. */
async function inShell(
  line: string,
  { until }: Place,
  cwd: string,
  environment: NodeJS.ProcessEnv,
): Promise<{ code: number | null; text: string }> {
  const child = spawn('/bin/sh', ['-c', `squad() { "$NODE" "$MAIN" "$@"; }; ${line}`], {
    cwd,
    env: { ...environment, NODE: process.execPath, MAIN: CLI_ENTRY },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let text = '';
  let isTold = false;
  const take = (part: string): void => {
    text += part;
    if (isTold || until?.test(text) !== true || child.pid === undefined) return;
    isTold = true;
    process.kill(-child.pid, 'SIGINT');
  };
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  return new Promise((resolve) => {
    // The shell ends by the signal; what it started has ended before it closes these pipes.
    child.once('close', (code, signal) => resolve({ code: isTold && signal === 'SIGINT' ? 0 : code, text }));
  });
}
