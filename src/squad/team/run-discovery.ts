import { isSquadError } from '../../model/errors.ts';
import type { Discovery } from '../../model/sprint/settings.ts';
import type { Gathered } from '../../rules/sprint/findings.ts';
import { childEnvironment } from '../../runtimes/shared/child-environment.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import { actionItems } from '../preflight/action-items.ts';
import { findAction } from '../preflight/read-actions.ts';
import { hasConsent } from '../preflight/consent.ts';
import { discoveryItems, nameOf } from '../preflight/discovery-items.ts';
import { readSettings } from '../preflight/read-settings.ts';

const COMMAND_S = 600;
const MOST_OUTPUT = 64 * 1024;

interface Command {
  /** For people. */
  readonly command: string;
  readonly run: string;
  readonly name: string;
  readonly args: readonly string[];
  /** Seconds. */
  readonly wall: number;
}

/** Runs the commands and actions of `sprint.discovery` that a person has agreed to. `problems`: gets those that cannot be run. */
export async function runDiscovery(
  workspace: OpenedWorkspace,
  discovery: readonly Discovery[],
  problems: string[],
): Promise<Gathered['discovery']> {
  if (discovery.length === 0) return [];
  const { composition, host, repository } = workspace;
  const found: Gathered['discovery'][number][] = [];
  for (const { command, run, name, args, wall } of await agreedTo(workspace, discovery, problems)) {
    const { code, stdout, stderr, problem } = await composition.processes.run(
      '/bin/sh',
      ['-c', '--', run, name, ...args],
      {
        kind: 'schedule',
        cwd: repository.root,
        env: childEnvironment(host.environment, []),
        timeoutMs: wall * 1_000,
      },
    );
    const why = problem ?? (code === 0 ? undefined : `it exits with ${code ?? 'a signal'}`);
    const redactor = composition.redactor([]);
    if (why === undefined) found.push({ command, output: redactor.text(stdout.slice(0, MOST_OUTPUT)) });
    else
      found.push({ command, problem: why, output: redactor.text(`${stderr}\n${stdout}`.trim().slice(0, MOST_OUTPUT)) });
  }
  return found;
}

async function agreedTo(
  workspace: OpenedWorkspace,
  discovery: readonly Discovery[],
  problems: string[],
): Promise<Command[]> {
  const { composition, host, repository } = workspace;
  const { repository: file } = await readSettings(repository.root, composition, host);
  if (!(await hasConsent(discoveryItems(discovery, file), { host }, repository))) {
    problems.push(
      'discovery: you have not agreed to its commands as they are now; `squad serve check` shows them and asks',
    );
    return [];
  }
  const found: Command[] = [];
  for (const one of discovery) {
    if (typeof one === 'string') {
      found.push({ command: one, run: one, name: 'sh', args: [], wall: COMMAND_S });
      continue;
    }
    const action = await agreedAction(workspace, one);
    if (typeof action === 'string') problems.push(`discovery: ${action}`);
    else found.push(action);
  }
  return found;
}

/** A text: why it is not run. */
async function agreedAction(workspace: OpenedWorkspace, one: Exclude<Discovery, string>): Promise<Command | string> {
  const { host, repository } = workspace;
  const { action: name, args } = one;
  const read = await findAction(repository.root, { name, args }).catch((error: unknown) => {
    if (isSquadError(error)) return error.message;
    throw error;
  });
  if (typeof read === 'string') return read;
  const { action, source } = read;
  if (!(await hasConsent(actionItems(name, action, source), { host }, repository)))
    return `you have not agreed to the action ${name} as it is now; \`squad serve check\` shows it and asks`;
  return { command: nameOf(one), run: action.run, name, args, wall: action.wall };
}
