import { z } from 'zod';
import { DEFAULT_PLAYBOOK } from '../model/playbook-name.ts';
import { LIMITS } from '../model/limit-table.ts';
import { BUILT_IN_RUNTIMES } from '../model/runtime-name.ts';
import { createDefaultPlaybook } from '../playbooks/registry.ts';
import { defaultSettings } from '../settings/parse-settings.ts';
import { parseJson } from '../text/json.ts';
import { castOf } from './roster.ts';

/** The names at the top of a repository, and the texts of the files that say how it is tested. */
export interface Surroundings {
  readonly names: readonly string[];
  readonly packageJson?: string | undefined;
  readonly makefile?: string | undefined;
}

export interface Proposal {
  readonly setup?: string;
  readonly verify?: string;
  /** The file that the proposal comes from. */
  readonly because?: string;
  /** Likely, but it may need a program that is not installed. Written as a comment. */
  readonly unsure?: boolean;
}

/** How this repository seems to be tested: the first rule that fits. */
export function proposeSteps({ names, packageJson, makefile }: Surroundings): Proposal {
  const has = (name: string): boolean => names.includes(name);
  if (hasTestScript(packageJson)) return { ...javascript(has), because: 'package.json' };
  if (makefile !== undefined && /^test\s*:(?!=)/m.test(makefile)) return { verify: 'make test', because: 'Makefile' };
  if (has('Cargo.toml')) return { verify: 'cargo test', because: 'Cargo.toml' };
  if (has('go.mod')) return { verify: 'go test ./...', because: 'go.mod' };
  const python = ['pytest.ini', 'pyproject.toml', 'setup.cfg', 'tox.ini'].find(has);
  return python === undefined ? {} : { verify: 'python -m pytest', because: python, unsure: true };
}

const packageSchema = z.object({ scripts: z.object({ test: z.string() }) });

function hasTestScript(packageJson = ''): boolean {
  const test = packageSchema.safeParse(parseJson(packageJson)).data?.scripts.test ?? '';
  // `npm init` writes a test script that always fails.
  return test.trim() !== '' && !test.includes('no test specified');
}

/** A new clone has no node_modules. */
function javascript(has: (name: string) => boolean): Proposal {
  if (has('pnpm-lock.yaml')) return { setup: 'pnpm install --frozen-lockfile', verify: 'pnpm test' };
  if (has('yarn.lock')) return { setup: 'yarn install --frozen-lockfile', verify: 'yarn test' };
  if (has('package-lock.json')) return { setup: 'npm ci', verify: 'npm test' };
  return { verify: 'npm test' };
}

/** What a run may cost at most, in USD, where nothing else is said. */
export function usualBudget(): number {
  return defaultSettings().limits.usd;
}

interface Choice {
  /** The limit of a run. */
  readonly usd?: number;
  /** The runtimes that agents may use, where not those that were found. */
  readonly only?: readonly string[] | undefined;
  /** Runtimes that were found too and work only where they are named. */
  readonly others?: readonly string[];
}

/**
 * A `squad.yaml` with the defaults, ready to edit. `found`: the runtimes of the roster.
 */
export function renderSettings(
  found: readonly string[],
  { setup, verify, because, unsure }: Proposal,
  { usd, only, others = [] }: Choice = {},
): string {
  const defaults = defaultSettings().limits;
  const limits = { ...defaults, usd: usd ?? defaults.usd };
  return `${[
    '# squad settings for this repository. Every key is optional. Except for setup and verify, the values without a “#”',
    '# are the defaults.',
    'version: 1',
    `playbook: ${DEFAULT_PLAYBOOK}`,
    '',
    ...(only === undefined
      ? rosterLines(found, others)
      : ['# Only the runtimes that you chose:', 'agents:', ...agentLines(only)]),
    '',
    'limits:',
    ...LIMITS.flatMap(({ key, about }) => limitLine(key, limits[key], about)),
    '',
    '# Commands to run in each new folder of a task, which holds committed files only.',
    ...step('setup', setup, 'npm ci', unsure),
    '',
    '# Commands that the engine runs on the merged work before it counts as delivered.',
    ...(because === undefined ? [] : [`# Proposed from ${because}.`]),
    ...step('verify', verify, 'npm test', unsure),
    '',
    '# To play a script instead of a model: squad run objective.md --runtime scripted',
    '# runtimes:',
    '#   scripted: { config: { script: demo/script.json } }',
    '',
    '# Push finished work here. Without this it stays on the branch squad/<run>.',
    '# publish: { remote: origin, base: main, pr: false }',
  ].join('\n')}\n`;
}

function limitLine(key: string, value: number | readonly string[] | undefined, about: string): string[] {
  if (value === undefined) return [];
  const setting = `${key}: ${typeof value === 'number' ? value : `[${value.join(', ')}]`}`;
  return [`  ${setting.padEnd(21)}  # ${about}`];
}

function step(key: string, run: string | undefined, otherwise: string, unsure = false): string[] {
  const mark = run === undefined || unsure ? '# ' : '';
  return [`${mark}${key}:`, `${mark}  - { run: ${JSON.stringify(run ?? otherwise)}, minutes: 10 }`];
}

function rosterLines(found: readonly string[], others: readonly string[]): string[] {
  const [first] = BUILT_IN_RUNTIMES;
  const more = `# Also here, for an agent that names it as its runtime: ${others.join(', ')}.`;
  const [said, runtimes]: [string, readonly string[]] =
    found.length === 0
      ? [`squad found no agent runtime yet (see \`squad doctor\`). With ${first} the roster would be:`, [first]]
      : [`squad makes the roster from the runtimes it finds: now ${found.join(' and ')}. To set it yourself:`, found];
  const lines = ['# agents:', ...agentLines(runtimes).map((line) => `# ${line}`)];
  return [`# ${said}`, ...lines, ...(others.length === 0 ? [] : [more])];
}

function agentLines(runtimes: readonly string[]): string[] {
  const { members } = defaultSettings().team;
  return castOf(createDefaultPlaybook(), { runtimes, members }).map(
    ({ name, role, runtime, access }) => `  - { name: ${name}, role: ${role}, runtime: ${runtime}, access: ${access} }`,
  );
}

/** An objective that is safe to run as it is. */
export const STARTER_OBJECTIVE = `# Objective: Explain how to work on this project

<!-- An example: replace it with your own. A title, goals and success criteria are required. -->

## Goals

1. Write docs/getting-started.md: what this project is, and how to install, run and test it

## Success Criteria

- [ ] The page is there (run: test -s docs/getting-started.md)
- [ ] Every command on the page works as it is written
- [ ] A newcomer to the project understands the first paragraph

## Constraints

- Change no other file

## Context

Agents get this whole file to read. Name the files and decisions that matter for the goals here.
`;
