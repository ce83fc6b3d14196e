import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { Attempt } from '../../src/model/attempt.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';
import { openEngineRoom, type EngineRoom } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import { startFakeAnthropic, type FakeAnthropic } from './fake-anthropic.ts';
import { startFakeOpenai, type FakeOpenai } from './fake-openai.ts';
import { createGate, scriptModel, type Gate, type ScriptedModel, type ScriptedTurn } from './turn-scripts.ts';
import { CHECK, OBJECTIVE, turnsOf } from './whole-run-script.ts';

export type Cli = 'claude' | 'codex';

/** A repository with a remote, a squad on both real CLIs, and one scripted model behind both of their APIs. */
export interface WholeRunRoom {
  readonly engine: EngineRoom;
  readonly environment: Readonly<Record<string, string>>;
  readonly remote: string;
  readonly model: ScriptedModel;
  readonly gate: Gate;
  readonly anthropic: FakeAnthropic;
  readonly openai: FakeOpenai;
  close(): Promise<void>;
}

export async function openWholeRunRoom(
  clis: { planner: Cli; reviewer: Cli },
  turns: (gate: Gate) => readonly ScriptedTurn[] = turnsOf,
): Promise<WholeRunRoom> {
  const files = { 'objective.md': OBJECTIVE, 'check.mjs': CHECK };
  return openModelRoom({ files, turns, settings: (baseUrl) => settingsOf(clis, baseUrl) });
}

/** `settings`: `squad.yaml`, once the model is there. The gate is reached by `atGate` turns: two, unless told otherwise. */
export async function openModelRoom(plan: {
  readonly files: Readonly<Record<string, string>>;
  readonly turns: (gate: Gate) => readonly ScriptedTurn[];
  readonly settings: (baseUrl: string) => object;
  readonly atGate?: number;
}): Promise<WholeRunRoom> {
  const gate = createGate(plan.atGate ?? 2);
  const model = scriptModel(plan.turns(gate));
  const anthropic = await startFakeAnthropic(model.anthropic);
  const openai = await startFakeOpenai(model.openai);
  const engine = openEngineRoom({ ...plan.files, 'squad.yaml': stringify(plan.settings(openai.baseUrl)) });
  const remote = join(engine.root, 'remote.git');
  git(engine.root, 'init', '-q', '--bare', remote);
  git(engine.repository, 'remote', 'add', 'origin', remote);
  // What a user has lying about: none of it is squad's business.
  writeFileSync(join(engine.repository, 'readme.md'), '# fixture, being edited\n');
  mkdirSync(join(engine.repository, 'notes'));
  writeFileSync(join(engine.repository, 'notes', 'untracked.txt'), 'mine\n');
  return {
    engine,
    environment: {
      ANTHROPIC_API_KEY: 'key-of-the-fake',
      ANTHROPIC_BASE_URL: anthropic.url,
      FAKE_KEY: 'key-of-the-fake',
    },
    remote,
    model,
    gate,
    anthropic,
    openai,
    close: async () => {
      gate.open();
      await anthropic.close();
      await openai.close();
      engine.close();
    },
  };
}

/** A planner, two builders, a reviewer, and a tester if it is asked for, all on one real CLI. */
export function openSquadOn(
  cli: Cli,
  plan: {
    readonly files: Readonly<Record<string, string>>;
    readonly turns: (gate: Gate) => readonly ScriptedTurn[];
    readonly tests?: boolean;
    /** Builders leave their work to a committer. */
    readonly hasCommitter?: boolean;
    readonly verify?: string;
    readonly atGate?: number;
  },
): Promise<WholeRunRoom> {
  const model = cli === 'codex' ? { model: PLAIN_MODEL } : {};
  const agent = (name: string, role: string, access: string) => ({ name, role, access, runtime: cli, ...model });
  return openModelRoom({
    ...plan,
    settings: (baseUrl) => ({
      version: 1,
      agents: [
        agent('planner', 'planner', 'read-only'),
        ...['builder-1', 'builder-2'].map((name) => ({
          ...agent(name, 'builder', 'edit'),
          ...(plan.hasCommitter === true ? { commits: false } : {}),
        })),
        agent('reviewer', 'reviewer', 'read-only'),
        ...(plan.hasCommitter === true ? [agent('committer', 'committer', 'edit')] : []),
        ...(plan.tests === true ? [agent('tester', 'tester', 'read-only')] : []),
      ],
      runtimes: runtimesAt(baseUrl),
      verify: plan.verify === undefined ? [] : [{ run: plan.verify, minutes: 1 }],
    }),
  });
}

