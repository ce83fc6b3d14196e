// @module-tag all
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { expect, it, onTestFinished } from 'vitest';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import { allCommands } from '../../scripts/commands-docs.ts';
import { openRunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, piece, plan } from '../runs/run-script.ts';
import { copyWhole } from '../support/git.ts';
import { some, SPREAD } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';
import { planner, teamAnswer } from '../support/team-answer.ts';
import { NO_TMUX, openTmuxRoom } from '../support/tmux.ts';

const RUN = 'make-things';
const LOCKS = [
  'HEAD.lock',
  'index.lock',
  'config.lock',
  'packed-refs.lock',
  'refs/heads/main.lock',
  `refs/heads/squad/${RUN}.lock`,
  `refs/heads/squad/${RUN}-2.lock`,
  `refs/squad/${RUN}/owner.id.lock`,
  `refs/squad/${RUN}/a-1.lock`,
  `refs/squad/${RUN}/a-left.lock`,
  `refs/squad/${RUN}/delivered.lock`,
];
/**
 * Of a run that is over, of one that a limit has stopped, of one that waits for an answer, of one whose planner and MAIN have asked each
 * other, and of a repository that does not know its state any more.
 */
const COMMANDS = {
  over: [
    ['merge'],
    ['merge', '--unverified'],
    ['drop', '--yes'],
    ['drop', '--all', '--yes'],
    ['clean', '--turns', '--refs'],
    ['uninstall', '--yes'],
    ['fork', RUN, '--at', 'LAST'],
    ['run', 'objective.md', '--runtime', 'scripted', '--yes'],
    ['best-of', '2', 'objective.md', '--runtime', 'scripted', '--yes'],
    ['coordinate', 'objective.md', '--runtime', 'scripted', '--yes'],
    ['demo', '--keep', '../demo'],
    ['team', 'objective.md', '--runtime', 'scripted', '--yes', '--detach'],
    ['team', 'engine', '--ticket', 'TICKET', '--', 'run', 'objective.md', '--runtime', 'scripted', '--yes'],
  ],
  stopped: [
    ['resume', '--max-turns', '20'],
    ['resume', '--reload', '--yes', '--max-turns', '20'],
    ['retry', 'a'],
    ['skip', 'a'],
    ['override', 'a', 'failed', '--reason', 'no'],
    ['switch', 'scripted', '--task', 'a'],
    ['tell', 'planner', 'use tabs'],
    ['pause', RUN],
    ['drain', RUN],
    ['team', 'pane', '--ticket', 'TICKET'],
    ['stop', RUN],
    ['init', '--yes'],
    ['mail', 'send', '--action', 'note', '--to', 'planner', '--summary', 'away'],
    [
      'mail',
      'ask',
      '--to',
      'planner',
      '--action',
      'clarify',
      '--task',
      'a',
      '--code-path',
      'a.txt',
      '--question',
      'why?',
      '--context',
      'x',
    ],
    ['mail', 'say', '--as', 'planner', 'which port?'],
    ['mail', 'review', '--to', 'planner', '--task', 'DOC-1', '--file', 'objective.md'],
    [
      'mail',
      'assign',
      '--to',
      'planner',
      '--task',
      'DOC-1',
      '--action',
      'implement',
      '--files',
      'a.txt',
      '--success-criteria',
      'it is there',
      '--deadline',
      '2h',
    ],
    ['plan', 'objective.md', '--runtime', 'scripted', '--prompts', '--yes'],
    ['cancel'],
    ['drop', '--all', '--yes'],
    ['fork', RUN, '--at', 'LAST'],
    ['db', 'backup'],
    ['pack', '../new.tar'],
  ],
  asking: [
    ['answer', 'try again'],
    ['answer', 'give up'],
  ],
  written: [
    ['mail', 'reply', 'it takes 4711'],
    ['mail', 'report', '--as', 'planner', '--issues', '[]', '--summary', 'nothing'],
    ['mail', 'done', '--as', 'planner'],
    ['mail', 'fail', '--as', 'planner', '--reason', 'no time'],
  ],
  moved: [
    ['state', '--adopt', 'STATE'],
    ['unpack', 'PACK'],
  ],
} as const;

