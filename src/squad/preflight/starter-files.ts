import { z } from 'zod';
import type { Playbook } from '../../model/plan.ts';
import { LIMITS } from '../../model/limit-table.ts';
import { BUILT_IN_RUNTIMES } from '../../model/runtime-name.ts';
import { createDefaultPlaybook } from '../../playbooks/registry.ts';
import { defaultSettings } from '../settings/parse-settings.ts';
import { parseJson } from '../../text/json.ts';
import { isWholeRole, ownText } from './roles.ts';
import { castOf } from './roster.ts';
import {
  NPM,
  POETRY,
  proposeCargo,
  proposeGo,
  hasWorkspaces,
  proposeNode,
  proposeWorkspaces,
  proposeUv,
  type SetupProposal,
} from './setup-proposals.ts';

/** The names at the top of a repository, and the texts of the files that say how it is tested. */
export interface Surroundings {
  readonly names: readonly string[];
  readonly packageJson?: string | undefined;
  readonly makefile?: string | undefined;
  /** Settings of pnpm, and of yarn from version 2 on. */
  readonly workspaces?: string | undefined;
  readonly yarnSettings?: string | undefined;
  /** Settings of this checkout alone, by their names: git ignores them. */
  readonly ignored?: readonly string[];
}

/** Whether a file with this name at the root often holds what tests need. */
export function isOwnSettings(name: string): boolean {
  return /^\.env(?:\.|$)|\.local$/.test(name) && /^[\w.-]+$/.test(name);
}

export interface Proposal {
  readonly setup?: SetupProposal;
  readonly verify?: string;
  /** The file that the proposal comes from. */
  readonly because?: string;
  /** Likely, but it may need a program that is not installed. Written as a comment. */
  readonly unsure?: boolean;
  /** Ignored files that are there. Written as a comment: they may hold secrets, and only a person knows whether tests need them. */
  readonly copy?: readonly string[];
}

/** How this repository seems to be tested: the first rule that fits. */
export function proposeSteps(around: Surroundings): Proposal {
  const { ignored = [] } = around;
  return { ...stepsOf(around), ...(ignored.length === 0 ? {} : { copy: ignored }) };
}

function stepsOf(around: Surroundings): Proposal {
  const { names, packageJson, makefile } = around;
  const has = (name: string): boolean => names.includes(name);
  if (hasTestScript(packageJson)) return { ...proposeNode(around), because: 'package.json' };
  if (makefile !== undefined && /^test\s*:(?!=)/m.test(makefile)) return { verify: 'make test', because: 'Makefile' };
  if (has('Cargo.toml')) return { ...proposeCargo(has), because: 'Cargo.toml' };
  if (has('go.mod')) return { ...proposeGo(has), because: 'go.mod' };
  if (has('uv.lock')) return { ...proposeUv(has), because: 'uv.lock' };
  if (has('poetry.lock')) return { ...POETRY, because: 'poetry.lock' };
  if (packageJson !== undefined && hasWorkspaces(around)) {
    return { ...proposeWorkspaces(around), because: 'the workspaces of package.json', unsure: true };
  }
  const python = ['pytest.ini', 'pyproject.toml', 'setup.cfg', 'tox.ini'].find(has);
  return python === undefined ? {} : { verify: 'python -m pytest', because: python, unsure: true };
}

const packageSchema = z.object({ scripts: z.object({ test: z.string() }) });

function hasTestScript(packageJson = ''): boolean {
  const test = packageSchema.safeParse(parseJson(packageJson)).data?.scripts.test ?? '';
  // `npm init` writes a test script that always fails.
  return test.trim() !== '' && !test.includes('no test specified');
}

/** The default limit of a run in USD. */
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
  /** Absent: the default one. */
  readonly playbook?: Playbook<unknown>;
}

/** Role files are in this folder of the repository. */
const ROLE_FOLDER = 'squad/roles';

/** A file for each role that the playbook describes as a whole, ready to edit. */
export function roleFiles({ roles }: Pick<Playbook<never>, 'roles'>): Record<string, string> {
  const whole = Object.entries(roles).flatMap(([role, about]) => {
    const text = ownText(about);
    return isWholeRole(text) ? [[roleFile(role), `# ${role}\n\n${text}\n`]] : [];
  });
  return Object.fromEntries(whole) as Record<string, string>;
}

function roleFile(role: string): string {
  return `${ROLE_FOLDER}/${role}.md`;
}

/**
 * A `squad.yaml` with the defaults, ready to edit. `found`: the runtimes of the roster.
 */
