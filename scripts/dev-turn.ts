// One turn of one agent in the repository here, for work on squad itself:
//   node scripts/dev-turn.ts "Fix the typo in README.md and commit" --runtime codex
//   node scripts/dev-turn.ts --resume
// Prints what happens as JSON lines, the end last, and leaves the work on a branch. Exit 0 completed, 1 not, else the code of the run.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Playbook } from '../src/model/plan.ts';
import type { Objective } from '../src/model/plan/board.ts';
import { isTurnEvent, type RunEvent } from '../src/model/run-event.ts';
import { isSquadError } from '../src/model/errors.ts';
import { addTask, finishWhenEnded, workTask } from '../src/playbooks/shared/tasks.ts';
import type { RunEnd, RunningRun } from '../src/view/running-run.ts';
import { createSquad } from '../src/squad/squad.ts';
import { readMachine } from '../src/squad/machine.ts';
import { lookIn, openWorkspace } from '../src/squad/open-workspace.ts';
import { armFailpoints } from '../src/substrate/system/failpoint.ts';
import { parseJson } from '../src/text/json.ts';

/** The playbook, and the only role and agent of its runs. */
const TURN = 'turn';
/** Longer than the first pauses after a lost turn, shorter than any usage limit. */
const PATIENCE_MS = 45_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runtime: { type: 'string', default: 'claude' },
    binary: { type: 'string' },
    model: { type: 'string' },
    access: { type: 'string', default: 'edit' },
    /** Variables that reach the program. */
    env: { type: 'string', multiple: true, default: [] },
    /** key=value, the value as JSON or text. */
    config: { type: 'string', multiple: true, default: [] },
    minutes: { type: 'string', default: '60' },
    retries: { type: 'string', default: '2' },
    resume: { type: 'boolean', default: false },
  },
});

/** One task, whose whole prompt is the text of the objective. The agent may change files, and has no mailbox. */
function createTurnPlaybook(): Playbook<Objective> {
  return {
    name: TURN,
    roles: { [TURN]: { delivers: 'some' } },
    parse: ({ objective }) => ({ ok: true, input: objective }),
    plan: ({ title, text }) => {
      const how = { workspace: 'own', integrate: true, mayChangeNothing: true } as const;
      const task = workTask({ id: TURN, title, role: TURN, brief: text }, how);
      return [addTask({ ...task, brief: { text, verbatim: true } })];
    },
    advance: (view, event) => {
      if (event.type === 'gate-refused') return [{ do: 'finish', outcome: 'failed', why: event.problems.join('\n') }];
      const isEnd = event.type === 'task-done' || event.type === 'task-failed' || event.type === 'task-skipped';
      return isEnd ? finishWhenEnded(view) : [];
    },
    tools: () => [],
  };
}

/** The settings of the turn, in the place of the person's own: they need no consent. */
function writeSettings(configHome: string): void {
  const { runtime, binary, model, access, env, minutes, retries } = values;
  const config = Object.fromEntries(
    values.config.map((pair) => {
      const [key = '', ...rest] = pair.split('=');
      const value = rest.join('=');
      return [key, parseJson(value) ?? value];
    }),
  );
  const command = binary === undefined ? {} : { command: resolve(binary) };
  const settings = {
    version: 1,
    runtimes: { [runtime]: { env, config, ...command } },
    agents: [{ name: TURN, role: TURN, runtime, access, ...(model === undefined ? {} : { model }) }],
    limits: {
      ...{
        minutes: 14 * 24 * 60,
        usd: 1_000_000,
        turns: 100_000,
        firstToolSeconds: 86_400,
        retries: 0,
        walls: ['fail'],
      },
      ...{ turnMinutes: Number(minutes), task: { turns: Number(retries) + 1 } },
    },
    baseline: 'off',
  };
  mkdirSync(join(configHome, 'squad'));
  // JSON is YAML too.
  writeFileSync(join(configHome, 'squad', 'config.yaml'), JSON.stringify(settings));
}

const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

function onEvent(event: RunEvent): void {
  if (event.type === 'attempt-taken' || isTurnEvent(event)) print(event);
}

/** Ends with the process's signals, and prints the result of the last turn. */
async function follow(running: RunningRun): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void running.cancel(`got ${signal}`));
  const end: RunEnd = await running.done;
  const last = lookIn(await openWorkspace({ host: readMachine() }), (ledger) => {
    const attempt = ledger.attempts({ runId: end.runId }).findLast(({ kind }) => kind === 'turn');
    return attempt && { attemptId: attempt.id, ...ledger.settlement(attempt.id)?.result };
  });
  print({ type: 'turn-ended', runId: end.runId, branch: end.branch, head: end.head, ...last });
  if (end.outcome === 'done') return 0;
  process.stderr.write(`${end.headline}\n`);
  return end.exitCode;
}

const configHome = mkdtempSync(join(tmpdir(), 'squad-dev-turn-'));
try {
  armFailpoints(process.env['SQUAD_FAILPOINTS'] ?? '');
  writeSettings(configHome);
  const squad = createSquad({
    environment: { ...process.env, XDG_CONFIG_HOME: configHome },
    playbooks: { [TURN]: createTurnPlaybook },
  });
  const drive = { onEvent, trust: 'yes', patienceMs: PATIENCE_MS } as const;
  const open = values.resume
    ? (await squad.runs()).find((run) => run.playbook === TURN && run.need !== null)
    : undefined;
  if (values.resume && open === undefined) throw new Error('no turn of this repository is unfinished');
  const text = positionals.join(' ');
  const started =
    open === undefined
      ? squad.run({ text, isPlain: true }, { playbook: TURN, allowFullAccess: values.access === 'full', ...drive })
      : squad.resume(open.name, drive);
  process.exitCode = await follow(await started);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = isSquadError(error) ? error.exitCode : 2;
} finally {
  rmSync(configHome, { recursive: true, force: true });
}