/** What each other's members are asked before. */
const WRITTEN = [
  ['mail', 'review', '--to', 'planner', '--task', 'DOC-1', '--file', 'objective.md'],
  ['mail', 'say', '--as', 'planner', 'which port?'],
];

/** Commands that change nothing of a run or a repository by themselves. */
const ONLY_READ = [
  ...[
    'doctor',
    'runs',
    'status',
    'watch',
    'open',
    'show',
    'log',
    'report',
    'trace',
    'studio',
    'diff',
    'pr follow',
    'completion',
  ],
  ...[
    'complete',
    'mcp',
    'session check',
    'db check',
    'db export',
    'mail inbox',
    'mail listen',
    'mail status',
    'mail trace',
  ],
  // It begins its runs by what `run` and `fork` begin theirs by, and takes minutes.
  'compare',
  // Its tools are other commands.
  'mcp-server',
  // What they do with a repository is what `pack` and `unpack` do.
  ...['move', 'receive'],
  // What they write is in the database, or in a state folder of their own.
  ...['submit', 'worker allow', 'worker segment', 'pool drain', 'pool remove'],
  // What it starts are other commands: `resume --all`, and one that submits a run by what `add` does.
  ...['serve status', 'serve stop', 'serve check', 'serve limits', 'serve slot', 'serve team'],
  // They write the ledger alone: the engine that takes a run meets the locks that `resume` meets.
  ...['add', 'queue move', 'queue drop', 'request list', 'request show', 'request cancel', 'backlog'],
  ...['sprint status', 'sprint report'],
  // They read one file of the checkout, and write the ledger alone.
  ...['action list', 'action run'],
  // It writes the ledger alone; what a text does, and the run that reads it, meet the locks of the commands that do the same.
  'ask',
  // They move the line as `merge` moves a branch, and submit their run as `add` does; its roles need a team in the settings.
  ...['sprint start', 'sprint stop'],
  // A file in the checkout, which is no state of squad and needs no git.
  ...['prompts show', 'prompts eject', 'prompts diff'],
];

it('tries each command that writes beside a lock', async () => {
  const leaves = (await allCommands()).commands.flatMap((command) => leavesOf(command));
  const rows: readonly (readonly string[])[] = Object.values(COMMANDS).flat();
  const tried = leaves.filter((name) => rows.some((args) => `${args.join(' ')} `.startsWith(`${name} `)));
  expect([...tried, ...ONLY_READ].toSorted()).toEqual(leaves.toSorted());
});

/** The script of its settings. */
function scriptOf(repository: string): string {
  const settings = JSON.parse(readFileSync(join(repository, 'squad.yaml'), 'utf8')) as {
    runtimes: { scripted: { config: { script: string } } };
  };
  return settings.runtimes.scripted.config.script;
}

/** Of the planner's pane, and of the engine's, which reads less. A pane works until its input ends. */
function ticketFor(repository: string): Record<string, string> {
  const ledger = openLedger(stateOf(repository), { clock: createSystemClock() });
  try {
    const token = ledger.mail.issuePaneToken(ledger.run(RUN)?.id ?? '', 'planner', 'planner-01');
    return { token, run: RUN, address: 'planner', windowName: 'planner', locale: 'en' };
  } finally {
    ledger.close();
  }
}

function opensPanes([name, below]: readonly string[]): boolean {
  return name === 'team' && below !== 'engine' && below !== 'pane';
}

/** The commands at and below one that do something themselves. */
function leavesOf(command: Command, before = ''): string[] {
  const name = `${before}${command.name()}`;
  const below = command.commands.flatMap((one) => leavesOf(one, `${name} `));
  return below.length === 0 || name === 'team' ? [name, ...below] : below;
}

const TABLE = Object.entries(COMMANDS).flatMap(([state, commands]) =>
  commands.flatMap((args) => LOCKS.map((lock) => ({ state: state as keyof typeof COMMANDS, args, lock }))),
);