function settingsOf({ planner, reviewer }: { planner: Cli; reviewer: Cli }, baseUrl: string): object {
  const agent = (name: string, role: string, runtime: Cli, access: string) => ({
    name,
    role,
    runtime,
    access,
    ...(runtime === 'codex' ? { model: PLAIN_MODEL } : {}),
  });
  return {
    version: 1,
    agents: [
      agent('planner', 'planner', planner, 'read-only'),
      agent('builder-1', 'builder', 'claude', 'edit'),
      agent('builder-2', 'builder', 'codex', 'edit'),
      agent('reviewer', 'reviewer', reviewer, 'read-only'),
    ],
    runtimes: runtimesAt(baseUrl),
    verify: [{ run: 'node check.mjs', minutes: 1 }],
    publish: { remote: 'origin' },
  };
}

/** Both real CLIs, for a `squad.yaml`. `baseUrl`: of the fake OpenAI; the fake Anthropic is named by the environment. */
export function runtimesAt(baseUrl: string): object {
  const provider = { name: 'fake', base_url: baseUrl, wire_api: 'responses', env_key: 'FAKE_KEY' };
  return {
    claude: { command: CLAUDE_BINARY, env: ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'] },
    codex: {
      command: CODEX_BINARY,
      env: ['FAKE_KEY'],
      config: { model_provider: 'fake', 'model_providers.fake': provider },
    },
  };
}

/** Everything that a run must leave as it is: the tree, and of git what is not squad's own or new. */
export function snapshotOf(repository: string): Record<string, string> {
  const ours = [
    '.squad',
    '.git/squad',
    '.git/objects',
    '.git/refs/squad',
    '.git/refs/heads/squad',
    '.git/logs/refs/squad',
    '.git/logs/refs/heads/squad',
    // What git itself remembers of every push.
    '.git/refs/remotes/origin/squad',
    '.git/logs/refs/remotes/origin/squad',
  ];
  const seen: Record<string, string> = {};
  const visit = (path: string): void => {
    const name = relative(repository, path);
    if (ours.includes(name)) return;
    const stat = lstatSync(path);
    if (stat.isDirectory()) for (const entry of readdirSync(path)) visit(join(path, entry));
    else if (stat.isSymbolicLink()) seen[name] = `-> ${readlinkSync(path)}`;
    else seen[name] = `${stat.mode.toString(8)} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
  };
  visit(repository);
  return seen;
}

export interface Taken {
  readonly attempt: Attempt;
  readonly result: TurnResult | undefined;
  readonly settledAt: number;
}

/** All turns of the run, by the name of their task: `sum` is the author's, `sum/reviewer` the reviewer's. */
export function turnsTaken({ ledger }: EngineRoom): Taken[] {
  const open = ledger();
  try {
    return open
      .attempts({})
      .filter(({ kind }) => kind === 'turn')
      .map((attempt) => {
        const settlement = open.settlement(attempt.id);
        return { attempt, result: settlement?.result, settledAt: settlement?.at ?? 0 };
      });
  } finally {
    open.close();
  }
}

/**
 * Live processes that know the room's folder, by their environment or arguments: engines, agents, and what those began. The tidying that
 * a run starts may outlive it, and has some seconds for that.
 */
export async function processesOf(root: string): Promise<string[]> {
  for (let tries = 0; ; tries += 1) {
    const found = processesNow(root);
    if (tries === MOST_LOOKS || !found.some((one) => one.includes(' clean --due '))) return found;
    await pause(100);
  }
}

const MOST_LOOKS = 200;

function processesNow(root: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const said = ['cmdline', 'environ'].map((file) => readFileSync(join('/proc', pid, file), 'utf8')).join('\0');
        return said.includes(root) ? [`${pid} ${said.replaceAll('\0', ' ').slice(0, 400)}`] : [];
      } catch {
        // It ended while it was looked at.
        return [];
      }
    });
}
