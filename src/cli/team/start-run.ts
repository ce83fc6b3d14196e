import type { Settings } from '../../model/settings.ts';
import { preflight } from '../../preflight/preflight.ts';
import { readObjective, readSettings } from '../../preflight/read-input.ts';
import type { CommandContext, TeamOptions } from '../command-context.ts';
import { takenNames } from '../known-runs.ts';
import type { OpenedWorkspace } from '../open-run.ts';
import { confirmTrust } from '../confirm-trust.ts';

export interface PlannedRun {
  readonly name: string;
  readonly runtimes: Settings['runtimes'];
  /** What `squad` is called with, to start it. */
  readonly args: readonly string[];
}

/**
 * What is wrong with a run before it exists, found and told here, where somebody reads it; commands that need it are agreed
 * to here as well, so that the engine's pane has nothing to ask.
 */
export async function planRun(
  context: CommandContext,
  { composition, repository }: OpenedWorkspace,
  objective: string,
  options: TeamOptions,
): Promise<PlannedRun> {
  const { host } = context;
  const playbook = options.playbook ?? (await namedPlaybook(objective, host.workingDirectory, repository.root));
  const { definition } = await preflight(
    {
      ...composition,
      host,
      takenNames: async (report) => takenNames(context, composition, report),
      ...(process.stdin.isTTY ? { confirm: async (items) => confirmTrust(context, items) } : {}),
    },
    {
      objectivePath: objective,
      playbook,
      runtime: options.runtime,
      limits: {},
      yes: options.yes === true,
      allowFullAccess: options.allowFullAccess === true,
      name: options.name,
    },
  );
  const { name, playbook: chosen, runtimes } = definition;
  return {
    name,
    runtimes,
    args: [
      'run',
      ...['--name', name, '--playbook', chosen],
      ...(options.runtime === undefined ? [] : ['--runtime', options.runtime]),
      ...(options.yes === true ? ['--yes'] : []),
      ...(options.allowFullAccess === true ? ['--allow-full-access'] : []),
      '--',
      objective,
    ],
  };
}

/** undefined: a file names one, and preflight says which. A team that nobody chose a playbook for is a council. */
async function namedPlaybook(objective: string, directory: string, root: string): Promise<string | undefined> {
  const { frontMatter } = await readObjective(objective, directory);
  const { text } = await readSettings(root);
  return frontMatter.playbook !== undefined || /^playbook\s*:/m.test(text) ? undefined : 'council';
}