it.each(Object.keys(COMMANDS) as (keyof typeof COMMANDS)[])(
  'beside a lock of git, a command of a run that is %s does its work or says what is in its way, and never ends without a word',
  { ...SPREAD, timeout: 1_200_000 },
  async (state) => {
    const steps = [
      { run: ['sh', '-c', 'echo a >a.txt; git add -A; git commit -qm a; echo left >left.txt'] },
      { answer: 'done' },
    ];
    const turn = { when: 'go', steps: [{ answer: 'gone' }] };
    const script = [plan([piece('a')]), author('a', steps), APPROVE_ALL, ...planner(teamAnswer()), turn];
    const bench = openRunBench({ script });
    const { root, repository } = bench;
    const template = `${root}.template`;
    onTestFinished(() => {
      rmSync(template, { recursive: true, force: true });
      rmSync(root, { recursive: true, force: true });
    });
    if (state === 'asking') bench.settings({ setup: [{ run: 'no-such-installer' }] });
    const isStopped = state === 'stopped' || state === 'written';
    expect((await bench.runAll(isStopped ? ['--max-turns', '2'] : [])).code).toBe(
      isStopped ? 4 : state === 'asking' ? 3 : 0,
    );
    for (const args of state === 'written' ? WRITTEN : []) expect((await bench.run(args)).code).toBe(0);
    const points = (await bench.run(['fork', RUN, '--json'])).lines[0] as { points: { seq: number }[] };
    if (state !== 'asking') bench.settings({ verify: [{ run: 'true' }] });
    const places = {
      LAST: String(points.points.at(-1)?.seq),
      STATE: stateOf(repository),
      'script=SCRIPT': `script=${scriptOf(repository)}`,
      TICKET: join(root, 'ticket'),
      PACK: join(root, 'runs.tar'),
    };
    const ticket = { ...ticketFor(repository), environment: {} };
    if (state === 'moved') {
      expect((await bench.run(['pack', places.PACK])).code).toBe(0);
      rmSync(join(repository, '.git/squad'), { recursive: true });
    }
    copyWhole(root, template);
    const terminal = openTmuxRoom();
    onTestFinished(() => terminal.close());
    const wrong: string[] = [];
    for (const { args, lock } of some(
      TABLE.filter((row) => row.state === state && (!opensPanes(row.args) || NO_TMUX === undefined)),
      0,
      12,
    )) {
      rmSync(root, { recursive: true, force: true });
      copyWhole(template, root);
      const path = join(repository, '.git', lock);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, '');
      const given = args.map((word) => places[word as keyof typeof places] ?? word);
      const environment = opensPanes(args) ? { ...terminal.environment, HOME: root } : {};
      const title = `squad ${given.join(' ')} beside ${lock}`;
      // A process of its own, because what is asked is how it ends.
      const start = async (more: Record<string, string>) => {
        writeFileSync(places.TICKET, JSON.stringify(ticket));
        return bench.run(given, more);
      };
      const first = await start(environment);
      const said = `${first.stdout}${first.stderr}`;
      if (said.trim() === '') wrong.push(`${title}: exit ${first.code}, and no word`);
      if (
        first.code === 75 &&
        !(said.includes(`${path} locks the repository`) && /^Next: \S.*give the command again/m.test(said))
      )
        wrong.push(`${title}: ${said}`);
      // It goes on with what is elsewhere.
      const isKept = given[0] === 'uninstall' && first.code === 1 && said.includes(`${path} locks the repository`);
      if (!isKept && ![0, 75].includes(first.code ?? -1)) wrong.push(`${title}: exit ${first.code} ${said}`);
      if (opensPanes(args)) await bench.run(['team', '--close'], environment);
      if (first.code === 0) continue;
      rmSync(path, { force: true });
      const again = await start({});
      // It had ended the run, and only its empty branch was left.
      if (given[0] === 'cancel' && again.stderr.includes('has finished: cancelled')) continue;
      if (again.code !== 0) wrong.push(`${title}, and without it: exit ${again.code} ${again.stdout}${again.stderr}`);
    }
    expect(wrong).toEqual([]);
  },
);