export function renderSettings(
  found: readonly string[],
  { setup, verify, because, unsure, copy }: Proposal,
  { usd, only, others = [], playbook = createDefaultPlaybook() }: Choice = {},
): string {
  const defaults = defaultSettings().limits;
  const limits = { ...defaults, usd: usd ?? defaults.usd };
  const { settings: section } = playbook;
  return `${[
    '# squad settings for this repository. Every key is optional. Except for setup and verify, the values without a “#”',
    '# are the defaults.',
    'version: 1',
    `playbook: ${playbook.name}`,
    ...(section === undefined ? [] : [`# ${section.example}`]),
    '',
    ...(only === undefined
      ? rosterLines(playbook, found, others)
      : ['# Only the runtimes that you chose:', 'agents:', ...agentLines(playbook, only)]),
    '',
    'limits:',
    ...LIMITS.flatMap(({ key, about }) => limitLine(key, limits[key], about)),
    '',
    '# Commands for each new folder in which work is built or checked, which holds committed files only.',
    '# Folders that `reuse` names are made once and copied while the files of `when` are the same: `when` names all that the command reads.',
    ...setupLines(setup, unsure),
    '',
    '# Commands that the engine runs on the merged work before it counts as delivered.',
    ...(because === undefined ? [] : [`# Proposed from ${because}.`]),
    ...step('verify', verify, 'npm test', unsure),
    '',
    '# Variables of your shell that these commands need. Their values are never written here.',
    '# env: [DATABASE_URL]',
    '# Ignored files that they need, beside those of .worktreeinclude; folders of tasks get a copy.',
    ...(copy === undefined ? [] : ['# Ignored here. If tests need them, take the “#” away:']),
    `# copy: [${(copy ?? ['.env']).join(', ')}]`,
    '',
    '# To play a script instead of a model: squad run objective.md --runtime scripted',
    '# runtimes:',
    '#   scripted: { config: { script: demo/script.json } }',
    '',
    '# Hold a run until setup and verify pass on the commit that it begins from; otherwise squad only reports what is red there.',
    '# baseline: green',
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

function setupLines(setup: SetupProposal = NPM, unsure: boolean | undefined, isThere = setup !== NPM): string[] {
  const { run, reuse = [], when = [] } = setup;
  const list = (key: string, paths: readonly string[]): string[] =>
    paths.length === 0 ? [] : [`    ${key}: [${paths.map((path) => JSON.stringify(path)).join(', ')}]`];
  const lines = [
    'setup:',
    `  - run: ${JSON.stringify(run)}`,
    '    minutes: 10',
    ...list('reuse', reuse),
    ...list('when', when),
  ];
  return isThere && unsure !== true ? lines : lines.map((line) => `# ${line}`);
}

function rosterLines(playbook: Playbook<unknown>, found: readonly string[], others: readonly string[]): string[] {
  const [first] = BUILT_IN_RUNTIMES;
  const more = `# Also here, for an agent that names it as its runtime: ${others.join(', ')}.`;
  const also = others.length === 0 ? [] : [more];
  const runtimes = found.length === 0 ? [first] : found;
  const none = 'squad found no agent runtime yet (see `squad doctor`).';
  if (Object.keys(roleFiles(playbook)).length > 0) {
    const why = found.length === 0 ? `${none} Name yours.` : `Found here: ${found.join(' and ')}.`;
    return [
      `# Each agent has its role from its file in ${ROLE_FOLDER}. ${why}`,
      'agents:',
      ...agentLines(playbook, runtimes),
      ...also,
    ];
  }
  const said =
    found.length === 0
      ? `${none} With ${first} the roster would be:`
      : `squad makes the roster from the runtimes it finds: now ${found.join(' and ')}. To set it yourself:`;
  return [`# ${said}`, '# agents:', ...agentLines(playbook, runtimes).map((line) => `# ${line}`), ...also];
}

function agentLines(playbook: Playbook<unknown>, runtimes: readonly string[]): string[] {
  const { members } = defaultSettings().team;
  const files = roleFiles(playbook);
  return castOf(playbook, { runtimes, members }).map(({ name, role, runtime, access }) => {
    const file = roleFile(role) in files ? `, instructions: ${roleFile(role)}` : '';
    return `  - { name: ${name}, role: ${role}, runtime: ${runtime}, access: ${access}${file} }`;
  });
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

- Change no code

## Context

Agents get this whole file to read. Name the files and decisions that matter for the goals here.
`;
