import { lstat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { compose, type Composition } from '../../engine/compose.ts';
import { usageError } from '../../model/errors.ts';
import type { Playbook } from '../../model/plan.ts';
import { DEFAULT_PLAYBOOK, SPRINT } from '../../model/playbook-name.ts';
import { namedPlaybook } from '../../squad/preflight/playbook-choice.ts';
import { SETTINGS_FILE } from '../../squad/preflight/read-input.ts';
import {
  proposeSteps,
  renderSettings,
  roleFiles,
  STARTER_OBJECTIVE,
  usualBudget,
  type Proposal,
} from '../../squad/preflight/starter-files.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { trustOf } from '../consent.ts';
import { printResult } from '../output.ts';
import { probeAgents } from './doctor.ts';
import { findRoot, lookAround, refuseLinkedFolder, writeNew } from './init-files.ts';
import { defined } from '../../text/defined.ts';
import { plainLine } from '../../text/plain-text.ts';

/** Writes what is missing and never overwrites. Files only: what is staged or committed is the user's own business. */
export async function init(context: CommandContext, options: Options<'init'>): Promise<void> {
  if (options.skill === true) return (await import('./init-skill.ts')).initSkill(context, options);
  if (options.playbook === SPRINT) return (await import('./init-team.ts')).initTeam(context, options);
  if (options.into !== undefined)
    throw usageError('--into is the folder of a team', `Add \`--playbook ${SPRINT}\`, or leave --into out.`);
  const { host, output, exit } = context;
  const composition = compose(host);
  const playbook = namedPlaybook(composition.playbooks, options.playbook ?? DEFAULT_PLAYBOOK);
  const { root, commonDirectory, hasCommit } = await findRoot(composition, host.workingDirectory);
  const usable = (await probeAgents(composition, host)).filter(({ probe }) => probe.ok);
  const runtimes = usable.filter(({ onlyByName }) => !onlyByName).map(({ name }) => name);
  const others = usable.filter(({ onlyByName }) => onlyByName).map(({ name }) => name);
  const steps = proposeSteps(await lookAround(composition, root));
  const asks = mayAsk(options) && !(await isThere(join(root, SETTINGS_FILE)));
  const { settings, verify } = asks
    ? await askForSettings({ runtimes, others }, steps, playbook)
    : { settings: renderSettings(runtimes, steps, { others, playbook }) };
  if (settings === undefined) {
    output.problem('squad wrote nothing.');
    return exit(130);
  }
  const files = { [SETTINGS_FILE]: settings, 'objective.md': STARTER_OBJECTIVE, ...roleFiles(playbook) };
  for (const name of Object.keys(files)) await refuseLinkedFolder(root, dirname(name));
  const written: string[] = [];
  const kept: string[] = [];
  for (const [name, text] of Object.entries(files)) {
    ((await writeNew(join(root, name), text)) ? written : kept).push(name);
  }
  if (verify !== undefined && written.includes(SETTINGS_FILE)) {
    await keepConsent(context, composition, { root, commonDirectory }, verify);
  }
  const objective = relative(host.workingDirectory, join(root, 'objective.md'));
  const roles = Object.keys(roleFiles(playbook)).filter((name) => written.includes(name));
  const next = nextSteps({
    ...{ objective, runtimes, hasCommit, isNew: written.includes('objective.md') },
    unused: kept.includes(SETTINGS_FILE) ? roles : [],
    copy: written.includes(SETTINGS_FILE) ? (steps.copy ?? []) : [],
    // A person who was asked has said so already.
    untested: written.includes(SETTINGS_FILE) && !asks && !isTested(steps) ? (steps.verify ?? '') : undefined,
  });
  const found = written.includes(SETTINGS_FILE) && !asks && isTested(steps) ? foundLines(steps) : [];
  printResult(output, options, { type: 'init', root, written, kept, runtimes, next }, [
    ...written.map((name) => `wrote  ${plainLine(join(root, name))}`),
    ...kept.map((name) => `kept   ${plainLine(join(root, name))}  (it was there; nothing in it was changed)`),
    ...found,
    '',
    ...next.map((step) => `Next: ${plainLine(step, 400)}`),
  ]);
}

function isTested({ verify, unsure }: Proposal): boolean {
  return verify !== undefined && unsure !== true;
}

/** The commands that the new settings name, as the person was not asked about them. */
function foundLines({ setup, verify = '', because = '' }: Proposal): string[] {
  const lines = [...(setup === undefined ? [] : [`setup: ${setup.run}`]), `verify: ${verify}`];
  return lines.map((text) => `found  ${plainLine(text, 200)}  (from ${because})`);
}

/** A person is there and wants to be asked. */
function mayAsk({ yes, json }: Options<'init'>): boolean {
  return yes !== true && json !== true && process.stdin.isTTY && process.stdout.isTTY;
}

interface Found {
  readonly runtimes: readonly string[];
  /** They work only where they are named. */
  readonly others: readonly string[];
}

/** Where the settings name more than the answers, such as `npm ci`, the person is asked about all of it. */
async function keepConsent(
  context: CommandContext,
  composition: Composition,
  place: { readonly root: string; readonly commonDirectory: string },
  verify: string,
): Promise<void> {
  const confirm = trustOf(context, {});
  if (typeof confirm !== 'function') return;
  const { agreeToStarter } = await import('../../squad/preflight/starter-consent.ts');
  const isKept = await agreeToStarter({ ...composition, host: context.host }, place, { verify }, confirm);
  if (!isKept) context.output.problem('squad: you are asked again before a run starts.');
}

/** No `settings`: the person broke off. `verify`: the command that they typed or left as it was; empty: none. */
async function askForSettings(
  found: Found,
  steps: Proposal,
  playbook: Playbook<unknown>,
): Promise<{ readonly settings?: string; readonly verify?: string }> {
  const { askSetup } = await import('../ask/init-questions.ts');
  const setup = await askSetup({ ...found, verify: steps.verify ?? '', usd: usualBudget() });
  if (setup === undefined) return {};
  const { setup: install, because } = steps;
  const isProposed = setup.verify !== '' && setup.verify === steps.verify;
  const proposal = defined({
    setup: install,
    verify: setup.verify === '' ? undefined : setup.verify,
    because: isProposed ? because : undefined,
    copy: steps.copy,
  });
  const only = isDeepStrictEqual(setup.runtimes, found.runtimes) ? undefined : setup.runtimes;
  const settings = renderSettings(found.runtimes, proposal, { usd: setup.usd, only, others: found.others, playbook });
  return { settings, verify: setup.verify };
}

/** Even as a dangling link. */
async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function nextSteps(found: {
  objective: string;
  runtimes: readonly string[];
  hasCommit: boolean;
  isNew: boolean;
  /** New files of roles, which the settings that were there do not name. */
  unused: readonly string[];
  /** Ignored files, which new settings name in a comment. */
  copy: readonly string[];
  /** New settings name no command that tests the work: what a comment proposes, or nothing. */
  untested: string | undefined;
}): string[] {
  return [
    ...(found.untested === undefined ? [] : [untestedText(found.untested)]),
    ...(found.unused.length === 0
      ? []
      : [`name the new roles in ${SETTINGS_FILE}: \`instructions: ${found.unused[0]}\` for the agents of that role`]),
    ...(found.copy.length === 0
      ? []
      : [`if tests need ${found.copy.join(', ')}, take the “#” away before \`copy\` in ${SETTINGS_FILE}`]),
    ...(found.hasCommit ? [] : ['make a first commit, which agents start from: `git add -A && git commit -m "first"`']),
    ...(found.runtimes.length > 0 ? [] : ['install an agent runtime: `squad doctor` says how']),
    found.isNew
      ? `say what you want: \`squad run "…"\`, or write it into ${found.objective} and \`squad run ${found.objective}\``
      : `run it: \`squad run ${found.objective}\``,
  ];
}

function untestedText(proposal: string): string {
  const name = `name the command that tests the work under \`verify\` in ${SETTINGS_FILE}: without one only reviewers judge it`;
  return proposal === '' ? name : `${name}. If it is \`${proposal}\`, take the “#” away before \`verify\``;
}
