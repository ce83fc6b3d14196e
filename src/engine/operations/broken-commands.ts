import type { Baseline } from '../../model/plan/baseline.ts';
import { isUnchecked, type GateFacts } from '../../model/plan/gate.ts';
import { createCheckFolder, SetupFailed } from './check-folder.ts';
import { shortHash, type OperationPorts } from './operation-ports.ts';
import { hasBegun, runCheck } from './run-checks.ts';
import { CRITERION_MS } from './run-commands.ts';

/**
 * The commands that ran at the end of a run. A criterion's that cannot run there counts as failed if it can on the base commit: the work
 * has broken it. `task`: whose checks these are.
 */
export async function withBroken(
  ports: OperationPorts,
  baseline: Pick<Baseline, 'facts'>,
  ran: GateFacts['commands'],
  task: string,
): Promise<GateFacts['commands']> {
  const { base } = ports.definition.repository;
  const commands: GateFacts['commands'] = [];
  for (const one of ran) {
    const isBroken = isUnchecked(one) && !(await cannotRunOnBase(ports, baseline, one.run, task));
    const { cannotRun: _, ...failed } = one;
    const note = `\nOn ${base.slice(0, 12)}, the commit that the run begins from, this command can run.`;
    commands.push(isBroken ? { ...failed, output: `${one.output.trimEnd()}${note}` } : one);
  }
  return commands;
}

async function cannotRunOnBase(
  ports: OperationPorts,
  { facts }: Pick<Baseline, 'facts'>,
  run: string,
  task: string,
): Promise<boolean> {
  const known = facts?.commands.find((one) => one.purpose !== 'setup' && one.run === run);
  if (known !== undefined) return known.cannotRun;
  const { name, repository } = ports.definition;
  const id = `criterion-base-${repository.base.slice(0, 12)}-${shortHash(run)}`;
  const folder = createCheckFolder(ports, {
    ...{ task, tries: 1, anew: true, goesOn: hasBegun(ports, id) },
    open: async () => ports.workspaces.integrationAt(name, repository.base),
  });
  try {
    const ran = await runCheck(ports, folder, { id, task, run, wallMs: CRITERION_MS, purpose: 'verify' }, 1);
    return ran.cannotRun !== undefined;
  } catch (error) {
    if (!(error instanceof SetupFailed)) throw error;
    // Then nothing can run there.
    return true;
  }
}
