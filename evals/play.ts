import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tmpdir } from 'node:os';
import type { Squad, SquadOptions } from '../src/exports/index.ts';
import { runHidden } from './hidden.ts';
import type { Change, Item, Overlap, SetName, Task } from './items.ts';
import { judgePlan, judgeReview, type Verdict } from './judge.ts';

/** Who is measured, and how. */
export interface Measured {
  readonly createSquad: (options: SquadOptions) => Squad;
  /** squad's command line, as arguments of Node. */
  readonly cli: string;
  readonly runtime: string;
  readonly model?: string | undefined;
  /** A folder as `squad/prompts`; absent: squad's own. */
  readonly prompts?: string | undefined;
  /** Settings of the runtimes, as in squad.yaml. */
  readonly runtimes?: Readonly<Record<string, object>> | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Played extends Verdict {
  readonly set: SetName;
  readonly id: string;
  readonly turns: number;
  /** null: its runtime does not say. */
  readonly usd: number | null;
  readonly tokens: number | null;
  /** Stands for all prompts of the run. */
  readonly promptHash: string | null;
  /** The words with which it ended. */
  readonly end: string;
}

interface Room {
  readonly files: Readonly<Record<string, string>>;
  readonly objective: string;
  readonly settings: object;
  readonly plan: 'ask' | 'auto';
}

/** The runtime cannot work, so that nothing is measured. */
class CannotPlay extends Error {}

/** Plays one item in a repository of its own, which is removed again. `maxUsd`: what is left to spend. */
export async function playItem<S extends SetName>(
  measured: Measured,
  set: S,
  item: Item<S>,
  maxUsd: number,
): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), 'squad-eval-'));
  try {
    const { files, objective, settings, plan } = roomOf(measured, set, item, folder);
    const cwd = makeRepository(folder, { 'package.json': '{ "type": "module" }\n', ...files });
    writeFileSync(join(cwd, 'squad.yaml'), JSON.stringify({ version: 1, ...settings }));
    if (measured.prompts !== undefined) cpSync(measured.prompts, join(cwd, 'squad/prompts'), { recursive: true });
    const environment = { ...measured.environment, SQUAD_STATE: join(folder, 'state') };
    const squad = measured.createSquad({ cwd, environment });
    const run = await squad.run({ text: objective }, { name: 'eval', trust: 'yes', plan, limits: { usd: maxUsd } });
    const { outcome, headline, head } = await run.done;
    // Such as a login that is missing: that says nothing of the item.
    if (outcome === 'interrupted' || (outcome === 'waiting' && set !== 'planners')) throw new CannotPlay(headline);
    const { usage, turns, prompts } = await squad.status(run.runId);
    const answers = answersOf(measured, { cwd, environment, runId: run.runId, folder });
    if (outcome === 'waiting' && answers.size === 0) throw new CannotPlay(headline);
    const { inputTokens, outputTokens, unknownTurns } = usage;
    return {
      ...{ set, id: item.id, ...judge(set, item, { answers, cwd, head, folder }) },
      turns: turns.started,
      usd: usage.unknownCostTurns === 0 ? usage.costUsd : null,
      tokens: unknownTurns > 0 || inputTokens === null ? null : inputTokens + (outputTokens ?? 0),
      promptHash: prompts.hash,
      end: headline,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

function roomOf<S extends SetName>(measured: Measured, set: S, item: Item<S>, folder: string): Room {
  const { runtime, model, runtimes = {} } = measured;
  const who = { runtime, ...(model === undefined ? {} : { model }) };
  if (set === 'planners') {
    const { files, title, goals } = item as Overlap;
    const list = goals.map((goal, index) => `${index + 1}. ${goal}`).join('\n');
    const criteria = goals.map((goal) => `- [ ] ${goal}`).join('\n');
    const agents = [
      { name: 'planner', role: 'planner', access: 'read-only', ...who },
      ...['builder-1', 'builder-2'].map((name) => ({ name, role: 'builder', ...who })),
    ];
    const objective = `# Objective: ${title}\n\n## Goals\n\n${list}\n\n## Success criteria\n\n${criteria}\n`;
    return { files, objective, settings: { agents, runtimes, playbook: 'delivery' }, plan: 'ask' };
  }
  // Words alone: an objective with criteria would ask a judge, too.
  const objective = (item as Change | Task).task;
  const stage = { id: 'WORK', brief: '{objective}', makes: 'code' };
  if (set === 'builders') {
    const agents = [{ name: 'builder', role: 'builder', ...who }];
    const playbook = { stages: [{ ...stage, by: ['builder'] }] };
    return { files: (item as Task).files, objective, settings: { agents, runtimes, playbook }, plan: 'auto' };
  }
  const { file, before, after } = item as Change;
  const author = { name: 'author', role: 'builder', runtime: 'scripted' };
  const agents = [author, { name: 'reviewer', role: 'reviewer', access: 'read-only', ...who }];
  const playbook = { stages: [{ ...stage, by: ['builder'], review: { id: 'REVIEW', by: ['reviewer'], rounds: 1 } }] };
  const script = join(folder, 'author.json');
  writeFileSync(script, JSON.stringify(authorScript(file, after)));
  const all = { ...runtimes, scripted: { config: { script } } };
  return {
    files: before === undefined ? {} : { [file]: before },
    ...{ objective, settings: { agents, runtimes: all, playbook }, plan: 'auto' },
  };
}

/** Makes the known change, so that a review by the model is all that is left. */
function authorScript(path: string, after: string): object {
  const steps = [
    { write: { path, text: after } },
    { run: ['git', 'add', '--all'] },
    { run: ['git', 'commit', '--quiet', '--message', 'Do the task'] },
    { answer: 'done' },
  ];
  return { turns: [{ steps, usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 } }] };
}

interface Outcome {
  /** The last one of each agent. */
  readonly answers: ReadonlyMap<string, unknown>;
  readonly cwd: string;
  readonly head: string | undefined;
  readonly folder: string;
}

function judge<S extends SetName>(set: S, item: Item<S>, { answers, cwd, head, folder }: Outcome): Verdict {
  if (set === 'reviewers') return judgeReview(item as Change, answers.get('reviewer'));
  if (set === 'planners') return judgePlan(item as Overlap, answers.get('planner'));
  if (head === undefined) return { right: false, why: 'nothing was delivered' };
  const at = join(folder, 'delivered');
  mkdirSync(at);
  const archive = execFileSync('git', ['archive', '--format=tar', head], { cwd, maxBuffer: 1 << 28 });
  execFileSync('tar', ['-x', '-C', at], { input: archive });
  return runHidden(at, (item as Task).hidden);
}

function makeRepository(folder: string, files: Readonly<Record<string, string>>): string {
  const cwd = join(folder, 'repository');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'commit.gpgsign=false', ...args], { cwd, stdio: 'pipe' });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('-c', 'user.name=squad', '-c', 'user.email=squad@localhost', 'commit', '--quiet', '--message', 'Begin');
  return cwd;
}

interface Row {
  readonly row: string;
  readonly [column: string]: unknown;
}

/** The last structured answer of each agent, from the ledger's own lines (docs/database.md). */
function answersOf(
  { cli }: Measured,
  {
    cwd,
    environment,
    runId,
    folder,
  }: { cwd: string; environment: Measured['environment']; runId: string; folder: string },
): Map<string, unknown> {
  const path = join(folder, 'run.jsonl');
  execFileSync(process.execPath, [cli, 'db', 'export', '--run', runId, path], { cwd, env: environment, stdio: 'pipe' });
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  const rows = lines.map((line) => JSON.parse(line) as Row);
  const agents = new Map(
    rows.flatMap((row) => (row.row === 'attempt' ? [[row['id'], String(row['agent'])] as const] : [])),
  );
  const answers = new Map<string, unknown>();
  for (const row of rows) {
    const agent = row.row === 'settlement' ? agents.get(row['attemptId'] ?? row['attempt']) : undefined;
    const result = row['result'] as { structured?: unknown } | undefined;
    if (agent !== undefined && result?.structured !== undefined) answers.set(agent, result.structured);
  }
  return answers;
}
