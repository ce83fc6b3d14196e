import { z } from 'zod';
import type { RuntimeName } from '../model/runtime-name.ts';
import type { Limits } from '../model/settings.ts';
import { defaultSettings } from '../settings/parse-settings.ts';
import { defaultRoster } from './roster.ts';

/** What lies at the top of a repository: names, and the texts of those that say how it is tested. */
export interface Surroundings {
  readonly names: readonly string[];
  readonly packageJson?: string | undefined;
  readonly makefile?: string | undefined;
}

export interface Proposal {
  readonly setup?: string;
  readonly verify?: string;
  /** Which file says so. */
  readonly because?: string;
  /** Likely, but it needs what may not be installed: written as a comment. */
  readonly unsure?: boolean;
}

/** How this repository seems to be tested. The first that fits: a guess on top of a fact helps nobody. */
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

function hasTestScript(packageJson: string | undefined): boolean {
  if (packageJson === undefined) return false;
  try {
    const { scripts } = packageSchema.parse(JSON.parse(packageJson));
    // What `npm init` writes there, and which always fails.
    return scripts.test.trim() !== '' && !scripts.test.includes('no test specified');
  } catch {
    // Not a package.json with tests: nothing to propose from it.
    return false;
  }
}

/** A fresh worktree has no node_modules. */
function javascript(has: (name: string) => boolean): Proposal {
  if (has('pnpm-lock.yaml')) return { setup: 'pnpm install --frozen-lockfile', verify: 'pnpm test' };
  if (has('yarn.lock')) return { setup: 'yarn install --frozen-lockfile', verify: 'yarn test' };
  if (has('package-lock.json')) return { setup: 'npm ci', verify: 'npm test' };
  return { verify: 'npm test' };
}

const ABOUT: readonly (readonly [Exclude<keyof Limits, 'task' | 'walls'>, string])[] = [
  ['minutes', 'of work, over all segments of a run'],
  ['usd', 'as far as the runtimes tell what a turn costs'],
  ['turns', 'attempts started'],
  ['parallel', 'agents at work at once'],
  ['reviewRounds', 'for one piece of work'],
  ['retries', 'after an attempt that broke'],
  ['idleMinutes', 'a turn without a sign of life'],
  ['turnMinutes', 'one turn'],
  ['firstToolSeconds', 'until an agent that has to act uses its first tool'],
];

/** A `squad.yaml` that says what holds anyway, ready to be changed. */
export function renderSettings(found: readonly RuntimeName[], { setup, verify, because, unsure }: Proposal): string {
  const { limits } = defaultSettings();
  return `${[
    '# Settings of squad for this repository. Every key is optional; what stands here without a “#” is the default,',
    '# but for setup and verify.',
    'version: 1',
    'playbook: delivery',
    '',
    ...rosterLines(found),
    '',
    'limits:',
    ...ABOUT.map(([key, about]) => limitLine(`${key}: ${limits[key]}`, about)),
    limitLine(`walls: [${limits.walls.join(', ')}]`, 'what follows on silence, in this order'),
    '',
    '# Commands in each fresh worktree, which holds what is committed and nothing else.',
    ...step('setup', setup, 'npm ci', unsure),
    '',
    '# Commands that the engine runs on the merged work, before it counts as delivered.',
    ...(because === undefined ? [] : [`# Proposed because of ${because}.`]),
    ...step('verify', verify, 'npm test', unsure),
    '',
    '# To play a script in place of a model: squad run objective.md --runtime scripted',
    '# runtimes:',
    '#   scripted: { config: { script: demo/script.json } }',
    '',
    '# Where finished work goes; without this it stays on the branch squad/<run>.',
    '# publish: { remote: origin, base: main, pr: false }',
  ].join('\n')}\n`;
}

function limitLine(setting: string, about: string): string {
  return `  ${setting.padEnd(21)}  # ${about}`;
}

function step(key: string, run: string | undefined, otherwise: string, unsure = false): string[] {
  const mark = run === undefined || unsure ? '# ' : '';
  return [`${mark}${key}:`, `${mark}  - { run: ${JSON.stringify(run ?? otherwise)}, minutes: 10 }`];
}

function rosterLines(found: readonly RuntimeName[]): string[] {
  const [said, runtimes]: [string, readonly RuntimeName[]] =
    found.length === 0
      ? ['No agent runtime was found yet (`squad doctor` helps); with claude the roster would be', ['claude']]
      : [
          `The roster is made from the runtimes that are found: now ${found.join(' and ')}. To name it yourself, use`,
          found,
        ];
  const agents = defaultRoster(runtimes).map(
    ({ name, role, runtime, access }) =>
      `#   - { name: ${name}, role: ${role}, runtime: ${runtime}, access: ${access} }`,
  );
  return [`# ${said}`, '# agents:', ...agents];
}

/** An objective that can be run as it is, and does no harm. */
export const STARTER_OBJECTIVE = `# Objective: Explain how to work on this project

<!-- An example: put your own words in its place. Needed are a title, goals and success criteria. -->

## Goals

1. Write docs/getting-started.md: what this project is, and how to install, run and test it

## Success Criteria

- [ ] The page is there (run: test -s docs/getting-started.md)
- [ ] Every command on the page works as it is written
- [ ] Somebody who has never seen the project understands the first paragraph

## Constraints

- Change no other file

## Context

Agents get this whole file to read. Name the files and decisions that matter for the goals here.
`;
