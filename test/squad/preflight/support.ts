import { stateOf } from '../../support/state.ts';
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { compose, type Host, type RuntimeChoice } from '../../../src/engine/compose.ts';
import { isSquadError, type SquadError } from '../../../src/model/errors.ts';
import {
  preflight,
  type Preflight,
  type PreflightPorts,
  type PreflightRequest,
} from '../../../src/squad/preflight/preflight.ts';
import type { FolderRuns } from '../../../src/squad/sources/session/session-runs.ts';
import type { NamedSession } from '../../../src/squad/sources/session/session-source.ts';
import { sourceOf, type ObjectiveSource } from '../../../src/squad/sources/source-of.ts';
import type { AgentRuntime, Probe } from '../../../src/runtimes/port/agent-runtime.ts';
import type { Forge } from '../../../src/substrate/ports/forge.ts';
import { createRepository, git } from '../../support/git.ts';
import { testHost } from '../../support/test-host.ts';

export const NOW = Date.UTC(2026, 10, 1);

export const OBJECTIVE = `# Objective: Let people log in

## Goals

1. Add a login form

## Success Criteria

- [ ] The form is there
`;

/** Refuses nothing, and has nothing yet. */
export const OPEN_FORGE: Forge = {
  findRemote: () => Promise.resolve({ type: 'found' }),
  remotes: () => Promise.resolve(['origin']),
  fetch: () => Promise.resolve({ type: 'found' }),
  push: () => Promise.resolve({ type: 'pushed' }),
  findPullRequest: () => Promise.resolve({ type: 'none' }),
  openPullRequest: () => Promise.resolve({ type: 'none' }),
  writePullRequest: () => Promise.resolve({ type: 'none' }),
  readIssue: () => Promise.resolve({ type: 'none', repository: 'github.com/acme/app', list: 'gh issue list' }),
};

const GOOD: Probe = { ok: true, login: 'ok', sandbox: 'os', problems: [] };
const ABSENT: Probe = {
  ok: false,
  login: 'unknown',
  sandbox: 'none',
  problems: [{ text: 'it was not found', next: 'install it' }],
};

/** What a person asks for; by default for the objective. */
export interface Asked extends Partial<PreflightRequest> {
  readonly objective?: ObjectiveSource | NamedSession;
  readonly runs?: FolderRuns;
}

const NO_RUNS: FolderRuns = { on: () => [], now: () => NOW, hasWork: () => Promise.resolve(true) };

export interface Bench {
  readonly root: string;
  readonly repository: string;
  trustFile(): string;
  /** What was asked of the composition root, in order. */
  readonly probed: { readonly name: string; readonly choice: RuntimeChoice }[];
  write(name: string, text: string | Buffer): void;
  run(request?: Asked, ports?: Partial<PreflightPorts>): Promise<Preflight>;
  refusal(request?: Asked, ports?: Partial<PreflightPorts>): Promise<SquadError>;
  host(more?: Partial<Host>): Host;
  /** Everything that a run could leave behind, as text that can be compared. */
  traces(): string[];
}

/** A real repository with an objective, and runtimes that are there only by their word. */
export function openBench(found: readonly string[] = ['claude', 'codex', 'scripted']): Bench {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-preflight-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const repository = createRepository(join(root, 'repository'), { 'objective.md': OBJECTIVE });
  const probed: { name: string; choice: RuntimeChoice }[] = [];
  const host = (more: Partial<Host> = {}): Host => testHost(root, { workingDirectory: repository, ...more });
  const run = (
    { objective = 'objective.md', runs = NO_RUNS, ...request }: Asked = {},
    ports: Partial<PreflightPorts> = {},
  ): Promise<Preflight> => {
    const {
      git: gitPorts,
      clock,
      forge,
      redactor,
      runtimes,
      describe,
      playbooks,
      taskCage,
    } = compose(ports.host ?? host());
    const runtime = (name: string, choice: RuntimeChoice = {}): AgentRuntime => {
      probed.push({ name, choice });
      return runtimeOf(name, found.includes(name) ? GOOD : ABSENT);
    };
    return preflight(
      {
        host: host(),
        git: gitPorts,
        clock: { ...clock, now: () => NOW },
        runtime,
        runtimes,
        describe,
        playbooks,
        forge,
        redactor,
        taskCage,
        takenNames: () => [],
        ...ports,
      },
      {
        source: sourceOf(objective, (ports.host ?? host()).workingDirectory, runs),
        limits: {},
        yes: false,
        ...request,
      },
    );
  };
  return {
    root,
    repository,
    trustFile: () => join(stateOf(repository), 'trust.json'),
    probed,
    write: (name, text) => writeFileSync(join(repository, name), text),
    run,
    refusal: async (request, ports) => {
      const error: unknown = await run(request, ports).then(
        () => new Error('nothing was refused'),
        (thrown: unknown) => thrown,
      );
      if (!isSquadError(error)) throw error;
      return error;
    },
    host,
    traces: () => [
      ...readdirSync(root).filter((name) => name !== 'repository'),
      ...readdirSync(repository).filter((name) => name === '.squad'),
      ...git(repository, 'for-each-ref', '--format=%(refname)').split('\n'),
      ...git(repository, 'worktree', 'list', '--porcelain').split('\n'),
    ],
  };
}

function runtimeOf(name: string, probe: Probe): AgentRuntime {
  const never = (): never => {
    throw new Error('no turn may start before there is a run');
  };
  return { portVersion: 1, name, probe: () => Promise.resolve(probe), start: never, attach: never };
}
